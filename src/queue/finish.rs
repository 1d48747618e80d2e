//! Leaves a job as the work on it ended: recorded, waiting, or failed.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use super::backoff::{FIRST_PAUSE, MAX_PAUSE};
use super::context::WorkerContext;
use super::progress::{JobInProgress, WaitingJob};
use super::stop::{End, Finish, JobPause, Stop};
use super::{record, report};
use crate::memory::JobOutcome;

/// The first pause of a job whose changes the playbook may hold already, as the playbook forgets
/// its name; and of one whose file cannot be written, as only this worker knows how far it is.
const SHORT_FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(1);

pub(super) fn leave(
    context: &WorkerContext,
    job: &mut JobInProgress,
    result: Result<Finish, Stop>,
    begun: Instant,
) -> End {
    let id = job.ticket.id.clone();
    let cause = match result {
        Ok(finish) => return End::Gone(finish),
        Err(Stop::Waits { reason, .. }) if context.is_too_old(job) => {
            Stop::Fails(context.too_long(Some(&reason)))
        }
        Err(cause) => cause,
    };
    let finish = |outcome, reason| Finish { outcome, reason };
    let left = match cause {
        Stop::Waits { reason, pause } => {
            report::waits(&context.surroundings, job, &reason, begun.elapsed());
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

fn put_off(
    context: &WorkerContext,
    job: &mut JobInProgress,
    reason: String,
    pause: JobPause,
) -> End {
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
    context: &WorkerContext,
    job: &mut JobInProgress,
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
