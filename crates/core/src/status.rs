//! The worker's status for hooks: one small file.
//!
//! A hook never lists the spool and never opens SQLite.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::digest::name_of;
use crate::fsx::{self, FsContext as _, FsError};
use crate::paths::Paths;

const STATUS_VERSION: u32 = 2;
const MAX_STATUS: u64 = 1 << 20;
/// A status older than this is not relied on.
const OLD: SignedDuration = SignedDuration::from_hours(1);
/// A clock this far from the last worker's has jumped: a user is rarely away for so long.
const LEAP: SignedDuration = SignedDuration::from_hours(31 * 24);

/// The times at which jobs become due, and notices for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    v: u32,
    #[serde(with = "crate::millis")]
    pub written: Timestamp,
    /// The time at which the clock had last jumped, as that clock showed it.
    #[serde(default, with = "crate::rfc3339::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    leapt: Option<Timestamp>,
    /// The due times by account.
    pub due: BTreeMap<String, Due>,
    pub notices: Vec<Notice>,
    /// The numbers by [`Status::project_key`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub quarantine: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Due(#[serde(with = "crate::millis")] pub Timestamp);

/// A notice, shown at most daily for each topic, unless it concerns an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// A name that is never shown.
    pub topic: String,
    pub text: String,
    /// The account that learning needs; the notice is shown at each start that uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl Notice {
    pub fn new(topic: &str, text: impl Into<String>) -> Self {
        Self {
            topic: topic.to_owned(),
            text: text.into(),
            account: None,
        }
    }
}

impl Status {
    pub fn quiet(now: Timestamp) -> Self {
        Self {
            v: STATUS_VERSION,
            written: now,
            leapt: None,
            due: BTreeMap::new(),
            notices: Vec::new(),
            quarantine: BTreeMap::new(),
        }
    }

    /// Makes hooks look for waiting jobs themselves, since their due times are unknown.
    pub fn leave_dues_to_hooks(&mut self, now: Timestamp) {
        self.written = now.checked_sub(OLD).unwrap_or(Timestamp::MIN);
    }

    pub fn project_key(project: &Path) -> String {
        name_of(project.as_os_str().as_encoded_bytes())
    }

    /// Returns `None` also for another version.
    pub fn read(paths: &Paths) -> Option<Self> {
        let status: Self = fsx::read_json(&paths.status(), MAX_STATUS)?;
        (status.v == STATUS_VERSION).then_some(status)
    }

    /// A complete status is recent, and the spool has not changed since it was written.
    pub fn is_current(&self, paths: &Paths, now: Timestamp) -> bool {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
        let spool = changed(&paths.spool());
        now.duration_since(self.written).abs() < OLD
            && (spool.is_none() || spool <= changed(&paths.status()))
    }

    /// Returns the time since which the clock has run without a jump. Only the time since then
    /// makes a job old; without a status from a worker, it starts now.
    pub fn clock_goes_since(paths: &Paths, now: Timestamp) -> Timestamp {
        match Self::read(paths) {
            Some(last) if now.duration_since(last.written).abs() <= LEAP => {
                last.leapt.unwrap_or(Timestamp::MIN)
            }
            _ => now,
        }
    }

    /// Keeps the time of the last jump, which the next worker could not derive from this status.
    pub fn remember_leap(&mut self, paths: &Paths, now: Timestamp) {
        let since = Self::clock_goes_since(paths, now);
        self.leapt = Some(since).filter(|since| *since > Timestamp::MIN);
    }

    pub fn write(&self, paths: &Paths) -> Result<(), FsError> {
        let file = paths.status();
        fsx::quick(&file, &fsx::to_json(&file, self)?)
    }
}

/// A status that is not current keeps its age: the write alone would make it look current.
pub fn tell_quarantine(
    paths: &Paths,
    project: &Path,
    count: u64,
    now: Timestamp,
) -> Result<(), FsError> {
    let Some(mut status) = Status::read(paths) else {
        return Ok(());
    };
    let file = paths.status();
    let age = std::fs::metadata(&file).and_then(|about| about.modified());
    let was_current = status.is_current(paths, now);
    let key = Status::project_key(project);
    if count == 0 {
        status.quarantine.remove(&key);
    } else {
        status.quarantine.insert(key, count);
    }
    status.write(paths)?;
    if was_current {
        return Ok(());
    }
    age.and_then(|age| File::options().append(true).open(&file)?.set_modified(age))
        .context("keep the age of", &file)
}
