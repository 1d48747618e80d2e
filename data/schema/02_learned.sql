-- What was learned: reflections, strategies, lessons and errors, with one index of words.
--
-- `memories` has what all kinds have; the index keeps words only, since the texts stand
-- in the tables. Its column `scope` holds the project and the kind as words, so that a
-- search looks at no other's rows. `learned` names every step that was counted.

CREATE TABLE memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES projects,
    tenant TEXT NOT NULL, session TEXT NOT NULL, job TEXT NOT NULL,
    text TEXT NOT NULL, outcome TEXT, category TEXT, signature INTEGER,
    importance REAL NOT NULL, confidence REAL NOT NULL, effectiveness REAL NOT NULL,
    occurrences INTEGER NOT NULL, times_applied INTEGER NOT NULL,
    created INTEGER NOT NULL, last_seen INTEGER NOT NULL
);
CREATE INDEX memories_by_project ON memories (project, kind, importance);
CREATE INDEX memories_by_signature ON memories (signature) WHERE signature IS NOT NULL;
CREATE TABLE reflections (
    memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    task TEXT NOT NULL, event_ids TEXT NOT NULL, event_count INTEGER NOT NULL,
    related TEXT NOT NULL
);
CREATE TABLE lessons (
    memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    task_type TEXT NOT NULL, mistake TEXT NOT NULL, correction TEXT NOT NULL,
    context_hash TEXT NOT NULL
);
CREATE TABLE errors (
    memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    error_type TEXT NOT NULL, example TEXT NOT NULL
);
CREATE TABLE fixes (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
    error INTEGER NOT NULL REFERENCES errors (memory) ON DELETE CASCADE,
    fix TEXT NOT NULL, names TEXT NOT NULL, effectiveness REAL NOT NULL,
    occurrences INTEGER NOT NULL, times_applied INTEGER NOT NULL,
    created INTEGER NOT NULL, last_seen INTEGER NOT NULL
);
CREATE INDEX fixes_by_error ON fixes (error);
CREATE TABLE tags (
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    tag    TEXT NOT NULL,
    PRIMARY KEY (memory, tag)
) WITHOUT ROWID;
CREATE TABLE learned (
    job  TEXT NOT NULL,
    seq  INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (job, seq)
) WITHOUT ROWID;
CREATE TABLE evaluations (
    job TEXT NOT NULL PRIMARY KEY, project INTEGER NOT NULL REFERENCES projects,
    time INTEGER NOT NULL, correctness REAL NOT NULL, helpfulness REAL NOT NULL,
    safety REAL NOT NULL, completeness REAL NOT NULL, efficiency REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX evaluations_by_project ON evaluations (project, time);
CREATE VIRTUAL TABLE recall USING fts5 (
    body, scope, content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER memories_leave AFTER DELETE ON memories BEGIN
    DELETE FROM recall WHERE rowid = old.id;
END;
