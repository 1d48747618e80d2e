//! How the key points of a project did, in one file of its state folder, made from the memory.
//!
//! It is made anew at any time: what the memory holds decides.

use std::path::Path;

use crate::fsx::{self, FsError};
use crate::memory::{Memory, MemoryError};
use crate::paths::Paths;
pub(crate) use crate::playbook::proof::ProofRecord;

const MAX_FILE: u64 = 16 << 20;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProofError {
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    File(#[from] FsError),
}

/// What is known of a project's points; nothing where that cannot be read.
pub(crate) fn record(paths: &Paths, project: &Path) -> ProofRecord {
    fsx::read_json(&paths.proof(project), MAX_FILE).unwrap_or_default()
}

pub(crate) fn refresh(paths: &Paths, memory: &Memory, project: &Path) -> Result<(), ProofError> {
    let proofs = memory.proofs(&project.to_string_lossy())?;
    if proofs == record(paths, project) {
        return Ok(());
    }
    let file = paths.proof(project);
    fsx::ensure_dir(&paths.project(project))?;
    Ok(fsx::durable(&file, &fsx::to_json(&file, &proofs)?)?)
}
