//! The votes that count with those of a playbook's file and are in the memory.

use std::io;
use std::path::Path;

use serde::Deserialize;

use super::{MAX_FILE_BYTES, StoreError};
use crate::fsx::{self, FsContext as _};
use crate::memory::Memory;
use crate::paths::Paths;
use crate::playbook::Playbook;
use crate::playbook::votes::LocalVotes;

/// The file in which votes were kept before the memory had them.
#[derive(Deserialize, Default)]
#[serde(default)]
struct VotesFile {
    points: LocalVotes,
    /// The job with which all of them went into the playbook's file.
    into_file: Option<String>,
}

pub(crate) fn of(
    paths: &Paths,
    project: &Path,
    file: &Playbook,
    memory: &mut Memory,
) -> Result<LocalVotes, StoreError> {
    let name = project.to_string_lossy();
    let old = paths.votes(project);
    if let Some(bytes) = fsx::read_if_there(&old, MAX_FILE_BYTES)? {
        let read = serde_json::from_slice(&bytes).map_err(io::Error::from);
        let VotesFile { points, into_file } = read.context("read votes", &old)?;
        if !into_file.is_some_and(|job| file.is_applied(&job)) {
            memory.add_votes(&name, "votes.json", &points)?;
        }
        fsx::remove(&old)?;
    }
    Ok(memory.votes(&name)?)
}

/// Reads like [`of`], without an open memory.
pub(crate) fn read(
    paths: &Paths,
    project: &Path,
    file: &Playbook,
) -> Result<LocalVotes, StoreError> {
    let places = [paths.memory_db(), paths.votes(project)];
    if !places.iter().any(|file| file.try_exists().unwrap_or(true)) {
        return Ok(LocalVotes::new());
    }
    of(paths, project, file, &mut Memory::open(&paths.memory_db())?)
}
