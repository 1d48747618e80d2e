//! Sessions that never ended: found by their marks, enqueued like any other.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::{SignedDuration, Timestamp};

use super::job::{JobEvent, Ticket};
use super::open_session::{self, ENQUEUED_SUFFIX, INJECTED_SUFFIX, OpenSession};
use super::spool::{self, IdEntropy};
use super::surroundings::Surroundings;
use crate::fsx::{self, FsError};
use crate::platform::{Life, ProcessMark};

/// A session of another boot or namespace is given up after this time ...
const GIVEN_UP_AFTER: SignedDuration = SignedDuration::from_hours(24);
/// ... and this time without a write to its transcript.
const QUIET_FOR: SignedDuration = SignedDuration::from_hours(1);
pub(crate) const RECOVERED: &str = "recovered";

/// Enqueues the sessions whose client is gone and removes their marks.
///
/// A wrong guess is harmless: the range rules let every part of a transcript count once.
/// What cannot be done is logged, and found again by the next worker.
pub(super) fn abandoned_sessions(surroundings: &Surroundings) {
    let log = |error: FsError| surroundings.log("worker", &error.to_string());
    match fsx::list(&surroundings.paths.open_sessions()) {
        Ok(marks) => {
            let judged = marks.iter().map(|mark| judge(surroundings, &mark.path()));
            judged.filter_map(Result::err).for_each(log);
        }
        Err(error) => log(error),
    }
}

fn judge(surroundings: &Surroundings, file: &Path) -> Result<(), FsError> {
    let now = surroundings.now();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_time = [INJECTED_SUFFIX, ENQUEUED_SUFFIX]
        .iter()
        .any(|end| name.ends_with(end));
    if is_time && is_quiet(file, now, GIVEN_UP_AFTER) {
        return fsx::remove(file);
    }
    if name.ends_with(TAKEN_SUFFIX) {
        return enqueue(surroundings, file);
    }
    let mark = name
        .ends_with(open_session::SUFFIX)
        .then(|| open_session::read(file));
    match mark.flatten() {
        Some(mark) if is_abandoned(&mark, now) => {
            // Taken away first: the session may be resumed right now, and its new mark
            // must not be removed in place of this one.
            let mut taken = file.as_os_str().to_owned();
            taken.push(TAKEN_SUFFIX);
            let taken = PathBuf::from(taken);
            fsx::rename(file, &taken)?;
            enqueue(surroundings, &taken)
        }
        _ => Ok(()),
    }
}

/// How the name of a mark ends that the worker has taken away.
const TAKEN_SUFFIX: &str = ".taken";

/// Enqueues the session of a mark that was taken away, or puts it back when it turned out
/// to be another one.
fn enqueue(surroundings: &Surroundings, taken: &Path) -> Result<(), FsError> {
    let now = surroundings.now();
    let Some(mark) = open_session::read(taken) else {
        return Ok(());
    };
    if !is_abandoned(&mark, now) {
        open_session::put_back(&surroundings.paths, &mark)?;
    } else if mark.transcript.is_file() {
        let ticket = Ticket {
            session: mark.session,
            transcript: mark.transcript,
            cwd: mark.cwd,
            reason: Some(RECOVERED.to_owned()),
            need: mark.need,
            ..Ticket::new(JobEvent::SessionEnd, &mark.project, now)
        };
        let id = spool::put(&surroundings.paths, &IdEntropy::Chance, ticket)?;
        surroundings.log(id.as_str(), "made for a session that never ended");
    }
    fsx::remove(taken)
}

fn is_abandoned(mark: &OpenSession, now: Timestamp) -> bool {
    match mark
        .client
        .as_ref()
        .map_or(Life::Unknown, ProcessMark::life)
    {
        Life::Alive => false,
        Life::Dead => true,
        Life::Unknown => {
            now.duration_since(mark.at).abs() > GIVEN_UP_AFTER
                && is_quiet(&mark.transcript, now, QUIET_FOR)
        }
    }
}

/// Tells whether a file has not been written for `time`; a missing one is quiet, and so is
/// one of the future: the clock has gone back.
fn is_quiet(file: &Path, now: Timestamp, time: SignedDuration) -> bool {
    let written = std::fs::metadata(file).and_then(|m| m.modified());
    let written = written.unwrap_or(SystemTime::UNIX_EPOCH);
    Timestamp::try_from(written).is_ok_and(|written| now.duration_since(written).abs() > time)
}
