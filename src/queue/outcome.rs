//! How work on a job ends: it is gone, waits, or has failed, and why.

use std::fmt::Display;
use std::path::Path;
use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use super::backoff::{FIRST_PAUSE, MAX_PAUSE};
use super::claim::ClaimError;
use super::context::Worker;
use super::progress::{self, Job, WaitingJob};
use super::status::{Notice, Status};
use super::worker_lock::{self, Holder};
use super::{QueueError, record};
use crate::fsx::FsError;
use crate::memory::{self, JobOutcome};
use crate::paths::Paths;

/// Why a worker ended before its time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerError {
    /// It could not lock anything, and neither can another: nobody is at work.
    #[error(transparent)]
    NoLock(FsError),
    #[error(transparent)]
    Work(#[from] FsError),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It is gone from the spool, and what came of it is recorded.
    Gone(Finish),
    /// It waits until then, for this reason.
    Waits(Timestamp, String),
    Stays,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finish {
    pub(crate) outcome: JobOutcome,
    pub(crate) reason: String,
}

impl Finish {
    /// How a job ended that the memory knows.
    pub(crate) fn of(job: memory::FinishedJob) -> Self {
        Self {
            outcome: job.outcome,
            reason: job.reason,
        }
    }

    pub(super) fn applied() -> Self {
        Self {
            outcome: JobOutcome::Applied,
            reason: String::new(),
        }
    }
}

#[derive(Debug)]
pub(super) enum Stop {
    Waits { reason: String, pause: JobPause },
    Fails(String),
    Skips(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobPause {
    Doubling,
    Parked(Option<Timestamp>),
    Until(Timestamp),
}

impl Stop {
    pub(super) fn into_reason(self) -> String {
        match self {
            Self::Waits { reason, .. } | Self::Fails(reason) | Self::Skips(reason) => reason,
        }
    }

    pub(super) fn waits(reason: &impl ToString) -> Self {
        Self::Waits {
            reason: reason.to_string(),
            pause: JobPause::Doubling,
        }
    }
}

impl<E: Into<QueueError>> From<E> for Stop {
    fn from(error: E) -> Self {
        match error.into() {
            error @ (QueueError::Settings(_) | QueueError::Secrets(_)) => {
                Self::waits(&reason_of(&error))
            }
            error => Self::waits(&error),
        }
    }
}

impl From<ClaimError> for Stop {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Transcript(error) => transcript_stop(error),
            ClaimError::Passing(error) => error.into(),
            ClaimError::Closed(_) => Self::waits(&error),
        }
    }
}

/// A transcript that is gone or no file will not come back; anything else may pass. Where its
/// folder is gone, too, it may be on a drive that is not mounted now.
pub(super) fn transcript_stop(error: FsError) -> Stop {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, Other};
    let has_folder = error.path.parent().is_some_and(Path::is_dir);
    match error.source.kind() {
        NotFound if !has_folder => error.into(),
        NotFound | IsADirectory | NotADirectory | Other => Stop::Fails(error.to_string()),
        _ if error.is_link_loop() => Stop::Fails(error.to_string()),
        _ => error.into(),
    }
}

/// The first pause of a job whose changes the playbook may hold already, as the playbook forgets
/// its name; and of one whose file cannot be written, as only this worker knows how far it is.
const SHORT_FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(1);

pub(super) fn leave(
    context: &Worker,
    job: &mut Job,
    result: Result<(), Stop>,
    begun: Instant,
) -> End {
    let id = job.ticket.id.clone();
    let cause = match result {
        Ok(()) => return End::Gone(Finish::applied()),
        Err(Stop::Waits { reason, .. }) if context.is_too_old(job) => {
            Stop::Fails(context.too_long(Some(&reason)))
        }
        Err(cause) => cause,
    };
    let finish = |outcome, reason| Finish { outcome, reason };
    let left = match cause {
        Stop::Waits { reason, pause } => {
            record::waits(&context.surroundings, job, &reason, begun.elapsed());
            return put_off(context, job, reason, pause);
        }
        Stop::Skips(reason) => {
            let finish = finish(JobOutcome::Skipped, reason);
            record::ended(context, job, &finish, begun.elapsed()).map(|()| finish)
        }
        Stop::Fails(reason) => {
            context.log(id.as_str(), &format!("failed: {reason}"));
            let finish = finish(JobOutcome::Failed, reason);
            record::failed(context, job, &finish, begun.elapsed()).map(|()| finish)
        }
    };
    match left {
        Ok(finish) => End::Gone(finish),
        // Even this could not be written: it is tried again like anything else.
        Err(why) => put_off(context, job, why.into_reason(), JobPause::Doubling),
    }
}

