//! One row per finished job, also for those that changed nothing.

use std::collections::HashMap;

use jiff::Timestamp;
use rusqlite::{Row, Transaction};

use super::convert::{self, counted, int, json, millis, time};
use super::database::{Memory, run};
use super::error::MemoryError;
use crate::playbook::Skipped;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum JobOutcome {
    /// Its result is in the playbook, changed or not.
    #[default]
    Applied,
    /// Nothing was asked of a model, for the reason given.
    Skipped,
    /// It went to `failed/`, for the reason given.
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
    /// Tags and operations skipped, each for its own reason.
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
    /// The session, empty for a job by hand.
    pub session: String,
    /// The transcript's path, empty for a job by hand.
    pub transcript: String,
    /// What caused it: `SessionEnd`, `PreCompact`, `undo`, …
    pub event: String,
    /// What answered the prompts: `anthropic`, `rules`, …; empty when nothing was asked.
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
    /// What its replies asked for and was not accepted.
    pub dropped: Vec<Skipped>,
}

const SELECT: &str = "SELECT j.job, p.name, j.session, j.transcript, j.event, j.backend,
         j.outcome, j.reason, j.tags, j.operations, j.skipped, j.input, j.output, j.ms,
         j.finished, j.undone_by, j.dropped
     FROM jobs j JOIN projects p ON p.id = j.project";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownTranscript {
    pub(crate) end: u64,
    pub(crate) last_job: Timestamp,
}

impl Memory {
    pub fn job(&self, id: &str) -> Result<Option<JobRow>, MemoryError> {
        let sql = format!("{SELECT} WHERE j.job = ?1");
        self.one("read job", &sql, [id], from_row)
    }

    pub(crate) fn jobs(&self) -> Result<u64, MemoryError> {
        self.count("count jobs", "SELECT count(*) FROM jobs", ())
    }

    /// Returns when the oldest job ended that is remembered; not of `playbook bootstrap`, which
    /// dates its jobs as their sessions were. `None` without one.
    pub(crate) fn remembers_since(&self) -> Result<Option<Timestamp>, MemoryError> {
        let sql = "SELECT finished FROM jobs WHERE event <> 'bootstrap' ORDER BY finished LIMIT 1";
        self.one("read jobs", sql, (), |row| time(row, 0))
    }

    /// Returns the transcripts of a project that a job has ended of, however it did, with the end
    /// of what was claimed and the time of the last job.
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
            "{SELECT} WHERE p.name = ?1 AND j.outcome <> 'skipped' ORDER BY j.id DESC LIMIT ?2"
        );
        self.all("read jobs", &sql, (project, int(limit)), from_row)
    }

    /// Returns the last `limit` jobs, of one project or of all, newest first.
    pub fn last_jobs(&self, project: Option<&str>, limit: u64) -> Result<Vec<JobRow>, MemoryError> {
        // Told apart here, so that an index serves each.
        let filter = project.map_or("?1 IS NULL", |_| "p.name = ?1");
        let sql = format!("{SELECT} WHERE {filter} ORDER BY j.finished DESC, j.id DESC LIMIT ?2");
        self.all("read jobs", &sql, (project, int(limit)), from_row)
    }
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    Ok(JobRow {
        job: FinishedJob {
            id: row.get(0)?,
            project: row.get(1)?,
            session: row.get(2)?,
            transcript: row.get(3)?,
            event: row.get(4)?,
            backend: row.get(5)?,
            outcome: convert::word(row, 6, JobOutcome::from_word)?,
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

/// Writes the job's row and returns its number in the database.
///
/// A job that failed may be tried again and end otherwise; one that was applied stays so.
pub(super) fn put(
    transaction: &Transaction<'_>,
    project: i64,
    job: &FinishedJob,
) -> rusqlite::Result<i64> {
    let counts = &job.counts;
    run(
        transaction,
        "INSERT INTO jobs (job, project, session, transcript, event, backend, outcome,
             reason, tags, operations, skipped, input, output, ms, finished)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
         ON CONFLICT (job) DO UPDATE SET
             event = excluded.event, backend = excluded.backend,
             outcome = excluded.outcome, reason = excluded.reason, tags = excluded.tags,
             operations = excluded.operations, skipped = excluded.skipped,
             input = excluded.input, output = excluded.output, ms = excluded.ms,
             finished = excluded.finished
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
        ),
    )?;
    transaction
        .prepare_cached("SELECT id FROM jobs WHERE job = ?1")?
        .query_row([&job.id], |row| row.get(0))
}

/// Keeps with the job of this number what was not accepted of its replies.
pub(super) fn mark_dropped(
    transaction: &Transaction<'_>,
    job: i64,
    dropped: &[Skipped],
) -> rusqlite::Result<()> {
    if dropped.is_empty() {
        return Ok(());
    }
    // Texts can always be written.
    let told = serde_json::to_string(dropped).unwrap_or_default();
    let sql = "UPDATE jobs SET dropped = ?2 WHERE id = ?1";
    run(transaction, sql, (job, told)).map(drop)
}

/// Notes that `undone` was undone by `by`; the first to do so stays. What `undone` had
/// undone itself is in force again, and can be undone anew.
pub(super) fn mark_undone(
    transaction: &Transaction<'_>,
    undone: &str,
    by: &str,
) -> rusqlite::Result<()> {
    let undo = "UPDATE jobs SET undone_by = ?2 WHERE job = ?1 AND undone_by IS NULL";
    run(transaction, undo, (undone, by))?;
    let redo = "UPDATE jobs SET undone_by = NULL WHERE undone_by = ?1";
    run(transaction, redo, [undone]).map(drop)
}
