//! One job through its stages: claim, evidence, reflect, apply, record.
//!
//! The result of each stage is with the job on disk before the next begins, so a
//! restart goes on after the last one, and a model's answer is never paid for twice.

use std::sync::Arc;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};
use tokio::task::block_in_place;

use super::apply::{self, Work};
use super::ask;
use super::claim::{self, ClaimError, Claimed};
use super::edit::Edit;
use super::evidence::SessionEvidence;
use super::parking::{MAX_PAUSE, Pause};
use super::progress::{Job, Waiting};
use super::shop::Shop;
use super::{dry_run, files, gate, record, report, screening, unrecorded, waiting};
use crate::config::{Config, ConfigError};
use crate::fsx::FsError;
use crate::memory::{MemoryError, Outcome};
use crate::playbook::store::StoreError;
use crate::redact::{PatternError, Secrecy};
use crate::reflect::pipeline::{Answered, Cause, Fate};
use crate::reflect::reply::Reflection;

/// The reason of a job whose part of the transcript other jobs have claimed.
pub(super) const NOTHING_NEW: &str = "nothing new";

/// The first pause of a job whose changes the playbook may hold already: it must be back
/// before the playbook forgets its name.
const IN_DOUBT_MS: u64 = 1_000;

/// How work on a job ended, for the worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It is gone from the spool, and what came of it is recorded.
    Gone(Finish),
    /// It waits until then, for this reason.
    Waits(Timestamp, String),
    /// It is as it was.
    Stays,
}

/// What came of a job that is gone from the spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finish {
    /// In a word.
    pub outcome: Outcome,
    /// Why; empty when there is nothing to say.
    pub reason: String,
}

impl Finish {
    /// What came of a job whose changes are in the playbook.
    pub(super) fn applied(job: &Job) -> Self {
        Self {
            outcome: Outcome::Applied,
            reason: job.progress.curator_error.clone().unwrap_or_default(),
        }
    }
}

/// Why a job does not go on now.
#[derive(Debug)]
pub(super) enum Stop {
    /// It may pass.
    Waits { reason: String, pause: JobPause },
    /// It cannot pass.
    Fails(String),
    /// There is nothing to do.
    Skips(String),
}

/// How long a job waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobPause {
    /// Longer each time.
    Doubling,
    /// As long as its account is parked.
    Parked(Option<Timestamp>),
    /// Until then.
    Until(Timestamp),
}

impl Stop {
    pub(super) fn waits(reason: &impl ToString) -> Self {
        Self::Waits {
            reason: reason.to_string(),
            pause: JobPause::Doubling,
        }
    }
}

impl From<FsError> for Stop {
    fn from(error: FsError) -> Self {
        Self::waits(&error)
    }
}

impl From<MemoryError> for Stop {
    fn from(error: MemoryError) -> Self {
        Self::waits(&error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::waits(&error)
    }
}

impl From<ConfigError> for Stop {
    fn from(error: ConfigError) -> Self {
        Self::waits(&waiting::reason_of(&error))
    }
}

impl From<PatternError> for Stop {
    fn from(error: PatternError) -> Self {
        Self::waits(&waiting::reason_of(&error))
    }
}

impl From<ClaimError> for Stop {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Transcript(error) => transcript_stop(error),
            ClaimError::Memory(error) => error.into(),
            ClaimError::Closed(_) => Self::waits(&error),
        }
    }
}

/// A transcript that is gone or no file will not come back; anything else may pass.
fn transcript_stop(error: FsError) -> Stop {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, Other};
    match error.source.kind() {
        NotFound | IsADirectory | NotADirectory | Other => Stop::Fails(error.to_string()),
        _ if error.is_link_loop() => Stop::Fails(error.to_string()),
        _ => error.into(),
    }
}

/// Works on a job until it is gone, waits or has failed.
pub async fn work(shop: &Arc<Shop>, mut job: Job) -> End {
    let begun = Instant::now();
    let result = match hopeless(shop, &job) {
        Some(reason) => Err(Stop::Fails(reason)),
        None => stages(shop, &mut job, begun).await,
    };
    block_in_place(|| settle(shop, &mut job, result, begun))
}

/// Why a job is not even begun.
fn hopeless(shop: &Shop, job: &Job) -> Option<String> {
    let progress = &job.progress;
    if progress.failed.is_some() {
        // It was stopped on its way to `failed/`.
        return progress.failed.clone();
    }
    if shop.is_too_old(job) {
        let days = shop.config.worker.keep_days;
        let reason = progress.waiting.as_ref().map(|w| format!(": {}", w.reason));
        return Some(format!(
            "waited for {days} days{}",
            reason.unwrap_or_default()
        ));
    }
    let project = &job.ticket.project;
    (!job.is_in_doubt() && !project.is_dir())
        .then(|| format!("could not find project: {}", project.display()))
}

