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

/// Each says what it is for at its head.
const MIGRATIONS: &[&str] = &[
    include_str!("../../data/schema/01_claims_and_history.sql"),
    include_str!("../../data/schema/02_learned.sql"),
    include_str!("../../data/schema/03_confidence.sql"),
    include_str!("../../data/schema/04_quarantine.sql"),
    include_str!("../../data/schema/05_stale_indexes.sql"),
    include_str!("../../data/schema/06_purses.sql"),
    include_str!("../../data/schema/07_endings.sql"),
    include_str!("../../data/schema/08_error_categories.sql"),
    include_str!("../../data/schema/09_screened_anew.sql"),
    include_str!("../../data/schema/10_fix_sessions.sql"),
    include_str!("../../data/schema/11_lost.sql"),
    include_str!("../../data/schema/12_corrections.sql"),
    include_str!("../../data/schema/13_open_when_lost.sql"),
    include_str!("../../data/schema/14_dropped.sql"),
    include_str!("../../data/schema/15_point_sessions.sql"),
    include_str!("../../data/schema/16_lesson_sessions.sql"),
    include_str!("../../data/schema/17_sharing.sql"),
    include_str!("../../data/schema/18_points_needed.sql"),
    include_str!("../../data/schema/19_reflected_roots.sql"),
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
