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

pub(crate) const MARK_VERSION: u32 = 1;
pub(crate) const MARK_SUFFIX: &str = ".json";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) v: u32,
    pub(crate) session: String,
    /// Its transcript; it may not exist yet.
    pub(crate) transcript: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) project: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) need: Option<Need>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<ProcessMark>,
    pub(crate) at: Timestamp,
}

pub(crate) fn leave(paths: &Paths, mark: &Mark) -> Result<(), FsError> {
    let file = file(paths, &mark.session);
    fsx::ensure_dir(&paths.open_sessions())?;
    fsx::quick(&file, &fsx::to_json(&file, mark)?)
}

/// Puts a mark back that was taken away, unless the session has left another since.
pub(crate) fn put_back(paths: &Paths, mark: &Mark) -> Result<(), FsError> {
    let file = file(paths, &mark.session);
    fsx::create_new(&file, &fsx::to_json(&file, mark)?)?;
    Ok(())
}

pub(crate) fn take(paths: &Paths, session: &str) -> Result<(), FsError> {
    fsx::remove(&file(paths, session))
}

fn file(paths: &Paths, session: &str) -> PathBuf {
    named(paths, session, MARK_SUFFIX)
}

fn named(paths: &Paths, what: &str, suffix: &str) -> PathBuf {
    let name = name_of(what.as_bytes());
    paths.open_sessions().join(format!("{name}{suffix}"))
}

/// The file that remembers when `session` was last given its context for `source`.
pub(crate) fn injection_file(paths: &Paths, session: &str, source: &str) -> PathBuf {
    named(paths, &format!("{session}\n{source}"), INJECTED_SUFFIX)
}

/// The file that remembers which job `session` was last given, and when.
pub(crate) fn enqueued_file(paths: &Paths, session: &str) -> PathBuf {
    named(paths, session, ENQUEUED_SUFFIX)
}

pub(crate) const ENQUEUED_SUFFIX: &str = ".enqueued";

pub(crate) const INJECTED_SUFFIX: &str = ".injected";

pub(crate) fn read(file: &Path) -> Option<Mark> {
    fsx::read_json(file, MAX_MARK)
}

const MAX_MARK: u64 = 1 << 20;
