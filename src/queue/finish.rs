//! Leaves a job as the work on it ended: recorded, waiting, or failed.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use super::backoff::MAX_PAUSE;
use super::context::WorkerContext;
use super::progress::{JobInProgress, WaitingJob};
use super::stop::{End, Finish, JobPause, Stop};
use super::{record, report};
use crate::memory::JobOutcome;

/// The first pause of a job whose changes the playbook may hold already: it must be back
/// before the playbook forgets its name.
const IN_DOUBT_MS: u64 = 1_000;

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
            let park_ms = context.surroundings.config.retry.park_ms;
            let in_doubt = job.is_in_doubt().then_some(IN_DOUBT_MS);
            let first = in_doubt.map_or(park_ms, |ms| ms.min(park_ms));
            now.checked_add(doubled(first, tries)).unwrap_or(longest)
        }
    };
    wait_until(context, job, &reason, next, for_account);
    // The account itself says when it may try.
    let due = if for_account { now } else { next };
    End::Waits(due, reason)
}

/// The pause that `first_ms` has become after so many doublings.
pub(super) fn doubled(first_ms: u64, doublings: u32) -> SignedDuration {
    let first = i64::try_from(first_ms).unwrap_or(i64::MAX);
    SignedDuration::from_millis(first.saturating_mul(1 << doublings.min(20))).min(MAX_PAUSE)
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
