//! The rows about a job: the job, its changes to the playbook, its votes, and its model calls. One
//! transaction writes all of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use jiff::Timestamp;
use rusqlite::{Row, Transaction};
use serde_json::Value;

use super::database::{
    Durability, Memory, MemoryError, counted, int, json, millis, run, time, word,
};
use super::housekeeping::{self, Held};
use super::learning;
use super::notes::{self, NotePlace};
use super::recall::{self, Evaluation};
use super::records::{self, RecordMark, TranscriptCursor, project_number};
use crate::playbook::votes::{LocalVote, LocalVotes, PointInSession, PointUsage, Tag, UsageRecord};
use crate::playbook::{ChangeKind, PointChange, Skipped};
use crate::reflect::curator::NoteUpdate;
use crate::reflect::learned::{Learned, LearnedFrom};
use crate::reflect::note::{NewOutdated, NoteId};
use crate::transcript::GuardVerdict;

/// Everything that is kept of a job when its file is removed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobRecord {
    pub job: FinishedJob,
    /// The range that it claimed; `None` for jobs without a transcript and for skipped ones.
    pub cursor: Option<TranscriptCursor>,
    /// The reflection's confidence, from 0 to 1; kept with the cursor.
    pub confidence: Option<f64>,
    pub records: Vec<RecordMark>,
    pub changes: Vec<PointChange>,
    /// The votes that are not in the playbook's file.
    pub votes: LocalVotes,
    /// The highest numbers in the resulting playbook, by section slug.
    pub highest_numbers: BTreeMap<String, u64>,
    pub calls: Vec<ModelCall>,
    pub undoes: Option<String>,
    pub learned: Vec<Learned>,
    pub outdated: Vec<NewOutdated>,
    /// A curator run's changes of the notes, and the last row that it has seen.
    pub note_updates: Vec<NoteUpdate>,
    pub(crate) seen_until: NoteId,
    pub(crate) held: Vec<Held>,
    /// The changes that its replies asked for and that were not accepted.
    pub dropped: Vec<Skipped>,
    pub(crate) points: Vec<PointInSession>,
    pub(crate) guards: Vec<GuardVerdict>,
    /// The session from which this one was forked, through any number of forks; else itself.
    pub(crate) root: String,
    /// The time of recording, which for jobs of `playbook bootstrap` is later than the job's.
    pub(crate) recorded: Timestamp,
    pub evaluation: Option<Evaluation>,
    /// The session's ending: `success`, `failure`, …; kept with the evaluation.
    pub ended: Option<String>,
}

impl JobRecord {
    pub fn new(job: FinishedJob) -> Self {
        Self {
            recorded: job.finished,
            job,
            ..Self::default()
        }
    }

    fn source(&self) -> LearnedFrom {
        LearnedFrom {
            project: self.job.project.clone(),
            session: self.job.session.clone(),
            root: self.root.clone(),
            job: self.job.id.clone(),
            time: self.job.finished,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum JobOutcome {
    /// The playbook has its result, changed or not.
    #[default]
    Applied,
    Skipped,
    /// The job went to `failed/`, for the given reason.
    Failed,
    Dropped,
}

impl JobOutcome {
    pub(crate) const ALL: [Self; 4] = [Self::Applied, Self::Skipped, Self::Failed, Self::Dropped];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|o| o.word() == word)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JobCounts {
    pub tags: u64,
    pub operations: u64,
    /// The skipped tags and operations, each with its own reason.
    pub skipped: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub ms: u64,
}

/// A finished job. Undo, restore and edits by hand are jobs too.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FinishedJob {
    pub id: String,
    pub project: String,
    /// The session; empty for a job by hand.
    pub session: String,
    /// The transcript's path; empty for a job by hand.
    pub transcript: String,
    /// The cause: `SessionEnd`, `PreCompact`, `undo`, …
    pub event: String,
    /// The backend that answered: `anthropic`, `rules`, …; empty if no question was asked.
    pub backend: String,
    pub outcome: JobOutcome,
    pub reason: String,
    pub counts: JobCounts,
    pub finished: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    pub job: FinishedJob,
    pub undone_by: Option<String>,
    pub dropped: Vec<Skipped>,
}

const JOBS: &str = "SELECT j.job, p.name, j.session, j.transcript, j.event, j.backend,
         j.outcome, j.reason, j.tags, j.operations, j.skipped, j.input, j.output, j.ms,
         j.finished, j.undone_by, j.dropped
     FROM jobs j JOIN projects p ON p.id = j.project";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownTranscript {
    pub(crate) end: u64,
    pub(crate) last_job: Timestamp,
}

/// The bytes that a row counts for in addition to its texts.
const ROW_BYTES: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub job: String,
    pub(crate) project: String,
    pub session: String,
    pub(crate) event: String,
    pub(crate) backend: String,
    pub time: Timestamp,
    /// The place among the job's changes; job and place together identify it permanently.
    pub seq: u64,
    pub change: PointChange,
}

