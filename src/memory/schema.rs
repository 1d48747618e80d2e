//! The tables, as a list of migrations that only ever grows at its end.
//!
//! `user_version` counts the migrations a file has had. One that is released is never
//! edited: a change is a new one.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::convert::int;
use super::database::full;
use super::error::MemoryError;
use crate::fault;

/// Marks a database as ours (`PRAGMA application_id`): "plbk".
const APPLICATION_ID: i64 = 0x706c_626b;

const MIGRATIONS: &[&str] = &[
    CLAIMS_AND_HISTORY,
    LEARNED,
    CONFIDENCE,
    QUARANTINE,
    STALE_INDEXES,
    PURSES,
    ENDINGS,
    ERROR_CATEGORIES,
    SCREENED_ANEW,
    FIX_SESSIONS,
];

fn known_version() -> i64 {
    int(MIGRATIONS.len() as u64)
}

/// Looks at a file without changing it: why it is not ours to use, if so.
pub(super) fn refusal(
    connection: &mut Connection,
    path: &Path,
) -> rusqlite::Result<Option<MemoryError>> {
    // One snapshot: another process may be making the file right now.
    let snapshot = connection.transaction()?;
    let found = version(&snapshot)?;
    let id: i64 = snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 =
        snapshot.query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?;
    let (path, known) = (path.to_owned(), known_version());
    Ok(match id {
        APPLICATION_ID if found > known => Some(MemoryError::Newer { path, found, known }),
        APPLICATION_ID => None,
        0 if tables == 0 => None,
        _ => Some(MemoryError::Foreign { path }),
    })
}

/// Reads how many migrations the file has had.
fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings the file to the newest schema, all or nothing.
///
/// The version is read again inside the transaction: another process may have been first.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= known_version() {
        return Ok(());
    }
    fault::write("migrate: begin").map_err(full)?;
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    if done < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", known_version())?;
    }
    fault::write("migrate: commit").map_err(full)?;
    transaction.commit()
}

/// Cursors, known records, jobs with their changes, numbers given, and the ledger.
///
/// Times are milliseconds since 1970; hashes are 64 bits stored as signed.
const CLAIMS_AND_HISTORY: &str = "
CREATE TABLE projects (
    id         INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    records    INTEGER NOT NULL DEFAULT 0,  -- rows of `records`
    left_until INTEGER                      -- time of the newest record that had to leave
);
CREATE TABLE cursors (
    transcript   TEXT NOT NULL PRIMARY KEY,
    project      INTEGER NOT NULL REFERENCES projects,
    generation   INTEGER NOT NULL,
    reached      INTEGER NOT NULL,
    first_record INTEGER,
    updated      INTEGER NOT NULL
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
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    project INTEGER NOT NULL REFERENCES projects,
    job     INTEGER NOT NULL REFERENCES jobs,
    seq     INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    point   TEXT NOT NULL,
    before  TEXT,
    after   TEXT,
    into_point TEXT,                        -- the point that took this one in
    reason  TEXT NOT NULL,
    bytes   INTEGER NOT NULL,               -- what the row counts for against the cap
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
";

/// What was learned: reflections, strategies, lessons and errors, with one index of words.
///
/// `memories` has what all kinds have; the index keeps words only, since the texts stand
/// in the tables. Its column `scope` holds the project and the kind as words, so that a
/// search looks at no other's rows. `learned` names every step that was counted.
const LEARNED: &str = "
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
    memory      INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    task        TEXT NOT NULL,
    event_ids   TEXT NOT NULL,
    event_count INTEGER NOT NULL,
    related     TEXT NOT NULL
);
CREATE TABLE lessons (
    memory       INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    task_type    TEXT NOT NULL,
    mistake      TEXT NOT NULL,
    correction   TEXT NOT NULL,
    context_hash TEXT NOT NULL
);
CREATE TABLE errors (
    memory     INTEGER PRIMARY KEY REFERENCES memories ON DELETE CASCADE,
    error_type TEXT NOT NULL,
    example    TEXT NOT NULL
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
";

/// How sure the last reflection on each transcript was: a reason to look again.
const CONFIDENCE: &str = "ALTER TABLE cursors ADD COLUMN confidence REAL;";

/// What paid a call: 0 the budgets of the day, 1 what was agreed for `playbook bootstrap`.
const PURSES: &str = "ALTER TABLE calls ADD COLUMN purse INTEGER NOT NULL DEFAULT 0;";

/// What is held back until the user has looked at it.
const QUARANTINE: &str = "
CREATE TABLE quarantine (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    project    INTEGER NOT NULL REFERENCES projects,
    key        TEXT NOT NULL,
    job        TEXT NOT NULL,               -- empty: it stood in the file
    what       TEXT NOT NULL,
    text       TEXT NOT NULL,
    reasons    TEXT NOT NULL,
    since      INTEGER NOT NULL,
    is_waiting INTEGER NOT NULL,
    UNIQUE (project, key)
);
";

/// The projects whose hooks' index is to be written; all that have learned something before
/// there was such a list.
const STALE_INDEXES: &str = "
CREATE TABLE stale_indexes (project INTEGER PRIMARY KEY REFERENCES projects);
INSERT INTO stale_indexes SELECT DISTINCT project FROM memories;
";

/// How the session of an evaluation ended; null in older rows.
const ENDINGS: &str = "ALTER TABLE evaluations ADD COLUMN ended TEXT;";

/// The category of an error was the tool's name, which stands in `errors`; the next time it
/// strikes it gets its own.
const ERROR_CATEGORIES: &str = "UPDATE memories SET category = NULL WHERE kind = 'error';";

/// What the screen of today says of what earlier rules held back: `held`, `passes`, or `offered`
/// once the user has seen that it passes; null where it was not asked yet.
const SCREENED_ANEW: &str = "ALTER TABLE quarantine ADD COLUMN screened TEXT;";

/// The sessions that each fix was found in. Fixes from before have none: they were found by
/// other rules, and are never told.
const FIX_SESSIONS: &str = "
CREATE TABLE fix_sessions (
    fix     INTEGER NOT NULL REFERENCES fixes ON DELETE CASCADE,
    session TEXT NOT NULL,
    PRIMARY KEY (fix, session)
) WITHOUT ROWID;
INSERT OR IGNORE INTO stale_indexes SELECT DISTINCT project FROM memories;
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_every_older_version_is_brought_up_to_date_and_keeps_its_rows() {
        for older in 1..MIGRATIONS.len() {
            let mut connection = Connection::open_in_memory().unwrap();
            for migration in &MIGRATIONS[..older] {
                connection.execute_batch(migration).unwrap();
            }
            connection
                .pragma_update(None, "application_id", APPLICATION_ID)
                .unwrap();
            connection
                .pragma_update(None, "user_version", i64::try_from(older).unwrap())
                .unwrap();
            connection
                .execute("INSERT INTO projects (name) VALUES ('/p')", ())
                .unwrap();
            migrate(&mut connection).unwrap();
            assert_eq!(version(&connection).unwrap(), known_version());
            let name: String = connection
                .query_row("SELECT name FROM projects", (), |row| row.get(0))
                .unwrap();
            assert_eq!(name, "/p");
            connection
                .prepare("SELECT screened FROM quarantine")
                .unwrap();
        }
    }
}
