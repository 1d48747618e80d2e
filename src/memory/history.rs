//! Every change to a playbook, with what it takes to explain and to undo it.

use jiff::Timestamp;
use rusqlite::{Row, Transaction};
use serde_json::Value;

use super::convert::{self, counted, int, json, time};
use super::database::{Memory, run};
use super::error::MemoryError;
use crate::playbook::{ChangeKind, PointChange};

/// What a row counts for against the cap beside its texts.
const ROW_BYTES: usize = 64;

/// A change as it is remembered.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub job: String,
    pub(crate) project: String,
    pub session: String,
    pub(crate) event: String,
    pub(crate) backend: String,
    pub time: Timestamp,
    /// Its place among the job's changes; job and place together name it for ever.
    pub seq: u64,
    pub change: PointChange,
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
        seq: counted(row, 6)?,
        change: PointChange {
            kind: convert::word(row, 7, ChangeKind::from_word)?,
            id: row.get(8)?,
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
    changes: &[PointChange],
) -> rusqlite::Result<()> {
    for (seq, change) in (0..).zip(changes) {
        let [before, after] = [&change.before, &change.after].map(|state| {
            // Texts and numbers can always be written.
            state
                .as_ref()
                .and_then(|state| serde_json::to_string(state).ok())
        });
        let texts = [change.kind.word(), &change.id, &change.reason].into_iter();
        let states = before.iter().chain(&after).map(String::as_str);
        let bytes = ROW_BYTES + texts.chain(states).map(str::len).sum::<usize>();
        run(
            transaction,
            "INSERT OR IGNORE INTO history
                 (project, job, seq, kind, point, before, after, reason, bytes, into_point)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
                project,
                job,
                int(seq),
                change.kind.word(),
                &change.id,
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
