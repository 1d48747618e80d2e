//! The requests of hooks to the worker to screen a project's key points.
//!
//! A request is a file named after the project that holds its path. Repeated requests are one file,
//! and a running worker finds it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::digest::name_of;
use crate::fsx::{self, FsError};
use crate::paths::Paths;

const MAX_PATH: u64 = 64 << 10;

pub(crate) fn leave(paths: &Paths, project: &Path) -> Result<(), FsError> {
    let bytes = project.as_os_str().as_bytes();
    let file = paths.to_screen().join(name_of(bytes));
    if file.exists() {
        return Ok(());
    }
    fsx::ensure_dir(&paths.to_screen())?;
    fsx::quick(&file, bytes)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustRequest {
    /// The request's file. The worker removes it before it starts, so that a later request is not
    /// lost.
    pub(crate) file: PathBuf,
    pub(crate) project: Option<PathBuf>,
}

pub(crate) fn all(paths: &Paths) -> Result<Vec<TrustRequest>, FsError> {
    let mut entries = fsx::list(&paths.to_screen())?;
    // Other files are not ours, including temporary ones that a hook is just writing.
    entries.retain(|entry| {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && name.as_bytes().iter().all(u8::is_ascii_hexdigit)
    });
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    files.sort();
    let read = |file: PathBuf| TrustRequest {
        project: fsx::read(&file, MAX_PATH)
            .ok()
            .map(|bytes| PathBuf::from(OsString::from_vec(bytes))),
        file,
    };
    Ok(files.into_iter().map(read).collect())
}
