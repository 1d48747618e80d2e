//! The tables of the database: one script, which adds what is missing and changes nothing else.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::database::full;
use super::error::MemoryError;
use crate::fault;

/// Marks a database as ours (`PRAGMA application_id`): "plbk".
const APPLICATION_ID: i64 = 0x706c_626b;
const SCHEMA: &str = include_str!("../../data/schema.sql");
/// The version (`PRAGMA user_version`) of a file in which [`SCHEMA`] was run.
const VERSION: i64 = 23;
/// The oldest version that [`SCHEMA`] makes a file of [`VERSION`].
const OLDEST: i64 = 19;

/// Returns why a file is not ours to use, if so. The file is not changed.
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
    let (path, known) = (path.to_owned(), VERSION);
    Ok(match id {
        APPLICATION_ID if found > known => Some(MemoryError::Newer { path, found, known }),
        APPLICATION_ID if found < OLDEST => Some(MemoryError::Older { path, found, known }),
        APPLICATION_ID => None,
        0 if tables == 0 => None,
        _ => Some(MemoryError::Foreign { path }),
    })
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Makes the tables that are missing, all or nothing.
///
/// The version is read again inside the transaction: another process may have been first.
pub(super) fn complete(connection: &mut Connection) -> rusqlite::Result<()> {
    if version(connection)? >= VERSION {
        return Ok(());
    }
    fault::write("schema: begin").map_err(full)?;
    let transaction = Transaction::new(connection, TransactionBehavior::Immediate)?;
    if version(&transaction)? < VERSION {
        transaction.execute_batch(SCHEMA)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    fault::write("schema: commit").map_err(full)?;
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const OF_VERSION_19: &str = include_str!("version-19.sql");

    /// What a database is made of, by name; without blanks and comments.
    fn parts(connection: &Connection) -> Vec<(String, String)> {
        let sql = "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name";
        let mut parts = connection.prepare(sql).unwrap();
        let parts = parts.query_map((), |row| Ok((row.get(0)?, row.get(1)?)));
        let plain = |(name, sql): (String, String)| {
            let lines = sql.lines().map(|line| line.split("--").next().unwrap());
            let words = lines.flat_map(str::split_whitespace);
            (name, words.collect::<String>())
        };
        parts.unwrap().map(|part| plain(part.unwrap())).collect()
    }

    #[rstest]
    #[case::of_version_19(19)]
    #[case::of_version_20(20)]
    fn an_older_file_becomes_what_a_new_one_is_and_keeps_its_rows(#[case] found: i64) {
        let mut fresh = Connection::open_in_memory().unwrap();
        complete(&mut fresh).unwrap();
        let mut older = Connection::open_in_memory().unwrap();
        older.execute_batch(OF_VERSION_19).unwrap();
        older
            .execute_batch(
                "UPDATE totals SET history_bytes = 7; INSERT INTO projects (name) VALUES ('/p')",
            )
            .unwrap();
        older.pragma_update(None, "user_version", found).unwrap();
        complete(&mut older).unwrap();
        assert_eq!(parts(&older), parts(&fresh));
        assert_eq!(version(&older).unwrap(), VERSION);
        let kept = older.query_row(
            "SELECT name, history_bytes FROM projects, totals",
            (),
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)),
        );
        assert_eq!(kept.unwrap(), ("/p".to_owned(), 7));
    }

    #[test]
    fn a_file_of_version_22_gets_the_table_that_came_later() {
        let mut fresh = Connection::open_in_memory().unwrap();
        complete(&mut fresh).unwrap();
        let mut older = Connection::open_in_memory().unwrap();
        complete(&mut older).unwrap();
        older.execute_batch("DROP TABLE note_points").unwrap();
        older.pragma_update(None, "user_version", 22).unwrap();
        complete(&mut older).unwrap();
        assert_eq!(parts(&older), parts(&fresh));
    }
}
