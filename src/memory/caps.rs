//! What leaves so that the memory stays within its caps; cursors and numbers never do.

use jiff::{SignedDuration, Timestamp};
use rusqlite::Transaction;

use super::convert;
use super::database::{Durability, Memory};
use super::error::MemoryError;

/// The history may take so many bytes (issue "Exactly once": 50 MiB).
const HISTORY_BYTES: u64 = 50 * 1024 * 1024;
/// So many jobs without a change in the history are kept.
const JOBS: u64 = 100_000;
/// The ledger goes back so far.
const LEDGER: SignedDuration = SignedDuration::from_hours(400 * 24);
/// A step that was counted is known by its job and place so long. A job waits at most 30
/// days and is recorded at its end, so a repetition comes far earlier.
const STEPS: SignedDuration = SignedDuration::from_hours(180 * 24);

/// How much had to leave, the oldest first; to be told to the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trimmed {
    /// Changes that left the history.
    pub changes: u64,
    /// Jobs of which nothing is known any more.
    pub jobs: u64,
    /// Model calls that left the ledger.
    pub calls: u64,
}

impl Memory {
    /// Keeps history, jobs and ledger within their caps.
    ///
    /// Cheap while they are: a worker calls it when it is otherwise done.
    pub fn trim(&mut self, now: Timestamp) -> Result<Trimmed, MemoryError> {
        self.trim_to(now, HISTORY_BYTES, JOBS)
    }

    fn trim_to(&mut self, now: Timestamp, bytes: u64, jobs: u64) -> Result<Trimmed, MemoryError> {
        self.write("trim memory", Durability::Crash, |transaction| {
            let before = |age| now.checked_sub(age).map_or(i64::MIN, convert::millis);
            let calls =
                transaction.execute("DELETE FROM calls WHERE time < ?1", [before(LEDGER)])?;
            transaction.execute("DELETE FROM learned WHERE time < ?1", [before(STEPS)])?;
            Ok(Trimmed {
                changes: trim_history(transaction, bytes)?,
                jobs: trim_jobs(transaction, jobs)?,
                calls: calls as u64,
            })
        })
    }
}

/// Lets the oldest changes go when all take more than `cap`, a tenth at once.
fn trim_history(transaction: &Transaction<'_>, cap: u64) -> rusqlite::Result<u64> {
    let bytes: i64 =
        transaction.query_row("SELECT history_bytes FROM totals", (), |row| row.get(0))?;
    if convert::count(bytes) <= cap {
        return Ok(0);
    }
    let gone = transaction.execute(
        "DELETE FROM history WHERE id <= (
             SELECT max(id) FROM (
                 SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS newer FROM history
             ) WHERE newer > ?1)",
        [convert::int(cap - cap / 10)],
    )?;
    Ok(gone as u64)
}

/// Lets the oldest jobs without a change go when there are more than `cap` of them.
fn trim_jobs(transaction: &Transaction<'_>, cap: u64) -> rusqlite::Result<u64> {
    let gone = transaction.execute(
        "DELETE FROM jobs WHERE id <= (SELECT id FROM jobs ORDER BY id DESC LIMIT 1 OFFSET ?1)
             AND NOT EXISTS (SELECT 1 FROM history h WHERE h.job = jobs.id)",
        [convert::int(cap)],
    )?;
    Ok(gone as u64)
}
