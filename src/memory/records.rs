//! Which transcript records of a project have counted already.
//!
//! Forks and resumed sessions copy records into other files; a record counts once. A
//! project keeps at most [`CAP`] hashes. When that is exceeded the oldest leave, and the
//! time of the newest of them is kept: a record not newer than that counts as a copy, so
//! that what left can never count again.

use jiff::Timestamp;
use rusqlite::{Row, Statement, Transaction};

use super::convert::{counted, int, millis};
use super::database::{Memory, run};
use super::error::MemoryError;

/// How many hashes a project keeps.
const CAP: u64 = 2_000_000;

/// A lookup in the database costs as much as reading so many hashes in order.
const LOOKUP_COST: u64 = 20;

const ACTION: &str = "read known records";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordMark {
    pub hash: u64,
    /// The record's own timestamp; one without counts as of the time it was recorded, and
    /// is told by its hash alone.
    pub time: Option<Timestamp>,
}

impl RecordMark {
    fn is_until(self, floor: Option<Timestamp>) -> bool {
        floor.is_some_and(|floor| self.time.is_some_and(|time| time <= floor))
    }
}

/// The known records of one project, made for millions of lookups.
///
/// All lookups see the same state: that of the moment it was made. The first are made in
/// the database; when they have become many, the whole set is read (16 MB at its cap).
pub struct KnownRecords<'m> {
    // Before `_snapshot`: a statement must be gone when its transaction ends.
    lookup: Statement<'m>,
    /// Its number; 0, which none has, where nothing is known of it.
    project: i64,
    left_until: Option<Timestamp>,
    lost_until: Option<Timestamp>,
    /// Lookups until reading the whole set is cheaper.
    lookups_left: u64,
    /// All hashes, sorted, once they are read.
    whole: Option<Vec<i64>>,
    memory: &'m Memory,
    _snapshot: Transaction<'m>,
}

impl Memory {
    /// Opens the known records of `project` for lookups.
    ///
    /// Takes the memory for itself, since it holds a read transaction open.
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

impl KnownRecords<'_> {
    /// Counts as done by a memory that is gone at most what was said until `time`.
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

    /// Tells whether a record has counted already: it is known, or it is as old as records
    /// that had to leave the set.
    ///
    /// A transcript claimed for the first time by hand asks `is_known`
    /// instead, and so gets its old records in.
    pub fn is_copy(&mut self, record: RecordMark) -> Result<bool, MemoryError> {
        Ok(record.is_until(self.left_until) || self.is_known(record)?)
    }

    /// Tells whether a record is in the set, or counted by a memory that is gone.
    pub(crate) fn is_known(&mut self, record: RecordMark) -> Result<bool, MemoryError> {
        Ok(record.is_until(self.lost_until) || self.contains(record.hash)?)
    }
}

/// Adds records to the project's set; `now` stands in for a missing timestamp.
pub(super) fn add(
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
        // A tenth at once: finding the oldest looks at every row.
        drop_oldest(transaction, project, total - (cap - cap / 10))?;
    }
    Ok(())
}

/// Lets at least `leave` of the oldest records go, with all of the same time as the last.
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
    use super::super::database::Durability;
    use super::super::projects;
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
                let project = projects::number(transaction, "p")?;
                add_within(transaction, project, records, at(0), cap)
            })
            .unwrap();
    }

    #[test]
    fn what_had_to_leave_the_set_still_counts_as_a_copy() {
        let (_dir, mut memory) = empty();
        // The order of the hashes is not that of the times; those of second 7 leave together.
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
