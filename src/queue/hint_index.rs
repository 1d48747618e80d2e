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

/// Writes the files of all projects whose hooks do not know yet what the memory says.
pub(super) fn refresh_stale(shop: &Shop) {
    let stale = shop.memory().stale_indexes();
    match stale {
        Ok(projects) => projects.iter().for_each(|p| refresh(shop, Path::new(p))),
        Err(error) => shop.log("worker", &error.to_string()),
    }
}

/// Writes the file of `project` as the memory is now.
pub(super) fn refresh(shop: &Shop, project: &Path) {
    let written = write(&shop.paths, &mut shop.memory(), project, shop.now());
    if let Err(error) = written {
        shop.log("worker", &error);
    }
}

/// As [`refresh`], of a memory; the error is a sentence.
pub(crate) fn write(
    paths: &Paths,
    memory: &mut Memory,
    project: &Path,
    now: Timestamp,
) -> Result<(), String> {
    let name = project.to_string_lossy();
    // Another agent's project has no folder, and no hooks of ours that would read it.
    if project.is_absolute() {
        let content = memory.index(&name, now).map_err(|e| e.to_string())?;
        fsx::ensure_dir(&paths.project(project))
            .and_then(|()| content.write(&paths.memory_index(project)))
            .map_err(|error| error.to_string())?;
    }
    memory.index_is_written(&name).map_err(|e| e.to_string())
}
