//! What install.sh put on the machine, and what we keep there ourselves: taken away again.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::fsx::{self, Context as _, FsError};
use crate::paths::Paths;

/// The list that install.sh writes: `file PATH` and `dir PATH`, in the order they were made.
const LIST: &str = "playbook/installed";
/// A larger list is none.
const MAX_LIST: u64 = 1 << 20;

/// What install.sh put on the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    list: PathBuf,
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Installed {
    /// Reads the list below the client's folder; `None` when there is none.
    pub fn read(client: &Path) -> Result<Option<Self>, FsError> {
        let list = client.join(LIST);
        let Some(bytes) = fsx::read_if_there(&list, MAX_LIST)? else {
            return Ok(None);
        };
        // Paths are bytes: one that is no text is still a path.
        let of = |kind: &str| -> Vec<PathBuf> {
            let lines = bytes.split(|b| *b == b'\n');
            lines
                .filter_map(|line| line.strip_prefix(kind.as_bytes()))
                .map(|path| PathBuf::from(OsStr::from_bytes(path)))
                .filter(|p| p.is_absolute())
                .collect()
        };
        Ok(Some(Self {
            files: of("file "),
            folders: of("dir "),
            list,
        }))
    }

    /// The files, in the order they were installed.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Removes the files, and the folders that were made for them and hold nothing else.
    pub fn remove(&self) -> Result<(), FsError> {
        for file in self.files.iter().chain([&self.list]) {
            fsx::remove(file)?;
        }
        // The newest first, so that one is empty by the time its turn comes.
        let mut folders = self.folders.iter().rev();
        folders.try_for_each(|folder| fsx::remove_dir_if_empty(folder))
    }
}

/// Removes all that we keep: settings, templates, jobs, memory, logs.
///
/// Only what is ours by its name: the folders may have been chosen by the user and hold
/// other things, which stay, and so do the folders then.
pub fn purge(paths: &Paths) -> Result<(), FsError> {
    let config = paths.config_file();
    for ours in paths.all_state().iter().chain(&paths.all_config()) {
        fsx::remove_all(ours)?;
    }
    for name in others(paths.state())? {
        fsx::remove_all(&paths.state().join(name))?;
    }
    fsx::remove_dir_if_empty(paths.state())?;
    config.parent().map_or(Ok(()), fsx::remove_dir_if_empty)
}

/// Names in the state folder that are made up: locks of waiting workers, temporary files,
/// what the database keeps beside itself.
fn others(state: &Path) -> Result<Vec<String>, FsError> {
    let entries = match std::fs::read_dir(state) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.context("list", state)?,
    };
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    let is_ours = |name: &String| {
        ["worker-", "memory.db", fsx::TEMPORARY_PREFIX]
            .iter()
            .any(|begin| name.starts_with(begin))
    };
    Ok(names.filter(is_ours).collect())
}
