//! The playbook file: read, change under the lock, replace in one step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::flaw::Flaw;
use super::lock::{Lock, lock_path};
use super::migrate::{Migrated, migrate};
use super::model::Playbook;
use crate::fsx::{self, FsError};

/// The largest file that is read as a playbook; ours stay far below it.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Why a playbook could not be read or written. The file is as it was in each case.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error("could not read playbook: {}: {flaw}", path.display())]
    Corrupt { path: PathBuf, flaw: Flaw },
    #[error("could not lock playbook: {}: in use by another process for {} s", path.display(), waited.as_secs())]
    Locked { path: PathBuf, waited: Duration },
}

#[derive(Debug, Clone)]
pub(crate) struct Store {
    path: PathBuf,
}

impl Store {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the playbook; a file that is not there is an empty one.
    pub(crate) fn load(&self) -> Result<Playbook, StoreError> {
        Ok(self.read()?.playbook)
    }

    /// As [`Store::load`], and tells what the file was before it was migrated.
    pub(crate) fn read(&self) -> Result<Loaded, StoreError> {
        let Some(bytes) = fsx::read_if_there(&self.path, MAX_FILE_BYTES)? else {
            return Ok(Loaded {
                playbook: Playbook::empty(),
                original: None,
            });
        };
        match migrate(&bytes) {
            Ok(Migrated { playbook, changed }) => Ok(Loaded {
                playbook,
                original: changed.then_some(bytes),
            }),
            Err(flaw) => Err(StoreError::Corrupt {
                path: self.path.clone(),
                flaw,
            }),
        }
    }

    /// Takes the lock, waiting at most `wait`; the folder is made where it is missing.
    pub(crate) fn lock(&self, wait: Duration) -> Result<Locked<'_>, StoreError> {
        if let Some(folder) = self.path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fsx::ensure_dir(folder)?;
        }
        let path = lock_path(&self.path);
        match Lock::acquire(&path, wait)? {
            Some(lock) => Ok(Locked {
                store: self,
                _lock: lock,
            }),
            None => Err(StoreError::Locked { path, waited: wait }),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) playbook: Playbook,
    /// The bytes of a file of another age, which the next write replaces: worth keeping.
    pub(crate) original: Option<Vec<u8>>,
}

/// A playbook file whose lock is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    store: &'a Store,
    _lock: Lock,
}

impl Locked<'_> {
    pub(crate) fn load(&self) -> Result<Playbook, StoreError> {
        self.store.load()
    }

    /// Replaces the file by `after`, durably; nothing is written when that says the same
    /// as `before`, the playbook as it was loaded. Tells whether the file was written.
    pub(crate) fn save(&self, before: &Playbook, after: &Playbook) -> Result<bool, StoreError> {
        let bytes = after.to_bytes();
        if bytes == before.to_bytes() {
            return Ok(false);
        }
        fsx::durable(&self.store.path, &bytes)?;
        Ok(true)
    }
}
