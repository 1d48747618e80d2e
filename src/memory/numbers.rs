//! The highest number ever given to a key point, per project and section slug.

use std::collections::BTreeMap;

use rusqlite::Transaction;

use super::convert;
use super::database::Memory;
use super::error::MemoryError;

impl Memory {
    /// Returns by section slug (`pat`) the highest number ever given in `project`.
    pub fn highest_numbers(&self, project: &str) -> Result<BTreeMap<String, u64>, MemoryError> {
        self.read("read highest numbers", |connection| {
            connection
                .prepare_cached(
                    "SELECT n.slug, n.highest FROM numbers n
                     JOIN projects p ON p.id = n.project WHERE p.name = ?1",
                )?
                .query_map([project], |row| {
                    Ok((row.get(0)?, convert::counted(row, 1)?))
                })?
                .collect()
        })
    }
}

/// Raises the highest number of each slug; a lower one changes nothing.
pub(super) fn raise(
    transaction: &Transaction<'_>,
    project: i64,
    highest: &BTreeMap<String, u64>,
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached(
        "INSERT INTO numbers (project, slug, highest) VALUES (?1, ?2, ?3)
         ON CONFLICT (project, slug) DO UPDATE SET highest = max(highest, excluded.highest)",
    )?;
    for (slug, number) in highest {
        statement.execute((project, slug, convert::int(*number)))?;
    }
    Ok(())
}
