//! What `playbook bootstrap` makes jobs of: sessions that were there before.
//!
//! Each goes through the queue like one that has just ended. Here is what comes before
//! and after that: which of them are new, what they would take, and how they fare.

use std::collections::HashSet;
use std::path::PathBuf;

use jiff::SignedDuration;

use super::backoff::Backoff;
use super::budget::Usage;
use super::claim::{self, ClaimError, Claimed};
use super::context::WorkerContext;
use super::evidence::SessionEvidence;
use super::job::{JobEvent, JobId, Ticket};
use super::open_session;
use super::progress::{JobInProgress, Progress};
use super::spool::{self, IdEntropy};
use super::stop::Stop;
use super::surroundings::Surroundings;
use super::{QueueError, files, question_templates, trigger_table};
use crate::config::Config;
use crate::env::Clock;
use crate::fsx::FsError;
use crate::memory::{self, MemoryError};
use crate::platform::{Life, ProcessMark};
use crate::playbook::render::format_playbook;
use crate::store::Store;
use crate::transcript::{Reason, estimate_tokens};

/// Questions that a session takes: reflector and curator.
const QUESTIONS: u64 = 2;
/// What an answer takes at most, as a rule.
const ANSWER_TOKENS: u64 = 1_500;
/// By how much the playbook in the prompts grows with each session.
const GROWTH_TOKENS: u64 = 120;
/// Of so many questions one has to be put twice.
const ONE_TWICE_IN: u64 = 4;
/// A worker waits this long for a job that is to be tried again.
const SOON: SignedDuration = SignedDuration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EarlierSession {
    /// The client's id of it; of a subagent, that of its parent.
    pub(crate) session: String,
    /// Its transcript, as the client's hooks name it.
    pub(crate) transcript: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) project: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    Enough {
        tokens: u64,
        /// Whether it holds copies of records that are others', as a fork does.
        has_copies: bool,
    },
    TooLittle,
    /// Nothing: it was learned from, or a job of it waits.
    Nothing,
}

#[derive(Debug, Default)]
pub(crate) struct WaitingJobs {
    /// Those of an earlier run in this project, oldest first.
    pub(crate) ours: Vec<JobInProgress>,
    /// How many others this project has.
    pub(crate) others: usize,
    /// Transcripts that have a job which has claimed nothing yet.
    taken: HashSet<PathBuf>,
}

/// Looks at the jobs that are there, and heeds their claims from now on.
pub(crate) fn waiting(
    context: &WorkerContext,
    project: &std::path::Path,
) -> Result<WaitingJobs, FsError> {
    let mut waiting = WaitingJobs::default();
    for job in files::all(&context.paths().spool())? {
        context.claims().add(&job);
        if job.progress.claim.is_none() {
            waiting.taken.insert(job.ticket.transcript.clone());
        }
        if job.ticket.event == JobEvent::Bootstrap && job.ticket.project == project {
            waiting.ours.push(job);
        } else if job.ticket.project == project {
            waiting.others += 1;
        }
    }
    Ok(waiting)
}

/// The transcripts of sessions whose client is there: they will end by themselves.
pub(crate) fn open_now(surroundings: &Surroundings) -> HashSet<PathBuf> {
    let marks = open_session::all(&surroundings.paths).unwrap_or_default();
    marks
        .into_iter()
        .filter(|mark| mark.client.as_ref().map(ProcessMark::life) == Some(Life::Alive))
        .map(|mark| mark.transcript)
        .collect()
}

/// Reads what is new in a session, as its job would; a later look takes it for claimed.
pub(crate) fn look(
    context: &WorkerContext,
    config: &Config,
    waiting: &WaitingJobs,
    earlier: &EarlierSession,
    place: u32,
) -> Result<News, ClaimError> {
    if waiting.taken.contains(&earlier.transcript) {
        return Ok(News::Nothing);
    }
    let secrecy = config.secrets.secrecy().map_err(QueueError::from)?;
    let mut job = JobInProgress {
        ticket: ticket(&context.surroundings, earlier),
        edit: None,
        progress: Progress::default(),
    };
    job.ticket.id = JobId::new(job.ticket.at, place);
    let (claim, digest) = match claim::claim(&job, context, secrecy)? {
        Claimed::NothingNew => return Ok(News::Nothing),
        Claimed::Part(claim, digest) => (claim, digest),
    };
    match trigger_table::worth(context, &job, &digest.facts, config) {
        Err(Stop::Skips(_)) => return Ok(News::TooLittle),
        // What cannot pass the job itself will say.
        Ok(_) | Err(Stop::Waits { .. } | Stop::Fails(_)) => {}
    }
    job.progress.claim = Some(claim);
    context.claims().add(&job);
    let has_copies = digest.stats.skipped.contains_key(&Reason::Copy);
    let evidence = SessionEvidence::of(*digest, config.evidence.tokens).evidence;
    Ok(News::Enough {
        tokens: evidence.tokens,
        has_copies,
    })
}

