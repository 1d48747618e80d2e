//! The rows by which every record counts once: numbers of projects and of key points, claimed ends
//! of transcripts, and counted records.
//!
//! Forks and resumed sessions copy records into other files. A project keeps at most [`CAP`]
//! hashes; beyond that the oldest are dropped. A record not newer than the newest dropped one
//! counts as a copy, so a dropped record can never count again.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::{Row, Statement, Transaction};

use super::database::{Durability, Memory, MemoryError, counted, int, millis, run, time};

/// The end of the claimed part of a transcript. Cursors only move forward: by `generation` first,
/// then by `end`. Jobs can therefore be recorded twice or in any order, also around a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptCursor {
    pub transcript: String,
    /// The number of times that the transcript shrank or was replaced, as the claiming code found.
    pub generation: u64,
    /// The highest end claimed in this generation, in bytes.
    pub end: u64,
    /// The hash of the transcript's first record, which detects a replaced file.
    pub first_record: Option<u64>,
    pub updated: Timestamp,
}

const CAP: u64 = 2_000_000;

/// The number of hashes that can be read in order at the cost of one lookup.
const LOOKUP_COST: u64 = 20;

const ACTION: &str = "read known records";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordMark {
    pub hash: u64,
    /// The record's own timestamp. A record without one counts as of the time it was recorded and
    /// is recognised by its hash alone.
    pub time: Option<Timestamp>,
}

impl RecordMark {
    fn is_until(self, floor: Option<Timestamp>) -> bool {
        floor.is_some_and(|floor| self.time.is_some_and(|time| time <= floor))
    }
}

/// The known records of one project, for millions of lookups in one snapshot. The first ones query
/// the database; after many, the whole set is read (16 MB at its cap).
pub struct KnownRecords<'m> {
    // Declared before `_snapshot`: a statement must be dropped before its transaction ends.
    lookup: Statement<'m>,
    /// The project's number; 0, which no project has, if it is not known.
    project: i64,
    left_until: Option<Timestamp>,
    lost_until: Option<Timestamp>,
    /// The lookups left until reading the whole set is cheaper.
    lookups_left: u64,
    /// All hashes, sorted, once they are read.
    whole: Option<Vec<i64>>,
    memory: &'m Memory,
    _snapshot: Transaction<'m>,
}

impl KnownRecords<'_> {
    /// Limits to `time` what a lost memory is assumed to have counted.
    pub(crate) fn lost_at_most(&mut self, time: Timestamp) {
        self.lost_until = self.lost_until.map(|until| until.min(time));
    }

    pub fn contains(&mut self, hash: u64) -> Result<bool, MemoryError> {
        let hash = hash.cast_signed();
        if self.lookups_left > 0 {
            self.lookups_left -= 1;
            let (lookup, project) = (&mut self.lookup, self.project);
            return self.memory.read(ACTION, |_| lookup.exists((project, hash)));
        }
        let whole = if let Some(whole) = self.whole.take() {
            whole
        } else {
            let sql = "SELECT hash FROM records WHERE project = ?1 ORDER BY hash";
            self.memory
                .all(ACTION, sql, [self.project], |row| row.get(0))?
        };
        let whole = self.whole.insert(whole);
        Ok(whole.binary_search(&hash).is_ok())
    }

    /// Returns `true` if a record is known, or not newer than dropped records. A first claim by
    /// hand uses `is_known` instead, to include old records.
    pub fn is_copy(&mut self, record: RecordMark) -> Result<bool, MemoryError> {
        Ok(record.is_until(self.left_until) || self.is_known(record)?)
    }

    pub(crate) fn is_known(&mut self, record: RecordMark) -> Result<bool, MemoryError> {
        Ok(record.is_until(self.lost_until) || self.contains(record.hash)?)
    }
}

impl Memory {
    /// Renames a moved project, unless the new name has a history already.
    pub(crate) fn move_project(&mut self, from: &str, to: &str) -> Result<(), MemoryError> {
        let sql = "UPDATE projects SET name = ?2 WHERE name = ?1
             AND NOT EXISTS (SELECT 1 FROM projects WHERE name = ?2)";
        self.change("move a project", Durability::Crash, sql, [from, to])?;
        Ok(())
    }

    pub(crate) fn projects(&self) -> Result<Vec<String>, MemoryError> {
        let sql = "SELECT name FROM projects p
             WHERE EXISTS (SELECT 1 FROM memories WHERE project = p.id) ORDER BY name";
        self.all("list projects", sql, (), |row| row.get(0))
    }

    pub(crate) fn all_projects(&self) -> Result<Vec<String>, MemoryError> {
        let sql = "SELECT name FROM projects ORDER BY name";
        self.all("list projects", sql, (), |row| row.get(0))
    }

