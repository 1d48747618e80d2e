//! The use of a project's key points, in one file of its state folder.
//!
//! The file is made from the memory and can be made again at any time.

use std::path::Path;

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

/// Reads the use of a project's points; nothing where the file cannot be read.
pub(crate) fn record(paths: &Paths, project: &Path) -> UsageRecord {
    fsx::read_json(&paths.usage(project), MAX_FILE).unwrap_or_default()
}

pub(crate) fn refresh(paths: &Paths, memory: &Memory, project: &Path) -> Result<(), UsageError> {
    let usage = memory.usage(&project.to_string_lossy())?;
    if usage == record(paths, project) {
        return Ok(());
    }
    let file = paths.usage(project);
    fsx::ensure_dir(&paths.project(project))?;
    Ok(fsx::durable(&file, &fsx::to_json(&file, &usage)?)?)
}