fn put_off(context: &Worker, job: &mut Job, reason: String, pause: JobPause) -> End {
    let now = context.now();
    let tries = job.progress.waiting.as_ref().map_or(0, |w| w.tries);
    let longest = now.checked_add(MAX_PAUSE).unwrap_or(Timestamp::MAX);
    let for_account = matches!(pause, JobPause::Parked(_));
    let next = match pause {
        JobPause::Parked(until) => until.unwrap_or(longest),
        JobPause::Until(until) => until.min(longest),
        JobPause::Doubling => {
            let first = if job.is_in_doubt() || context.is_unsaved(&job.ticket.id) {
                SHORT_FIRST_PAUSE
            } else {
                FIRST_PAUSE
            };
            now.checked_add(doubled(first, tries)).unwrap_or(longest)
        }
    };
    wait_until(context, job, &reason, next, for_account);
    // The account itself says when it may try.
    let due = if for_account { now } else { next };
    End::Waits(due, reason)
}

/// Returns the pause that `first` has become after so many doublings.
pub(super) fn doubled(first: SignedDuration, doublings: u32) -> SignedDuration {
    first.saturating_mul(1 << doublings.min(20)).min(MAX_PAUSE)
}

pub(super) fn wait_until(
    context: &Worker,
    job: &mut Job,
    reason: &str,
    next: Timestamp,
    for_account: bool,
) {
    let id = job.ticket.id.to_string();
    context.log(&id, &format!("waits until {next:.0}: {reason}"));
    let earlier = job.progress.waiting.take();
    job.progress.waiting = Some(WaitingJob {
        reason: reason.to_owned(),
        since: earlier.as_ref().map_or_else(|| context.now(), |w| w.since),
        tries: earlier.map_or(0, |w| w.tries) + 1,
        next,
        for_account,
    });
    context.surroundings.log_error(&id, context.save(job));
}

pub(super) const REFLECT: &str = "reflect_error";
pub(super) const CURATE: &str = "curator_error";

/// A reason as people are told it.
pub(crate) fn in_words(reason: &str) -> &str {
    let steps = [REFLECT, CURATE].into_iter();
    let mut kinds = steps.filter_map(|step| reason.strip_prefix(step)?.strip_prefix(':'));
    let words = kinds.next().and_then(|rest| rest.split_once(": "));
    words.map_or(reason, |(_, words)| words)
}

/// The worker looks again as soon as it is started; this is what is shown.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(1);
/// How the reason of a job begins that waits for its settings.
const SETTINGS: &str = "config: ";

pub(crate) fn reason_of(error: &impl Display) -> String {
    format!("{SETTINGS}{error}")
}

/// Returns `true` if a job waits for its settings: they may be mended, so it is tried at once.
pub(crate) fn is_for_settings(waiting: &WaitingJob) -> bool {
    waiting.reason.starts_with(SETTINGS)
}

/// Writes the reason into every job of the spool: the settings or the database cannot be
/// used. Nothing is ever sent by a fallback.
///
/// Only under the lock: a worker that was started before may be at these jobs.
pub(crate) fn for_all(paths: &Paths, now: Timestamp, reason: &str) -> Result<(), FsError> {
    let _lock = match worker_lock::take_if_free(paths, &Holder::of_nobody()) {
        Ok(Some(lock)) => lock,
        Ok(None) => return Ok(()),
        Err(error) => return tell(paths, now, &error.to_string()),
    };
    for mut job in progress::all(&paths.spool())? {
        let earlier = job.progress.waiting.take();
        if earlier.as_ref().is_some_and(|w| w.reason == reason) {
            continue;
        }
        job.progress.waiting = Some(WaitingJob {
            reason: reason.to_owned(),
            since: earlier.map_or(now, |w| w.since),
            tries: 1,
            next: now.checked_add(LOOK_AGAIN).unwrap_or(now),
            for_account: true,
        });
        progress::save(paths, &job)?;
    }
    tell(paths, now, reason)
}

/// Leaves for the next starts why no worker can work; also where no lock can be had, so that
/// none is at work.
pub(crate) fn tell(paths: &Paths, now: Timestamp, reason: &str) -> Result<(), FsError> {
    let mut status = Status::read(paths).unwrap_or_else(|| Status::quiet(now));
    status.remember_leap(paths, now);
    let text = format!("no worker can work, jobs wait: {reason}");
    status.notices = vec![Notice::new("worker", text)];
    status.leave_dues_to_hooks(now);
    status.write(paths)
}
