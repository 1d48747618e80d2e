//! The changes of a file of settings, so that they can be taken back to the byte.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::merge::Replaced;
use super::templates::{digest, missing};
use crate::digest::name_of;
use crate::fsx::{self, FsError};
use crate::paths::Paths;

const VERSION: u32 = 1;
const SUFFIX: &str = ".json";
/// The end of the first copy's name: the settings as they were before we came.
const FIRST_SUFFIX: &str = ".backup";
/// The end of the other copy's name: the settings as they were before the last change.
const LAST_SUFFIX: &str = ".last.backup";
const MAX_RECORD: u64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SettingsRecord {
    v: u32,
    pub(crate) file: PathBuf,
    pub(crate) client: PathBuf,
    pub(super) made_file: bool,
    /// The folders that were made for it, the innermost first.
    pub(super) made_folders: Vec<PathBuf>,
    /// The folders that were made above the one of our states, the innermost first.
    pub(crate) made_above_state: Vec<PathBuf>,
    /// The text before our first change; `None` once somebody else has changed it, too.
    pub(super) before: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) replaced: Vec<Replaced>,
    after: String,
}

impl SettingsRecord {
    pub(super) fn new(file: &Path, paths: &Paths) -> Self {
        let above = |path: &Path| path.parent().map(missing).unwrap_or_default();
        Self {
            v: VERSION,
            file: file.to_owned(),
            client: paths.client().to_owned(),
            made_file: !file.exists(),
            made_folders: above(file),
            made_above_state: above(paths.state()),
            before: None,
            replaced: Vec::new(),
            after: String::new(),
        }
    }

    pub(super) fn read(paths: &Paths, file: &Path) -> Option<Self> {
        parse(&place(paths, file, SUFFIX))
    }

    pub(super) fn is_last(&self, text: &[u8]) -> bool {
        self.after == digest(text)
    }

    /// Returns true if it is of this file, by whatever name that is reached.
    pub(crate) fn is_of(&self, file: &Path) -> bool {
        fsx::real(&self.file) == fsx::real(file)
    }

    /// Notes a change of the text from `before` to `after`.
    pub(super) fn note(&mut self, before: &str, after: &str) {
        if self.after.is_empty() {
            self.before = Some(before.to_owned());
        } else if !self.is_last(before.as_bytes()) {
            self.before = None;
        }
        self.after = digest(after.as_bytes());
    }

    pub(super) fn write(&self, paths: &Paths) -> Result<(), FsError> {
        let path = place(paths, &self.file, SUFFIX);
        let bytes = fsx::to_json(&path, self)?;
        fsx::ensure_dir(&paths.registrations())?;
        fsx::durable(&path, &bytes)
    }
}

fn parse(path: &Path) -> Option<SettingsRecord> {
    fsx::read_json(path, MAX_RECORD).filter(|record: &SettingsRecord| record.v == VERSION)
}

/// Keeps a copy of settings as they are; returns where. The first one stays for good: what
/// was there before us can always be had again.
pub(super) fn back_up(paths: &Paths, file: &Path, bytes: &[u8]) -> Result<PathBuf, FsError> {
    fsx::ensure_dir(&paths.registrations())?;
    let first = place(paths, file, FIRST_SUFFIX);
    if fsx::create_new(&first, bytes)? || fsx::read(&first, MAX_RECORD).is_ok_and(|b| b == bytes) {
        return Ok(first);
    }
    let last = place(paths, file, LAST_SUFFIX);
    fsx::durable(&last, bytes)?;
    Ok(last)
}

/// Forgets what was changed in a file; the copies stay.
pub(super) fn forget_changes(paths: &Paths, file: &Path) -> Result<(), FsError> {
    fsx::remove(&place(paths, file, SUFFIX))
}

/// Forgets a file: its record and its copies.
pub(super) fn forget(paths: &Paths, file: &Path) -> Result<(), FsError> {
    forget_changes(paths, file)?;
    fsx::remove(&place(paths, file, FIRST_SUFFIX))?;
    fsx::remove(&place(paths, file, LAST_SUFFIX))?;
    // Folders that hold something else by now stay.
    fsx::remove_dir_if_empty(&paths.registrations())?;
    fsx::remove_dir_if_empty(paths.state())
}

/// All files of settings that something was changed in, in the order to take it back.
pub(crate) fn recorded(paths: &Paths) -> Vec<SettingsRecord> {
    let entries = fsx::list(&paths.registrations()).unwrap_or_default();
    let mut records: Vec<SettingsRecord> = entries
        .iter()
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(SUFFIX))
        .filter_map(|entry| parse(&entry.path()))
        .collect();
    // A folder that was made for one of them goes last.
    records.sort_by_key(|record| (record.made_folders.len(), record.file.clone()));
    records
}

fn place(paths: &Paths, file: &Path, suffix: &str) -> PathBuf {
    let name = name_of(fsx::real(file).as_os_str().as_encoded_bytes());
    paths.registrations().join(format!("{name}{suffix}"))
}
