//! The jobs of `playbook bootstrap`: one for each session that was there before.
//!
//! A job carries what it may spend. The worker does the rest, as for a session that just ended.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::backoff::Backoff;
use super::budget::Usage;
use super::claim::{self, ClaimError};
use super::context::Worker;
use super::job::{JobEvent, JobId, Ticket};
use super::outcome::Outcome;
use super::progress::{self, Job, SessionEvidence};
use super::spool::{self, IdEntropy};
use super::transcripts::PastTranscript;
use super::{QueueError, ask, curate, open_session, stages, worker};
use crate::config::Config;
use crate::env::Clock;
use crate::fsx::FsError;
use crate::memory::{BudgetKind, MemoryError};
use crate::platform::{Life, ProcessMark};
use crate::playbook::ops::max_bytes;
use crate::playbook::render::format_playbook;
use crate::store::Store;
use crate::transcript::estimate_tokens;

/// The calls agreed to for one session: the reflector, and once more.
const CALLS: u64 = 2;
pub(crate) const BATCH: usize = 10;
const ANSWER_TOKENS: u64 = 1_500;
const GROWTH_TOKENS: u64 = 120;
/// The longest pause that a worker waits out.
const SOON: SignedDuration = SignedDuration::from_secs(60);
/// The agreement of a job that does not state one: its prompts are as long as the settings allow.
pub(crate) const UNSTATED: Usage = Usage {
    calls: CALLS,
    tokens: u64::MAX,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    Enough(u64),
    TooLittle,
    /// It was learned from, or has a job.
    Nothing,
}

#[derive(Debug, Default)]
pub(crate) struct WaitingJobs {
    /// Bootstrap jobs of this project and the curator's runs after them, oldest first.
    pub(crate) ours: Vec<Job>,
    pub(crate) others: usize,
    taken: HashSet<PathBuf>,
}

/// Reads the jobs in the spool, and heeds their claims from now on.
pub(crate) fn waiting(context: &Worker, project: &Path) -> Result<WaitingJobs, FsError> {
    let mut waiting = WaitingJobs::default();
    for job in progress::all(&context.paths().spool())? {
        context.claims().add(&job);
        if job.progress.claim.is_none() {
            waiting.taken.insert(job.ticket.transcript.clone());
        }
        if job.ticket.project != project {
            continue;
        }
        if job.agreed().is_some() {
            waiting.ours.push(job);
        } else {
            waiting.others += 1;
        }
    }
    Ok(waiting)
}

pub(crate) fn open_now(context: &Worker) -> HashSet<PathBuf> {
    let mut marks = open_session::all(context.paths()).unwrap_or_default();
    marks.retain(|mark| mark.client.as_ref().map(ProcessMark::life) == Some(Life::Alive));
    marks.into_iter().map(|mark| mark.transcript).collect()
}

/// Reads what is new in a session, as its job would; a later look takes it for claimed. A different
/// `place` for each look keeps their jobs apart.
pub(crate) fn look(
    context: &Worker,
    (project, config): (&Path, &Config),
    waiting: &WaitingJobs,
    past: &PastTranscript,
    place: u32,
) -> Result<News, ClaimError> {
    if waiting.taken.contains(&past.transcript) {
        return Ok(News::Nothing);
    }
    let secrecy = config.secrets.secrecy().map_err(QueueError::from)?;
    let mut job = Job::new(ticket(context, project, past));
    job.ticket.id = JobId::new(job.ticket.at, place);
    let Some((claim, digest)) = claim::claim(&job, context, secrecy)? else {
        return Ok(News::Nothing);
    };
    // What else is wrong the job itself will say.
    if let Err(Outcome::Done(_)) = stages::worth(context, &job, &digest.facts, config) {
        return Ok(News::TooLittle);
    }
    job.progress.claim = Some(claim);
    context.claims().add(&job);
    let evidence = SessionEvidence::of(digest, config.evidence.tokens).evidence;
    Ok(News::Enough(evidence.tokens))
}

/// The most that a run of `playbook bootstrap` may take.
#[derive(Debug, Default)]
pub(crate) struct Estimates {
    pub(crate) sessions: Vec<Usage>,
    pub(crate) curator: Usage,
}

pub(crate) fn estimates(
    context: &Worker,
    config: &Config,
    project: &Path,
    evidence: &[u64],
) -> anyhow::Result<Estimates> {
    if context.account.need.backend.is_offline() {
        return Ok(Estimates {
            sessions: vec![Usage::default(); evidence.len()],
            curator: Usage::default(),
        });
    }
    let paths = context.paths();
    let playbook = Store::of(paths, project).load()?;
    let points = estimate_tokens(&format_playbook(&playbook, "{key_points}"));
    let most_points = points.max(max_bytes(config.playbook.max_points) as u64 / 4);
    let reflector_template = estimate_tokens(&ask::reflector_template(paths)?);
    let sessions = (0..).zip(evidence).map(|(earlier, evidence)| {
        let points = (points + earlier * GROWTH_TOKENS).min(most_points);
        let reflector = evidence + reflector_template + points + ANSWER_TOKENS;
        Usage {
            calls: CALLS,
            tokens: CALLS * reflector,
        }
    });
    Ok(Estimates {
        sessions: sessions.collect(),
        curator: curate::estimate(paths, config, project)?,
    })
}

