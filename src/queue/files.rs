//! The files of a job: the job itself, and its evidence beside it.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::claim::MAX_JOB_FILE;
use super::evidence::SessionEvidence;
use super::job::JobId;
use super::progress::Job;
use super::spool::job_file;
use crate::fsx::{self, FsError};
use crate::paths::Paths;

/// Reads a job from `folder`.
pub fn read(folder: &Path, id: &JobId) -> Result<Job, FsError> {
    read_json(&job_file(folder, id))
}

/// Writes a job back to the spool, durably.
pub fn save(paths: &Paths, job: &Job) -> Result<(), FsError> {
    write_json(&job_file(&paths.spool(), &job.ticket.id), job)
}

/// Reads the evidence of a job in the spool.
pub fn read_evidence(paths: &Paths, id: &JobId) -> Result<SessionEvidence, FsError> {
    read_json(&evidence_file(&paths.spool(), id))
}

/// Writes the evidence of a job to the spool, durably.
pub fn save_evidence(paths: &Paths, id: &JobId, evidence: &SessionEvidence) -> Result<(), FsError> {
    write_json(&evidence_file(&paths.spool(), id), evidence)
}

/// Removes a job and its evidence from the spool.
pub fn remove(paths: &Paths, id: &JobId) -> Result<(), FsError> {
    let spool = paths.spool();
    fsx::remove(&job_file(&spool, id))?;
    fsx::remove(&evidence_file(&spool, id))
}

/// Moves a job with its evidence from one folder to another; the job goes last, so that
/// it is never without its evidence.
pub fn shift(from: &Path, to: &Path, id: &JobId) -> Result<(), FsError> {
    fsx::ensure_dir(to)?;
    match fsx::rename(&evidence_file(from, id), &evidence_file(to, id)) {
        Err(error) if !error.is_missing() => return Err(error),
        _ => {}
    }
    fsx::rename(&job_file(from, id), &job_file(to, id))
}

fn evidence_file(folder: &Path, id: &JobId) -> PathBuf {
    folder.join(format!("{id}.evidence"))
}

fn read_json<T: DeserializeOwned>(file: &Path) -> Result<T, FsError> {
    let bytes = fsx::read(file, MAX_JOB_FILE)?;
    serde_json::from_slice(&bytes).map_err(|e| invalid("read", file, e))
}

fn write_json(file: &Path, value: &impl Serialize) -> Result<(), FsError> {
    let bytes = serde_json::to_vec(value).map_err(|e| invalid("write", file, e))?;
    fsx::durable(file, &bytes)
}

fn invalid(action: &str, file: &Path, error: serde_json::Error) -> FsError {
    FsError {
        action: action.to_owned(),
        path: file.to_owned(),
        source: error.into(),
    }
}
