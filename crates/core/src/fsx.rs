//! The only module that writes files.
//!
//! `durable` survives a power cut (worker and CLI), `quick` survives a crash of ours (hooks). Both
//! rename a temporary file over the target, so a reader never sees a part. Our files are 0600 and
//! folders 0700. An existing file keeps its mode and, if root writes, its owner. For a symlink, its
//! target is replaced.

mod exchange;
pub mod lock;
mod open;
mod replace;
mod temporary;
#[cfg(test)]
mod tests;

use std::fs::{self, DirEntry, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::fault;
pub use exchange::mend;
use open::regular_if_there;
pub(crate) use open::{append_line, open_shared_lock_file};
pub use open::{is_irregular, open_lock_file, open_regular, rotated};
use replace::follow;
pub use replace::{create_new, durable, durable_if_unchanged, mark_new, quick};

const FILE_MODE: u32 = 0o600;
const DIR_MODE: u32 = 0o700;
/// A crash may leave a file with this prefix behind.
pub const TEMPORARY_PREFIX: &str = ".playbook-";
const TEMPORARY_SUFFIX: &str = ".tmp";

#[derive(Debug, thiserror::Error)]
#[error("could not {action}: {path}: {source}")]
pub struct FsError {
    /// A verb and its object: `read playbook`.
    pub action: String,
    pub path: PathBuf,
    pub source: io::Error,
}

impl FsError {
    pub fn is_missing(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    pub fn is_link_loop(&self) -> bool {
        self.source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
    }
}

pub trait FsContext<T> {
    fn context(self, action: &str, path: &Path) -> Result<T, FsError>;
}

impl<T> FsContext<T> for io::Result<T> {
    fn context(self, action: &str, path: &Path) -> Result<T, FsError> {
        self.map_err(|source| FsError {
            action: action.to_owned(),
            path: path.to_owned(),
            source,
        })
    }
}

/// Refuses a larger file.
pub fn read(path: &Path, max: u64) -> Result<Vec<u8>, FsError> {
    let read = || -> io::Result<Vec<u8>> {
        let file = open_regular(path)?;
        let length = file.metadata()?.len().min(max);
        let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
        file.take(max + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max {
            return Err(io::Error::other(format!("larger than {max} bytes")));
        }
        Ok(bytes)
    };
    read().context("read", path)
}

pub fn read_if_there(path: &Path, max: u64) -> Result<Option<Vec<u8>>, FsError> {
    match read(path, max) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(e) if e.is_missing() => Ok(None),
        Err(e) => Err(e),
    }
}

/// Returns `None` also for a file that is larger than `max` bytes or has another shape.
pub fn read_json<T: DeserializeOwned>(path: &Path, max: u64) -> Option<T> {
    serde_json::from_slice(&read(path, max).ok()?).ok()
}

pub fn to_json(path: &Path, value: &impl Serialize) -> Result<Vec<u8>, FsError> {
    serde_json::to_vec(value)
        .map_err(io::Error::from)
        .context("write", path)
}

/// Returns nothing for a missing folder.
pub fn list(folder: &Path) -> Result<Vec<DirEntry>, FsError> {
    match fs::read_dir(folder).and_then(Iterator::collect) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries.context("list", folder),
    }
}

pub fn read_tail(path: &Path, max: u64) -> Result<Vec<u8>, FsError> {
    let read = || -> io::Result<Vec<u8>> {
        fault::stop("read tail");
        let mut file = open_regular(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(max)))?;
        let mut bytes = Vec::new();
        file.take(max).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    read().context("read", path)
}

pub fn sync(path: &Path) -> Result<(), FsError> {
    let sync = || -> io::Result<()> {
        fault::write("sync")?;
        open_regular(path)?.sync_all()?;
        sync_dir(parent(path))
    };
    sync().context("sync", path)
}

/// Removes temporary files that a crash of ours left, last written before `time`.
pub fn sweep(folder: &Path, time: SystemTime) -> Result<(), FsError> {
    for entry in list(folder)? {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        let is_ours = name.starts_with(TEMPORARY_PREFIX.as_bytes())
            && name.ends_with(TEMPORARY_SUFFIX.as_bytes());
        if is_ours && is_older(&entry.path(), time) {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

pub fn sweep_all(folder: &Path, time: SystemTime) -> Result<(), FsError> {
    sweep(folder, time)?;
    list(folder)?
        .iter()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .try_for_each(|entry| sweep_all(&entry.path(), time))
}

pub fn is_older(path: &Path, time: SystemTime) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|m| m.is_file() && m.modified().is_ok_and(|written| written < time))
}

/// Creates a folder of ours and its missing parents, all private to the user.
pub fn ensure_dir(path: &Path) -> Result<(), FsError> {
    if path.is_dir() {
        return Ok(());
    }
    fault::write("create folder")
        .and_then(|()| {
            fs::DirBuilder::new()
                .recursive(true)
                .mode(DIR_MODE)
                .create(path)
        })
        .context("create folder", path)
}

pub(crate) fn make_private(path: &Path) -> Result<(), FsError> {
    // A handle that was opened as a folder stays one, whatever replaces its path meanwhile.
    let flags = rustix::fs::OFlags::DIRECTORY.bits().cast_signed();
    OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)
        .and_then(|folder| folder.set_permissions(Permissions::from_mode(DIR_MODE)))
        .context("close", path)
}

/// Accepts a missing file.
pub fn remove(path: &Path) -> Result<(), FsError> {
    match fault::write("remove").and_then(|()| fs::remove_file(path)) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e).context("remove", path),
        _ => Ok(()),
    }
}

/// Accepts a missing or non-empty folder.
pub fn remove_dir_if_empty(path: &Path) -> Result<(), FsError> {
    use io::ErrorKind::{DirectoryNotEmpty, NotFound};
    match fault::write("remove folder").and_then(|()| fs::remove_dir(path)) {
        Err(e) if !matches!(e.kind(), DirectoryNotEmpty | NotFound) => {
            Err(e).context("remove folder", path)
        }
        _ => Ok(()),
    }
}

/// Removes links and does not follow them.
pub fn remove_all(path: &Path) -> Result<(), FsError> {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|m| m.is_dir());
    if !is_folder {
        return remove(path);
    }
    fault::write("remove all")
        .and_then(|()| fs::remove_dir_all(path))
        .context("remove folder", path)
}

/// Moves a file within one file system, replacing the target.
pub fn rename(from: &Path, to: &Path) -> Result<(), FsError> {
    fault::write("move: rename")
        .and_then(|()| regular_if_there(to))
        .and_then(|_| fs::rename(from, to))
        .context("move", from)?;
    fault::write("move: sync")
        .and_then(|()| sync_dir(parent(to)))
        .context("sync folder", parent(to))
}

/// Accepts a file that does not exist.
pub fn real(path: &Path) -> PathBuf {
    let target = follow(path).unwrap_or_else(|_| path.to_owned());
    let known = target.ancestors().find_map(|above| {
        let rest = target.strip_prefix(above).ok()?;
        Some((fs::canonicalize(above).ok()?, rest))
    });
    match known {
        Some((above, rest)) if rest.as_os_str().is_empty() => above,
        Some((above, rest)) => above.join(rest),
        None => target,
    }
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn sync_dir(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}
