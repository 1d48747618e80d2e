//! The files of a job: the job itself, and its evidence beside it.

use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::job::JobId;
use super::progress::JobInProgress;
use super::spool::{self, job_file};
use crate::fsx::{self, FsContext as _, FsError};
use crate::paths::Paths;
use crate::reflect::note::{CheckedNotes, SessionRecord};
use crate::reflect::reply::Reflection;
use crate::transcript::{Digest, Evidence, Facts};

/// A larger job file is not ours; a claim of a million records is 30 MB.
const MAX_JOB_FILE: u64 = 256 << 20;

/// Reads a job from `folder`. A copy of a job under another job's name is none.
pub(crate) fn read(folder: &Path, id: &JobId) -> Result<JobInProgress, FsError> {
    let file = job_file(folder, id);
    let job: JobInProgress = read_json(&file)?;
    if job.ticket.id == *id {
        Ok(job)
    } else {
        let source = format!("holds the job {}", job.ticket.id);
        Err(FsError {
            action: "read".to_owned(),
            path: file,
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, source),
        })
    }
}

/// The jobs in `folder`; a file that is none is left alone.
pub(crate) fn all(folder: &Path) -> Result<impl Iterator<Item = JobInProgress>, FsError> {
    let ids = spool::list(folder)?.into_iter();
    Ok(ids.filter_map(|id| read(folder, &id).ok()))
}

#[derive(Debug, serde::Deserialize)]
pub(crate) struct Heading {
    pub(crate) v: u32,
    pub(crate) transcript: PathBuf,
}

pub(crate) fn read_heading(folder: &Path, id: &JobId) -> Result<Heading, FsError> {
    read_json(&job_file(folder, id))
}

pub(crate) fn save(paths: &Paths, job: &JobInProgress) -> Result<(), FsError> {
    save_in(&paths.spool(), job)
}

pub(crate) fn save_in(folder: &Path, job: &JobInProgress) -> Result<(), FsError> {
    write_json(&job_file(folder, &job.ticket.id), job)
}

pub(crate) fn read_evidence(paths: &Paths, id: &JobId) -> Result<SessionEvidence, FsError> {
    read_json(&evidence_file(&paths.spool(), id))
}

pub(crate) fn save_evidence(
    paths: &Paths,
    id: &JobId,
    evidence: &SessionEvidence,
) -> Result<(), FsError> {
    write_json(&evidence_file(&paths.spool(), id), evidence)
}

pub(crate) fn remove(folder: &Path, id: &JobId) -> Result<(), FsError> {
    fsx::remove(&job_file(folder, id))?;
    fsx::remove(&evidence_file(folder, id))
}

/// Moves a job with its evidence from one folder to another; the job goes last, so that
/// it is never without its evidence.
pub(crate) fn shift(from: &Path, to: &Path, id: &JobId) -> Result<(), FsError> {
    fsx::ensure_dir(to)?;
    match fsx::rename(&evidence_file(from, id), &evidence_file(to, id)) {
        Err(error) if !error.is_missing() => return Err(error),
        _ => {}
    }
    fsx::rename(&job_file(from, id), &job_file(to, id))
}

pub(crate) fn list_evidence(folder: &Path) -> Result<Vec<JobId>, FsError> {
    spool::list_with(folder, EVIDENCE_SUFFIX)
}

const EVIDENCE_SUFFIX: &str = ".evidence";

fn evidence_file(folder: &Path, id: &JobId) -> PathBuf {
    folder.join(format!("{id}{EVIDENCE_SUFFIX}"))
}

fn read_json<T: DeserializeOwned>(file: &Path) -> Result<T, FsError> {
    let bytes = fsx::read(file, MAX_JOB_FILE)?;
    serde_json::from_slice(&bytes)
        .map_err(std::io::Error::from)
        .context("read", file)
}

fn write_json(file: &Path, value: &impl Serialize) -> Result<(), FsError> {
    fsx::durable(file, &fsx::to_json(file, value)?)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionEvidence {
    pub(crate) facts: Facts,
    pub(crate) evidence: Evidence,
}

impl SessionEvidence {
    pub(crate) fn of(digest: Digest, tokens: u64) -> Self {
        Self {
            evidence: digest.evidence.finish(tokens),
            facts: digest.facts,
        }
    }

    /// Checks the notes of an answer about this session.
    pub(crate) fn check(&self, reflection: &mut Reflection) -> CheckedNotes {
        let record = SessionRecord {
            evidence: &self.evidence,
            is_outside: self.facts.is_outside,
        };
        record.check(reflection)
    }
}
