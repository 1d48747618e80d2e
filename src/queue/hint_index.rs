//! Writes what hooks know of the memory: one compact file per project.
//!
//! It is made from the database and can be made anew at any time, so whatever goes wrong
//! is logged, and holds up no job.

use std::path::Path;

use super::shop::Shop;
use crate::fsx;
use crate::memory::Store as _;

/// Writes the file of `project` as the memory is now.
pub(super) fn refresh(shop: &Shop, project: &Path) {
    let content = shop.memory().index(&project.to_string_lossy(), shop.now());
    let written = content
        .map_err(|error| error.to_string())
        .and_then(|content| {
            let folder = shop.paths.project(project);
            let file = shop.paths.memory_index(project);
            fsx::ensure_dir(&folder)
                .and_then(|()| content.write(&file))
                .map_err(|error| error.to_string())
        });
    if let Err(error) = written {
        shop.log("worker", &error);
    }
}
