//! Which projects have learned something that their hooks do not know yet.
//!
//! Noted in the transaction that learns it, and taken back when the index is written: so a
//! write that failed, or never came, is made up for by the next worker.

use rusqlite::Transaction;

use super::database::{Durability, Memory};
use super::error::MemoryError;

impl Memory {
    /// Returns the projects whose index is not what the memory says.
    pub(crate) fn stale_indexes(&self) -> Result<Vec<String>, MemoryError> {
        self.read("read projects", |connection| {
            connection
                .prepare_cached(
                    "SELECT p.name FROM stale_indexes s JOIN projects p ON p.id = s.project
                     ORDER BY p.name",
                )?
                .query_map((), |row| row.get(0))?
                .collect()
        })
    }

    /// Notes that the index of `project` has been written.
    pub(crate) fn index_is_written(&mut self, project: &str) -> Result<(), MemoryError> {
        self.write("note index", Durability::Crash, |transaction| {
            transaction
                .prepare_cached(
                    "DELETE FROM stale_indexes
                     WHERE project = (SELECT id FROM projects WHERE name = ?1)",
                )?
                .execute([project])?;
            Ok(())
        })
    }
}

/// Notes that a project has learned something.
pub(super) fn mark(transaction: &Transaction<'_>, project: i64) -> rusqlite::Result<()> {
    transaction
        .prepare_cached("INSERT OR IGNORE INTO stale_indexes (project) VALUES (?1)")?
        .execute([project])?;
    Ok(())
}

/// Notes that any project may have lost something.
pub(super) fn mark_all(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute(
        "INSERT OR IGNORE INTO stale_indexes (project) SELECT DISTINCT project FROM memories",
        (),
    )?;
    Ok(())
}