async fn stages(shop: &Arc<Shop>, job: &mut Job, begun: Instant) -> Result<Finish, Stop> {
    let project = shop.alone(&job.ticket.project);
    let transcript = shop.alone(&job.ticket.transcript);
    let config = shop.config_for(&job.ticket.project)?;
    screening::may_follow(shop, &job.ticket.project)?;
    if let Some(edit) = job.ticket.edit.clone() {
        let _alone = project.lock().await;
        return block_in_place(|| {
            if let Edit::Undo { .. } = edit {
                unrecorded::record_first(shop, job, &config)?;
            }
            finish(shop, job, &Work::Edit(&edit), &config, begun)
        });
    }
    gate::enabled(&config)?;
    let evidence = {
        let _alone = project.lock().await;
        let _alone = transcript.lock().await;
        block_in_place(|| gather(shop, job, &config))?
    };
    let deadline = config.budgets.time_ms.deadline(begun);
    let reflection = reflect(shop, job, &evidence, &config, deadline).await?;
    curate(shop, job, &evidence, &reflection, &config, deadline).await?;
    let _alone = project.lock().await;
    block_in_place(|| {
        dry_run::unless_real(shop, job, &evidence, &config)?;
        finish(shop, job, &Work::Lesson(&evidence), &config, begun)
    })
}

/// The last two stages: apply and record.
fn finish(
    shop: &Shop,
    job: &mut Job,
    work: &Work<'_>,
    config: &Config,
    begun: Instant,
) -> Result<Finish, Stop> {
    if !job.progress.is_applied {
        apply::apply(shop, job, work, config)?;
        job.progress.is_applied = true;
        files::save(&shop.paths, job)?;
    }
    let finish = Finish::applied(job);
    let session = match work {
        Work::Lesson(session) => Some(*session),
        Work::Edit(_) => None,
    };
    record::applied(shop, job, session, config, &finish, begun.elapsed())?;
    Ok(finish)
}

/// The reflector's result: from disk when it is there, else asked for.
async fn reflect(
    shop: &Shop,
    job: &mut Job,
    evidence: &SessionEvidence,
    config: &Config,
    deadline: Option<Instant>,
) -> Result<Reflection, Stop> {
    if let Some(reflection) = &job.progress.reflection {
        return Ok(reflection.clone());
    }
    can_keep_an_answer(shop, job)?;
    let asked = ask::reflector(shop, job, evidence, config, deadline).await?;
    if let Some(cause) = &asked.cause {
        return Err(useless(shop, job, cause, "reflect_error", config));
    }
    count(shop, job, &asked);
    job.progress.reflection = Some(asked.result.clone());
    block_in_place(|| files::save(&shop.paths, job))?;
    Ok(asked.result)
}

/// The curator's result: from disk when it is there, else asked for.
///
/// A reply that stays bad costs the operations, not the tags.
async fn curate(
    shop: &Shop,
    job: &mut Job,
    evidence: &SessionEvidence,
    reflection: &Reflection,
    config: &Config,
    deadline: Option<Instant>,
) -> Result<(), Stop> {
    if job.progress.curation.is_some() || job.progress.is_applied {
        return Ok(());
    }
    can_keep_an_answer(shop, job)?;
    let asked = ask::curator(shop, job, evidence, reflection, config, deadline).await?;
    match &asked.cause {
        Some(cause) if cause.fate != Fate::Fails => {
            return Err(useless(shop, job, cause, "curator_error", config));
        }
        Some(cause) => {
            let error = format!("curator_error:{}", cause.word);
            shop.log(
                job.ticket.id.as_str(),
                &format!("{error}: {}", cause.message),
            );
            job.progress.curator_error = Some(error);
        }
        None => {}
    }
    count(shop, job, &asked);
    job.progress.curation = Some(asked.result);
    block_in_place(|| files::save(&shop.paths, job))?;
    Ok(())
}

/// Makes sure that an answer can be kept before it is paid for: a job that waited may have
/// waited for a full disk.
fn can_keep_an_answer(shop: &Shop, job: &Job) -> Result<(), FsError> {
    match job.progress.waiting {
        Some(_) => block_in_place(|| files::save(&shop.paths, job)),
        None => Ok(()),
    }
}

/// Counts what was dropped from its reply; the backend is well.
fn count<T>(shop: &Shop, job: &mut Job, asked: &Answered<T>) {
    job.progress.skipped += asked.skipped.len() as u64;
    job.progress.waiting = None;
    shop.release_account(job);
    for skipped in &asked.skipped {
        let line = format!("{} skipped: {}", skipped.what, skipped.reason);
        shop.log(job.ticket.id.as_str(), &line);
    }
}

/// A question without a result: what it cost is kept, whatever follows.
fn useless(shop: &Shop, job: &mut Job, cause: &Cause, step: &str, config: &Config) -> Stop {
    if let Err(error) = block_in_place(|| files::save(&shop.paths, job)) {
        return error.into();
    }
    stop_for(shop, job, cause, step, config)
}

