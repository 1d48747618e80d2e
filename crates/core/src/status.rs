//! What hooks must know beyond their own job: one small file that the worker writes.
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
/// A clock that is so far from the last worker's has leapt: nobody is away for so long, as a
/// rule.
const LEAP: SignedDuration = SignedDuration::from_hours(31 * 24);

/// What the worker has left for hooks: when jobs become due, and what to tell the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    v: u32,
    #[serde(with = "crate::millis")]
    pub written: Timestamp,
    /// When the clock had last leapt, by its own word.
    #[serde(default, with = "crate::rfc3339::optional")]
    #[serde(skip_serializing_if = "Option::is_none")]
    leapt: Option<Timestamp>,
    /// When jobs of each account become due.
    pub due: BTreeMap<String, Due>,
    /// What to tell the user at the next start.
    pub notices: Vec<Notice>,
    /// By project ([`Status::project_key`]), how much is in quarantine.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub quarantine: BTreeMap<String, u64>,
}

/// When the next job of an account is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Due(#[serde(with = "crate::millis")] pub Timestamp);

/// One thing to tell, at most daily for each topic, unless it is about an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// What it is about; never shown.
    pub topic: String,
    /// The words for the user.
    pub text: String,
    /// The account without which nothing is learned: told at each start that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

impl Notice {
    /// A notice that concerns no account.
    pub fn new(topic: &str, text: impl Into<String>) -> Self {
        Self {
            topic: topic.to_owned(),
            text: text.into(),
            account: None,
        }
    }
}

impl Status {
    /// A status in which there is nothing to do and nothing to tell.
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

    /// Lets hooks look for waiting jobs themselves: nobody knows when they are due.
    pub fn leave_dues_to_hooks(&mut self, now: Timestamp) {
        self.written = now.checked_sub(OLD).unwrap_or(Timestamp::MIN);
    }

    /// The name under which a status keeps what belongs to one project.
    pub fn project_key(project: &Path) -> String {
        name_of(project.as_os_str().as_encoded_bytes())
    }

    /// Reads the status; `None` when it is missing or not of this version.
    pub fn read(paths: &Paths) -> Option<Self> {
        let status: Self = fsx::read_json(&paths.status(), MAX_STATUS)?;
        (status.v == STATUS_VERSION).then_some(status)
    }

    /// Returns `true` if this status says all there is to know: it is not old, and the spool
    /// has not changed since it was written.
    pub fn is_current(&self, paths: &Paths, now: Timestamp) -> bool {
        let changed = |path: &Path| std::fs::metadata(path).and_then(|m| m.modified()).ok();
        let spool = changed(&paths.spool());
        now.duration_since(self.written).abs() < OLD
            && (spool.is_none() || spool <= changed(&paths.status()))
    }

    /// Since when the clock has been going without a leap. Only what has passed since then makes
    /// a job old; where no worker has left word, that begins now.
    pub fn clock_goes_since(paths: &Paths, now: Timestamp) -> Timestamp {
        match Self::read(paths) {
            Some(last) if now.duration_since(last.written).abs() <= LEAP => {
                last.leapt.unwrap_or(Timestamp::MIN)
            }
            _ => now,
        }
    }

    /// Remembers what the next worker would not see any more in this status.
    pub fn remember_leap(&mut self, paths: &Paths, now: Timestamp) {
        let since = Self::clock_goes_since(paths, now);
        self.leapt = Some(since).filter(|since| *since > Timestamp::MIN);
    }

    /// Writes it for the hooks to come.
    pub fn write(&self, paths: &Paths) -> Result<(), FsError> {
        let file = paths.status();
        fsx::quick(&file, &fsx::to_json(&file, self)?)
    }
}

/// Corrects how much of a project is in quarantine.
///
/// One that is not current stays so: writing alone would make it look current.
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
