//! Every change to a playbook, with what it takes to explain and to undo it.

use jiff::Timestamp;
use rusqlite::{Row, Transaction};
use serde_json::Value;

use super::convert;
use super::database::Memory;
use super::error::MemoryError;

/// How much the history keeps, over all projects.
const CAP: i64 = 50 << 20;
/// What a row counts for against the cap beside its texts.
const ROW_BYTES: usize = 64;

/// One change that a job made to its playbook.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its place among the job's changes; job and place together name it for ever.
    pub seq: u64,
    /// What was done: `add`, `helpful`, `merge`, …
    pub kind: String,
    /// The key point: `pat-001`.
    pub point: String,
    /// The point before it; `None` when there was none.
    pub before: Option<Value>,
    /// The point after it; `None` when there is none any more.
    pub after: Option<Value>,
    /// The key point that took this one in, for a merge.
    pub into: Option<String>,
    /// The model's rationale, or the rule's or the user's reason.
    pub reason: String,
}

/// A change as it is remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The job that made it.
    pub job: String,
    /// The project.
    pub project: String,
    /// The session.
    pub session: String,
    /// What caused the job: `SessionEnd`, `undo`, …
    pub event: String,
    /// What answered the job's prompts.
    pub backend: String,
    /// When the job ended.
    pub time: Timestamp,
    /// The change.
    pub change: Change,
}

/// Which changes of a project are wanted.
#[derive(Debug, Clone, Copy)]
pub struct HistoryQuery<'q> {
    /// The project.
    pub project: &'q str,
    /// Only those of this key point.
    pub point: Option<&'q str>,
    /// Only those of this job.
    pub job: Option<&'q str>,
    /// At most so many.
    pub limit: u64,
}

const SELECT: &str = "SELECT j.job, p.name, j.session, j.event, j.backend, j.finished,
         h.seq, h.kind, h.point, h.before, h.after, h.reason, h.into_point
     FROM history h JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project";

impl Memory {
    /// Returns changes of a project, newest first.
    pub fn history(&self, query: HistoryQuery<'_>) -> Result<Vec<Entry>, MemoryError> {
        self.read("read history", |connection| {
            let sql = format!(
                "{SELECT} WHERE p.name = ?1 AND (?2 IS NULL OR h.point = ?2)
                     AND (?3 IS NULL OR j.job = ?3)
                 ORDER BY h.id DESC LIMIT ?4"
            );
            let parameters = (
                query.project,
                query.point,
                query.job,
                convert::int(query.limit),
            );
            connection
                .prepare_cached(&sql)?
                .query_map(parameters, from_row)?
                .collect()
        })
    }

    /// Returns the whole story of a key point, oldest first; `points` are its id and those
    /// that became its aliases.
    pub fn story(&self, project: &str, points: &[&str]) -> Result<Vec<Entry>, MemoryError> {
        self.read("read history", |connection| {
            let points = Value::from(points).to_string();
            connection
                .prepare_cached(&format!(
                    "{SELECT} WHERE p.name = ?1 AND h.point IN (SELECT value FROM json_each(?2))
                     ORDER BY h.id"
                ))?
                .query_map((project, points), from_row)?
                .collect()
        })
    }

    /// Forgets the history of a project, or what is older than `before`, also on disk;
    /// returns how many changes. Jobs and cursors stay.
    pub fn forget_history(
        &mut self,
        project: &str,
        before: Option<Timestamp>,
    ) -> Result<u64, MemoryError> {
        self.erase("forget history", |transaction| {
            let gone = transaction.execute(
                "DELETE FROM history
                 WHERE project = (SELECT id FROM projects WHERE name = ?1)
                     AND (?2 IS NULL OR job IN (SELECT id FROM jobs WHERE finished < ?2))",
                (project, before.map(convert::millis)),
            )?;
            Ok(gone as u64)
        })
    }

