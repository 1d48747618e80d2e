//! Where the tokens went.

use jiff::Timestamp;
use rusqlite::Transaction;

use super::convert;
use super::database::{Durability, Memory};
use super::error::MemoryError;
use super::record;

/// A step of a job that asked a model, with all its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The job.
    pub job: String,
    /// Its place among the job's calls; job and place together name it for ever.
    pub seq: u64,
    /// The project.
    pub project: String,
    /// When it ended.
    pub time: Timestamp,
    /// What answered: `anthropic`, `claude-cli`, …
    pub backend: String,
    /// The model that answered.
    pub model: String,
    /// Requests sent, retries included.
    pub attempts: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens got.
    pub output_tokens: u64,
}

impl Memory {
    /// Notes a call as soon as it has ended, before its job does.
    ///
    /// Not synced: the job's [`record`](super::Record) brings it once more.
    pub fn add_call(&mut self, call: &Call) -> Result<(), MemoryError> {
        self.write("record call", Durability::Crash, |transaction| {
            add(transaction, std::slice::from_ref(call))
        })
    }
}

/// Adds calls; those that are there already stay.
pub(super) fn add(transaction: &Transaction<'_>, calls: &[Call]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR IGNORE INTO calls
             (job, seq, project, time, backend, model, attempts, input, output)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    )?;
    for call in calls {
        insert.execute((
            &call.job,
            convert::int(call.seq),
            record::project(transaction, &call.project)?,
            convert::millis(call.time),
            &call.backend,
            &call.model,
            convert::int(call.attempts),
            convert::int(call.input_tokens),
            convert::int(call.output_tokens),
        ))?;
    }
    Ok(())
}
