//! Leaves jobs waiting for something that holds up all of them.

use std::fmt::Display;

use jiff::{SignedDuration, Timestamp};

use super::files;
use super::progress::WaitingJob;
use super::status::{Notice, Status};
use super::worker_lock::{self, Holder};
use crate::fsx::FsError;
use crate::paths::Paths;

/// The worker looks again as soon as it is started; this is what is shown.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(1);
/// How the reason of a job begins that waits for its settings.
const SETTINGS: &str = "config: ";

pub(crate) fn reason_of(error: &impl Display) -> String {
    format!("{SETTINGS}{error}")
}

/// Tells whether a job waits for its settings: they may be mended, so it is tried at once.
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
    for mut job in files::all(&paths.spool())? {
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
        files::save(paths, &job)?;
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
