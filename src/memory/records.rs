//! Which transcript records of a project have counted already.
//!
//! Forks and resumed sessions copy records into other files; a record counts once. A
//! project keeps at most [`CAP`] hashes. When that is exceeded the oldest leave, and the
//! time of the newest of them is kept: a record not newer than that counts as a copy, so
//! that what left can never count again.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Statement, Transaction};

use super::convert;
use super::database::Memory;
use super::error::MemoryError;

/// How many hashes a project keeps.
const CAP: u64 = 2_000_000;

/// A lookup in the database costs as much as reading so many hashes in order.
const LOOKUP_COST: u64 = 20;

/// One record that has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordMark {
    /// Hash of the record's uuid.
    pub hash: u64,
    /// The record's own timestamp; one without counts as of the time it was recorded, and
    /// is told by its hash alone.
    pub time: Option<Timestamp>,
}

/// The known records of one project, made for millions of lookups.
///
/// All lookups see the same state: that of the moment it was made. The first are made in
/// the database; when they have become many, the whole set is read (16 MB at its cap).
pub struct KnownRecords<'m> {
    // Before `_snapshot`: a statement must be gone when its transaction ends.
    lookup: Lookup<'m>,
    left_until: Option<Timestamp>,
    memory: &'m Memory,
    _snapshot: Transaction<'m>,
}

/// How a hash is looked up.
enum Lookup<'m> {
    /// The project has no records.
    Nothing,
    /// One by one.
    Each {
        project: i64,
        statement: Statement<'m>,
        /// Lookups until reading the whole set is cheaper.
        left: u64,
    },
    /// In the whole set, sorted.
    Whole(Vec<i64>),
}

impl Memory {
    /// Opens the known records of `project` for lookups.
    ///
    /// Takes the memory for itself, since it holds a read transaction open.
    pub fn known_records(&mut self, project: &str) -> Result<KnownRecords<'_>, MemoryError> {
        let memory: &Self = self;
        let open = || {
            let connection = memory.connection();
            let snapshot = connection.unchecked_transaction()?;
            let found = connection
                .query_row(
                    "SELECT id, left_until, records FROM projects WHERE name = ?1",
                    [project],
                    |row| {
                        let left_until = convert::optional_time(row, 1)?;
                        Ok((row.get(0)?, left_until, convert::counted(row, 2)?))
                    },
                )
                .optional()?;
            let (lookup, left_until) = match found {
                Some((project, left_until, records)) => {
                    let statement = connection
                        .prepare("SELECT 1 FROM records WHERE project = ?1 AND hash = ?2")?;
                    let left = records / LOOKUP_COST;
                    let lookup = Lookup::Each {
                        project,
                        statement,
                        left,
                    };
                    (lookup, left_until)
                }
                None => (Lookup::Nothing, None),
            };
            Ok(KnownRecords {
                lookup,
                left_until,
                memory,
                _snapshot: snapshot,
            })
        };
        open().map_err(|e| memory.failed("read known records", e))
    }
}

impl KnownRecords<'_> {
    /// Tells whether `hash` is in the set.
    pub fn contains(&mut self, hash: u64) -> Result<bool, MemoryError> {
        let hash = hash.cast_signed();
        match &mut self.lookup {
            Lookup::Nothing => Ok(false),
            Lookup::Whole(hashes) => Ok(hashes.binary_search(&hash).is_ok()),
            Lookup::Each {
                project, left: 0, ..
            } => {
                let hashes = whole(self.memory, *project)?;
                let found = hashes.binary_search(&hash).is_ok();
                self.lookup = Lookup::Whole(hashes);
                Ok(found)
            }
            Lookup::Each {
                project,
                statement,
                left,
            } => {
                *left -= 1;
                statement
                    .exists((*project, hash))
                    .map_err(|e| self.memory.failed("read known records", e))
            }
        }
    }

    /// Tells whether a record has counted already: its hash is in the set, or it is as old
    /// as records that had to leave it.
    ///
    /// A transcript claimed for the first time by hand asks [`contains`](Self::contains)
    /// instead, and so gets its old records in.
    pub fn is_copy(&mut self, record: RecordMark) -> Result<bool, MemoryError> {
        let left = |floor| record.time.is_some_and(|time| time <= floor);
        if self.left_until.is_some_and(left) {
            return Ok(true);
        }
        self.contains(record.hash)
    }
}