const CHANGES: &str = "SELECT j.job, p.name, j.session, j.event, j.backend, j.finished,
         h.seq, h.kind, h.point, h.before, h.after, h.reason, h.into_point
     FROM history h JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum BudgetKind {
    #[default]
    Day,
    /// The amount agreed to for `playbook bootstrap`; it does not count for the day's budgets.
    Agreed,
}

impl BudgetKind {
    fn number(self) -> i64 {
        i64::from(self == Self::Agreed)
    }
}

/// A step of a job that asked a model, with all its attempts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelCall {
    pub job: String,
    /// The place among the job's calls; job and place together identify it permanently.
    pub seq: u64,
    pub project: String,
    pub time: Timestamp,
    pub backend: String,
    pub model: String,
    /// The requests sent, retries included.
    pub attempts: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub budget_kind: BudgetKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spending {
    pub project: String,
    pub(crate) backend: String,
    pub(crate) model: String,
    pub calls: u64,
    pub attempts: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

const USAGE: &str = "SELECT point, count(*), sum(cited) FROM (
         SELECT s.point, max(s.cited) AS cited
         FROM point_sessions s JOIN projects p ON p.id = s.project
             LEFT JOIN jobs j ON j.job = s.job
         WHERE p.name = ?1 AND j.undone_by IS NULL AND s.shown GROUP BY s.point, s.root)
     GROUP BY point";

/// The points that the user stated in a session: the reason of the change quotes the words.
const SAID: &str = "SELECT DISTINCT h.point FROM history h
     JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project
     WHERE p.name = ?1 AND h.kind IN ('add', 'update', 'absorb')
         AND h.reason GLOB '*[[]said: *'";

/// The sessions in which the guard of a point helped and was wrong, but for one root session.
const GUARDS: &str = "SELECT v.point, count(DISTINCT CASE v.wrong WHEN 0 THEN v.root END),
         count(DISTINCT CASE v.wrong WHEN 1 THEN v.root END)
     FROM guard_verdicts v JOIN projects p ON p.id = v.project LEFT JOIN jobs j ON j.job = v.job
     WHERE p.name = ?1 AND v.root <> ?2 AND j.undone_by IS NULL GROUP BY v.point";

const CUED_BY_HAND: &str = "SELECT DISTINCT h.point FROM history h
     JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project
     WHERE p.name = ?1 AND h.kind = 'cue' AND j.backend = ''";

const BY_HAND: &str = "SELECT DISTINCT h.point FROM history h
     JOIN jobs j ON j.id = h.job JOIN projects p ON p.id = h.project
     WHERE p.name = ?1 AND h.kind IN ('add', 'update') AND j.backend = ''";

