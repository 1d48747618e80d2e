//! What travels between memories: the outbox of what was learned or forgotten here, and the taking
//! in of what others did.

use jiff::Timestamp;
use rusqlite::Transaction;

use super::convert::{counted, int};
use super::database::{Durability, Memory, rows, run};
use super::error::MemoryError;
use super::memories::MemoryRow;
use super::{learning, projects};
use crate::reflect::learned::{Arrival, Learned, LearnedFrom, NoteDetail, SharedRecord};

/// Where a memory stands in the log that it is shared by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The name of this memory among the others.
    pub origin: String,
    /// The last position of the log that was read.
    pub position: u64,
}

/// What others learned or forgot, masked and screened.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrived {
    pub origin: String,
    pub record: SharedRecord,
}

impl Memory {
    /// Has what is learned and forgotten from now on wait in the outbox. `name` becomes the
    /// name of this memory, where it has none yet.
    pub fn share(&mut self, name: &str) -> Result<(), MemoryError> {
        if self.has("share memory", "SELECT 1 FROM sharing", ())? {
            return Ok(());
        }
        let sql = "INSERT OR IGNORE INTO sharing (one, origin) VALUES (1, ?1)";
        self.change("share memory", Durability::PowerCut, sql, [name])
            .map(drop)
    }

    /// Where this memory stands in a log; `None` while it is not shared.
    pub fn place(&self, log: &str) -> Result<Option<LogPosition>, MemoryError> {
        let sql = "SELECT origin, coalesce((SELECT position FROM read_logs WHERE log = ?1), 0)
             FROM sharing";
        self.one("share memory", sql, [log], |row| {
            Ok(LogPosition {
                origin: row.get(0)?,
                position: counted(row, 1)?,
            })
        })
    }

    /// The oldest records that wait to be sent, at most `limit`, with their numbers.
    pub(crate) fn outbox(&self, limit: u64) -> Result<Vec<(u64, SharedRecord)>, MemoryError> {
        let sql = "SELECT id, record FROM outbox ORDER BY id LIMIT ?1";
        let found = self.all("read outbox", sql, [int(limit)], |row| {
            Ok((counted(row, 0)?, row.get::<_, String>(1)?))
        })?;
        // What cannot be read is not ours; it leaves with the next that is sent.
        let read = |(id, text): (u64, String)| Some((id, serde_json::from_str(&text).ok()?));
        Ok(found.into_iter().filter_map(read).collect())
    }

    pub fn unsent(&self) -> Result<u64, MemoryError> {
        self.count("read outbox", "SELECT count(*) FROM outbox", ())
    }

    /// Takes out of the outbox what was sent, up to a number.
    pub fn sent(&mut self, last: u64) -> Result<(), MemoryError> {
        let sql = "DELETE FROM outbox WHERE id <= ?1";
        self.change("empty outbox", Durability::PowerCut, sql, [int(last)])
            .map(drop)
    }

    /// Takes in what arrived, each record once, and moves to the position of the last; all or
    /// nothing. Returns how many were new.
    pub fn take(
        &mut self,
        arrived: &[Arrived],
        (log, position): (&str, u64),
        now: Timestamp,
    ) -> Result<u64, MemoryError> {
        self.write(
            "take in what others learned",
            Durability::PowerCut,
            |transaction| {
                let mut new = 0;
                for arrived in arrived {
                    new += u64::from(take(transaction, arrived, now)?);
                }
                let sql = "INSERT OR REPLACE INTO read_logs (log, position) VALUES (?1, ?2)";
                run(transaction, sql, (log, int(position)))?;
                Ok(new)
            },
        )
    }

    /// Moves what others learned in a project from the name that they know it by to the one
    /// that it has here.
    pub(crate) fn rename_project(&mut self, shared: &str, own: &str) -> Result<(), MemoryError> {
        let sql = "SELECT 1 FROM projects WHERE name = ?1";
        if !self.has("rename project", sql, [shared])? {
            return Ok(());
        }
        self.write("rename project", Durability::PowerCut, |transaction| {
            let (from, to) = (
                projects::number(transaction, shared)?,
                projects::number(transaction, own)?,
            );
            learning::move_project(transaction, from, to)
        })
    }
}

fn take(
    transaction: &Transaction<'_>,
    Arrived { origin, record }: &Arrived,
    now: Timestamp,
) -> rusqlite::Result<bool> {
    let Some(item) = &record.what else {
        return take_back(transaction, origin, &record.ids);
    };
    let source = LearnedFrom {
        project: record.project.clone(),
        session: String::new(),
        // Of no session of this user: nothing recurs by it.
        root: String::new(),
        job: record.job.clone(),
        // A clock elsewhere that is ahead makes nothing younger than now.
        time: record.time.min(now),
    };
    let arrival = Arrival {
        origin: origin.clone(),
        ids: record.ids.clone(),
    };
    learning::take(transaction, (&source, record.seq), item, &arrival, now)
}

/// Forgets what its own origin has forgotten; what was learned here, too, stays.
fn take_back(
    transaction: &Transaction<'_>,
    origin: &str,
    ids: &[String],
) -> rusqlite::Result<bool> {
    let mut gone = 0;
    for id in ids {
        for project in rows(
            transaction,
            "DELETE FROM memories WHERE key = ?1 AND origin = ?2 RETURNING project",
            (id, origin),
            |row| row.get(0),
        )? {
            gone += 1;
            projects::mark_stale(transaction, Some(project))?;
        }
    }
    Ok(gone > 0)
}

/// What a job taught, as it travels.
pub fn records_of(source: &LearnedFrom, learned: &[Learned]) -> Vec<SharedRecord> {
    let numbered = learned.iter().enumerate();
    numbered
        .map(|(seq, item)| record_of(source, seq as u64, item))
        .collect()
}

fn record_of(source: &LearnedFrom, seq: u64, item: &Learned) -> SharedRecord {
    let rows = MemoryRow::of(&source.project, item, &[]).into_iter();
    let ids = rows.map(|row| row.id).collect();
    let mut what = item.clone();
    // The user's words and the state of a note stay on this machine.
    if let Learned::Lesson(lesson) = &mut what {
        lesson.note = NoteDetail::default();
    }
    SharedRecord {
        job: source.job.clone(),
        seq,
        project: source.project.clone(),
        time: source.time,
        ids,
        what: Some(what),
    }
}

/// Puts into the outbox what a job taught here, where the memory is shared.
pub(super) fn put_out(
    transaction: &Transaction<'_>,
    source: &LearnedFrom,
    seq: u64,
    item: &Learned,
) -> rusqlite::Result<()> {
    put(transaction, || record_of(source, seq, item))
}

/// Puts into the outbox what was forgotten here, where the memory is shared.
pub(super) fn put_out_forgotten(
    transaction: &Transaction<'_>,
    ids: Vec<String>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    put(transaction, || SharedRecord {
        job: format!("forgotten-{:016x}", rand::random::<u64>()),
        seq: 0,
        project: String::new(),
        time: now,
        ids,
        what: None,
    })
}

fn put(
    transaction: &Transaction<'_>,
    record: impl FnOnce() -> SharedRecord,
) -> rusqlite::Result<()> {
    let is_shared = transaction
        .prepare_cached("SELECT 1 FROM sharing")?
        .exists(())?;
    // Texts and numbers can always be written.
    if is_shared && let Ok(text) = serde_json::to_string(&record()) {
        let sql = "INSERT INTO outbox (record) VALUES (?1)";
        run(transaction, sql, [text])?;
    }
    Ok(())
}
