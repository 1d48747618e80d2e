//! Removes data by rule or by the user's wish, and holds texts back until the user has decided on
//! them. Cursors and numbers are never removed.

use jiff::{SignedDuration, Timestamp};
use rusqlite::{Row, Transaction};
use serde_json::Value;

use super::database::{
    Durability, Memory, MemoryError, counted, int, json, millis, rows, run, time,
};
use super::records::project_number;
use crate::reflect::remembered::MemoryKind;

/// The most bytes of the history (issue "Exactly once": 50 MiB).
const HISTORY_BYTES: u64 = 50 * 1024 * 1024;
/// The most jobs without a change in the history that are kept.
const JOBS: u64 = 100_000;
/// The age up to which model calls are kept.
const LEDGER: SignedDuration = SignedDuration::from_hours(400 * 24);
/// The age up to which a counted step is known by its job and place. A job waits at most
/// 30 days and is recorded at its end, so a repetition comes far earlier.
const STEPS: SignedDuration = SignedDuration::from_hours(180 * 24);

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Trimmed {
    pub(crate) changes: usize,
    pub(crate) jobs: usize,
    pub(crate) calls: usize,
}

/// The number of days with ended jobs from which on the clock is trusted.
const DAYS: i64 = 10;
/// The most that the clock may be ahead of them.
const AHEAD: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The most that is kept of what was learned, per project. A memory that was neither learned again
/// nor shown for [`unused`](Self::unused) is removed. Notes stay, and so do memories with an
/// importance of 0.8 or more (spec/3: always stored). Above the number of a kind, the least
/// important are removed first, then the least effective, then those seen longest ago. A note that
/// is not settled always stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub reflections: u64,
    /// The most lessons (spec/4 `reflection_bank_size`).
    pub lessons: u64,
    pub errors: u64,
    pub unused: SignedDuration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            reflections: 10_000,
            lessons: 10_000,
            errors: 10_000,
            unused: SignedDuration::from_hours(180 * 24),
        }
    }
}

