//! Leaves jobs waiting for something that holds up all of them.

use jiff::{SignedDuration, Timestamp};

use super::progress::Waiting;
use super::{files, spool};
use crate::config::ConfigError;
use crate::fsx::FsError;
use crate::paths::Paths;

/// Settings are looked at again after this time, or as soon as a worker starts.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_mins(1);
/// How the reason of a job begins that waits for its settings.
const SETTINGS: &str = "config: ";

/// Why a job waits whose settings cannot be used.
pub fn reason_of(error: &ConfigError) -> String {
    format!("{SETTINGS}{error}")
}

/// Tells whether a job waits for its settings: they may be mended, so it is tried at once.
pub fn is_for_settings(waiting: &Waiting) -> bool {
    waiting.reason.starts_with(SETTINGS)
}

/// Writes the reason into every job of the spool: the settings cannot be used.
///
/// Nothing is ever sent by a fallback.
pub fn for_settings(paths: &Paths, now: Timestamp, error: &ConfigError) -> Result<(), FsError> {
    let reason = reason_of(error);
    let spool = paths.spool();
    for id in spool::list(&spool)? {
        // A file that is no job is left alone.
        let Ok(mut job) = files::read(&spool, &id) else {
            continue;
        };
        let earlier = job.progress.waiting.take();
        if earlier.as_ref().is_some_and(|w| w.reason == reason) {
            continue;
        }
        job.progress.waiting = Some(Waiting {
            reason: reason.clone(),
            since: earlier.map_or(now, |w| w.since),
            tries: 1,
            next: now.checked_add(LOOK_AGAIN).unwrap_or(now),
        });
        files::save(paths, &job)?;
    }
    Ok(())
}
