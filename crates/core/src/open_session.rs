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
pub const SUFFIX: &str = ".json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenSession {
    pub v: u32,
    pub session: String,
    /// Its transcript; it may not exist yet.
    pub transcript: PathBuf,
    pub cwd: PathBuf,
    pub project: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<ProcessMark>,
    #[serde(serialize_with = "crate::rfc3339::serialize")]
    pub at: Timestamp,
}

pub fn leave(paths: &Paths, session: &OpenSession) -> Result<(), FsError> {
    let file = file(paths, &session.session);
    fsx::ensure_dir(&paths.open_sessions())?;
    fsx::quick(&file, &fsx::to_json(&file, session)?)
}

/// Puts a mark back that was taken away, unless the session has left another since.
pub fn put_back(paths: &Paths, session: &OpenSession) -> Result<(), FsError> {
    let file = file(paths, &session.session);
    fsx::create_new(&file, &fsx::to_json(&file, session)?)?;
    Ok(())
}

pub fn take(paths: &Paths, session: &str) -> Result<(), FsError> {
    fsx::remove(&file(paths, session))
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

pub const ENQUEUED_SUFFIX: &str = ".enqueued";

pub const INJECTED_SUFFIX: &str = ".injected";

pub fn read(file: &Path) -> Option<OpenSession> {
    fsx::read_json(file, MAX_FILE)
}

const MAX_FILE: u64 = 1 << 20;
