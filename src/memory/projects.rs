//! What is kept of a project beside its rows: its number, the highest number ever given to a
//! key point by section slug, and whether its hooks' index says what the memory says.
//!
//! That an index is stale is noted in the transaction that learns something, and taken back
//! when it is written: so a write that failed, or never came, is made up for by the next worker.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::Transaction;

use super::convert::{counted, int, millis, time};
use super::database::{Durability, Memory, run};
use super::error::MemoryError;

impl Memory {
    /// Returns the projects of which something was learned, by name.
    pub(crate) fn projects(&self) -> Result<Vec<String>, MemoryError> {
        let sql = "SELECT name FROM projects p
             WHERE EXISTS (SELECT 1 FROM memories WHERE project = p.id) ORDER BY name";
        self.all("list projects", sql, (), |row| row.get(0))
    }

    /// Lists all projects that a job was ever of.
    pub(crate) fn all_projects(&self) -> Result<Vec<String>, MemoryError> {
        let sql = "SELECT name FROM projects ORDER BY name";
        self.all("list projects", sql, (), |row| row.get(0))
    }

    /// Returns by section slug (`pat`) the highest number ever given in `project`.
    pub fn highest_numbers(&self, project: &str) -> Result<BTreeMap<String, u64>, MemoryError> {
        let sql = "SELECT n.slug, n.highest FROM numbers n
             JOIN projects p ON p.id = n.project WHERE p.name = ?1";
        let number = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, counted(row, 1)?));
        let numbers = self.all("read highest numbers", sql, [project], number)?;
        Ok(numbers.into_iter().collect())
    }

    /// Notes that all that sessions said until a time has counted, by a memory that is gone, and
    /// which sessions are `open` meanwhile; tells whether that is news.
    pub(crate) fn begin_anew(
        &mut self,
        project: &str,
        until: Timestamp,
        open: &[String],
        now: Timestamp,
    ) -> Result<bool, MemoryError> {
        let known = "SELECT 1 FROM projects WHERE name = ?1 AND lost_until >= ?2";
        if self.has("read projects", known, (project, millis(until)))? {
            return Ok(false);
        }
        let sql = "UPDATE projects SET lost_until = ?2, begun_anew = ?3, open_then = ?4
             WHERE id = ?1";
        let open = serde_json::json!(open).to_string();
        self.write("note lost memory", Durability::PowerCut, |transaction| {
            let project = number(transaction, project)?;
            let values = (project, millis(until), millis(now), &open);
            Ok(run(transaction, sql, values)? > 0)
        })
    }

    /// Tells whether a session was open when the memory of its project was found to be gone.
    pub(crate) fn was_open_then(&self, project: &str, session: &str) -> Result<bool, MemoryError> {
        let sql = "SELECT 1 FROM projects, json_each(open_then) WHERE name = ?1 AND value = ?2";
        self.has("read projects", sql, (project, session))
    }

    /// Returns the projects that were found so since a time, and until when all has counted.
    pub(crate) fn begun_anew(
        &self,
        since: Timestamp,
    ) -> Result<Vec<(String, Timestamp)>, MemoryError> {
        let sql = "SELECT name, lost_until FROM projects WHERE begun_anew > ?1 ORDER BY name";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, time(row, 1)?));
        self.all("read projects", sql, [millis(since)], row)
    }

    /// Returns the projects whose index is not what the memory says.
    pub(crate) fn stale_indexes(&self) -> Result<Vec<String>, MemoryError> {
        let sql = "SELECT p.name FROM stale_indexes s JOIN projects p ON p.id = s.project
             ORDER BY p.name";
        self.all("read projects", sql, (), |row| row.get(0))
    }

    pub(crate) fn index_is_written(&mut self, project: &str) -> Result<(), MemoryError> {
        let sql = "DELETE FROM stale_indexes
             WHERE project = (SELECT id FROM projects WHERE name = ?1)";
        self.change("note index", Durability::Crash, sql, [project])
            .map(drop)
    }
}

/// Returns the number of the project `name`, giving it one when it has none.
pub(super) fn number(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<i64> {
    run(
        transaction,
        "INSERT OR IGNORE INTO projects (name) VALUES (?1)",
        [name],
    )?;
    transaction
        .prepare_cached("SELECT id FROM projects WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
}

/// Raises the highest number of each slug; a lower one changes nothing.
pub(super) fn raise(
    transaction: &Transaction<'_>,
    project: i64,
    highest: &BTreeMap<String, u64>,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO numbers (project, slug, highest) VALUES (?1, ?2, ?3)
         ON CONFLICT (project, slug) DO UPDATE SET highest = max(highest, excluded.highest)";
    for (slug, number) in highest {
        run(transaction, sql, (project, slug, int(*number)))?;
    }
    Ok(())
}

/// Notes that a project has learned something; without one, that any may have lost something.
pub(super) fn mark_stale(
    transaction: &Transaction<'_>,
    project: Option<i64>,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO stale_indexes (project)
         SELECT id FROM projects WHERE coalesce(id = ?1,
             EXISTS (SELECT 1 FROM memories WHERE project = projects.id))";
    run(transaction, sql, [project]).map(drop)
}
