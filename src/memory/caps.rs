//! What leaves so that the memory stays within its caps; cursors and numbers never do.

use jiff::{SignedDuration, Timestamp};
use rusqlite::Transaction;

use super::convert::{int, millis, time};
use super::database::{Durability, Memory, rows, run};
use super::error::MemoryError;

/// The history may take so many bytes (issue "Exactly once": 50 MiB).
const HISTORY_BYTES: u64 = 50 * 1024 * 1024;
/// So many jobs without a change in the history are kept.
const JOBS: u64 = 100_000;
/// The ledger goes back so far.
const LEDGER: SignedDuration = SignedDuration::from_hours(400 * 24);
/// A step that was counted is known by its job and place so long. A job waits at most
/// `worker.keep_days`, 30 without the setting, and is recorded at its end, so a repetition comes
/// far earlier.
const STEPS: SignedDuration = SignedDuration::from_hours(180 * 24);

/// How much had to leave, the oldest first; to be told to the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Trimmed {
    pub(crate) changes: usize,
    /// Jobs of which nothing is known any more.
    pub(crate) jobs: usize,
    pub(crate) calls: usize,
}

/// So many days on which jobs ended make a time believed.
const DAYS: i64 = 10;
/// So far ahead of them a clock may be.
const AHEAD: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The time by which things are old: a clock that is far ahead of the last days on which jobs
/// ended is not believed, since what leaves never comes back; before there are enough days,
/// nothing is old.
pub(super) fn believed(
    transaction: &Transaction<'_>,
    now: Timestamp,
) -> rusqlite::Result<Timestamp> {
    let days = "SELECT DISTINCT finished / 86400000 * 86400000 AS day FROM jobs
         ORDER BY day DESC LIMIT 1 OFFSET ?1";
    let day = rows(transaction, days, [DAYS - 1], |row| time(row, 0))?.pop();
    let latest = day.and_then(|day| day.checked_add(AHEAD).ok());
    Ok(latest.map_or(Timestamp::MIN, |latest| latest.min(now)))
}

impl Memory {
    /// Keeps history, jobs and ledger within their caps.
    ///
    /// Cheap while they are: a worker calls it when it is otherwise done.
    pub(crate) fn trim(&mut self, now: Timestamp) -> Result<Trimmed, MemoryError> {
        self.trim_to(now, HISTORY_BYTES, JOBS)
    }

    fn trim_to(&mut self, now: Timestamp, bytes: u64, jobs: u64) -> Result<Trimmed, MemoryError> {
        let calls = "DELETE FROM calls WHERE time < ?1";
        let steps = "DELETE FROM learned WHERE time < ?1";
        // A tenth of a full history at once.
        let history = "DELETE FROM history WHERE (SELECT history_bytes FROM totals) > ?1
             AND id <= (SELECT max(id) FROM (
                 SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS newer FROM history
             ) WHERE newer > ?2)";
        let empty = "DELETE FROM jobs
             WHERE id <= (SELECT id FROM jobs ORDER BY id DESC LIMIT 1 OFFSET ?1)
                 AND NOT EXISTS (SELECT 1 FROM history h WHERE h.job = jobs.id)";
        self.write("trim memory", Durability::Crash, |transaction| {
            let now = believed(transaction, now)?;
            let before = |age| now.checked_sub(age).map_or(i64::MIN, millis);
            run(transaction, steps, [before(STEPS)])?;
            Ok(Trimmed {
                calls: run(transaction, calls, [before(LEDGER)])?,
                changes: run(transaction, history, (int(bytes), int(bytes - bytes / 10)))?,
                jobs: run(transaction, empty, [int(jobs)])?,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::record::JobRecord;
    use super::super::{FinishedJob, ModelCall};
    use super::*;
    use crate::playbook::{ChangeKind, PointChange};

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + day * 86_400).unwrap()
    }

    fn record(n: u64) -> JobRecord {
        let (id, project) = (format!("job-{n}"), "/p".to_owned());
        let mut record = JobRecord::new(FinishedJob {
            id: id.clone(),
            project: project.clone(),
            finished: at(n.cast_signed()),
            ..FinishedJob::default()
        });
        record.changes = vec![PointChange {
            kind: ChangeKind::Helpful,
            id: "pat-001".to_owned(),
            before: None,
            after: None,
            into: None,
            reason: "x".repeat(1000),
        }];
        record.calls = vec![ModelCall {
            job: id,
            project,
            time: at(n.cast_signed()),
            ..ModelCall::default()
        }];
        record
    }

    fn filled(jobs: u64) -> (tempfile::TempDir, Memory) {
        let dir = tempfile::tempdir().unwrap();
        let mut memory = Memory::open(&dir.path().join("memory.db")).unwrap();
        for n in 0..jobs {
            memory.record(&record(n)).unwrap();
        }
        (dir, memory)
    }

    #[test]
    fn the_oldest_changes_leave_a_full_history_and_are_told() {
        let (_dir, mut memory) = filled(20);
        assert_eq!(memory.trim(at(0)).unwrap(), Trimmed::default());
        let trimmed = memory.trim_to(at(0), 10 * 1100, 1000).unwrap();
        assert_eq!((trimmed.changes, trimmed.jobs), (11, 0));
        let left = memory.history("/p", 100).unwrap();
        assert_eq!(left.first().unwrap().job, "job-19");
        assert_eq!(left.last().unwrap().job, "job-11");
    }

    #[test]
    fn old_jobs_leave_once_their_changes_have_left() {
        let (_dir, mut memory) = filled(6);
        assert_eq!(memory.trim_to(at(0), u64::MAX, 2).unwrap().jobs, 0);
        let trimmed = memory.trim_to(at(0), 5 * 1100, 2).unwrap();
        assert_eq!((trimmed.changes, trimmed.jobs), (2, 2));
        assert!(memory.job("job-0").unwrap().is_none());
        assert!(memory.job("job-2").unwrap().is_some());
    }

    #[test]
    fn the_ledger_keeps_a_year_and_more_whatever_a_clock_says_that_is_far_ahead() {
        let (_dir, mut memory) = filled(3);
        for n in 0..9 {
            memory.record(&record(400 + n)).unwrap();
        }
        assert_eq!(memory.trim(at(4000)).unwrap().calls, 0);
        memory.record(&record(410)).unwrap();
        assert_eq!(memory.trim(at(402)).unwrap().calls, 2);
    }
}