/// The importance from which a memory is not removed for its age alone.
const ALWAYS_KEPT: f64 = 0.8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForgetWhat {
    Id(String),
    /// Everything that was learned in a project, and its sessions' evaluations.
    Project(String),
    /// Everything last seen before a time, of one project or all, and earlier evaluations.
    OlderThan {
        time: Timestamp,
        project: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub reflections: u64,
    pub strategies: u64,
    pub lessons: u64,
    pub errors: u64,
    pub evaluations: u64,
}

impl Forgotten {
    pub fn total(&self) -> u64 {
        self.reflections + self.strategies + self.lessons + self.errors + self.evaluations
    }

    pub(crate) fn count(&mut self, kind: MemoryKind, number: usize) {
        *match kind {
            MemoryKind::Reflection => &mut self.reflections,
            MemoryKind::Strategy => &mut self.strategies,
            MemoryKind::Lesson => &mut self.lessons,
            MemoryKind::Error => &mut self.errors,
        } += number as u64;
    }
}

/// The most texts of a project that may wait; more is an attack on the disk.
const MAX_WAITING: u64 = 2_000;
const NOTE: &str = "note what is held back";
const MAX_BYTES: u64 = 4 << 20;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Held {
    /// The permanent key within its project: a job and a place in it, or a point's hash.
    pub(crate) key: String,
    /// The job; empty for a text from the playbook's file.
    pub(crate) job: String,
    pub(crate) what: Value,
    pub(crate) text: String,
    pub(crate) reasons: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeldRow {
    /// The number by which the user refers to it.
    pub(crate) id: u64,
    pub(crate) since: Timestamp,
    pub(crate) held: Held,
}

const SELECT: &str = "SELECT q.id, q.since, q.key, q.job, q.what, q.text, q.reasons
     FROM quarantine q JOIN projects p ON p.id = q.project";

impl Memory {
    /// Costs little unless a limit is exceeded; a worker calls it when it has nothing else to do.
    pub(crate) fn trim(&mut self, now: Timestamp) -> Result<Trimmed, MemoryError> {
        self.trim_to(now, HISTORY_BYTES, JOBS)
    }

    fn trim_to(&mut self, now: Timestamp, bytes: u64, jobs: u64) -> Result<Trimmed, MemoryError> {
        let calls = "DELETE FROM calls WHERE time < ?1";
        let steps = "DELETE FROM learned WHERE time < ?1";
        // Removes a tenth of a full history at a time.
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

    /// Removes what the user wants forgotten, also on disk.
    pub fn forget(&mut self, what: &ForgetWhat) -> Result<Forgotten, MemoryError> {
        let (id, project, before) = match what {
            ForgetWhat::Id(id) => (Some(id), None, None),
            ForgetWhat::Project(project) => (None, Some(project), None),
            ForgetWhat::OlderThan { time, project } => {
                (None, project.as_ref(), Some(millis(*time)))
            }
        };
        let within = "(?2 IS NULL OR project = (SELECT id FROM projects WHERE name = ?2))";
        let which =
            format!("(?1 IS NULL OR key = ?1) AND {within} AND (?3 IS NULL OR last_seen < ?3)");
        let unsent = format!(
            "INSERT OR REPLACE INTO unsent (key)
             SELECT key FROM (SELECT key FROM memories WHERE {which} UNION SELECT ?1)
             WHERE key IS NOT NULL AND EXISTS (SELECT 1 FROM machine)"
        );
        let memories = format!("DELETE FROM memories WHERE {which} AND kind = ?4");
        let evaluations = format!(
            "DELETE FROM evaluations WHERE ?1 IS NULL AND {within} AND (?3 IS NULL OR time < ?3)"
        );
        // Notes of a lesson are removed with it.
        let notes = format!(
            "DELETE FROM notes WHERE memory IS NULL AND ?1 IS NULL AND {within}
                 AND (?3 IS NULL OR time < ?3)"
        );
        self.erase("forget", |transaction| {
            run(transaction, &unsent, (id, project, before))?;
            let mut gone = Forgotten::default();
            for kind in MemoryKind::ALL {
                let params = (id, project, before, kind.word());
                gone.count(kind, run(transaction, &memories, params)?);
            }
            run(transaction, &notes, (id, project, before))?;
            if let ForgetWhat::Project(project) = what {
                make_learnable(transaction, project)?;
            }
            gone.evaluations = run(transaction, &evaluations, (id, project, before))? as u64;
            Ok(gone)
        })
    }

    pub fn prune(&mut self, limits: &Limits, now: Timestamp) -> Result<Forgotten, MemoryError> {
        self.write("prune memory", Durability::Crash, |transaction| {
            let now = believed(transaction, now)?;
            let oldest = now.checked_sub(limits.unused).map_or(i64::MIN, millis);
            let mut gone = Forgotten::default();
            for kind in MemoryKind::ALL {
                let cap = match kind {
                    MemoryKind::Reflection | MemoryKind::Strategy => limits.reflections,
                    MemoryKind::Lesson => limits.lessons,
                    MemoryKind::Error => limits.errors,
                };
                let unused = run(
                    transaction,
                    "DELETE FROM memories WHERE kind = ?1 AND last_seen < ?2 AND importance < ?3
                         AND id NOT IN (SELECT memory FROM notes WHERE memory IS NOT NULL)",
                    (kind.word(), oldest, ALWAYS_KEPT),
                )?;
                let over = run(
                    transaction,
                    "DELETE FROM memories WHERE id IN (
                         SELECT id FROM (
                             SELECT id, row_number() OVER (
                                 PARTITION BY project
                                 ORDER BY importance DESC, effectiveness DESC, last_seen DESC, id
                             ) AS place FROM memories WHERE kind = ?1
                         ) WHERE place > ?2)
                         AND id NOT IN (SELECT memory FROM notes
                                        WHERE memory IS NOT NULL AND state <> 'settled')",
                    (kind.word(), int(cap)),
                )?;
                gone.count(kind, unused + over);
            }
            Ok(gone)
        })
    }

    pub(crate) fn quarantine(&self, project: &str) -> Result<Vec<HeldRow>, MemoryError> {
        let sql = format!("{SELECT} WHERE p.name = ?1 AND q.is_waiting ORDER BY q.id");
        self.all("read what is held back", &sql, [project], from_row)
    }

    pub(crate) fn quarantine_counts(&self) -> Result<Vec<(String, u64)>, MemoryError> {
        let sql = "SELECT p.name, count(*) FROM quarantine q JOIN projects p ON p.id = q.project
             WHERE q.is_waiting GROUP BY p.name ORDER BY p.name";
        self.all("read what is held back", sql, (), |row| {
            Ok((row.get(0)?, counted(row, 1)?))
        })
    }

    pub(crate) fn waiting(&self, project: &str) -> Result<Vec<String>, MemoryError> {
        let rows = self.quarantine(project)?.into_iter();
        Ok(rows.map(|row| row.held.key).collect())
    }

    /// Holds back texts from a project's file, and drops those that have left it; known ones stay.
    pub(crate) fn hold_back(
        &mut self,
        project: &str,
        held: &[Held],
        has_left: &dyn Fn(&str) -> bool,
        now: Timestamp,
    ) -> Result<(), MemoryError> {
        self.write("hold back", Durability::PowerCut, |transaction| {
            let project = project_number(transaction, project)?;
            let waiting =
                "SELECT key FROM quarantine WHERE project = ?1 AND job = '' AND is_waiting";
            let waiting: Vec<String> = rows(transaction, waiting, [project], |row| row.get(0))?;
            let gone = "DELETE FROM quarantine WHERE project = ?1 AND key = ?2";
            for key in waiting.iter().filter(|key| has_left(key)) {
                run(transaction, gone, (project, key))?;
            }
            hold(transaction, project, held, now)
        })
    }

    /// Keeps only the key, so that the text is not asked about again.
    pub(crate) fn decided(&mut self, id: u64) -> Result<(), MemoryError> {
        let sql = "UPDATE quarantine SET is_waiting = 0, what = 'null', text = '' WHERE id = ?1";
        self.change(NOTE, Durability::PowerCut, sql, [int(id)])
            .map(drop)
    }

    pub(crate) fn quarantined(
        &self,
        project: &str,
        id: u64,
    ) -> Result<Option<HeldRow>, MemoryError> {
        let mut rows = self.quarantine(project)?.into_iter();
        Ok(rows.find(|row| row.id == id))
    }
}

/// Returns the time by which age is measured. A clock far ahead of the last days with ended jobs is
/// not trusted, since removed data is lost. Before there are enough days, nothing is old.
fn believed(transaction: &Transaction<'_>, now: Timestamp) -> rusqlite::Result<Timestamp> {
    let days = "SELECT DISTINCT finished / 86400000 * 86400000 AS day FROM jobs
         ORDER BY day DESC LIMIT 1 OFFSET ?1";
    let day = rows(transaction, days, [DAYS - 1], |row| time(row, 0))?.pop();
    let latest = day.and_then(|day| day.checked_add(AHEAD).ok());
    Ok(latest.map_or(Timestamp::MIN, |latest| latest.min(now)))
}

/// Holds texts back; rows that exist, decided on or not, stay. Only a text from the file waits
/// again if it was dropped and has come back.
pub(super) fn hold(
    transaction: &Transaction<'_>,
    project: i64,
    held: &[Held],
    now: Timestamp,
) -> rusqlite::Result<()> {
    let (mut waiting, mut bytes) = transaction.query_row(
        "SELECT count(*), coalesce(sum(octet_length(what) + octet_length(text)), 0)
         FROM quarantine WHERE project = ?1 AND is_waiting",
        [project],
        |row| Ok((counted(row, 0)?, counted(row, 1)?)),
    )?;
    for held in held {
        let what = held.what.to_string();
        let size = (what.len() + held.text.len()) as u64;
        if waiting >= MAX_WAITING || bytes + size > MAX_BYTES {
            continue;
        }
        let added = run(
            transaction,
            "INSERT INTO quarantine (project, key, job, what, text, reasons, since, is_waiting)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)
             ON CONFLICT (project, key) DO UPDATE SET what = excluded.what, text = excluded.text,
                 reasons = excluded.reasons, since = excluded.since, is_waiting = 1
             WHERE excluded.job = '' AND NOT is_waiting",
            (
                project,
                &held.key,
                &held.job,
                what,
                &held.text,
                &held.reasons,
                millis(now),
            ),
        )? as u64;
        waiting += added;
        bytes += added * size;
    }
    Ok(())
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<HeldRow> {
    Ok(HeldRow {
        id: counted(row, 0)?,
        since: time(row, 1)?,
        held: Held {
            key: row.get(2)?,
            job: row.get(3)?,
            what: json(row, 4)?.unwrap_or_default(),
            text: row.get(5)?,
            reasons: row.get(6)?,
        },
    })
}

/// Lets the sessions of a forgotten project count once more.
fn make_learnable(transaction: &Transaction<'_>, project: &str) -> rusqlite::Result<()> {
    let which = "(SELECT id FROM projects WHERE name = ?1)";
    for sql in [
        format!("DELETE FROM cursors WHERE project = {which}"),
        format!("DELETE FROM records WHERE project = {which}"),
        "UPDATE projects SET records = 0, left_until = NULL WHERE name = ?1".to_owned(),
    ] {
        run(transaction, &sql, [project])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::jobs::{FinishedJob, JobRecord, ModelCall};
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

    #[test]
    fn of_what_is_decided_only_the_key_is_kept() {
        let (_dir, mut memory) = filled(0);
        let held = Held {
            key: "job:0".to_owned(),
            job: "job".to_owned(),
            what: serde_json::json!({"memory": {"text": "an attack"}}),
            text: "an attack".to_owned(),
            reasons: "r".to_owned(),
        };
        let now = Timestamp::UNIX_EPOCH;
        let keep_back = |memory: &mut Memory| {
            let held = std::slice::from_ref(&held);
            memory.hold_back("/p", held, &|_| false, now).unwrap();
            memory.quarantine("/p").unwrap()
        };
        let waiting = keep_back(&mut memory);
        assert_eq!(waiting[0].held, held);
        memory.decided(waiting[0].id).unwrap();
        let sql = "SELECT key || what || text FROM quarantine";
        let kept: Vec<String> = memory.all("look", sql, (), |row| row.get(0)).unwrap();
        assert_eq!(kept, ["job:0null"]);
        let asked_again = keep_back(&mut memory);
        assert_eq!(asked_again, []);
    }

    #[test]
    fn a_project_holds_back_so_many_bytes_and_no_more() {
        let (_dir, mut memory) = filled(0);
        let held = |n: usize| Held {
            key: format!("job:{n}"),
            job: "job".to_owned(),
            what: Value::Null,
            text: "x".repeat(1 << 20),
            reasons: String::new(),
        };
        let held: Vec<Held> = (0..9).map(held).collect();
        let now = Timestamp::UNIX_EPOCH;
        for some in held.chunks(2) {
            memory.hold_back("/p", some, &|_| false, now).unwrap();
        }
        assert_eq!(memory.quarantine_counts().unwrap(), [("/p".to_owned(), 3)]);
    }
}
