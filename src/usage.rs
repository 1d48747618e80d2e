//! The use of a project's key points and the corrections of its errors: one file each. Both are
//! made from the memory and can be made again at any time.

use std::path::Path;

use crate::corrections::Corrections;
use crate::fsx::{self, FsError};
use crate::memory::{Memory, MemoryError};
use crate::paths::Paths;
pub(crate) use crate::playbook::votes::UsageRecord;

const MAX_FILE: u64 = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub(crate) enum UsageError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    File(#[from] FsError),
}

pub(crate) fn record(paths: &Paths, project: &Path) -> UsageRecord {
    fsx::read_json(&paths.usage(project), MAX_FILE).unwrap_or_default()
}

pub(crate) fn refresh(paths: &Paths, memory: &Memory, project: &Path) -> Result<(), UsageError> {
    refresh_corrections(paths, memory, project)?;
    let usage = memory.usage(&project.to_string_lossy())?;
    if usage == record(paths, project) {
        return Ok(());
    }
    let file = paths.usage(project);
    fsx::ensure_dir(&paths.project(project))?;
    Ok(fsx::durable(&file, &fsx::to_json(&file, &usage)?)?)
}

pub(crate) fn refresh_corrections(
    paths: &Paths,
    memory: &Memory,
    project: &Path,
) -> Result<(), UsageError> {
    let corrections = memory.corrections(&project.to_string_lossy())?;
    let file = paths.corrections(project);
    // Another agent's project has no folder here, and no hooks of ours read it.
    if !project.is_absolute() || corrections.is_of_nothing() && !file.exists() {
        return Ok(());
    }
    if Corrections::read(&file).as_ref() != Some(&corrections) {
        fsx::ensure_dir(&paths.project(project))?;
        corrections.write(&file)?;
    }
    Ok(())
}
