//! Every change to a playbook, with what it takes to explain and to undo it.

use jiff::Timestamp;
use rusqlite::{Row, Transaction};
use serde_json::Value;

use super::convert::{counted, int, json, time};
use super::database::{Memory, run};
use super::error::MemoryError;

/// What a row counts for against the cap beside its texts.
const ROW_BYTES: usize = 64;

/// One change that a job made to its playbook.
#[derive(Debug, Clone, Default, PartialEq)]
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
    pub(crate) project: String,
    /// The session.
    pub session: String,
    pub(crate) event: String,
    pub(crate) backend: String,
    /// When the job ended.
    pub time: Timestamp,
    /// The change.
    pub change: Change,
}

const SELECT: &str = "SELECT j.job, p.name, j.session, j.event, j.backend, j.finished,
         h.seq, h.kind, h.point, h.before, h.after, h.reason, h.into_point
     FROM history h JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project";

impl Memory {
    /// Returns the last `limit` changes of a project, newest first.
    pub fn history(&self, project: &str, limit: u64) -> Result<Vec<Entry>, MemoryError> {
        let sql = format!("{SELECT} WHERE p.name = ?1 ORDER BY h.id DESC LIMIT ?2");
        self.all("read history", &sql, (project, int(limit)), from_row)
    }

    /// Returns the changes of some key points and of what went into them, oldest first.
    pub fn story(&self, project: &str, points: &[&str]) -> Result<Vec<Entry>, MemoryError> {
        let points = Value::from(points).to_string();
        let sql = format!(
            "{SELECT} WHERE p.name = ?1
                 AND (h.point IN (SELECT value FROM json_each(?2))
                     OR h.into_point IN (SELECT value FROM json_each(?2)))
             ORDER BY h.id"
        );
        self.all("read history", &sql, (project, points), from_row)
    }

    /// Returns the changes of one job in the order they were made.
    pub fn changes_of(&self, job: &str) -> Result<Vec<Entry>, MemoryError> {
        let sql = format!("{SELECT} WHERE j.job = ?1 ORDER BY h.seq");
        self.all("read history", &sql, [job], from_row)
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        job: row.get(0)?,
        project: row.get(1)?,
        session: row.get(2)?,
        event: row.get(3)?,
        backend: row.get(4)?,
        time: time(row, 5)?,
        change: Change {
            seq: counted(row, 6)?,
            kind: row.get(7)?,
            point: row.get(8)?,
            before: json(row, 9)?,
            after: json(row, 10)?,
            reason: row.get(11)?,
            into: row.get(12)?,
        },
    })
}

/// Adds the changes of the job with number `job`; those that are there already stay.
pub(super) fn add(
    transaction: &Transaction<'_>,
    project: i64,
    job: i64,
    changes: &[Change],
) -> rusqlite::Result<()> {
    for change in changes {
        let [before, after] = [&change.before, &change.after].map(|state| {
            let state = state.as_ref();
            state.map(Value::to_string)
        });
        let texts = [&change.kind, &change.point, &change.reason].into_iter();
        let texts = texts.chain(&before).chain(&after);
        let bytes = ROW_BYTES + texts.map(String::len).sum::<usize>();
        run(
            transaction,
            "INSERT OR IGNORE INTO history
                 (project, job, seq, kind, point, before, after, reason, bytes, into_point)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
                project,
                job,
                int(change.seq),
                &change.kind,
                &change.point,
                &before,
                &after,
                &change.reason,
                int(bytes as u64),
                &change.into,
            ),
        )?;
    }
    Ok(())
}