    /// Returns the highest number ever given in `project`, by section slug (`pat`).
    pub fn highest_numbers(&self, project: &str) -> Result<BTreeMap<String, u64>, MemoryError> {
        let sql = "SELECT n.slug, n.highest FROM numbers n
             JOIN projects p ON p.id = n.project WHERE p.name = ?1";
        let number = |row: &Row<'_>| Ok((row.get(0)?, counted(row, 1)?));
        let numbers = self.all("read highest numbers", sql, [project], number)?;
        Ok(numbers.into_iter().collect())
    }

    /// Records that a lost memory has counted everything that sessions said until a time, and which
    /// sessions are `open` then. Returns `true` if that was not known.
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
            let project = project_number(transaction, project)?;
            let values = (project, millis(until), millis(now), &open);
            Ok(run(transaction, sql, values)? > 0)
        })
    }

    /// Returns `true` if a session was open when its project's memory was found to be lost.
    pub(crate) fn was_open_then(&self, project: &str, session: &str) -> Result<bool, MemoryError> {
        let sql = "SELECT 1 FROM projects, json_each(open_then) WHERE name = ?1 AND value = ?2";
        self.has("read projects", sql, (project, session))
    }

    /// Returns projects whose memory was lost since then, and until when their records counted.
    pub(crate) fn begun_anew(
        &self,
        since: Timestamp,
    ) -> Result<Vec<(String, Timestamp)>, MemoryError> {
        let sql = "SELECT name, lost_until FROM projects WHERE begun_anew > ?1 ORDER BY name";
        let row = |row: &Row<'_>| Ok((row.get(0)?, time(row, 1)?));
        self.all("read projects", sql, [millis(since)], row)
    }

    pub fn cursor(&self, transcript: &str) -> Result<Option<TranscriptCursor>, MemoryError> {
        let sql = "SELECT generation, reached, first_record, updated
             FROM cursors WHERE transcript = ?1";
        self.one("read cursor", sql, [transcript], |row| {
            Ok(TranscriptCursor {
                transcript: transcript.to_owned(),
                generation: counted(row, 0)?,
                end: counted(row, 1)?,
                first_record: row.get::<_, Option<i64>>(2)?.map(i64::cast_unsigned),
                updated: time(row, 3)?,
            })
        })
    }

    /// Returns the confidence of the last reflection on a transcript, from 0 to 1.
    pub(crate) fn confidence_of(&self, transcript: &str) -> Result<Option<f64>, MemoryError> {
        let sql = "SELECT confidence FROM cursors WHERE transcript = ?1";
        let found = self.one("read confidence", sql, [transcript], |row| row.get(0))?;
        Ok(found.flatten())
    }

    /// Borrows the memory exclusively, because it holds a read transaction open.
    pub fn known_records(&mut self, project: &str) -> Result<KnownRecords<'_>, MemoryError> {
        let memory: &Self = self;
        let snapshot = memory.read(ACTION, |_| memory.connection().unchecked_transaction())?;
        let sql = "SELECT id, records, left_until, lost_until FROM projects WHERE name = ?1";
        let at = |row: &Row<'_>, column| {
            let stored: Option<i64> = row.get(column)?;
            Ok::<_, rusqlite::Error>(stored.and_then(|ms| Timestamp::from_millisecond(ms).ok()))
        };
        let found = memory.one(ACTION, sql, [project], |row| {
            Ok((row.get(0)?, counted(row, 1)?, at(row, 2)?, at(row, 3)?))
        })?;
        let (project, records, left_until, lost_until) = found.unwrap_or_default();
        let sql = "SELECT 1 FROM records WHERE project = ?1 AND hash = ?2";
        Ok(KnownRecords {
            lookup: memory.read(ACTION, |_| memory.connection().prepare(sql))?,
            project,
            left_until,
            lost_until,
            lookups_left: records / LOOKUP_COST,
            whole: None,
            memory,
            _snapshot: snapshot,
        })
    }
}

