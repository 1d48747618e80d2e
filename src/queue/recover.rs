//! The worker's housekeeping: enqueues sessions that were overlooked, and removes what is too old.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::backoff::KEEP_DAYS;
use super::context::Worker;
use super::job::{JobEvent, Ticket};
use super::open_session::{self, ENQUEUED_SUFFIX, INJECTED_SUFFIX, OpenSession};
use super::spool::{self, IdEntropy};
use super::transcripts::{self, PastTranscript};
use super::{Result, progress};
use crate::config::Config;
use crate::fsx::{self, FsError};
use crate::memory::{Limits, Trimmed};
use crate::platform::{Life, ProcessMark};
use crate::playbook::render::in_text;
use crate::shown_record::{self, ShownPoints};
use crate::{state_guard, transcript_file};

/// A session of another boot or namespace is given up after this time ...
const GIVEN_UP_AFTER: SignedDuration = SignedDuration::from_hours(24);
/// ... and this time without a write to its transcript.
const QUIET_FOR: SignedDuration = SignedDuration::from_hours(1);
pub(crate) const RECOVERED: &str = "recovered";

/// Enqueues the sessions whose client is gone and removes their marks. A wrong guess is harmless:
/// the range rules let every part of a transcript count once. What cannot be done is logged, and
/// found again by the next worker.
pub(super) fn abandoned_sessions(context: &Worker) {
    match fsx::list(&context.paths().open_sessions()) {
        Ok(marks) => {
            for mark in &marks {
                context.log_error("worker", judge(context, &mark.path()));
            }
        }
        Err(error) => context.log("worker", &error.to_string()),
    }
}

fn judge(context: &Worker, file: &Path) -> Result<(), FsError> {
    let now = context.now();
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let is_time = [INJECTED_SUFFIX, ENQUEUED_SUFFIX]
        .iter()
        .any(|end| name.ends_with(end));
    if is_time && is_quiet(file, now, GIVEN_UP_AFTER) {
        return fsx::remove(file);
    }
    if name.ends_with(TAKEN_SUFFIX) {
        return enqueue_taken(context, file);
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
            enqueue_taken(context, &taken)
        }
        _ => Ok(()),
    }
}

const TAKEN_SUFFIX: &str = ".taken";

/// Enqueues the session of a mark that was taken away, or puts a living one back.
fn enqueue_taken(context: &Worker, taken: &Path) -> Result<(), FsError> {
    let now = context.now();
    let Some(mark) = open_session::read(taken) else {
        return Ok(());
    };
    if !is_abandoned(&mark, now) {
        open_session::put_back(context.paths(), &mark)?;
    } else if mark.transcript.is_file() {
        let ticket = Ticket {
            session: mark.session,
            transcript: mark.transcript,
            cwd: mark.cwd,
            reason: Some(RECOVERED.to_owned()),
            need: mark.need,
            ..Ticket::new(JobEvent::SessionEnd, &mark.project, now)
        };
        let id = spool::put(context.paths(), &IdEntropy::Chance, ticket)?;
        context.log(id.as_str(), "made for a session that never ended");
    }
    fsx::remove(taken)
}

fn is_abandoned(mark: &OpenSession, now: Timestamp) -> bool {
    let client = mark.client.as_ref();
    match client.map_or(Life::Unknown, ProcessMark::life) {
        Life::Alive => false,
        Life::Dead => true,
        Life::Unknown => {
            now.duration_since(mark.at).abs() > GIVEN_UP_AFTER
                && is_quiet(&mark.transcript, now, QUIET_FOR)
        }
    }
}

/// Returns `true` if a file is missing or was not written within `time`.
fn is_quiet(file: &Path, now: Timestamp, time: SignedDuration) -> bool {
    let written = std::fs::metadata(file).and_then(|m| m.modified());
    let written = written.unwrap_or(SystemTime::UNIX_EPOCH);
    Timestamp::try_from(written).is_ok_and(|written| now.duration_since(written).abs() > time)
}

/// The part of a transcript that is read to learn how its session began.
const HEAD: u64 = 1 << 20;
const MOST: (usize, usize) = (64, 10_000);
const MAX_FOUND: usize = 20;
const OUR_VOICE: &str = "Playbook: ";
const MAX_SETTINGS: u64 = 4 << 20;

/// Enqueues sessions, and later parts of sessions, that left neither a mark nor a job, as where our
/// state could not be written. They are found in the client's transcripts of the worker's own
/// project. Such a transcript must show that the user wanted to be learned from: the client notes
/// there what our session-start said. A session that ran without Playbook has no such note;
/// `playbook bootstrap` asks first about those.
pub(super) fn overlooked_sessions(context: &Worker) {
    if let Some(project) = &context.home_project
        && let Err(error) = of_project(context, project)
    {
        context.log("worker", &error.to_string());
    }
}

