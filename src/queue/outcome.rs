//! The end of the work on a job: done, waiting or failed, with the reason.

use std::fmt::Display;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::backoff::{FIRST_PAUSE, MAX_PAUSE};
use super::claim::ClaimError;
use super::context::Worker;
use super::job::JobId;
use super::progress::{self, Job, WaitingJob};
use super::status::{Notice, Status};
use super::worker_lock::{self, Holder};
use super::{QueueError, record};
use crate::fsx::FsError;
use crate::memory::JobOutcome;
use crate::paths::Paths;

#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerError {
    /// Nothing can be locked, by this worker or another one: no worker can run.
    #[error(transparent)]
    NoLock(FsError),
    #[error(transparent)]
    Work(#[from] FsError),
}

/// The result of a step, or the outcome that ends the job there.
pub(super) type Step<T = ()> = Result<T, Outcome>;

#[derive(Debug)]
pub(super) enum Outcome {
    Done(Finish),
    /// It waits until then, or for a pause that doubles.
    Wait {
        reason: String,
        until: Option<Timestamp>,
        /// `true` if only its account keeps it, which itself knows when it may try.
        for_account: bool,
    },
    Fail(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finish {
    pub(crate) outcome: JobOutcome,
    pub(crate) reason: String,
}

impl Finish {
    pub(crate) fn new(outcome: JobOutcome, reason: impl Into<String>) -> Self {
        let reason = reason.into();
        Self { outcome, reason }
    }
}

impl Outcome {
    pub(super) fn skip(reason: impl Into<String>) -> Self {
        Self::Done(Finish::new(JobOutcome::Skipped, reason))
    }

    pub(super) fn wait(reason: &impl ToString) -> Self {
        Self::Wait {
            reason: reason.to_string(),
            until: None,
            for_account: false,
        }
    }

    pub(super) fn into_reason(self) -> String {
        match self {
            Self::Wait { reason, .. } | Self::Fail(reason) => reason,
            Self::Done(finish) => finish.reason,
        }
    }
}

impl<E: Into<QueueError>> From<E> for Outcome {
    fn from(error: E) -> Self {
        match error.into() {
            error @ (QueueError::Settings(_) | QueueError::Secrets(_)) => {
                Self::wait(&reason_of(&error))
            }
            error => Self::wait(&error),
        }
    }
}

impl From<ClaimError> for Outcome {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Transcript(error) => of_transcript(error),
            ClaimError::Passing(error) => error.into(),
            ClaimError::Closed(_) => Self::wait(&error),
        }
    }
}

/// A transcript that is gone or no file will not come back; anything else may pass. Where its
/// folder is gone, too, it may be on a drive that is not mounted now.
pub(super) fn of_transcript(error: FsError) -> Outcome {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, Other};
    let has_folder = error.path.parent().is_some_and(Path::is_dir);
    match error.source.kind() {
        NotFound if !has_folder => error.into(),
        NotFound | IsADirectory | NotADirectory | Other => Outcome::Fail(error.to_string()),
        _ if error.is_link_loop() => Outcome::Fail(error.to_string()),
        _ => error.into(),
    }
}

/// The first pause of a job whose changes the playbook may hold already, as the playbook forgets
/// its name; and of one whose file cannot be written, as only this worker knows how far it is.
const SHORT_FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(1);

/// Records how the work on a job ended; what is returned is done, or waits.
pub(super) fn leave(context: &Worker, job: &mut Job, result: Step) -> Outcome {
    let cause = match result {
        Ok(()) => return Outcome::Done(Finish::new(JobOutcome::Applied, "")),
        Err(Outcome::Wait { reason, .. }) if context.is_too_old(job) => {
            Outcome::Fail(Worker::too_long(Some(&reason)))
        }
        Err(cause) => cause,
    };
    let left = match cause {
        Outcome::Wait {
            reason,
            until,
            for_account,
        } => {
            record::waits(context, job, &reason);
            return put_off(context, job, reason, until, for_account);
        }
        Outcome::Done(finish) => record::ended(context, job, &finish).map(|()| finish),
        Outcome::Fail(reason) => {
            context.log(job.ticket.id.as_str(), &format!("failed: {reason}"));
            let finish = Finish::new(JobOutcome::Failed, reason);
            record::failed(context, job, &finish).map(|()| finish)
        }
    };
    match left {
        Ok(finish) => Outcome::Done(finish),
        // Even this could not be written: it is tried again like anything else.
        Err(why) => put_off(context, job, why.into_reason(), None, false),
    }
}