/// The claim and the evidence: read from disk when they are there, else made.
fn gather(shop: &Shop, job: &mut Job, config: &Config) -> Result<SessionEvidence, Stop> {
    let secrecy = Secrecy::of(&config.secrets)?;
    if job.progress.has_evidence {
        match files::read_evidence(&shop.paths, &job.ticket.id) {
            Ok(evidence) => return Ok(evidence),
            // It can be made again, as long as the transcript is there.
            Err(error) => shop.log(job.ticket.id.as_str(), &error.to_string()),
        }
    }
    let digest = match job.progress.claim.clone() {
        Some(claim) => claim::read_again(job, &claim, shop, secrecy).map_err(transcript_stop)?,
        None => match claim::claim(job, shop, secrecy)? {
            Claimed::NothingNew => return Err(Stop::Skips(NOTHING_NEW.to_owned())),
            Claimed::Part(claim, digest) => {
                let trigger = gate::worth(shop, job, &digest.facts, config)?;
                job.progress.trigger = Some(trigger.to_owned());
                job.progress.claim = Some(claim);
                // First for the others in this worker: a write that fails may have been done.
                shop.claims().add(job);
                files::save(&shop.paths, job)?;
                *digest
            }
        },
    };
    if !digest.stats.masked.is_empty() {
        let masked: Vec<String> = digest
            .stats
            .masked
            .iter()
            .map(|(rule, count)| format!("{rule} {count}"))
            .collect();
        let line = format!("masked: {}", masked.join(", "));
        shop.log(job.ticket.id.as_str(), &line);
    }
    let evidence = SessionEvidence::of(digest, config.evidence.tokens);
    files::save_evidence(&shop.paths, &job.ticket.id, &evidence)?;
    job.progress.has_evidence = true;
    files::save(&shop.paths, job)?;
    Ok(evidence)
}

/// What a missing result means for its job: the account is parked, or the job has failed.
fn stop_for(shop: &Shop, job: &Job, cause: &Cause, step: &str, config: &Config) -> Stop {
    let reason = format!("{step}:{}: {}", cause.word, cause.message);
    let pause = match cause.fate {
        Fate::Fails => return Stop::Fails(reason),
        Fate::WaitsForKey => Pause::Open,
        Fate::Waits(Some(told)) => Pause::Told(told),
        Fate::Waits(None) => Pause::Doubling {
            first_ms: config.retry.park_ms,
        },
    };
    let parked = shop.park_account(job, &reason, pause);
    Stop::Waits {
        reason,
        pause: JobPause::Parked(parked),
    }
}

/// Leaves the job as its result demands: recorded, waiting, or failed.
fn settle(shop: &Shop, job: &mut Job, result: Result<Finish, Stop>, begun: Instant) -> End {
    let id = job.ticket.id.clone();
    let cause = match result {
        Ok(finish) => return End::Gone(finish),
        Err(cause) => cause,
    };
    let left = match cause {
        Stop::Waits { reason, pause } => {
            report::waits(shop, job, &reason, begun.elapsed());
            return put_off(shop, job, reason, pause);
        }
        Stop::Skips(reason) => {
            let finish = Finish {
                outcome: Outcome::Skipped,
                reason,
            };
            record::ended(shop, job, &finish, begun.elapsed()).map(|()| finish)
        }
        Stop::Fails(reason) => {
            shop.log(id.as_str(), &format!("failed: {reason}"));
            let finish = Finish {
                outcome: Outcome::Failed,
                reason,
            };
            record::failed(shop, job, &finish, begun.elapsed()).map(|()| finish)
        }
    };
    match left {
        Ok(finish) => End::Gone(finish),
        // Even this could not be written: it is tried again like anything else.
        Err(Stop::Waits { reason, .. } | Stop::Fails(reason) | Stop::Skips(reason)) => {
            put_off(shop, job, reason, JobPause::Doubling)
        }
    }
}

fn put_off(shop: &Shop, job: &mut Job, reason: String, pause: JobPause) -> End {
    let now = shop.now();
    let earlier = job.progress.waiting.take();
    let tries = earlier.as_ref().map_or(0, |w| w.tries) + 1;
    let longest = now.checked_add(MAX_PAUSE).unwrap_or(Timestamp::MAX);
    let for_account = matches!(pause, JobPause::Parked(_));
    let next = match pause {
        JobPause::Parked(until) => until.unwrap_or(longest),
        JobPause::Until(until) => until.min(longest),
        JobPause::Doubling => {
            let first = if job.is_in_doubt() {
                IN_DOUBT_MS.min(shop.config.retry.park_ms)
            } else {
                shop.config.retry.park_ms
            };
            let first = i64::try_from(first).unwrap_or(i64::MAX);
            let pause = first.saturating_mul(1 << (tries - 1).min(20));
            let pause = SignedDuration::from_millis(pause).min(MAX_PAUSE);
            now.checked_add(pause).unwrap_or(longest)
        }
    };
    shop.log(
        job.ticket.id.as_str(),
        &format!("waits until {next:.0}: {reason}"),
    );
    job.progress.waiting = Some(Waiting {
        reason: reason.clone(),
        since: earlier.map_or(now, |w| w.since),
        tries,
        next,
        for_account,
    });
    if let Err(error) = files::save(&shop.paths, job) {
        shop.log(job.ticket.id.as_str(), &error.to_string());
        shop.keep_unsaved(job);
    }
    // The account itself says when it may try.
    let due = if for_account { now } else { next };
    End::Waits(due, reason)
}
