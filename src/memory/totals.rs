//! How much the memory holds.

use super::convert;
use super::database::Memory;
use super::error::MemoryError;

/// How much the memory holds, over all projects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Totals {
    /// Projects with anything at all.
    pub projects: u64,
    /// Transcripts with a place reached.
    pub cursors: u64,
    /// Known transcript records.
    pub records: u64,
    /// Finished jobs.
    pub jobs: u64,
    /// Changes in the history.
    pub changes: u64,
    /// What these changes count for against the history's cap.
    pub history_bytes: u64,
    /// Model calls in the ledger.
    pub calls: u64,
}

impl Memory {
    /// Counts what is there.
    pub fn totals(&self) -> Result<Totals, MemoryError> {
        self.read("count memory", |connection| {
            connection.query_row(
                "SELECT (SELECT count(*) FROM projects), (SELECT count(*) FROM cursors),
                     (SELECT coalesce(sum(records), 0) FROM projects),
                     (SELECT count(*) FROM jobs), (SELECT count(*) FROM history),
                     (SELECT history_bytes FROM totals), (SELECT count(*) FROM calls)",
                (),
                |row| {
                    Ok(Totals {
                        projects: convert::counted(row, 0)?,
                        cursors: convert::counted(row, 1)?,
                        records: convert::counted(row, 2)?,
                        jobs: convert::counted(row, 3)?,
                        changes: convert::counted(row, 4)?,
                        history_bytes: convert::counted(row, 5)?,
                        calls: convert::counted(row, 6)?,
                    })
                },
            )
        })
    }
}
