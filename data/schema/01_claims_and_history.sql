-- Cursors, known records, jobs with their changes, numbers given, and the ledger.
--
-- Times are milliseconds since 1970; hashes are 64 bits stored as signed.

CREATE TABLE projects (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    records    INTEGER NOT NULL DEFAULT 0,  -- rows of `records`
    left_until INTEGER                      -- time of the newest record that had to leave
);
CREATE TABLE cursors (
    transcript TEXT NOT NULL PRIMARY KEY, project INTEGER NOT NULL REFERENCES projects,
    generation INTEGER NOT NULL, reached INTEGER NOT NULL, first_record INTEGER,
    updated INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX cursors_by_project ON cursors (project);
CREATE TABLE records (
    project INTEGER NOT NULL REFERENCES projects,
    hash    INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    PRIMARY KEY (project, hash)
) WITHOUT ROWID;
CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES projects,
    session TEXT NOT NULL, transcript TEXT NOT NULL, event TEXT NOT NULL,
    backend TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL,
    tags INTEGER NOT NULL, operations INTEGER NOT NULL, skipped INTEGER NOT NULL,
    input INTEGER NOT NULL, output INTEGER NOT NULL, ms INTEGER NOT NULL,
    finished INTEGER NOT NULL, undone_by TEXT
);
CREATE INDEX jobs_by_project ON jobs (project, finished);
CREATE INDEX jobs_by_time ON jobs (finished);
CREATE TABLE history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, project INTEGER NOT NULL REFERENCES projects,
    job INTEGER NOT NULL REFERENCES jobs, seq INTEGER NOT NULL,
    kind TEXT NOT NULL, point TEXT NOT NULL, before TEXT, after TEXT,
    into_point TEXT,                        -- the point that took this one in
    reason TEXT NOT NULL,
    bytes INTEGER NOT NULL,                 -- what the row counts for against the cap
    UNIQUE (job, seq)
);
CREATE INDEX history_by_point ON history (project, point);
CREATE TABLE totals (history_bytes INTEGER NOT NULL);
INSERT INTO totals VALUES (0);
CREATE TRIGGER history_grew AFTER INSERT ON history BEGIN
    UPDATE totals SET history_bytes = history_bytes + new.bytes;
END;
CREATE TRIGGER history_shrank AFTER DELETE ON history BEGIN
    UPDATE totals SET history_bytes = history_bytes - old.bytes;
END;
CREATE TABLE numbers (
    project INTEGER NOT NULL REFERENCES projects,
    slug    TEXT NOT NULL,
    highest INTEGER NOT NULL,
    PRIMARY KEY (project, slug)
) WITHOUT ROWID;
CREATE TABLE calls (
    job TEXT NOT NULL, seq INTEGER NOT NULL, project INTEGER NOT NULL REFERENCES projects,
    time INTEGER NOT NULL, backend TEXT NOT NULL, model TEXT NOT NULL,
    attempts INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
    PRIMARY KEY (job, seq)
) WITHOUT ROWID;
CREATE INDEX calls_by_time ON calls (time);
