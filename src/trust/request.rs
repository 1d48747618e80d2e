//! What hooks ask of the worker: to screen the key points of a project.
//!
//! A request is a file named after the project that holds its path, so that asking twice
//! is asking once, and a worker that runs already finds it.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::fsx::{self, Context as _, FsError};
use crate::paths::{Paths, name_of};

/// A longer path is not one.
const MAX_PATH: u64 = 64 << 10;

/// Asks for a project to be screened.
pub fn leave(paths: &Paths, project: &Path) -> Result<(), FsError> {
    let bytes = project.as_os_str().as_bytes();
    let file = paths.to_screen().join(name_of(bytes));
    if file.exists() {
        return Ok(());
    }
    fsx::ensure_dir(&paths.to_screen())?;
    fsx::quick(&file, bytes)
}

/// Takes all requests: the projects to be screened.
pub fn take_all(paths: &Paths) -> Result<Vec<PathBuf>, FsError> {
    let mut projects = Vec::new();
    for file in files(paths)? {
        if let Ok(bytes) = fsx::read(&file, MAX_PATH) {
            projects.push(PathBuf::from(OsString::from_vec(bytes)));
        }
        fsx::remove(&file)?;
    }
    Ok(projects)
}

/// Tells whether there is a request.
pub fn is_any(paths: &Paths) -> Result<bool, FsError> {
    Ok(!files(paths)?.is_empty())
}

fn files(paths: &Paths) -> Result<Vec<PathBuf>, FsError> {
    let folder = paths.to_screen();
    let entries = match std::fs::read_dir(&folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.context("list", &folder)?,
    };
    let mut files = Vec::new();
    for entry in entries {
        let name = entry.context("list", &folder)?.file_name();
        // Temporary files of hooks that are just writing are not ours to take.
        if name.as_bytes().iter().all(u8::is_ascii_hexdigit) {
            files.push(folder.join(name));
        }
    }
    files.sort();
    Ok(files)
}