fn of_project(context: &Worker, project: &Path) -> Result {
    let config = context.config_for(project)?;
    // What was there before our memory is another's: it may have been learned from already.
    let Some(since) = context.memory().remembers_since()? else {
        return Ok(());
    };
    if !is_every_end_wanted(context, &config) {
        return Ok(());
    }
    let name = project.to_string_lossy();
    let known = context.memory().known_transcripts(&name)?;
    let now = context.now();
    let days = SignedDuration::from_hours(24 * KEEP_DAYS);
    let over = transcripts::written_in(context.paths(), project, MOST).filter_map(|found| {
        let (path, written) = found;
        let written = Timestamp::try_from(written).unwrap_or(Timestamp::MAX);
        let is_over = (QUIET_FOR..=days).contains(&now.duration_since(written));
        (written >= since && is_over).then_some((path, written))
    });
    // What was written before the last job of a transcript was there to be claimed.
    let unread = over.filter_map(|(path, written)| {
        let known = known.get(&*path.to_string_lossy());
        let from = known.map_or(0, |known| known.end);
        known
            .is_none_or(|known| written > known.last_job)
            .then_some((path, from))
    });
    let unread: Vec<(PathBuf, u64)> = unread.collect();
    if unread.is_empty() {
        return Ok(());
    }
    let taken = taken(context)?;
    let found = unread
        .into_iter()
        .filter(|(path, _)| !taken.contains(path) && state_guard::is_clients(context.paths(), path))
        .filter_map(|(path, from)| {
            let session = path.file_stem()?.to_string_lossy().into_owned();
            let past = PastTranscript::read(path, session, false)?;
            is_ours(&past, from, project, since).then_some(past)
        });
    for past in found.take(MAX_FOUND) {
        let ticket = Ticket {
            session: past.session,
            transcript: past.transcript,
            reason: Some(RECOVERED.to_owned()),
            need: Some(context.account.need.clone()),
            ..Ticket::new(JobEvent::SessionEnd, project, now)
        };
        let id = spool::put(context.paths(), &IdEntropy::Chance, ticket)?;
        context.log(
            id.as_str(),
            "made for a session that left neither mark nor job",
        );
    }
    Ok(())
}

/// Returns `true` if every kind of end is learned from; a transcript does not say its own.
fn is_every_end_wanted(context: &Worker, config: &Config) -> bool {
    let settings = fsx::read_json::<Value>(&context.paths().client_settings(), MAX_SETTINGS);
    let settings = settings.unwrap_or_default();
    let is_on = |ours: Option<bool>, switch: &str| ours.or(settings[switch].as_bool());
    config.reflection.enabled
        && is_on(config.hooks.on_exit, "playbook_update_on_exit") != Some(false)
        && is_on(config.hooks.on_clear, "playbook_update_on_clear") != Some(false)
}

/// The transcripts that a job waits for, or whose session left a mark.
fn taken(context: &Worker) -> Result<HashSet<PathBuf>> {
    let spool = context.paths().spool();
    let jobs = spool::list(&spool)?;
    // What is no job of this version has claimed nothing that a claim would not notice.
    let jobs = jobs
        .iter()
        .filter_map(|id| progress::read_heading(&spool, id).ok());
    let marks = fsx::list(&context.paths().open_sessions())?.into_iter();
    let marks = marks.filter_map(|entry| Some(open_session::read(&entry.path())?.transcript));
    Ok(jobs.map(|job| job.transcript).chain(marks).collect())
}

/// Returns `true` for a session of our time, no fork, in which our hooks spoke after `from`.
fn is_ours(past: &PastTranscript, from: u64, project: &Path, since: Timestamp) -> bool {
    let end = from.saturating_add(HEAD);
    let Ok(beginnings) = transcript_file::beginnings(&past.transcript, from, end) else {
        return false;
    };
    let was_spoken_to = beginnings
        .given
        .iter()
        .any(|text| text.starts_with(OUR_VOICE) || in_text(text) != ShownPoints::default());
    // One that was learned from is ours, whenever it began.
    let is_of_our_time = from > 0 || past.began >= since;
    was_spoken_to && beginnings.origins.is_empty() && is_of_our_time && past.is_of(project, &[])
}

/// The age from which on a temporary file is abandoned.
const ABANDONED: Duration = Duration::from_secs(60 * 60);
/// The time for which shown notices and requests are remembered.
const FORGOTTEN: Duration = Duration::from_secs(3 * 24 * 60 * 60);
/// The time for which it is remembered what a session was shown, by a start or the gate.
const SHOWN: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// The longest time from a session's start to its first prompt: only then is there a transcript.
const UNBEGUN: Duration = Duration::from_secs(3 * 24 * 60 * 60);
const UNREADABLE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

pub(super) fn tidy(context: &Worker) {
    let now = SystemTime::from(context.now());
    let paths = context.paths();
    let log = |done| context.log_error("worker", done);
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
    log(remove_lone_evidence(context));
    trim_memory(context);
}

fn trim_memory(context: &Worker) {
    let trimmed = context.memory().trim(context.now());
    let pruned = context.memory().prune(&Limits::default(), context.now());
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
fn remove_lone_evidence(context: &Worker) -> Result<(), FsError> {
    let folders = [context.paths().spool(), context.paths().failed()];
    for folder in &folders {
        for id in progress::list_evidence(folder)? {
            let has_job = |folder: &Path| spool::job_file(folder, &id).exists();
            if !folders.iter().any(|folder| has_job(folder)) {
                progress::remove(folder, &id)?;
            }
        }
    }
    Ok(())
}
