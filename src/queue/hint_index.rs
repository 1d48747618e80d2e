//! Writes what hooks know of the memory: one compact file per project.
//!
//! It is made from the database and can be made anew at any time, so whatever goes wrong
//! is logged, and holds up no job.

use std::path::Path;

use jiff::Timestamp;

use super::context::WorkerContext;
use crate::fsx;
use crate::hint::Index;
use crate::memory::Memory;
use crate::paths::Paths;

/// Writes the files of all projects whose hooks do not know yet what the memory says.
pub(super) fn refresh_stale(context: &WorkerContext) {
    let stale = context.memory().stale_indexes();
    match stale {
        Ok(projects) => projects.iter().for_each(|p| refresh(context, Path::new(p))),
        Err(error) => context.log("worker", &error.to_string()),
    }
}

/// Writes the file of a project anew that another version has written: hooks are silent on it.
pub(super) fn refresh_foreign(context: &WorkerContext, project: &Path) {
    let file = context.paths().memory_index(project);
    if file.exists() && matches!(Index::open(&file), Ok(None)) {
        refresh(context, project);
    }
}

pub(super) fn refresh(context: &WorkerContext, project: &Path) {
    let written = write(
        context.paths(),
        &mut context.memory(),
        project,
        context.now(),
    );
    if let Err(error) = written {
        context.log("worker", &error);
    }
}

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