fn put_off(
    context: &Worker,
    job: &mut Job,
    reason: String,
    until: Option<Timestamp>,
    for_account: bool,
) -> Outcome {
    let is_short = job.is_in_doubt() || context.is_unsaved(&job.ticket.id);
    let first = if is_short {
        SHORT_FIRST_PAUSE
    } else {
        FIRST_PAUSE
    };
    let longest = context.now().checked_add(MAX_PAUSE);
    let longest = longest.unwrap_or(Timestamp::MAX);
    let next = match until {
        Some(until) if for_account => until,
        Some(until) => until.min(longest),
        None => after_tries(context, Some(job), first),
    };
    wait_until(context, job, &reason, next, for_account);
    Outcome::Wait {
        reason,
        until: Some(next),
        for_account,
    }
}

/// Puts off a job that ended the work on it, longer each time; returns until when.
pub(super) fn put_off_broken(context: &Worker, id: &JobId, reason: &str) -> Timestamp {
    let mut job = context.job(id).ok();
    let next = after_tries(context, job.as_ref(), FIRST_PAUSE);
    if let Some(job) = &mut job {
        wait_until(context, job, reason, next, false);
    }
    next
}

fn after_tries(context: &Worker, job: Option<&Job>, first: SignedDuration) -> Timestamp {
    let waiting = job.and_then(|job| job.progress.waiting.as_ref());
    let tries = waiting.map_or(0, |waiting| waiting.tries);
    let pause = first.saturating_mul(1 << tries.min(20)).min(MAX_PAUSE);
    context.now().checked_add(pause).unwrap_or(Timestamp::MAX)
}

fn wait_until(context: &Worker, job: &mut Job, reason: &str, next: Timestamp, for_account: bool) {
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
    context.log_error(&id, context.save(job));
}

pub(super) const REFLECT: &str = "reflect_error";
pub(super) const CURATE: &str = "curator_error";

pub(crate) fn in_words(reason: &str) -> &str {
    let steps = [REFLECT, CURATE].into_iter();
    let mut kinds = steps.filter_map(|step| reason.strip_prefix(step)?.strip_prefix(':'));
    let words = kinds.next().and_then(|rest| rest.split_once(": "));
    words.map_or(reason, |(_, words)| words)
}

/// The worker looks again as soon as it is started; this is what is shown.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(1);
const SETTINGS: &str = "config: ";

pub(crate) fn reason_of(error: &impl Display) -> String {
    format!("{SETTINGS}{error}")
}

/// A job that waits for its settings is tried immediately: they may be correct by now.
pub(super) fn is_for_settings(reason: &str) -> bool {
    reason.starts_with(SETTINGS)
}

/// Writes the reason into every job of the spool: the settings or the database cannot be used.
/// Nothing is ever sent by a fallback. Only under the lock: an earlier worker may be at these jobs.
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

pub(crate) fn tell(paths: &Paths, now: Timestamp, reason: &str) -> Result<(), FsError> {
    let mut status = Status::read(paths).unwrap_or_else(|| Status::quiet(now));
    status.remember_leap(paths, now);
    let text = format!("no worker can work, jobs wait: {reason}");
    status.notices = vec![Notice::new("worker", text)];
    status.leave_dues_to_hooks(now);
    status.write(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::context::tests::context;
    use crate::queue::job::{JobEvent, Ticket};
    use crate::queue::spool::{self, IdEntropy};

    /// A worker that waits out each pause would never end.
    #[test]
    fn a_job_that_ends_the_work_on_it_again_and_again_waits_longer_each_time() {
        let dir = tempfile::tempdir().unwrap();
        let context = context(dir.path());
        let ticket = Ticket::new(JobEvent::SessionEnd, dir.path(), context.now());
        let id = spool::put(context.paths(), &IdEntropy::Chance, ticket).unwrap();
        let begun = context.now();
        let pauses = [1, 2, 4].map(|times| (times, put_off_broken(&context, &id, "panicked")));
        for (times, until) in pauses {
            assert!(until.duration_since(begun) >= FIRST_PAUSE * times);
        }
    }
}
