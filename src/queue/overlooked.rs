//! Sessions that left neither a mark nor a job, as where our state could not be written: found
//! where the client keeps its transcripts.
//!
//! Nobody asked for such a session to be learned from, so its transcript must show that the
//! user wanted that: the client notes there what our session-start said to it. One that ran
//! with Playbook switched off has no such note, and neither has one from before Playbook was
//! installed; those are `playbook bootstrap`'s, which asks first.

use std::collections::HashSet;
use std::fs::DirEntry;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::job::{Event, Ticket};
use super::recover::RECOVERED;
use super::shop::Shop;
use super::spool::{self, Lot};
use super::{QueueError, files, mark};
use crate::config::Config;
use crate::fsx;
use crate::playbook::shown::ShownPoints;
use crate::project;
use crate::wall;

/// A session without a mark may be open for all we know, until it was quiet for so long.
const QUIET_FOR: SignedDuration = SignedDuration::from_hours(1);
/// How much of a transcript is read to learn how its session began.
const HEAD: u64 = 1 << 20;
/// So many folders and transcripts are looked at, and so many sessions enqueued by one worker.
const MAX_FOLDERS: usize = 64;
const MAX_TRANSCRIPTS: usize = 10_000;
const MAX_FOUND: usize = 20;
/// What every message of our hooks to the user begins with.
const OUR_VOICE: &str = "Playbook: ";
const MAX_SETTINGS: u64 = 4 << 20;

/// Enqueues those of the worker's own project, whose account is its own. What cannot be done
/// is logged, and done by a later worker.
pub(super) fn enqueue(shop: &Shop) {
    if let Some(project) = &shop.home_project
        && let Err(error) = of_project(shop, project)
    {
        shop.log("worker", &error.to_string());
    }
}

fn of_project(shop: &Shop, project: &Path) -> Result<(), QueueError> {
    let config = shop.config_for(project)?;
    // What was there before our memory is another's: it may have been learned from already.
    let Some(since) = shop.memory().remembers_since()? else {
        return Ok(());
    };
    if !is_every_end_wanted(shop, &config) {
        return Ok(());
    }
    let known = shop
        .memory()
        .known_transcripts(&project.to_string_lossy())?;
    let now = shop.now();
    let days = SignedDuration::from_hours(24 * i64::from(config.worker.keep_days));
    let is_over = |written: Timestamp| {
        let quiet = now.duration_since(written);
        written >= since && (QUIET_FOR..=days).contains(&quiet)
    };
    let unknown: Vec<PathBuf> = transcripts(shop, project)
        .filter(|(path, written)| is_over(*written) && !known.contains(&*path.to_string_lossy()))
        .map(|(path, _)| path)
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let taken = taken(shop)?;
    let found = unknown.into_iter().filter_map(|path| {
        let is_free = !taken.contains(&path) && wall::is_clients(&shop.paths, &path);
        let beginning = is_free.then(|| Beginning::read(&path)).flatten()?;
        beginning
            .is_learned_from(project, since)
            .then_some((path, beginning.cwd?))
    });
    for (transcript, cwd) in found.take(MAX_FOUND) {
        let session = transcript.file_stem().unwrap_or_default();
        let ticket = Ticket {
            session: session.to_string_lossy().into_owned(),
            cwd,
            reason: Some(RECOVERED.to_owned()),
            need: Some(shop.account.need.clone()),
            transcript,
            ..Ticket::new(Event::SessionEnd, project, now)
        };
        let id = spool::put(&shop.paths, &Lot::Chance, ticket)?;
        shop.log(
            id.as_str(),
            "made for a session that left neither mark nor job",
        );
    }
    Ok(())
}

/// Tells whether sessions are learned from however they end: a transcript does not say how
/// its session did.
fn is_every_end_wanted(shop: &Shop, config: &Config) -> bool {
    let settings = fsx::read_json::<Value>(&shop.paths.client_settings(), MAX_SETTINGS);
    let settings = settings.unwrap_or_default();
    let is_on = |ours: Option<bool>, switch: &str| ours.or(settings[switch].as_bool());
    config.reflection.enabled
        && is_on(config.hooks.on_exit, "playbook_update_on_exit") != Some(false)
        && is_on(config.hooks.on_clear, "playbook_update_on_clear") != Some(false)
}

