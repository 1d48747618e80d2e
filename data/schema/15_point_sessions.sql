-- What each session says of the key points that it was shown or cited. Sessions are told by
-- their roots, so that a fork is no second one; the jobs keep what one that is undone said apart.

CREATE TABLE point_sessions (
    project INTEGER NOT NULL REFERENCES projects,
    point   TEXT NOT NULL,
    root    TEXT NOT NULL,
    job     TEXT NOT NULL,
    cited   INTEGER NOT NULL,
    helpful INTEGER NOT NULL,
    harmful INTEGER NOT NULL,
    PRIMARY KEY (project, point, root, job)
) WITHOUT ROWID;
