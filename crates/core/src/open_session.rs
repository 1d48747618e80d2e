//! Marks of open sessions, by which a session that never ends is found.
//!
//! session-start writes a mark, session-end removes it. A killed client leaves its mark behind;
//! only the worker judges those.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::account::Need;
use crate::digest::name_of;
use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::platform::ProcessMark;

pub const VERSION: u32 = 1;
/// The client's name for a start after a compaction.
pub const COMPACT: &str = "compact";
pub const SUFFIX: &str = ".json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSession {
    pub v: u32,
    pub session: String,
    /// A file that may not exist yet.
    pub transcript: PathBuf,
    pub cwd: PathBuf,
    pub project: PathBuf,
    /// The account that answers if the session ends without a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    /// The client's process; `None` where the system does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ProcessMark>,
    /// The client's word; `None` where it gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(serialize_with = "crate::rfc3339::serialize")]
    pub at: Timestamp,
}

#[derive(Debug)]
pub enum MarkBefore {
    /// No mark: of several simultaneous starts, this was the first.
    Nothing,
    Left(Began),
    /// An unreadable mark, or one without these fields.
    Unknown,
}

#[derive(Debug, Deserialize)]
pub struct Began {
    pub source: String,
    #[serde(deserialize_with = "crate::rfc3339::optional::deserialize")]
    pub at: Option<Timestamp>,
}

pub fn leave(paths: &Paths, session: &OpenSession) -> Result<MarkBefore, FsError> {
    let file = file(paths, &session.session);
    fsx::ensure_dir(&paths.open_sessions())?;
    let mark = fsx::to_json(&file, session)?;
    let is_there = file.symlink_metadata().is_ok();
    // Where the file system cannot do that, or is full, the plain write reports it.
    if !is_there && fsx::create_new(&file, &mark).is_ok_and(|is_new| is_new) {
        return Ok(MarkBefore::Nothing);
    }
    let before = fsx::read_json(&file, MAX_FILE);
    fsx::quick(&file, &mark)?;
    Ok(before.map_or(MarkBefore::Unknown, MarkBefore::Left))
}

/// Restores a removed mark, unless the session has left another since.
pub fn put_back(paths: &Paths, session: &OpenSession) -> Result<(), FsError> {
    let file = file(paths, &session.session);
    fsx::create_new(&file, &fsx::to_json(&file, session)?)?;
    Ok(())
}

/// Accepts a missing mark.
pub fn take(paths: &Paths, session: &str) -> Result<(), FsError> {
    fsx::remove(&file(paths, session))
}

/// Returns the project that a session started in, while its mark exists.
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

/// Returns the file with the time at which `session` last received its context for `source`.
pub fn injection_file(paths: &Paths, session: &str, source: &str) -> PathBuf {
    named(paths, &format!("{session}\n{source}"), INJECTED_SUFFIX)
}

pub fn enqueued_file(paths: &Paths, session: &str) -> PathBuf {
    named(paths, session, ENQUEUED_SUFFIX)
}

pub const ENQUEUED_SUFFIX: &str = ".enqueued";

pub const INJECTED_SUFFIX: &str = ".injected";

/// Skips unreadable marks.
pub fn all(paths: &Paths) -> Result<Vec<OpenSession>, FsError> {
    let marks = fsx::list(&paths.open_sessions())?;
    let marks = marks.iter().map(std::fs::DirEntry::path);
    let marks = marks.filter(|file| file.to_string_lossy().ends_with(SUFFIX));
    Ok(marks.filter_map(|file| read(&file)).collect())
}

pub fn read(file: &Path) -> Option<OpenSession> {
    fsx::read_json(file, MAX_FILE)
}

const MAX_FILE: u64 = 1 << 20;