impl Memory {
    /// Records all or nothing, synced to disk. Repeating it changes nothing, so a caller that was
    /// stopped before it removed the job's file repeats the call.
    pub fn record(&mut self, record: &JobRecord) -> Result<(), MemoryError> {
        self.write("record job", Durability::PowerCut, |transaction| {
            let project = project_number(transaction, &record.job.project)?;
            let job = put_job(transaction, project, record)?;
            put_changes(transaction, project, job, &record.changes)?;
            put_votes(transaction, (project, &record.job.id), &record.votes)?;
            if let Some(cursor) = &record.cursor {
                records::advance(transaction, project, cursor, record.confidence)?;
            }
            records::add_records(transaction, project, &record.records, record.recorded)?;
            records::raise_numbers(transaction, project, &record.highest_numbers)?;
            let of = (project, record.job.id.as_str(), record.root.as_str());
            put_usage(transaction, of, &record.points)?;
            put_guards(transaction, of, &record.guards)?;
            put_calls(transaction, &record.calls)?;
            if let Some(undone) = &record.undoes {
                mark_undone(transaction, undone, &record.job.id)?;
            }
            housekeeping::hold(transaction, project, &record.held, record.recorded)?;
            let source = record.source();
            let recorded = record.recorded;
            learning::learn(transaction, &source, &record.learned, recorded)?;
            let place = NotePlace {
                project,
                source: &source,
                recorded,
            };
            notes::add_outdated(transaction, place, &record.outdated)?;
            notes::update(transaction, &record.note_updates, record.seen_until)?;
            if let Some(evaluation) = &record.evaluation {
                let ended = record.ended.as_deref();
                recall::put_evaluation(transaction, project, &source, evaluation, ended)?;
            }
            Ok(())
        })
    }

    pub fn job(&self, id: &str) -> Result<Option<JobRow>, MemoryError> {
        let sql = format!("{JOBS} WHERE j.job = ?1");
        self.one("read job", &sql, [id], job_row)
    }

    pub(crate) fn jobs(&self) -> Result<u64, MemoryError> {
        self.count("count jobs", "SELECT count(*) FROM jobs", ())
    }

    /// Leaves out jobs of `playbook bootstrap`, which have the dates of their sessions.
    pub(crate) fn remembers_since(&self) -> Result<Option<Timestamp>, MemoryError> {
        let sql = "SELECT finished FROM jobs WHERE event <> 'bootstrap' ORDER BY finished LIMIT 1";
        self.one("read jobs", sql, (), |row| time(row, 0))
    }

