//! How much the memory holds.

use super::convert;
use super::database::Memory;
use super::error::MemoryError;

/// How much the memory holds, over all projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Known transcript records.
    pub records: u64,
    /// Finished jobs.
    pub jobs: u64,
    /// Changes in the history.
    pub changes: u64,
    /// What these changes count for against the history's cap.
    pub(crate) history_bytes: u64,
}

impl Memory {
    /// Counts what is there.
    pub fn totals(&self) -> Result<Totals, MemoryError> {
        self.read("count memory", |connection| {
            connection.query_row(
                "SELECT (SELECT coalesce(sum(records), 0) FROM projects),
                     (SELECT count(*) FROM jobs), (SELECT count(*) FROM history),
                     (SELECT history_bytes FROM totals)",
                (),
                |row| {
                    Ok(Totals {
                        records: convert::counted(row, 0)?,
                        jobs: convert::counted(row, 1)?,
                        changes: convert::counted(row, 2)?,
                        history_bytes: convert::counted(row, 3)?,
                    })
                },
            )
        })
    }
}
