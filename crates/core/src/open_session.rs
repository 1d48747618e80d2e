//! Marks of open sessions: how a session that never ends is found.
//!
//! session-start leaves a mark, session-end takes it away. A client that was killed
//! leaves its mark behind; only the worker judges those.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::account::Need;
use crate::digest::name_of;
use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::platform::ProcessMark;

pub const VERSION: u32 = 1;
/// What the client calls the start of a session after a compaction.
pub const COMPACT: &str = "compact";
/// What the names of open sessions' files end in.
pub const SUFFIX: &str = ".json";

/// The mark of a session that has begun and not yet ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSession {
    /// The version of the format.
    pub v: u32,
    /// The session's id, as the client gave it.
    pub session: String,
    /// Its transcript; it may not exist yet.
    pub transcript: PathBuf,
    /// Where it works.
    pub cwd: PathBuf,
    pub project: PathBuf,
    /// Which account is to answer, should it end without a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    /// The client's process; `None` where the system does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ProcessMark>,
    /// What made it begin, in the client's word; `None` where that does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// When it began.
    #[serde(serialize_with = "crate::rfc3339::serialize")]
    pub at: Timestamp,
}

/// What there was of a session when it left its mark.
#[derive(Debug)]
pub enum MarkBefore {
    /// Nothing: of several starts that leave one at once, this one was the first.
    Nothing,
    /// A mark that was left at this time, by a start from this source.
    Left(Began),
    /// One that does not say so, or cannot be read.
    Unknown,
}

/// When and how a session began: what is read of a mark at the next start.
#[derive(Debug, Deserialize)]
pub struct Began {
    /// See [`OpenSession::source`].
    pub source: String,
    /// See [`OpenSession::at`].
    #[serde(deserialize_with = "crate::rfc3339::optional::deserialize")]
    pub at: Option<Timestamp>,
}

/// Leaves the mark that `session` is open; tells what there was of it.
pub fn leave(paths: &Paths, session: &OpenSession) -> Result<MarkBefore, FsError> {
    let file = file(paths, &session.session);
    fsx::ensure_dir(&paths.open_sessions())?;
    let mark = fsx::to_json(&file, session)?;
    let is_there = file.symlink_metadata().is_ok();
    // Where a file system cannot do that, or has no room, the plain way says so.
    if !is_there && fsx::create_new(&file, &mark).is_ok_and(|is_new| is_new) {
        return Ok(MarkBefore::Nothing);
    }
    let before = fsx::read_json(&file, MAX_FILE);
    fsx::quick(&file, &mark)?;
    Ok(before.map_or(MarkBefore::Unknown, MarkBefore::Left))
}

/// Puts a mark back that was taken away, unless the session has left another since.
pub fn put_back(paths: &Paths, session: &OpenSession) -> Result<(), FsError> {
    let file = file(paths, &session.session);
    fsx::create_new(&file, &fsx::to_json(&file, session)?)?;
    Ok(())
}

/// Takes the mark of a session away; one that has none is no error.
pub fn take(paths: &Paths, session: &str) -> Result<(), FsError> {
    fsx::remove(&file(paths, session))
}

/// Returns the project that a session began in, while it has its mark.
pub fn project_of(paths: &Paths, session: &str) -> Option<PathBuf> {
    let mark: OpenSession = fsx::read_json(&file(paths, session), MAX_FILE)?;
    Some(mark.project)
}

fn file(paths: &Paths, session: &str) -> PathBuf {
    named(paths, session, SUFFIX)
}

fn named(paths: &Paths, what: &str, suffix: &str) -> PathBuf {
    let name = name_of(what.as_bytes());
    paths.open_sessions().join(format!("{name}{suffix}"))
}

/// The file that remembers when `session` was last given its context for `source`.
pub fn injection_file(paths: &Paths, session: &str, source: &str) -> PathBuf {
    named(paths, &format!("{session}\n{source}"), INJECTED_SUFFIX)
}

/// The file that remembers which job `session` was last given, and when.
pub fn enqueued_file(paths: &Paths, session: &str) -> PathBuf {
    named(paths, session, ENQUEUED_SUFFIX)
}

/// What the names of files end in that remember a session's last job.
pub const ENQUEUED_SUFFIX: &str = ".enqueued";

/// What the names of files end in that remember when a session was given its context.
pub const INJECTED_SUFFIX: &str = ".injected";

/// The sessions that have begun and not yet ended, as far as their marks can be read.
pub fn all(paths: &Paths) -> Result<Vec<OpenSession>, FsError> {
    let marks = fsx::list(&paths.open_sessions())?;
    let marks = marks.iter().map(std::fs::DirEntry::path);
    let marks = marks.filter(|file| file.to_string_lossy().ends_with(SUFFIX));
    Ok(marks.filter_map(|file| read(&file)).collect())
}

/// Reads a mark; `None` when it is gone or cannot be read.
pub fn read(file: &Path) -> Option<OpenSession> {
    fsx::read_json(file, MAX_FILE)
}

const MAX_FILE: u64 = 1 << 20;