    /// Returns transcripts with an ended job: the end of the claimed range, the last job's time.
    pub(crate) fn known_transcripts(
        &self,
        project: &str,
    ) -> Result<HashMap<String, KnownTranscript>, MemoryError> {
        let sql = "SELECT transcript, max(reached), max(at) FROM (
                 SELECT transcript, reached, updated AS at, project FROM cursors
                 UNION ALL SELECT transcript, 0, finished, project FROM jobs)
             WHERE project = (SELECT id FROM projects WHERE name = ?1) GROUP BY transcript";
        let read = |row: &Row<'_>| {
            let known = KnownTranscript {
                end: counted(row, 1)?,
                last_job: time(row, 2)?,
            };
            Ok((row.get(0)?, known))
        };
        let known = self.all("read jobs", sql, [project], read)?;
        Ok(known.into_iter().collect())
    }

    /// Returns the last `limit` jobs of a project that were not skipped, newest first.
    pub(crate) fn last_done(&self, project: &str, limit: u64) -> Result<Vec<JobRow>, MemoryError> {
        let sql = format!(
            "{JOBS} WHERE p.name = ?1 AND j.outcome <> 'skipped' ORDER BY j.id DESC LIMIT ?2"
        );
        self.all("read jobs", &sql, (project, int(limit)), job_row)
    }

    /// Returns the last `limit` jobs, of one project or of all, newest first.
    pub fn last_jobs(&self, project: Option<&str>, limit: u64) -> Result<Vec<JobRow>, MemoryError> {
        // Two statements, so that an index serves each.
        let filter = project.map_or("?1 IS NULL", |_| "p.name = ?1");
        let sql = format!("{JOBS} WHERE {filter} ORDER BY j.finished DESC, j.id DESC LIMIT ?2");
        self.all("read jobs", &sql, (project, int(limit)), job_row)
    }

    /// Returns the last `limit` changes of a project, newest first.
    pub fn history(&self, project: &str, limit: u64) -> Result<Vec<Entry>, MemoryError> {
        let sql = format!("{CHANGES} WHERE p.name = ?1 ORDER BY h.id DESC LIMIT ?2");
        self.all("read history", &sql, (project, int(limit)), entry)
    }

    /// Returns the changes of some key points and of those merged into them, oldest first.
    pub fn story(&self, project: &str, points: &[&str]) -> Result<Vec<Entry>, MemoryError> {
        let points = Value::from(points).to_string();
        let sql = format!(
            "{CHANGES} WHERE p.name = ?1
                 AND (h.point IN (SELECT value FROM json_each(?2))
                     OR h.into_point IN (SELECT value FROM json_each(?2)))
             ORDER BY h.id"
        );
        self.all("read history", &sql, (project, points), entry)
    }

    pub fn changes_of(&self, job: &str) -> Result<Vec<Entry>, MemoryError> {
        let sql = format!("{CHANGES} WHERE j.job = ?1 ORDER BY h.seq");
        self.all("read history", &sql, [job], entry)
    }

    /// Records a call before its job ends; not synced, since the job's record contains it again.
    pub fn add_call(&mut self, call: &ModelCall) -> Result<(), MemoryError> {
        self.write("record call", Durability::Crash, |transaction| {
            put_calls(transaction, std::slice::from_ref(call))
        })
    }

    /// Returns what one budget, or all, paid from `from` until before `until`.
    pub(crate) fn spending(
        &self,
        kind: impl Into<Option<BudgetKind>>,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<Vec<Spending>, MemoryError> {
        let sql = "SELECT p.name, c.backend, c.model, count(*), sum(c.attempts), sum(c.input),
                 sum(c.output)
             FROM calls c JOIN projects p ON p.id = c.project
             WHERE c.time >= ?1 AND c.time < ?2 AND (?3 IS NULL OR c.purse = ?3)
             GROUP BY p.name, c.backend, c.model ORDER BY p.name, c.backend, c.model";
        let params = (
            millis(from),
            millis(until),
            kind.into().map(BudgetKind::number),
        );
        self.all("read ledger", sql, params, |row| {
            Ok(Spending {
                project: row.get(0)?,
                backend: row.get(1)?,
                model: row.get(2)?,
                calls: counted(row, 3)?,
                attempts: counted(row, 4)?,
                input_tokens: counted(row, 5)?,
                output_tokens: counted(row, 6)?,
            })
        })
    }

    pub(crate) fn sessions_asked_about(&self) -> Result<u64, MemoryError> {
        let sql = "SELECT count(DISTINCT j.session) FROM calls c JOIN jobs j ON j.job = c.job
             WHERE j.session <> ''";
        let found = self.one("read ledger", sql, [], |row| counted(row, 0))?;
        Ok(found.unwrap_or_default())
    }

    /// Returns the number of a job's answered calls, and their tokens.
    pub(crate) fn answered_calls(&self, job: &str) -> Result<(u64, u64), MemoryError> {
        let sql = "SELECT count(*), ifnull(sum(input + output), 0) FROM calls
             WHERE job = ?1 AND input + output > 0";
        let read = |row: &Row<'_>| Ok((counted(row, 0)?, counted(row, 1)?));
        let found = self.one("read ledger", sql, [job], read)?;
        Ok(found.unwrap_or_default())
    }

    pub(crate) fn next_call(&self, job: &str) -> Result<u64, MemoryError> {
        let sql = "SELECT max(seq) + 1 FROM calls WHERE job = ?1 HAVING count(*) > 0";
        self.count("read ledger", sql, [job])
    }

    pub fn votes(&self, project: &str) -> Result<LocalVotes, MemoryError> {
        let sql = "SELECT v.point, sum(v.helpful), sum(v.harmful), max(v.used)
             FROM local_votes v JOIN projects p ON p.id = v.project
             WHERE p.name = ?1 GROUP BY v.point";
        let votes = self.all("read votes", sql, [project], |row| {
            let is_used = row.get::<_, Option<i64>>(3)?.is_some();
            let vote = LocalVote {
                helpful: row.get(1)?,
                harmful: row.get(2)?,
                used: is_used.then(|| time(row, 3)).transpose()?,
            };
            Ok((row.get(0)?, vote))
        })?;
        Ok(votes.into_iter().collect())
    }

    pub(crate) fn add_votes(
        &mut self,
        project: &str,
        from: &str,
        votes: &LocalVotes,
    ) -> Result<(), MemoryError> {
        self.write("add votes", Durability::PowerCut, |transaction| {
            let project = project_number(transaction, project)?;
            put_votes(transaction, (project, from), votes)
        })
    }

    /// Returns the use of a project's key points; each root session counts once.
    pub(crate) fn usage(&self, project: &str) -> Result<UsageRecord, MemoryError> {
        self.usage_without(project, "")
    }

    /// Returns the same without what guards did in one root session.
    pub(crate) fn usage_without(
        &self,
        project: &str,
        root: &str,
    ) -> Result<UsageRecord, MemoryError> {
        let action = "read the use of key points";
        let points = self.all(action, USAGE, [project], |row| {
            let usage = PointUsage {
                shown: counted(row, 1)?,
                cited: counted(row, 2)?,
                ..PointUsage::default()
            };
            Ok((row.get(0)?, usage))
        })?;
        let mut points: BTreeMap<String, PointUsage> = points.into_iter().collect();
        let guard = |row: &Row<'_>| Ok((row.get(0)?, counted(row, 1)?, counted(row, 2)?));
        for (point, helped, wrong) in self.all(action, GUARDS, [project, root], guard)? {
            let usage = points.entry(point).or_default();
            (usage.guard_helped, usage.guard_wrong) = (helped, wrong);
        }
        let names = |sql| -> Result<BTreeSet<String>, MemoryError> {
            let names = self.all(action, sql, [project], |row| row.get(0))?;
            Ok(names.into_iter().collect())
        };
        Ok(UsageRecord {
            points,
            said: names(SAID)?,
            by_hand: names(BY_HAND)?,
            cued_by_hand: names(CUED_BY_HAND)?,
        })
    }
}

