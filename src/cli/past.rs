//! The sessions of a project, and what became of each.

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::Timestamp;

use super::jobs::{self, Row};
use super::session::NamedSession;
use crate::memory::{Entry, JobOutcome, JobRow, Memory};
use crate::queue::transcripts;

/// So many jobs of the history are looked at, the newest.
const JOBS: u64 = 5_000;

/// A session of which Claude Code has a transcript, or the history a job.
pub(super) struct PastSession {
    pub(super) id: String,
    /// `None` where Claude Code has removed it.
    pub(super) transcript: Option<PathBuf>,
    pub(super) ended: Timestamp,
}

pub(super) enum Became<'a> {
    Waits(&'a Row),
    /// The last of its jobs.
    Learned(&'a JobRow),
    Failed(&'a JobRow),
    PassedOver(&'a JobRow),
    /// It is still open, or no hook saw its end.
    Nothing,
}

pub(super) struct Past {
    /// Newest first.
    pub(super) sessions: Vec<PastSession>,
    /// Newest first.
    pub(super) jobs: Vec<JobRow>,
    memory: Option<Memory>,
    waiting: Vec<Row>,
}

impl Past {
    pub(super) fn of(session: &NamedSession) -> anyhow::Result<Self> {
        let memory = session.memory()?;
        let project = session.project_name();
        let jobs = match &memory {
            Some(memory) => memory.last_jobs(Some(&project), JOBS)?,
            None => Vec::new(),
        };
        let mut sessions: HashMap<String, PastSession> = HashMap::new();
        for JobRow { job, .. } in jobs.iter().filter(|row| !row.job.session.is_empty()) {
            let known = sessions.entry(job.session.clone());
            known.or_insert_with(|| PastSession {
                id: job.session.clone(),
                transcript: None,
                ended: job.finished,
            });
        }
        let kept = transcripts::of_project(&session.paths, &session.project);
        for past in kept.into_iter().filter(|past| !past.is_subagents) {
            let known = PastSession {
                id: past.session.clone(),
                transcript: Some(past.transcript),
                ended: past.ended,
            };
            sessions.insert(past.session, known);
        }
        let mut sessions: Vec<PastSession> = sessions.into_values().collect();
        sessions.sort_by(|a, b| (b.ended, &b.id).cmp(&(a.ended, &a.id)));
        Ok(Self {
            sessions,
            jobs,
            memory,
            waiting: jobs::rows(session, session.env.clock().now())?,
        })
    }

    pub(super) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    pub(super) fn became(&self, session: &PastSession) -> Became<'_> {
        let is_its = |row: &&Row| {
            let job = row.job.as_ref();
            job.is_some_and(|job| job.ticket.session == session.id)
        };
        if let Some(row) = self.waiting.iter().find(is_its) {
            return Became::Waits(row);
        }
        let last = |outcome| self.jobs_of(session).find(|row| row.job.outcome == outcome);
        last(JobOutcome::Applied)
            .map(Became::Learned)
            .or_else(|| last(JobOutcome::Failed).map(Became::Failed))
            .or_else(|| self.jobs_of(session).next().map(Became::PassedOver))
            .unwrap_or(Became::Nothing)
    }

    pub(super) fn changes(&self, session: &PastSession) -> anyhow::Result<Vec<Entry>> {
        let mut changes = Vec::new();
        let mut jobs: Vec<&JobRow> = self.jobs_of(session).collect();
        jobs.reverse();
        for row in jobs {
            changes.extend(self.changes_of(row)?);
        }
        Ok(changes)
    }

    pub(super) fn changes_of(&self, row: &JobRow) -> anyhow::Result<Vec<Entry>> {
        Ok(match &self.memory {
            Some(memory) => memory.changes_of(&row.job.id)?,
            None => Vec::new(),
        })
    }

    fn jobs_of(&self, session: &PastSession) -> impl Iterator<Item = &JobRow> {
        self.jobs.iter().filter(|row| row.job.session == session.id)
    }
}
