//! Writes what fixed a project's errors before, where hooks find it.
//!
//! The file is made from the database and can be made again at any time, so a failure of the worker's
//! is logged, and holds up no job.

use std::path::Path;

use super::QueueError;
use super::context::WorkerContext;
use crate::corrections::Corrections;
use crate::fsx;
use crate::memory::Memory;
use crate::paths::Paths;

/// Writes the files of all projects that have learned or forgotten something since.
pub(super) fn refresh_stale(context: &WorkerContext) {
    let stale = context.memory().stale_indexes();
    match stale {
        Ok(projects) => projects.iter().for_each(|p| refresh(context, Path::new(p))),
        Err(error) => context.log("worker", &error.to_string()),
    }
}

/// Writes the file of a project again that another version has written.
pub(super) fn refresh_foreign(context: &WorkerContext, project: &Path) {
    let file = context.paths().corrections(project);
    if file.exists() && Corrections::read(&file).is_none() {
        refresh(context, project);
    }
}

pub(super) fn refresh(context: &WorkerContext, project: &Path) {
    let written = write(context.paths(), &mut context.memory(), project);
    if let Err(error) = written {
        context.log("worker", &error.to_string());
    }
}

pub(crate) fn write(paths: &Paths, memory: &mut Memory, project: &Path) -> Result<(), QueueError> {
    let name = project.to_string_lossy();
    // Another agent's project has no folder, and no hooks of ours that would read it.
    if project.is_absolute() {
        let corrections = memory.corrections(&name)?;
        fsx::ensure_dir(&paths.project(project))?;
        corrections.write(&paths.corrections(project))?;
    }
    Ok(memory.index_is_written(&name)?)
}
