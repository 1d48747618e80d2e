//! Looking up what is known by its name rather than by what it says.

use rusqlite::{Connection, OptionalExtension};

use super::convert;
use super::database::Memory;
use super::error::MemoryError;
use super::learning::{error_id, fix_id};
use super::remembered::{self, Remembered};
use super::signature::Signature;

/// The memory of this id; for the id of a fix the error it helped against.
pub(super) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<Remembered>> {
    let columns = remembered::COLUMNS;
    connection
        .prepare_cached(&format!(
            "SELECT {columns} FROM memories m JOIN projects p ON p.id = m.project
             WHERE m.key = ?1 OR m.id = (SELECT error FROM fixes WHERE key = ?1)"
        ))?
        .query_row([id], |row| remembered::read(connection, row, 0.0))
        .optional()
}

impl Memory {
    /// Returns in how many sessions but `session` a fix of an error was found.
    pub(crate) fn other_sessions(
        &self,
        project: &str,
        error: Signature,
        fix: &str,
        session: &str,
    ) -> Result<u64, MemoryError> {
        let key = fix_id(project, &error_id(project, error), fix);
        self.read("read fixes", |connection| {
            connection
                .prepare_cached(
                    "SELECT count(*) FROM fix_sessions s JOIN fixes f ON f.id = s.fix
                     WHERE f.key = ?1 AND s.session <> ?2",
                )?
                .query_row((key, session), |row| convert::counted(row, 0))
        })
    }
}

/// The projects of which something was learned, by name.
pub(super) fn projects(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached(
            "SELECT name FROM projects p
             WHERE EXISTS (SELECT 1 FROM memories WHERE project = p.id) ORDER BY name",
        )?
        .query_map((), |row| row.get(0))?
        .collect()
}

/// What has met errors: programs with their subcommands, and tools.
pub(super) fn error_types(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached("SELECT DISTINCT error_type FROM errors ORDER BY error_type")?
        .query_map((), |row| row.get(0))?
        .collect()
}