/// What sessions would take, to the safe side: so many calls and tokens are agreed to.
///
/// `evidence` has the tokens of each session's evidence.
pub(crate) fn estimate(
    surroundings: &Surroundings,
    config: &Config,
    project: &std::path::Path,
    evidence: &[u64],
) -> anyhow::Result<Usage> {
    if surroundings.account.need.backend.is_offline() {
        return Ok(Usage::default());
    }
    let playbook = Store::of(&surroundings.paths, project).load()?;
    let points = estimate_tokens(&format_playbook(&playbook, "{key_points}"));
    let templates =
        estimate_tokens(&question_templates::reflector_template(
            &surroundings.paths,
        )?) + estimate_tokens(&question_templates::curator_template(&surroundings.paths)?);
    let most_points = config.playbook.max_bytes as u64 / 4;
    let tokens: u64 = (0..)
        .zip(evidence)
        .map(|(earlier, evidence)| {
            let points = (points + earlier * GROWTH_TOKENS).min(most_points.max(points));
            // The curator is shown the reflector's answer.
            let answers = (QUESTIONS + 1) * ANSWER_TOKENS;
            evidence + templates + QUESTIONS * points + answers
        })
        .sum();
    let calls = QUESTIONS * evidence.len() as u64;
    let with_spare = |n: u64| n + n.div_ceil(ONE_TWICE_IN);
    Ok(Usage {
        calls: with_spare(calls),
        tokens: with_spare(tokens),
    })
}

pub(crate) fn evidence_of(
    surroundings: &Surroundings,
    config: &Config,
    job: &JobInProgress,
) -> u64 {
    let kept = files::read_evidence(&surroundings.paths, &job.ticket.id);
    kept.map_or(config.evidence.tokens, |kept| kept.evidence.tokens)
}

/// Makes a job of a session; of those made in one second the one with the lower turn goes
/// first.
pub(crate) fn put(
    surroundings: &Surroundings,
    earlier: &EarlierSession,
    turn: u16,
) -> Result<JobId, FsError> {
    let name = earlier.transcript.file_stem().unwrap_or_default();
    let about = || format!("bootstrap\n{}\n{}", earlier.session, name.display());
    let entropy = IdEntropy::Turn {
        turn,
        of: Box::new(IdEntropy::of(surroundings.clock, about)),
    };
    spool::put(&surroundings.paths, &entropy, ticket(surroundings, earlier))
}

fn ticket(surroundings: &Surroundings, earlier: &EarlierSession) -> Ticket {
    Ticket {
        session: earlier.session.clone(),
        transcript: earlier.transcript.clone(),
        cwd: earlier.cwd.clone(),
        need: Some(surroundings.account.need.clone()),
        ..Ticket::new(JobEvent::Bootstrap, &earlier.project, surroundings.now())
    }
}

/// Tells whether a job has its part of the transcript, or has ended.
pub(crate) fn has_claimed(surroundings: &Surroundings, id: &JobId) -> bool {
    match files::read(&surroundings.paths.spool(), id) {
        Ok(job) => job.progress.claim.is_some(),
        Err(error) => error.is_missing(),
    }
}

#[derive(Debug)]
pub(crate) enum JobFate {
    Ended(Box<memory::FinishedJob>),
    OpenCalls,
    Waits { reason: String, for_all: bool },
}

/// Asks how a job fares; another process works on it.
pub(crate) fn fate(context: &WorkerContext, id: &JobId) -> Result<JobFate, MemoryError> {
    let read = files::read(&context.paths().spool(), id);
    // It is recorded before its file goes.
    if let Some(row) = context.memory().job(id.as_str())? {
        return Ok(JobFate::Ended(Box::new(row.job)));
    }
    let job = match read {
        Ok(job) => job,
        Err(error) => {
            return Ok(JobFate::Waits {
                reason: error.to_string(),
                for_all: false,
            });
        }
    };
    let backoff = Backoff::read(context.paths());
    let parked = job.ticket.need.as_ref().and_then(|need| {
        let parked = backoff.parked(&need.account(), context.now())?;
        Some(parked.reason.clone())
    });
    *context.backoff() = backoff;
    let Some(due) = context.due(&job) else {
        return Ok(JobFate::OpenCalls);
    };
    if context.surroundings.clock == Clock::Running && due.duration_since(context.now()) <= SOON {
        return Ok(JobFate::OpenCalls);
    }
    let waiting = job.progress.waiting;
    let for_all = parked.is_some() || waiting.as_ref().is_some_and(|w| is_agreement(&w.reason));
    let reason = waiting.map(|w| w.reason).or(parked).unwrap_or_default();
    Ok(JobFate::Waits { reason, for_all })
}

fn is_agreement(reason: &str) -> bool {
    reason == super::budget::Hold::Agreed.to_string()
}
