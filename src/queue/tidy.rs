//! Keeps the state folder in order: what crashes left behind, what has stayed too long.
//!
//! Nothing of it is needed for a job, so whatever cannot be done is logged and done later.

use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::backoff::FIRST_PAUSE;
use super::context::Surroundings;
use super::context::WorkerContext;
use super::job::JobId;
use super::outcome::{doubled, wait_until};
use super::{corrections, files, screening, spool};
use crate::config::Config;
use crate::fsx::{self, FsError};
use crate::memory::{Limits, Trimmed};
use crate::shown_record;

/// Nobody takes this long to write a temporary file.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// How long it is remembered that the user was told something, and what was asked of jobs.
const FORGOTTEN: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// How long it is remembered what a session was shown of what was learned, and told by the gate.
const SHOWN: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a session may take to its first prompt: only then is there a transcript.
const UNBEGUN: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// How long a mark is kept that cannot be read.
const UNREADABLE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub(super) fn all(context: &WorkerContext) {
    let now = SystemTime::from(context.now());
    let paths = context.paths();
    let log = |done| context.surroundings.log_error("worker", done);
    log(fsx::sweep_all(paths.state(), now - ABANDONED));
    log(remove_older(&paths.told(), now - FORGOTTEN));
    log(remove_older(&paths.requests(), now - FORGOTTEN));
    log(remove_older(&paths.shown(), now - SHOWN));
    log(remove_older(&paths.open_sessions(), now - UNREADABLE));
    for folder in paths.all_gates() {
        log(remove_older(&folder, now - SHOWN));
    }
    for folder in paths.all_shown_points() {
        log(remove_if(&folder, |file| {
            fsx::is_older(file, now - UNBEGUN) && !shown_record::has_transcript(file)
        }));
    }
    log(remove_lone_evidence(&context.surroundings));
    trim_memory(context);
    corrections::refresh_stale(context);
    if let Err(error) = screening::screen_anew(context) {
        context.log(
            "worker",
            &format!("what is held back was not looked at anew: {error}"),
        );
    }
}

/// How much the user wants kept of what was learned.
pub(crate) fn limits(config: &Config) -> Limits {
    Limits {
        lessons: config.memory.lessons,
        ..Limits::default()
    }
}

fn trim_memory(context: &WorkerContext) {
    let limits = limits(&context.surroundings.config);
    let trimmed = context.memory().trim(context.now());
    let pruned = context.memory().prune(&limits, context.now());
    let told = [
        trimmed.map(|gone| (gone != Trimmed::default()).then(|| format!("{gone:?}"))),
        pruned.map(|gone| (gone.total() > 0).then(|| format!("{gone:?}"))),
    ];
    for told in told {
        match told {
            Ok(None) => {}
            Ok(Some(gone)) => context.log("worker", &format!("left the memory: {gone}")),
            Err(error) => context.log("worker", &error.to_string()),
        }
    }
}

fn remove_older(folder: &Path, time: SystemTime) -> Result<(), FsError> {
    remove_if(folder, |file| fsx::is_older(file, time))
}

fn remove_if(folder: &Path, is_done: impl Fn(&Path) -> bool) -> Result<(), FsError> {
    for entry in fsx::list(folder)? {
        let path = entry.path();
        if is_done(&path) {
            fsx::remove(&path)?;
        }
    }
    Ok(())
}

/// Removes evidence whose job is gone: it holds text of a session.
fn remove_lone_evidence(surroundings: &Surroundings) -> Result<(), FsError> {
    let folders = [surroundings.paths.spool(), surroundings.paths.failed()];
    for folder in &folders {
        for id in files::list_evidence(folder)? {
            let has_job = |folder: &Path| spool::job_file(folder, &id).exists();
            if !folders.iter().any(|folder| has_job(folder)) {
                files::remove(folder, &id)?;
            }
        }
    }
    Ok(())
}

/// Puts off a job that ended the work on it, longer each time; returns until when.
pub(super) fn put_off(context: &WorkerContext, id: &JobId, reason: &str) -> Timestamp {
    let mut job = context.job(id).ok();
    let waiting = job.as_ref().and_then(|job| job.progress.waiting.as_ref());
    let tries = waiting.map_or(0, |waiting| waiting.tries);
    let now = context.now();
    let next = now.checked_add(doubled(FIRST_PAUSE, tries)).unwrap_or(now);
    if let Some(job) = &mut job {
        wait_until(context, job, reason, next, false);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::context::tests::context;
    use crate::queue::job::{JobEvent, Ticket};
    use crate::queue::spool::IdEntropy;

    /// A worker that waits out each pause would never end.
    #[test]
    fn a_job_that_ends_the_work_on_it_again_and_again_waits_longer_each_time() {
        let dir = tempfile::tempdir().unwrap();
        let context = context(dir.path());
        let ticket = Ticket::new(JobEvent::SessionEnd, dir.path(), context.now());
        let id = spool::put(context.paths(), &IdEntropy::Chance, ticket).unwrap();
        let begun = context.now();
        let pauses = [1, 2, 4].map(|times| (times, put_off(&context, &id, "panicked")));
        for (times, until) in pauses {
            assert!(until.duration_since(begun) >= FIRST_PAUSE * times);
        }
    }
}
