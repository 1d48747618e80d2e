//! The corrections of errors that struck in a project before: one small file that the worker
//! writes from its notes, and a hook reads when a call fails.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::errors::Signature;
use crate::fsx::{self, FsError};
use crate::state_guard;

/// The number of notes that are looked through for corrections; those seen last come first.
pub const MAX_NOTES: u64 = 200;
/// A larger file is not ours.
const MAX_FILE_BYTES: u64 = 512 << 10;

/// A note's correction, as a hook shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// The id of the note.
    pub id: String,
    /// One clean, masked line.
    pub text: String,
}

/// The corrections of a project by the error that each is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Corrections {
    /// The version that wrote it: another one may mask or name errors differently.
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

    /// Reads a file; `None` where there is none, or one of another version or that others can have
    /// written.
    pub fn read(file: &Path) -> Option<Self> {
        let read: Self = fsx::read_json(file, MAX_FILE_BYTES)?;
        let is_ours = read.version == env!("CARGO_PKG_VERSION");
        (is_ours && state_guard::check_prepared(file).is_ok()).then_some(read)
    }

    /// Writes the file; it can be made again at any time, so nothing waits for the disk.
    pub fn write(&self, file: &Path) -> Result<(), FsError> {
        fsx::quick(file, &fsx::to_json(file, self)?)
    }

    /// Returns the corrections of an error, the best one first.
    pub fn of(mut self, error: Signature) -> Vec<Correction> {
        self.by_error.remove(&error).unwrap_or_default()
    }
}