/// Returns the number of the project `name`; assigns one to a new project.
pub(super) fn project_number(transaction: &Transaction<'_>, name: &str) -> rusqlite::Result<i64> {
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
pub(super) fn raise_numbers(
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

/// Keeps a cursor that is further already.
pub(super) fn advance(
    transaction: &Transaction<'_>,
    project: i64,
    cursor: &TranscriptCursor,
    confidence: Option<f64>,
) -> rusqlite::Result<()> {
    run(
        transaction,
        "INSERT INTO cursors (transcript, project, generation, reached, first_record, updated)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (transcript) DO UPDATE SET
             project = excluded.project,
             generation = excluded.generation,
             reached = excluded.reached,
             first_record = coalesce(excluded.first_record, first_record),
             updated = excluded.updated
         WHERE (excluded.generation, excluded.reached) > (generation, reached)",
        (
            &cursor.transcript,
            project,
            int(cursor.generation),
            int(cursor.end),
            cursor.first_record.map(u64::cast_signed),
            millis(cursor.updated),
        ),
    )?;
    let sure = "UPDATE cursors SET confidence = ?2 WHERE transcript = ?1";
    run(transaction, sure, (&cursor.transcript, confidence)).map(drop)
}

/// Adds records to the project's set; `now` replaces a missing timestamp.
pub(super) fn add_records(
    transaction: &Transaction<'_>,
    project: i64,
    records: &[RecordMark],
    now: Timestamp,
) -> rusqlite::Result<()> {
    add_within(transaction, project, records, now, CAP)
}

fn add_within(
    transaction: &Transaction<'_>,
    project: i64,
    records: &[RecordMark],
    now: Timestamp,
    cap: u64,
) -> rusqlite::Result<()> {
    // In the order of the tree, so that each page is visited once.
    let mut sorted: Vec<(i64, i64)> = records
        .iter()
        .map(|r| (r.hash.cast_signed(), millis(r.time.unwrap_or(now))))
        .collect();
    sorted.sort_unstable();
    let mut added = 0;
    let insert = "INSERT OR IGNORE INTO records (project, hash, time) VALUES (?1, ?2, ?3)";
    for (hash, time) in sorted {
        added += run(transaction, insert, (project, hash, time))?;
    }
    if added == 0 {
        return Ok(());
    }
    let total = transaction.query_row(
        "UPDATE projects SET records = records + ?2 WHERE id = ?1 RETURNING records",
        (project, int(added as u64)),
        |row| counted(row, 0),
    )?;
    if total > cap {
        // Drops a tenth at a time, since finding the oldest reads every row.
        drop_oldest(transaction, project, total - (cap - cap / 10))?;
    }
    Ok(())
}

/// Drops at least `leave` of the oldest records, including all with the time of the last.
fn drop_oldest(transaction: &Transaction<'_>, project: i64, leave: u64) -> rusqlite::Result<()> {
    let until: i64 = transaction.query_row(
        "SELECT time FROM records WHERE project = ?1 ORDER BY time LIMIT 1 OFFSET ?2",
        (project, int(leave.saturating_sub(1))),
        |row| row.get(0),
    )?;
    let gone = transaction.execute(
        "DELETE FROM records WHERE project = ?1 AND time <= ?2",
        (project, until),
    )?;
    transaction.execute(
        "UPDATE projects SET records = records - ?2,
             left_until = max(coalesce(left_until, ?3), ?3) WHERE id = ?1",
        (project, int(gone as u64), until),
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty() -> (tempfile::TempDir, Memory) {
        let dir = tempfile::tempdir().unwrap();
        let memory = Memory::open(&dir.path().join("memory.db")).unwrap();
        (dir, memory)
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn mark(hash: u64, second: i64) -> RecordMark {
        RecordMark {
            hash,
            time: Some(at(second)),
        }
    }

    fn add_capped(memory: &mut Memory, records: &[RecordMark], cap: u64) {
        memory
            .write("add", Durability::Crash, |transaction| {
                let project = project_number(transaction, "p")?;
                add_within(transaction, project, records, at(0), cap)
            })
            .unwrap();
    }

    #[test]
    fn what_had_to_leave_the_set_still_counts_as_a_copy() {
        let (_dir, mut memory) = empty();
        // The order of the hashes differs from that of the times; the records of second 7 are
        // dropped together.
        let time = |n: i64| if n == 8 { 7 } else { n };
        let marks: Vec<_> = (1..=25)
            .map(|n| mark(100 - n, time(n.cast_signed())))
            .collect();
        add_capped(&mut memory, &marks, 20);
        let mut known = memory.known_records("p").unwrap();
        assert_eq!(known.left_until, Some(at(7)));
        assert!(!known.contains(99).unwrap() && !known.contains(92).unwrap());
        for mark in marks {
            assert!(known.is_copy(mark).unwrap());
        }
        assert!(!known.is_copy(mark(1, 26)).unwrap());
    }

    #[test]
    fn many_lookups_find_what_few_find() {
        let (_dir, mut memory) = empty();
        let hash = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let marks: Vec<_> = (0..100).map(|n| mark(hash(n), 1)).collect();
        add_capped(&mut memory, &marks, 1000);
        let mut known = memory.known_records("p").unwrap();
        for round in 0..3 {
            for n in 0..100 {
                assert!(known.contains(hash(n)).unwrap(), "{round} {n}");
                assert!(!known.contains(hash(n + 100)).unwrap(), "{round} {n}");
            }
        }
    }
}
