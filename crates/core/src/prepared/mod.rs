//! What lies ready for hooks: made by the worker and by commands, read at each start.
//!
//! A hook has neither the masks nor the readers of playbooks and settings. It prints what was
//! made before, as long as nothing of what that was made from has changed since: each input
//! is known by its [`Stamp`]. In any doubt it has the whole program do the work. So what lies
//! ready can never bring in what that would not.

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

/// A larger file is none of ours.
const MAX_FILE: u64 = 512 << 10;

/// Something prepared, with what it was made from.
#[derive(Debug, Serialize, Deserialize)]
struct PreparedFile<T> {
    /// The version that made it: another one may mask or choose otherwise.
    version: String,
    made_from: Vec<Stamp>,
    what: T,
}

/// Distinguishes what is prepared for a project.
pub trait Prepare: Serialize + DeserializeOwned {
    /// Where it lies.
    fn file(paths: &Paths, project: &Path) -> PathBuf;

    /// The files that it is made from, in a fixed order.
    fn inputs(paths: &Paths, project: &Path) -> Vec<PathBuf>;
}

/// What the files that something is made from look like, before any of them is read; `None`
/// when one of them cannot be told from what it may be next.
pub fn look<T: Prepare>(paths: &Paths, project: &Path) -> Option<Vec<Stamp>> {
    let inputs = T::inputs(paths, project);
    inputs.iter().map(|input| Stamp::of(input)).collect()
}

/// Keeps what was made from files that looked like `made_from`.
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

/// Finds what lies ready for a project; `None` in any doubt.
pub fn find<T: Prepare>(paths: &Paths, project: &Path) -> Option<T> {
    find_at(&T::file(paths, project), &T::inputs(paths, project))
}

fn find_at<T: Serialize + DeserializeOwned>(file: &Path, inputs: &[PathBuf]) -> Option<T> {
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
    // By now the times alone tell: the next start need not read the inputs.
    _ = write(file, now, &what);
    Some(what)
}
