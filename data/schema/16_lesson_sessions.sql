-- The sessions that taught each lesson, told by their roots, so that a fork is no second one. Of
-- a lesson from before only the first is known.

CREATE TABLE lesson_sessions (
    lesson INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    root   TEXT NOT NULL,
    PRIMARY KEY (lesson, root)
) WITHOUT ROWID;
INSERT INTO lesson_sessions
    SELECT id, session FROM memories WHERE kind = 'lesson' AND session <> '';
