-- The tables of memory.db. Running this again changes nothing.
--
-- Times are milliseconds since 1970; hashes are 64 bits stored as signed.

-- Projects, the place up to which each transcript was claimed, and the known records.

CREATE TABLE IF NOT EXISTS projects (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    records    INTEGER NOT NULL DEFAULT 0,  -- rows of `records`
    left_until INTEGER,                     -- time of the newest record that had to leave
    lost_until INTEGER,                     -- until then all has counted, by a lost memory
    begun_anew INTEGER,                     -- when that loss was found
    open_then  TEXT                         -- the sessions that were open then, as JSON
);
CREATE TABLE IF NOT EXISTS cursors (
    transcript TEXT NOT NULL PRIMARY KEY, project INTEGER NOT NULL REFERENCES projects,
    generation INTEGER NOT NULL, reached INTEGER NOT NULL, first_record INTEGER,
    updated INTEGER NOT NULL,
    confidence REAL                         -- of the last reflection on it
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS cursors_by_project ON cursors (project);
CREATE TABLE IF NOT EXISTS records (
    project INTEGER NOT NULL REFERENCES projects,
    hash    INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    PRIMARY KEY (project, hash)
) WITHOUT ROWID;

-- Finished jobs, their changes, the numbers given to key points, and the ledger.

CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL UNIQUE,
    project INTEGER NOT NULL REFERENCES projects,
    session TEXT NOT NULL, transcript TEXT NOT NULL, event TEXT NOT NULL,
    backend TEXT NOT NULL, outcome TEXT NOT NULL, reason TEXT NOT NULL,
    tags INTEGER NOT NULL, operations INTEGER NOT NULL, skipped INTEGER NOT NULL,
    input INTEGER NOT NULL, output INTEGER NOT NULL, ms INTEGER NOT NULL,
    finished INTEGER NOT NULL, undone_by TEXT,
    dropped TEXT,                           -- what was not accepted, with reasons, as JSON
    reflected TEXT                          -- the root session, where the reflector was asked
                                            -- which key points would have helped
);
CREATE INDEX IF NOT EXISTS jobs_by_project ON jobs (project, finished);
CREATE INDEX IF NOT EXISTS jobs_by_time ON jobs (finished);
CREATE TABLE IF NOT EXISTS history (
    id INTEGER PRIMARY KEY AUTOINCREMENT, project INTEGER NOT NULL REFERENCES projects,
    job INTEGER NOT NULL REFERENCES jobs, seq INTEGER NOT NULL,
    kind TEXT NOT NULL, point TEXT NOT NULL, before TEXT, after TEXT,
    into_point TEXT,                        -- the point that took this one in
    reason TEXT NOT NULL,
    bytes INTEGER NOT NULL,                 -- what the row counts for against the cap
    UNIQUE (job, seq)
);
CREATE INDEX IF NOT EXISTS history_by_point ON history (project, point);
CREATE TABLE IF NOT EXISTS totals (history_bytes INTEGER NOT NULL);
INSERT INTO totals SELECT 0 WHERE NOT EXISTS (SELECT * FROM totals);
CREATE TRIGGER IF NOT EXISTS history_grew AFTER INSERT ON history BEGIN
    UPDATE totals SET history_bytes = history_bytes + new.bytes;
END;
CREATE TRIGGER IF NOT EXISTS history_shrank AFTER DELETE ON history BEGIN
    UPDATE totals SET history_bytes = history_bytes - old.bytes;
