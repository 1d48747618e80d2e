//! The transcripts that the client keeps, and what their first and last lines tell.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use memchr::memmem;
use serde::Deserialize;

use super::claim::lane_of;
use super::context::Worker;
use super::progress::Job;
use crate::paths::Paths;
use crate::place::Place;
use crate::playbook::render::in_text;
use crate::playbook::votes::{BulletTag, Votes, votes};
use crate::playbook::{Id, Playbook, is_own_name};
use crate::shown_record::{self, ShownPoints};
use crate::transcript::{Facts, Lane};
use crate::{fsx, project, transcript_file};

/// The part of a transcript that is read to find its folder.
const HEAD: u64 = 1 << 20;
/// The part of its end that is read to find when it ended.
const TAIL: u64 = 1 << 18;

#[derive(Debug, Clone)]
pub(crate) struct PastTranscript {
    pub(crate) transcript: PathBuf,
    /// The client's id of the session; of a subagent, that of its parent.
    pub(crate) session: String,
    pub(crate) is_subagents: bool,
    /// The folder that the session was held in; `None` when no line says.
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) began: Timestamp,
    pub(crate) ended: Timestamp,
}

pub(crate) fn of_project(paths: &Paths, project: &Path) -> Vec<PastTranscript> {
    let mut past = Vec::new();
    for entry in entries(&paths.client_projects()).flat_map(|folder| entries(&folder)) {
        let session = stem(&entry);
        if is_transcript(&entry) {
            past.extend(PastTranscript::read(entry, session, false));
        } else {
            let own = entries(&entry.join("subagents")).filter(|path| is_transcript(path));
            past.extend(own.filter_map(|path| PastTranscript::read(path, session.clone(), true)));
        }
    }
    let place = Place::read(paths, project);
    let former = place.map_or_else(Vec::new, |place| place.left(paths));
    past.retain(|past| past.is_of(project, &former));
    // A fork has its parent's beginning: the one that ended first is likely the parent.
    past.sort_by(|a, b| (a.began, a.ended, &a.transcript).cmp(&(b.began, b.ended, &b.transcript)));
    past
}

/// Returns transcripts of a project's folder and of those below it, with their last write.
pub(crate) fn written_in(
    paths: &Paths,
    project: &Path,
    (folders, transcripts): (usize, usize),
) -> impl Iterator<Item = (PathBuf, SystemTime)> {
    let own = dashed(project);
    let is_below = move |folder: &PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let rest = name.strip_prefix(&own);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let all = entries(&paths.client_projects());
    let folders = all.filter(is_below).take(folders);
    let files = folders.flat_map(|folder| entries(&folder));
    let found = files.take(transcripts).filter(|path| is_transcript(path));
    found.map(|path| (path.clone(), written(&path)))
}

pub(crate) fn newest_of_each(paths: &Paths) -> impl Iterator<Item = PathBuf> {
    entries(&paths.client_projects()).filter_map(|folder| {
        let transcripts = entries(&folder).filter(|path| is_transcript(path));
        transcripts.max_by_key(|path| written(path))
    })
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path())
}

fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "jsonl") && path.is_file()
}

fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

fn written(path: &Path) -> SystemTime {
    let written = path.metadata().and_then(|m| m.modified());
    written.unwrap_or(SystemTime::UNIX_EPOCH)
}

#[derive(Deserialize)]
struct TranscriptHeading {
    cwd: Option<PathBuf>,
    timestamp: Option<String>,
}