/// The transcripts of the sessions in a project's folder and those below it, with the time of
/// their last write. The client turns what is no letter or digit of a path into a dash.
fn transcripts(shop: &Shop, project: &Path) -> impl Iterator<Item = (PathBuf, Timestamp)> {
    let own: String = project
        .to_string_lossy()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let is_below = move |folder: &DirEntry| {
        let name = folder.file_name();
        let rest = name.to_str().and_then(|name| name.strip_prefix(&own));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let folders = entries(&shop.paths.client_projects()).filter(is_below);
    folders
        .take(MAX_FOLDERS)
        .flat_map(|folder| entries(&folder.path()))
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "jsonl"))
        .take(MAX_TRANSCRIPTS)
        .filter_map(|entry| {
            let written = entry.metadata().and_then(|about| about.modified()).ok()?;
            Some((entry.path(), Timestamp::try_from(written).ok()?))
        })
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> + use<> {
    std::fs::read_dir(folder).into_iter().flatten().flatten()
}

/// The transcripts that a job waits for, or whose session left a mark.
fn taken(shop: &Shop) -> Result<HashSet<PathBuf>, QueueError> {
    let spool = shop.paths.spool();
    let jobs = spool::list(&spool)?;
    // What is no job of this version has claimed nothing that a claim would not notice.
    let jobs = jobs
        .iter()
        .filter_map(|id| files::read_heading(&spool, id).ok());
    let marks = fsx::list(&shop.paths.open_sessions())?;
    let marks = marks.iter().filter_map(|entry| mark::read(&entry.path()));
    Ok(jobs
        .map(|job| job.transcript)
        .chain(marks.map(|mark| mark.transcript))
        .collect())
}

/// How a session began, as the first lines of its transcript say.
#[derive(Default)]
struct Beginning {
    cwd: Option<PathBuf>,
    began: Option<Timestamp>,
    was_spoken_to: bool,
    is_fork: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    cwd: Option<PathBuf>,
    timestamp: Option<Timestamp>,
    request_session_id: Option<Value>,
    #[serde(default)]
    attachment: Value,
}

impl Beginning {
    fn read(transcript: &Path) -> Option<Self> {
        let file = fsx::open_regular(transcript).ok()?;
        let lines = BufReader::new(file.take(HEAD)).split(b'\n');
        let lines = lines.map_while(Result::ok);
        let mut beginning = Self::default();
        // What is no such line says nothing.
        for line in lines.filter_map(|line| serde_json::from_slice::<Line>(&line).ok()) {
            beginning.was_spoken_to |= is_ours(&line.attachment);
            beginning.is_fork |= line.request_session_id.is_some();
            beginning.cwd = beginning.cwd.or(line.cwd);
            beginning.began = beginning.began.or(line.timestamp);
        }
        Some(beginning)
    }

    fn is_learned_from(&self, project: &Path, since: Timestamp) -> bool {
        let is_of = |cwd: &PathBuf| project::find(cwd) == project;
        self.was_spoken_to
            && !self.is_fork
            && self.began.is_some_and(|began| began >= since)
            && self.cwd.as_ref().is_some_and(is_of)
    }
}

/// Tells whether this is the client's note of what our session-start said: to the model, which
/// it gives key points, or to the user.
fn is_ours(note: &Value) -> bool {
    if note["hookEvent"] != "SessionStart" {
        return false;
    }
    match note["type"].as_str() {
        Some("hook_additional_context") => note["content"][0]
            .as_str()
            .is_some_and(|text| ShownPoints::in_text(text) != ShownPoints::default()),
        Some("hook_system_message") => note["content"]
            .as_str()
            .is_some_and(|text| text.starts_with(OUR_VOICE)),
        _ => false,
    }
}