END;
CREATE TABLE IF NOT EXISTS numbers (
    project INTEGER NOT NULL REFERENCES projects,
    slug    TEXT NOT NULL,
    highest INTEGER NOT NULL,
    PRIMARY KEY (project, slug)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS calls (
    job TEXT NOT NULL, seq INTEGER NOT NULL, project INTEGER NOT NULL REFERENCES projects,
    time INTEGER NOT NULL, backend TEXT NOT NULL, model TEXT NOT NULL,
    attempts INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL,
    purse INTEGER NOT NULL DEFAULT 0,       -- 0: the budgets of the day; 1: of a bootstrap
    PRIMARY KEY (job, seq)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS calls_by_time ON calls (time);

-- What was learned: reflections, strategies, lessons and errors, with one index of words.
--
-- `memories` has what all kinds have; the index keeps words only. Its column `scope` holds the
-- project and the kind as words, so that a search looks at no other's rows. `learned` names
-- every step that was counted.

CREATE TABLE IF NOT EXISTS memories (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
    project INTEGER NOT NULL REFERENCES projects,
    tenant TEXT NOT NULL, session TEXT NOT NULL, job TEXT NOT NULL,
    text TEXT NOT NULL, outcome TEXT, category TEXT, signature INTEGER,
    importance REAL NOT NULL, confidence REAL NOT NULL, effectiveness REAL NOT NULL,
    occurrences INTEGER NOT NULL, times_applied INTEGER NOT NULL,
    created INTEGER NOT NULL, last_seen INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS memories_by_project ON memories (project, kind, importance);
CREATE INDEX IF NOT EXISTS memories_by_signature ON memories (signature)
    WHERE signature IS NOT NULL;
CREATE TABLE IF NOT EXISTS reflections (
    memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    task TEXT NOT NULL, event_ids TEXT NOT NULL, event_count INTEGER NOT NULL,
    related TEXT NOT NULL,
    correction TEXT                         -- what is kept beside a self-correction, as JSON
);
CREATE TABLE IF NOT EXISTS lessons (
    memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    task_type TEXT NOT NULL, mistake TEXT NOT NULL, correction TEXT NOT NULL,
    context_hash TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS errors (
    memory INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    error_type TEXT NOT NULL, example TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS error_keys (     -- by which `seen` knows an error again
    hash   INTEGER NOT NULL,
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    PRIMARY KEY (hash, memory)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS error_keys_by_memory ON error_keys (memory);
-- The notes of sessions, a row for each note of each session. `line` is the first note of those
-- that say the same. A row with a `point` says that the session showed that key point wrong.
CREATE TABLE IF NOT EXISTS notes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,   -- `n12` in prompts and replies
    project INTEGER NOT NULL REFERENCES projects,
    memory INTEGER REFERENCES memories ON DELETE CASCADE,  -- the lesson
    job TEXT NOT NULL, seq INTEGER NOT NULL,
    root TEXT NOT NULL,                     -- the root session: a fork is no second one
    time INTEGER NOT NULL, since INTEGER NOT NULL,  -- of the session; when it was stored
    kinds TEXT NOT NULL, hosts TEXT NOT NULL,       -- JSON
    quote TEXT,                             -- the user's words that state it as a rule
    is_outside INTEGER NOT NULL,
    is_unattended INTEGER NOT NULL DEFAULT 0,
    point TEXT,
    text TEXT,                              -- the curator's wording of the line; why it is wrong
    line INTEGER NOT NULL,
    state TEXT NOT NULL,                    -- `waiting`, `notebook` or `settled`
    UNIQUE (job, seq)
);
CREATE TABLE IF NOT EXISTS note_points (    -- the key point that says a note
    note INTEGER PRIMARY KEY REFERENCES notes ON DELETE CASCADE,
    point TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS notes_by_state ON notes (project, state);
CREATE INDEX IF NOT EXISTS notes_by_line ON notes (line);
CREATE INDEX IF NOT EXISTS notes_by_memory ON notes (memory) WHERE memory IS NOT NULL;
CREATE TABLE IF NOT EXISTS tags (
    memory INTEGER NOT NULL REFERENCES memories ON DELETE CASCADE,
    tag    TEXT NOT NULL,
    PRIMARY KEY (memory, tag)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS learned (
    job  TEXT NOT NULL,
    seq  INTEGER NOT NULL,
    time INTEGER NOT NULL,
    PRIMARY KEY (job, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS evaluations (
    job TEXT NOT NULL PRIMARY KEY, project INTEGER NOT NULL REFERENCES projects,
    time INTEGER NOT NULL, correctness REAL NOT NULL, helpfulness REAL NOT NULL,
    safety REAL NOT NULL, completeness REAL NOT NULL, efficiency REAL NOT NULL,
    ended TEXT                              -- how the session ended
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS evaluations_by_project ON evaluations (project, time);
CREATE VIRTUAL TABLE IF NOT EXISTS recall USING fts5 (
    body, scope, content = '', contentless_delete = 1,
    tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TRIGGER IF NOT EXISTS memories_leave AFTER DELETE ON memories BEGIN
    DELETE FROM recall WHERE rowid = old.id;
END;
-- What each session says of the key points that it was shown or cited, by its root session. A row
-- with `shown` 0 says that the point would have helped there.

CREATE TABLE IF NOT EXISTS point_sessions (
    project INTEGER NOT NULL REFERENCES projects,
    point   TEXT NOT NULL,
    root    TEXT NOT NULL,
    job     TEXT NOT NULL,
    cited   INTEGER NOT NULL,
    helpful INTEGER NOT NULL,
    harmful INTEGER NOT NULL,
    shown   INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (project, point, root, job)
) WITHOUT ROWID;

-- What became of a call that the guard of a point turned back.

CREATE TABLE IF NOT EXISTS guard_verdicts (
    project INTEGER NOT NULL REFERENCES projects,
    point   TEXT NOT NULL,
    root    TEXT NOT NULL,
    job     TEXT NOT NULL,
    wrong   INTEGER NOT NULL,               -- 0: another way was taken; 1: it ran again and worked
    PRIMARY KEY (project, point, root, job)
) WITHOUT ROWID;

-- The votes that are not in the playbook file (`playbook.votes = "local"`), by the job that
-- cast them. An undo casts the opposite ones.

CREATE TABLE IF NOT EXISTS local_votes (
    project INTEGER NOT NULL REFERENCES projects,
    job     TEXT NOT NULL,
    point   TEXT NOT NULL,
    helpful INTEGER NOT NULL,
    harmful INTEGER NOT NULL,
    used    INTEGER,                        -- when the point was used last, where it was
    PRIMARY KEY (project, job, point)
) WITHOUT ROWID;

-- What is held back until the user has looked at it.

CREATE TABLE IF NOT EXISTS quarantine (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    INTEGER NOT NULL REFERENCES projects,
    key        TEXT NOT NULL,
    job        TEXT NOT NULL,               -- empty: it was in the file
    what       TEXT NOT NULL,
    text       TEXT NOT NULL,
    reasons    TEXT NOT NULL,
    since      INTEGER NOT NULL,
    is_waiting INTEGER NOT NULL,
    UNIQUE (project, key)
);

-- The memories that the database of `memory.url` does not have as they are here: new, changed and
-- forgotten ones. `machine` has a row, with this machine's name there, once they are to be sent.

CREATE TABLE IF NOT EXISTS machine (one INTEGER PRIMARY KEY CHECK (one = 1), name TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS unsent (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE);
CREATE TRIGGER IF NOT EXISTS memories_began AFTER INSERT ON memories
WHEN EXISTS (SELECT 1 FROM machine) BEGIN
    DELETE FROM unsent WHERE key = new.key;
    INSERT INTO unsent (key) VALUES (new.key);
END;
CREATE TRIGGER IF NOT EXISTS memories_changed AFTER UPDATE ON memories
WHEN EXISTS (SELECT 1 FROM machine) BEGIN
    DELETE FROM unsent WHERE key = new.key;
    INSERT INTO unsent (key) VALUES (new.key);
END;

-- What a file of version 19 has besides.
DROP INDEX IF EXISTS errors_by_type;
DROP TABLE IF EXISTS stale_indexes;
DROP TABLE IF EXISTS lesson_sessions;
DROP TABLE IF EXISTS fix_sessions;
DROP TABLE IF EXISTS fixes;
DROP TABLE IF EXISTS sharing;
DROP TABLE IF EXISTS read_logs;
DROP TABLE IF EXISTS outbox;