/// Returns the tokens of a job's evidence, or as many as there may be.
pub(crate) fn evidence_of(context: &Worker, config: &Config, job: &Job) -> u64 {
    let kept = progress::read_evidence(context.paths(), &job.ticket.id);
    kept.map_or(config.evidence.tokens, |kept| kept.evidence.tokens)
}

/// Makes a job of a session; among those of one second the lower turn comes first. After the last
/// of a batch the curator may spend `ends_batch`.
pub(crate) fn put(
    context: &Worker,
    project: &Path,
    past: &PastTranscript,
    turn: u16,
    (agreed, ends_batch): (Usage, Option<Usage>),
) -> Result<JobId, FsError> {
    let file = past.transcript.file_name().unwrap_or_default();
    let about = || format!("bootstrap\n{}\n{}", past.session, file.display());
    let entropy = IdEntropy::Turn {
        turn,
        of: Box::new(IdEntropy::of(context.clock, about)),
    };
    let ticket = ticket(context, project, past);
    spool::put_as(context.paths(), &entropy, ticket, |ticket| {
        let mut job = Job::new(ticket.clone());
        (job.progress.agreed, job.progress.ends_batch) = (Some(agreed), ends_batch);
        job
    })
}

fn ticket(context: &Worker, project: &Path, past: &PastTranscript) -> Ticket {
    Ticket {
        session: past.session.clone(),
        transcript: past.transcript.clone(),
        cwd: past.cwd.clone().unwrap_or_else(|| project.to_owned()),
        need: Some(context.account.need.clone()),
        ..Ticket::new(JobEvent::Bootstrap, project, context.now())
    }
}

impl WaitingJobs {
    pub(crate) fn runs(&self) -> usize {
        let ends = self.ours.iter().filter_map(|job| job.progress.ends_batch);
        ends.count()
    }
}

pub(crate) fn is_run(context: &Worker, project: &Path, id: &JobId) -> bool {
    let job = progress::read(&context.paths().spool(), id);
    job.is_ok_and(|job| job.curate.is_some() && job.ticket.project == project)
}

pub(crate) fn spent(context: &Worker, project: &Path) -> Result<Usage, MemoryError> {
    let name = project.to_string_lossy();
    let (kind, first, last) = (BudgetKind::Agreed, Timestamp::MIN, Timestamp::MAX);
    let rows = context.memory().spending(kind, first, last)?;
    Ok(Usage::of(rows.iter().filter(|row| row.project == name)))
}

/// Returns for each job why it waits; `None` where a worker can do it now or soon.
pub(crate) fn reasons<'a>(
    context: &'a Worker,
    jobs: &'a [JobId],
) -> impl Iterator<Item = (JobId, Option<String>)> {
    // Another process works on them.
    *context.backoff() = Backoff::read(context.paths());
    jobs.iter().map(|id| (id.clone(), reason(context, id)))
}

fn reason(context: &Worker, id: &JobId) -> Option<String> {
    let job = match progress::read(&context.paths().spool(), id) {
        Ok(job) => job,
        Err(error) => return (!error.is_missing()).then(|| error.to_string()),
    };
    let due = context.due(&job)?;
    let is_running = context.clock == Clock::Running;
    if is_running && due.duration_since(context.now()) <= SOON {
        return None;
    }
    let own = job.progress.waiting.as_ref().map(|w| w.reason.clone());
    let reason = own.or_else(|| context.parked_reason(&job));
    Some(reason.unwrap_or_default())
}

/// Also takes the jobs out of `jobs`; returns their number. Begins with the newest, unlike a
/// worker. A worker that has just read a job saves it again with its claim, so nothing is lost.
pub(crate) fn withdraw(context: &Worker, jobs: &mut Vec<JobId>) -> Result<usize, FsError> {
    let spool = context.paths().spool();
    let mut left = Vec::new();
    let mut withdrawn = 0;
    for id in jobs.drain(..).rev() {
        match progress::read(&spool, &id) {
            Ok(job) if job.progress.claim.is_none() && !worker::holds(context.paths(), &id) => {
                progress::remove(&spool, &id)?;
                withdrawn += 1;
            }
            _ => left.push(id),
        }
    }
    left.reverse();
    *jobs = left;
    Ok(withdrawn)
}
