//! Leaves a job as the work on it ended: recorded, waiting, or failed.

use std::time::Instant;

use jiff::{SignedDuration, Timestamp};

use super::parking::MAX_PAUSE;
use super::progress::{Job, Waiting};
use super::shop::Shop;
use super::stop::{End, Finish, JobPause, Stop};
use super::{record, report};
use crate::memory::Outcome;

/// The first pause of a job whose changes the playbook may hold already: it must be back
/// before the playbook forgets its name.
const IN_DOUBT_MS: u64 = 1_000;

pub(super) fn settle(
    shop: &Shop,
    job: &mut Job,
    result: Result<Finish, Stop>,
    begun: Instant,
) -> End {
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
    if let Err(error) = shop.save(job) {
        shop.log(job.ticket.id.as_str(), &error.to_string());
    }
    // The account itself says when it may try.
    let due = if for_account { now } else { next };
    End::Waits(due, reason)
}