fn job_row(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    Ok(JobRow {
        job: FinishedJob {
            id: row.get(0)?,
            project: row.get(1)?,
            session: row.get(2)?,
            transcript: row.get(3)?,
            event: row.get(4)?,
            backend: row.get(5)?,
            outcome: word(row, 6, JobOutcome::from_word)?,
            reason: row.get(7)?,
            counts: JobCounts {
                tags: counted(row, 8)?,
                operations: counted(row, 9)?,
                skipped: counted(row, 10)?,
                input_tokens: counted(row, 11)?,
                output_tokens: counted(row, 12)?,
                ms: counted(row, 13)?,
            },
            finished: time(row, 14)?,
        },
        undone_by: row.get(15)?,
        dropped: json(row, 16)?.unwrap_or_default(),
    })
}

/// A failed job may be tried again and end differently; an applied one stays as it is.
fn put_job(
    transaction: &Transaction<'_>,
    project: i64,
    JobRecord { job, dropped, .. }: &JobRecord,
) -> rusqlite::Result<i64> {
    let counts = &job.counts;
    // Serializing texts cannot fail.
    let dropped = (!dropped.is_empty()).then(|| serde_json::to_string(dropped).unwrap_or_default());
    run(
        transaction,
        "INSERT INTO jobs (job, project, session, transcript, event, backend, outcome,
             reason, tags, operations, skipped, input, output, ms, finished, dropped)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)
         ON CONFLICT (job) DO UPDATE SET
             event = excluded.event, backend = excluded.backend,
             outcome = excluded.outcome, reason = excluded.reason, tags = excluded.tags,
             operations = excluded.operations, skipped = excluded.skipped,
             input = excluded.input, output = excluded.output, ms = excluded.ms,
             finished = excluded.finished, dropped = coalesce(excluded.dropped, dropped)
         WHERE outcome <> 'applied'",
        (
            &job.id,
            project,
            &job.session,
            &job.transcript,
            &job.event,
            &job.backend,
            job.outcome.word(),
            &job.reason,
            int(counts.tags),
            int(counts.operations),
            int(counts.skipped),
            int(counts.input_tokens),
            int(counts.output_tokens),
            int(counts.ms),
            millis(job.finished),
            dropped,
        ),
    )?;
    transaction
        .prepare_cached("SELECT id FROM jobs WHERE job = ?1")?
        .query_row([&job.id], |row| row.get(0))
}

