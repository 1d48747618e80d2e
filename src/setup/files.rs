//! Removes the files of install.sh and all our own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::fsx::{self, FsContext as _, FsError};
use crate::logfile::LOG;
use crate::paths::Paths;
use crate::queue::job::JobId;
use crate::telemetry::REFLECTIONS;

use super::templates;

/// The list that install.sh writes: `file PATH` and `dir PATH`, in order of creation.
const LIST: &str = "playbook/installed";
const MAX_LIST: u64 = 1 << 20;

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Installed {
    list: PathBuf,
    pub(crate) files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Installed {
    pub(crate) fn read(client: &Path) -> Result<Self, FsError> {
        let list = client.join(LIST);
        let bytes = fsx::read_if_there(&list, MAX_LIST)?.unwrap_or_default();
        // A path may be no valid UTF-8.
        let of = |kind: &str| -> Vec<PathBuf> {
            let lines = bytes.split(|b| *b == b'\n');
            lines
                .filter_map(|line| line.strip_prefix(kind.as_bytes()))
                .map(|path| PathBuf::from(OsStr::from_bytes(path)))
                .filter(|p| p.is_absolute())
                .collect()
        };
        Ok(Self {
            files: of("file "),
            folders: of("dir "),
            list,
        })
    }

    pub(crate) fn remove(&self) -> Result<(), FsError> {
        for file in self.files.iter().chain([&self.list]) {
            fsx::remove(file)?;
        }
        // The newest first, so that each is empty when it is reached.
        let mut folders = self.folders.iter().rev();
        folders.try_for_each(|folder| fsx::remove_dir_if_empty(folder))
    }
}

/// Recognises our files by name. The user may have chosen the folders, so other files in them stay.
pub(crate) fn purge(paths: &Paths) -> Result<(), FsError> {
    for folder in paths.state_folders() {
        clear(&folder, |name| {
            is_hashed(name) || is_job(name) || is_log(name)
        })?;
    }
    for file in paths.state_files() {
        fsx::remove(&file)?;
    }
    clear(paths.state(), |name| {
        let lock = name.strip_prefix("worker-");
        let hash = lock.and_then(|lock| lock.strip_suffix(".lock"));
        name.starts_with("memory.db") || hash.is_some_and(is_hashed)
    })?;
    clear(&paths.templates(), templates::is_ours)?;
    let config = paths.config_file();
    fsx::remove(&config)?;
    config
        .parent()
        .map_or(Ok(()), |folder| clear(folder, |_| false))
}

/// Removes the folder if it is empty then, but not one that is reached through a symlink.
fn clear(folder: &Path, is_ours: impl Fn(&str) -> bool) -> Result<(), FsError> {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    let entries = match std::fs::read_dir(folder) {
        Err(e) if matches!(e.kind(), NotFound | NotADirectory) => return Ok(()),
        entries => entries.context("list", folder)?,
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = |name: &str| name.starts_with(fsx::TEMPORARY_PREFIX) || is_ours(name);
        if name.to_str().is_some_and(is_ours) {
            fsx::remove_all(&entry.path())?;
        }
    }
    if folder.is_symlink() {
        return Ok(());
    }
    fsx::remove_dir_if_empty(folder)
}

/// Returns `true` for a name made by [`name_of`](crate::digest::name_of), with or without a suffix.
fn is_hashed(name: &str) -> bool {
    let stem = stem(name);
    stem.len() == 16 && stem.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_job(name: &str) -> bool {
    JobId::parse(stem(name)).is_some()
}

fn is_log(name: &str) -> bool {
    [LOG, REFLECTIONS].contains(&name.strip_suffix(".1").unwrap_or(name))
}

fn stem(name: &str) -> &str {
    name.split_once('.').map_or(name, |(stem, _)| stem)
}
