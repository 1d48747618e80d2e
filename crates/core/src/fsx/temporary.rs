//! A temporary file that will replace another one; it is removed if it is not needed.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{FILE_MODE, TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) file: File,
    path: PathBuf,
    has_own_name: bool,
}

impl Temporary {
    /// Creates an empty file in a folder, readable only by the user.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        // Random for each call and process: a collision has a chance of 1 in 2^64.
        let chance = RandomState::new().hash_one(());
        let path = folder.join(format!("{TEMPORARY_PREFIX}{chance:016x}{TEMPORARY_SUFFIX}"));
        let mut options = OpenOptions::new();
        let options = options.write(true).create_new(true).mode(FILE_MODE);
        let file = options.open(&path)?;
        Ok(Self {
            file,
            path,
            has_own_name: true,
        })
    }

    pub(super) fn replace(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.has_own_name = false;
        Ok(())
    }

    /// Returns `false` if something exists at `target`.
    pub(super) fn take_place(mut self, target: &Path) -> io::Result<bool> {
        match rename_to_nothing(&self.path, target) {
            Ok(still_there) => {
                self.has_own_name = still_there;
                Ok(true)
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(e) => Err(e),
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.has_own_name {
            // A leftover file is swept later.
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns `true` if the old name still exists too.
fn rename_to_nothing(from: &Path, to: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // The system or file system does not support it.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            renamed => return renamed.map(|()| false).map_err(io::Error::from),
        }
    }
    fs::hard_link(from, to).map(|()| true)
}