    /// Returns the changes of one job in the order they were made.
    pub fn changes_of(&self, job: &str) -> Result<Vec<Entry>, MemoryError> {
        self.read("read history", |connection| {
            connection
                .prepare_cached(&format!("{SELECT} WHERE j.job = ?1 ORDER BY h.seq"))?
                .query_map([job], from_row)?
                .collect()
        })
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        job: row.get(0)?,
        project: row.get(1)?,
        session: row.get(2)?,
        event: row.get(3)?,
        backend: row.get(4)?,
        time: convert::time(row, 5)?,
        change: Change {
            seq: convert::counted(row, 6)?,
            kind: row.get(7)?,
            point: row.get(8)?,
            before: convert::json(row, 9)?,
            after: convert::json(row, 10)?,
            reason: row.get(11)?,
            into: row.get(12)?,
        },
    })
}

/// Lets the oldest jobs' changes go when the history has grown over its cap.
pub(super) fn keep_within_cap(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    keep_within(transaction, CAP)
}

fn keep_within(transaction: &Transaction<'_>, cap: i64) -> rusqlite::Result<()> {
    let total: i64 =
        transaction.query_row("SELECT history_bytes FROM totals", (), |row| row.get(0))?;
    if total <= cap {
        return Ok(());
    }
    // A tenth at once, and a job's changes together: half of them could not be undone.
    let mut left = total;
    let mut last_job = None;
    let mut oldest = transaction.prepare("SELECT job, bytes FROM history ORDER BY id")?;
    let mut rows = oldest.query(())?;
    while left > cap - cap / 10
        && let Some(row) = rows.next()?
    {
        last_job = Some(row.get::<_, i64>(0)?);
        left -= row.get::<_, i64>(1)?;
    }
    transaction.execute(
        "DELETE FROM history WHERE id <= (SELECT max(id) FROM history WHERE job = ?1)",
        [last_job],
    )?;
    Ok(())
}

/// Adds the changes of the job with number `job`; those that are there already stay.
pub(super) fn add(
    transaction: &Transaction<'_>,
    project: i64,
    job: i64,
    changes: &[Change],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT OR IGNORE INTO history
             (project, job, seq, kind, point, before, after, reason, bytes, into_point)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?;
    for change in changes {
        let before = change.before.as_ref().map(Value::to_string);
        let after = change.after.as_ref().map(Value::to_string);
        let bytes = ROW_BYTES
            + change.kind.len()
            + change.point.len()
            + change.reason.len()
            + before.as_ref().map_or(0, String::len)
            + after.as_ref().map_or(0, String::len);
        insert.execute((
            project,
            job,
            convert::int(change.seq),
            &change.kind,
            &change.point,
            before,
            after,
            &change.reason,
            convert::int(bytes as u64),
            &change.into,
        ))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::database::Durability;
    use super::super::{JobCounts, Outcome, Record};
    use super::*;

    #[test]
    fn the_oldest_jobs_leave_whole_when_the_history_is_full() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(&dir.path().join("memory.db")).unwrap();
        for n in 0..10 {
            let mut record = Record::new(super::super::Job {
                id: format!("job-{n}"),
                project: "p".to_owned(),
                session: String::new(),
                transcript: String::new(),
                event: String::new(),
                backend: String::new(),
                outcome: Outcome::Applied,
                reason: String::new(),
                counts: JobCounts::default(),
                finished: Timestamp::UNIX_EPOCH,
            });
            record.changes = (0..2).map(|seq| change(seq, &"x".repeat(1000))).collect();
            memory.record(&record).unwrap();
        }
        memory
            .write("cap", Durability::Crash, |t| keep_within(t, 16_000))
            .unwrap();
        let left: Vec<usize> = (0..10)
            .map(|n| memory.changes_of(&format!("job-{n}")).unwrap().len())
            .collect();
        assert_eq!(left, [0, 0, 0, 0, 2, 2, 2, 2, 2, 2]);
        let bytes = memory.totals().unwrap().history_bytes;
        assert!(bytes < 14_400, "{bytes}");
        assert_eq!(
            memory.last_jobs(None, 20).unwrap().len(),
            10,
            "the jobs stay"
        );
    }

    fn change(seq: u64, reason: &str) -> Change {
        Change {
            seq,
            kind: "helpful".to_owned(),
            point: "pat-001".to_owned(),
            before: None,
            after: None,
            into: None,
            reason: reason.to_owned(),
        }
    }
}