/// All hashes of a project; the table has them in order.
fn whole(memory: &Memory, project: i64) -> Result<Vec<i64>, MemoryError> {
    memory.read("read known records", |connection| {
        connection
            .prepare("SELECT hash FROM records WHERE project = ?1 ORDER BY hash")?
            .query_map([project], |row| row.get(0))?
            .collect()
    })
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
        .map(|r| (r.hash.cast_signed(), convert::millis(r.time.unwrap_or(now))))
        .collect();
    sorted.sort_unstable();
    let mut added = 0;
    let mut insert = transaction.prepare_cached(
        "INSERT OR IGNORE INTO records (project, hash, time) VALUES (?1, ?2, ?3)",
    )?;
    for (hash, time) in sorted {
        added += insert.execute((project, hash, time))?;
    }
    if added == 0 {
        return Ok(());
    }
    let total: i64 = transaction.query_row(
        "UPDATE projects SET records = records + ?2 WHERE id = ?1 RETURNING records",
        (project, convert::int(added as u64)),
        |row| row.get(0),
    )?;
    let over = convert::count(total) > cap;
    if over {
        // A tenth at once: finding the oldest looks at every row.
        let leave = convert::count(total) - (cap - cap / 10);
        drop_oldest(transaction, project, leave)?;
    }
    Ok(())
}

/// Lets at least `leave` of the oldest records go, with all of the same time as the last.
fn drop_oldest(transaction: &Transaction<'_>, project: i64, leave: u64) -> rusqlite::Result<()> {
    let until: i64 = transaction.query_row(
        "SELECT time FROM records WHERE project = ?1 ORDER BY time LIMIT 1 OFFSET ?2",
        (project, convert::int(leave.saturating_sub(1))),
        |row| row.get(0),
    )?;
    let gone = transaction.execute(
        "DELETE FROM records WHERE project = ?1 AND time <= ?2",
        (project, until),
    )?;
    transaction.execute(
        "UPDATE projects SET records = records - ?2,
             left_until = max(coalesce(left_until, ?3), ?3) WHERE id = ?1",
        (project, convert::int(gone as u64), until),
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::database::Durability;
    use super::super::record;
    use super::*;

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
                let project = record::project(transaction, "p")?;
                add_within(transaction, project, records, at(0), cap)
            })
            .unwrap();
    }

    #[test]
    fn what_had_to_leave_the_set_still_counts_as_a_copy() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(&dir.path().join("memory.db")).unwrap();
        // The order of the hashes is not that of the times.
        let marks: Vec<_> = (1..=25).map(|s| mark(100 - s, s.cast_signed())).collect();
        add_capped(&mut memory, &marks, 20);
        let mut known = memory.known_records("p").unwrap();
        assert_eq!(known.left_until, Some(at(7)));
        assert!(!known.contains(99).unwrap());
        for mark in marks {
            assert!(known.is_copy(mark).unwrap());
        }
        assert!(!known.is_copy(mark(1, 26)).unwrap());
    }

    #[test]
    fn many_lookups_find_what_few_find() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(&dir.path().join("memory.db")).unwrap();
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

    #[test]
    fn records_of_the_same_time_leave_together() {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(&dir.path().join("memory.db")).unwrap();
        let records: Vec<_> = (0..30).map(|n| mark(n, 5 + i64::from(n >= 15))).collect();
        add_capped(&mut memory, &records, 20);
        let mut known = memory.known_records("p").unwrap();
        assert_eq!(known.left_until, Some(at(5)));
        for record in &records {
            assert!(known.is_copy(*record).unwrap());
        }
        assert!(known.contains(20).unwrap());
    }
}
