//! Writes what hooks know of the memory: one compact file per project.
//!
//! It is made from the database and can be made anew at any time, so whatever goes wrong
//! is logged, and holds up no job.

use std::path::Path;

use jiff::Timestamp;

use super::shop::Shop;
use crate::fsx;
use crate::memory::{Memory, Store as _};
use crate::paths::Paths;

/// Writes the file of `project` as the memory is now.
pub(super) fn refresh(shop: &Shop, project: &Path) {
    let written = write(&shop.paths, &shop.memory(), project, shop.now());
    if let Err(error) = written {
        shop.log("worker", &error);
    }
}

/// As [`refresh`], of a memory; the error is a sentence.
pub(crate) fn write(
    paths: &Paths,
    memory: &Memory,
    project: &Path,
    now: Timestamp,
) -> Result<(), String> {
    let content = memory.index(&project.to_string_lossy(), now);
    let content = content.map_err(|error| error.to_string())?;
    fsx::ensure_dir(&paths.project(project))
        .and_then(|()| content.write(&paths.memory_index(project)))
        .map_err(|error| error.to_string())
}
