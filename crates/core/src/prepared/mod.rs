//! Files prepared for hooks by the worker and by commands, and read at each start.
//!
//! A hook prints a prepared file while none of its inputs, each identified by its [`Stamp`], has
//! changed. Otherwise the whole program does the work, so a prepared file never contains more than
//! that would give.

mod context;
mod settings;
mod stamp;

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use context::{CuedPoint, Injection, Ready, StartKind};
pub use settings::{Notices, ProjectSettings};
pub use stamp::Stamp;

use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::state_guard;

/// A larger file is not ours.
const MAX_FILE: u64 = 512 << 10;

#[derive(Debug, Serialize, Deserialize)]
struct PreparedFile<T> {
    /// The version that made it: another one may mask or choose differently.
    version: String,
    made_from: Vec<Stamp>,
    what: T,
}

pub trait Prepare: Serialize + DeserializeOwned {
    fn file(paths: &Paths, project: &Path) -> PathBuf;

    /// Returns the input files in a fixed order.
    fn inputs(paths: &Paths, project: &Path) -> Vec<PathBuf>;
}

/// Takes the stamps of the inputs before any is read; `None` if one cannot be examined.
pub fn look<T: Prepare>(paths: &Paths, project: &Path) -> Option<Vec<Stamp>> {
    let inputs = T::inputs(paths, project);
    inputs.iter().map(|input| Stamp::of(input)).collect()
}

pub fn keep<T: Prepare>(
    paths: &Paths,
    project: &Path,
    made_from: Vec<Stamp>,
    what: T,
) -> Result<(), FsError> {
    let file = T::file(paths, project);
    if let Some(folder) = file.parent() {
        fsx::ensure_dir(folder)?;
    }
    write(&file, made_from, what)
}

fn write<T: Serialize>(file: &Path, made_from: Vec<Stamp>, what: T) -> Result<(), FsError> {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let prepared = PreparedFile {
        version,
        made_from,
        what,
    };
    fsx::quick(file, &fsx::to_json(file, &prepared)?)
}

/// Returns `None` if the prepared value may be stale.
pub fn find<T: Prepare>(paths: &Paths, project: &Path) -> Option<T> {
    let (file, inputs) = (&T::file(paths, project), &T::inputs(paths, project));
    state_guard::check_prepared(file).ok()?;
    let prepared: PreparedFile<T> = fsx::read_json(file, MAX_FILE)?;
    let PreparedFile {
        version,
        made_from,
        what,
    } = prepared;
    if version != env!("CARGO_PKG_VERSION") || made_from.len() != inputs.len() {
        return None;
    }
    let now: Option<Vec<Stamp>> = made_from
        .iter()
        .zip(inputs)
        .map(|(then, input)| then.still_of(input))
        .collect();
    let now = now?;
    if now == made_from {
        return Some(what);
    }
    // The times alone are sufficient now: the next start need not read the inputs.
    _ = write(file, now, &what);
    Some(what)
}