impl TranscriptHeading {
    fn of(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    fn time(&self) -> Option<Timestamp> {
        self.timestamp.as_ref()?.parse().ok()
    }
}

impl PastTranscript {
    pub(crate) fn read(transcript: PathBuf, session: String, is_subagents: bool) -> Option<Self> {
        let mut file = fsx::open_regular(&transcript).ok()?;
        let (mut cwd, mut began) = (None, None);
        for line in lines(Read::by_ref(&mut file), HEAD) {
            let Some(line) = TranscriptHeading::of(&line) else {
                continue;
            };
            began = began.or_else(|| line.time());
            cwd = cwd.or(line.cwd);
            if cwd.is_some() && began.is_some() {
                break;
            }
        }
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))
            .ok()?;
        let tail = lines(&mut file, TAIL);
        let last = tail.filter_map(|line| TranscriptHeading::of(&line)?.time());
        let last = last.last();
        let written = Timestamp::try_from(written(&transcript)).unwrap_or(Timestamp::UNIX_EPOCH);
        let ended = last.unwrap_or(written);
        Some(Self {
            transcript,
            session,
            is_subagents,
            cwd,
            began: began.unwrap_or(ended),
            ended,
        })
    }

    pub(crate) fn is_of(&self, project: &Path, former: &[PathBuf]) -> bool {
        if let Some(cwd) = &self.cwd {
            let is_gone = !cwd.is_dir();
            return project::find(cwd) == project
                || is_gone && former.iter().any(|former| cwd.starts_with(former))
                || is_gone && origin(&self.transcript).as_deref() == Some(project);
        }
        let above = if self.is_subagents { 3 } else { 1 };
        let folder = self.transcript.ancestors().nth(above);
        let name = folder.and_then(Path::file_name).unwrap_or_default();
        name == dashed(project).as_str()
    }
}

/// Finds the project from which the client made the worktree that a session was held in.
pub(super) fn origin(transcript: &Path) -> Option<PathBuf> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct WorktreeState {
        original_cwd: Option<PathBuf>,
        worktree_session: Option<Worktree>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Worktree {
        original_cwd: PathBuf,
    }
    let mut file = fsx::open_regular(transcript).ok()?;
    let mut found = lines(&mut file, u64::MAX).filter_map(|line| {
        memmem::find(&line, b"\"worktree-state\"")?;
        let state: WorktreeState = serde_json::from_slice(&line).ok()?;
        let of_session = state.worktree_session.map(|session| session.original_cwd);
        of_session.or(state.original_cwd)
    });
    let origin = project::find(&found.next()?);
    origin.is_dir().then_some(origin)
}

pub(super) fn dashed(project: &Path) -> String {
    let path = project.to_string_lossy();
    path.replace(|c: char| !c.is_ascii_alphanumeric(), "-")
}

fn lines(from: impl Read, most: u64) -> impl Iterator<Item = Vec<u8>> {
    let lines = BufReader::new(from.take(most)).split(b'\n');
    lines.map_while(Result::ok)
}

/// The number of sessions that are asked: forks of forks of forks.
const MAX_SESSIONS: usize = 8;
const MAX_ID: usize = 64;

/// Stores with a job what its session was shown: by the file of its start, or the client's notes in
/// the transcript; a fork has what its origin had. It decides which verdicts are votes.
pub(super) fn keep_shown(context: &Worker, job: &mut Job, facts: &Facts) {
    if job.progress.shown.is_some() {
        return;
    }
    let end = job.progress.claim.as_ref().map_or(u64::MAX, |c| c.end);
    let ticket = &job.ticket;
    let log = |error: &str| context.log(ticket.id.as_str(), error);
    let first = (ticket.session.clone(), ticket.transcript.clone(), end);
    let given = shown_in(context.paths(), &ticket.project, first, log);
    let mut shown = given.shown;
    // A subagent has a context of its own, without what its session was shown: what it was
    // given itself stands in its transcript.
    if is_of_subagent(job) {
        shown.keep(|name| facts.citations.iter().any(|id| id.as_str() == name));
        let own = transcript_file::beginnings(&ticket.transcript, 0, end);
        let own = own.inspect_err(|error| log(&error.to_string()));
        for text in own.unwrap_or_default().given {
            shown.add(in_text(&text));
        }
    }
    job.progress.root = Some(given.root).filter(|root| *root != ticket.session);
    // What a start of ours showed stands in the playbook, wherever its file is now.
    job.progress.has_seen_points |= given.is_of_here;
    job.progress.shown = Some(shown);
}

