//! A file that is to take another's place: it has a name of ours until then, and goes when it
//! is not needed after all.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use super::{FILE_MODE, TEMPORARY_PREFIX, TEMPORARY_SUFFIX};

/// A file in the folder of the one that it is to replace.
#[derive(Debug)]
pub(super) struct Temporary {
    pub(super) file: File,
    path: PathBuf,
    has_own_name: bool,
}

impl Temporary {
    /// Makes an empty file in a folder, which only the user can read.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        // Another one each time, and in each process: two alike are one in 2^64.
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

    /// Takes the place of what is at `target`, if anything is.
    pub(super) fn replace(mut self, target: &Path) -> io::Result<()> {
        fs::rename(&self.path, target)?;
        self.has_own_name = false;
        Ok(())
    }

    /// Takes the place `target`; `false` when something is there already.
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
            // What stays is swept later.
            _ = fs::remove_file(&self.path);
        }
    }
}

/// Renames a file if nothing is at its new name; tells whether it has its old name besides.
fn rename_to_nothing(from: &Path, to: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // A system or a file system that knows no such thing.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            renamed => return renamed.map(|()| false).map_err(io::Error::from),
        }
    }
    fs::hard_link(from, to).map(|()| true)
}