/// Records that `by` undid `undone`; the first undo stays. What `undone` itself had undone is in
/// force again, and can be undone again.
fn mark_undone(transaction: &Transaction<'_>, undone: &str, by: &str) -> rusqlite::Result<()> {
    let undo = "UPDATE jobs SET undone_by = ?2 WHERE job = ?1 AND undone_by IS NULL";
    run(transaction, undo, (undone, by))?;
    let redo = "UPDATE jobs SET undone_by = NULL WHERE undone_by = ?1";
    run(transaction, redo, [undone]).map(drop)
}

fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        job: row.get(0)?,
        project: row.get(1)?,
        session: row.get(2)?,
        event: row.get(3)?,
        backend: row.get(4)?,
        time: time(row, 5)?,
        seq: counted(row, 6)?,
        change: PointChange {
            kind: word(row, 7, ChangeKind::from_word)?,
            id: row.get(8)?,
            before: json(row, 9)?,
            after: json(row, 10)?,
            reason: row.get(11)?,
            into: row.get(12)?,
        },
    })
}

/// Adds a job's changes; existing ones stay.
fn put_changes(
    transaction: &Transaction<'_>,
    project: i64,
    job: i64,
    changes: &[PointChange],
) -> rusqlite::Result<()> {
    for (seq, change) in (0..).zip(changes) {
        let [before, after] = [&change.before, &change.after].map(|state| {
            // Serializing texts and numbers cannot fail.
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

fn put_calls(transaction: &Transaction<'_>, calls: &[ModelCall]) -> rusqlite::Result<()> {
    for call in calls {
        run(
            transaction,
            "INSERT OR IGNORE INTO calls
                 (job, seq, project, time, backend, model, attempts, input, output, purse)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
                &call.job,
                int(call.seq),
                project_number(transaction, &call.project)?,
                millis(call.time),
                &call.backend,
                &call.model,
                int(call.attempts),
                int(call.input_tokens),
                int(call.output_tokens),
                call.budget_kind.number(),
            ),
        )?;
    }
    Ok(())
}

fn put_votes(
    transaction: &Transaction<'_>,
    (project, job): (i64, &str),
    votes: &LocalVotes,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO local_votes (project, job, point, helpful, harmful, used)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    for (point, vote) in votes {
        let used = vote.used.map(millis);
        let row = (project, job, point, vote.helpful, vote.harmful, used);
        run(transaction, sql, row)?;
    }
    Ok(())
}

fn put_usage(
    transaction: &Transaction<'_>,
    (project, job, root): (i64, &str, &str),
    points: &[PointInSession],
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO point_sessions
             (project, point, root, job, cited, helpful, harmful, shown)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1)";
    for point in points {
        let [helpful, harmful] = [Tag::Helpful, Tag::Harmful].map(|tag| point.vote == Some(tag));
        let values = (
            project,
            &point.name,
            root,
            job,
            point.is_cited,
            helpful,
            harmful,
        );
        run(transaction, sql, values)?;
    }
    Ok(())
}

/// Adds a session's verdicts on guards; existing ones stay.
fn put_guards(
    transaction: &Transaction<'_>,
    (project, job, root): (i64, &str, &str),
    guards: &[GuardVerdict],
) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO guard_verdicts (project, point, root, job, wrong)
         VALUES (?1, ?2, ?3, ?4, ?5)";
    for GuardVerdict { point, is_wrong } in guards {
        run(transaction, sql, (project, point, root, job, is_wrong))?;
    }
    Ok(())
}