/// Takes from the playbook what a subagent was neither given nor cited.
pub(super) fn only_its_own(job: &Job, facts: &Facts, playbook: &mut Playbook) {
    if is_of_subagent(job) {
        let shown = job.progress.shown.as_ref();
        playbook.keep(|point| {
            let is_shown = shown.is_some_and(|shown| shown.has(point.name));
            is_shown || facts.citations.iter().any(|id| id.as_str() == point.name)
        });
    }
}

pub(super) fn is_of_subagent(job: &Job) -> bool {
    lane_of(job.ticket.event, &job.ticket.transcript) == Lane::Subagent
}

pub(super) fn votes_of(job: &Job, facts: &Facts, tags: &[BulletTag], playbook: &Playbook) -> Votes {
    let nothing = ShownPoints::default();
    let shown = job.progress.shown.as_ref().unwrap_or(&nothing);
    votes(tags, shown, &facts.citations, playbook)
}

/// The points of a playbook that the session of a job was given or cited, as they stand now.
pub(super) fn given(job: &Job, facts: &Facts, playbook: &Playbook) -> Vec<Id> {
    ids(&votes_of(job, facts, &[], playbook))
}

pub(crate) fn shown_by_hand(paths: &Paths, project: &Path, transcript: &Path) -> ShownPoints {
    let session = transcript.file_stem().unwrap_or_default().to_string_lossy();
    let first = (session.into_owned(), transcript.to_owned(), u64::MAX);
    shown_in(paths, project, first, |_| ()).shown
}

pub(crate) fn ids(votes: &Votes) -> Vec<Id> {
    let seen = votes.seen.iter();
    seen.filter_map(|point| Id::parse(&point.name)).collect()
}

struct GivenPoints {
    shown: ShownPoints,
    root: String,
    /// Starts in this project noted points; a transcript may be of another machine.
    is_of_here: bool,
}

/// Gathers what the session of a job was shown, and the sessions that it was forked from.
fn shown_in(
    paths: &Paths,
    project: &Path,
    first: (String, PathBuf, u64),
    log: impl Fn(&str),
) -> GivenPoints {
    let folder = paths.shown_points(project);
    let mut shown = ShownPoints::default();
    let mut is_of_here = false;
    let mut asked = BTreeSet::new();
    let mut root = first.0.clone();
    let mut sessions = vec![first];
    while let Some((session, transcript, end)) = sessions.pop() {
        if asked.len() >= MAX_SESSIONS || !asked.insert(session.clone()) {
            continue;
        }
        root.clone_from(&session);
        if let Some(record) = shown_record::read(&folder, &session) {
            // The user's own points are shown where no playbook is, too.
            is_of_here |= record.points.each().any(|(name, _)| !is_own_name(name));
            shown.add(record.points);
            if record.is_whole {
                continue;
            }
        }
        let beginnings = match transcript_file::beginnings(&transcript, 0, end) {
            Ok(beginnings) => beginnings,
            // The client keeps transcripts for a month, so an origin's may be gone.
            Err(error) if error.is_missing() => continue,
            Err(error) => {
                log(&error.to_string());
                continue;
            }
        };
        for text in &beginnings.given {
            shown.add(in_text(text));
        }
        let origins = beginnings.origins.into_iter().filter(|id| is_plain(id));
        sessions.extend(origins.map(|id| {
            let transcript = transcript.with_file_name(format!("{id}.jsonl"));
            (id, transcript, u64::MAX)
        }));
    }
    GivenPoints {
        shown,
        root,
        is_of_here,
    }
}

/// Returns `true` if an id from a transcript can be nothing but the stem of a file name.
fn is_plain(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}
