//! Corrections of errors that occurred in a project before. The worker writes one small file from
//! its notes; a hook reads it when a call fails.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::errors::Signature;
use crate::fsx::{self, FsError};
use crate::state_guard;

/// The number of notes that are searched for corrections, the most recently seen first.
pub const MAX_NOTES: u64 = 200;
/// A larger file is not ours.
const MAX_FILE_BYTES: u64 = 512 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    pub id: String,
    /// One clean, masked line.
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corrections {
    /// The version that wrote the file: another one may mask or name errors differently.
    version: String,
    /// The best correction of an error comes first.
    by_error: BTreeMap<Signature, Vec<Correction>>,
}

impl Corrections {
    pub fn new(by_error: BTreeMap<Signature, Vec<Correction>>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            by_error,
        }
    }

    pub fn is_of_nothing(&self) -> bool {
        self.by_error.is_empty()
    }

    /// Returns `None` also for a file of another version, or one that others could have written.
    pub fn read(file: &Path) -> Option<Self> {
        let read: Self = fsx::read_json(file, MAX_FILE_BYTES)?;
        let is_ours = read.version == env!("CARGO_PKG_VERSION");
        (is_ours && state_guard::check_prepared(file).is_ok()).then_some(read)
    }

    /// Writes the file without waiting for the disk; it can be recreated at any time.
    pub fn write(&self, file: &Path) -> Result<(), FsError> {
        fsx::quick(file, &fsx::to_json(file, self)?)
    }

    pub fn of(mut self, error: Signature) -> Vec<Correction> {
        self.by_error.remove(&error).unwrap_or_default()
    }
}
