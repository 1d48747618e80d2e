//! Opens only regular files: a FIFO would hang, a device may react.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::{FILE_MODE, FsContext as _, FsError, parent};
use crate::fault;

const NOT_REGULAR: &str = "not a regular file";

/// Returns `true` for the error of [`open_regular`] on an irregular file.
pub fn is_irregular(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Other && error.to_string() == NOT_REGULAR
}

/// Returns `None` for a missing file; devices, FIFOs, sockets and folders are an error.
pub(super) fn regular_if_there(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() => Ok(Some(about)),
        Ok(_) => Err(io::Error::other(NOT_REGULAR)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Refuses everything but a regular file without opening it.
pub fn open_regular(path: &Path) -> io::Result<File> {
    if regular_if_there(path)?.is_none() {
        return Err(io::ErrorKind::NotFound.into());
    }
    opened_regular(OpenOptions::new().read(true), path)
}

/// Opens a file that may have been replaced since the check: does not block, and checks again.
fn opened_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = options.custom_flags(nonblocking).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other(NOT_REGULAR))
    }
}

/// Opens a lock file of ours, and creates it if missing.
pub fn open_lock_file(path: &Path) -> Result<File, FsError> {
    open_lock(path, FILE_MODE).context("open lock", path)
}

/// Like [`open_lock_file`], for a lock that is shared by all who may read its folder. Read access
/// is enough for them.
pub(crate) fn open_shared_lock_file(path: &Path) -> Result<File, FsError> {
    let open = || -> io::Result<File> {
        let mode = fs::metadata(parent(path))?.mode() & 0o666;
        let file = match open_lock(path, mode) {
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return opened_regular(OpenOptions::new().read(true), path);
            }
            file => file?,
        };
        // The umask of the user who created it must not shut others out.
        let about = file.metadata()?;
        let wanted = about.mode() & 0o777 | mode;
        if about.mode() & 0o777 != wanted {
            match file.set_permissions(Permissions::from_mode(wanted)) {
                Err(e) if e.kind() != io::ErrorKind::PermissionDenied => return Err(e),
                _ => {}
            }
        }
        Ok(file)
    };
    open().context("open lock", path)
}

fn open_lock(path: &Path, mode: u32) -> io::Result<File> {
    fault::write("open lock")?;
    regular_if_there(path)?;
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    opened_regular(options.mode(mode), path)
}

pub fn rotated(log: &Path) -> PathBuf {
    let mut old = log.as_os_str().to_owned();
    old.push(".1");
    old.into()
}

/// A log over `cap` bytes first becomes `<name>.1`.
pub(crate) fn append_line(path: &Path, line: &str, cap: u64) -> Result<(), FsError> {
    let append = || -> io::Result<()> {
        fault::write("append")?;
        if regular_if_there(path)?.is_some_and(|about| about.len() >= cap) {
            fs::rename(path, rotated(path))?;
        }
        let mut text = String::with_capacity(line.len() + 1);
        text.push_str(line);
        text.push('\n');
        let mut options = OpenOptions::new();
        let options = options.append(true).create(true).mode(FILE_MODE);
        opened_regular(options, path)?.write_all(text.as_bytes())
    };
    append().context("append to", path)
}
