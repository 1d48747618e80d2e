//! The votes that stand apart from a playbook file, in a file of the project's state.

use std::path::PathBuf;

use super::{Locked, MAX_FILE_BYTES, Owner, Store, StoreError};
use crate::fsx::{self, FsError};
use crate::playbook::Playbook;
use crate::playbook::apart::VotesApart;

impl Store {
    fn votes_file(&self) -> Option<PathBuf> {
        let Owner { paths, project } = self.owner.as_ref()?;
        Some(paths.votes(project))
    }

    /// The votes that stand apart from what the file says; mostly there are none.
    pub(super) fn votes_apart(&self, file: &Playbook) -> Result<VotesApart, FsError> {
        let Some(path) = self.votes_file() else {
            return Ok(VotesApart::default());
        };
        let Some(bytes) = fsx::read_if_there(&path, MAX_FILE_BYTES)? else {
            return Ok(VotesApart::default());
        };
        let votes: VotesApart = serde_json::from_slice(&bytes).map_err(|error| FsError {
            action: "read the votes".to_owned(),
            path,
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        })?;
        Ok(votes.beside(file))
    }

    /// What a file says, with the votes that stand apart from it. Where one of them cannot be read
    /// it is the file as it is: a start tells what it can.
    pub(crate) fn with_votes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let is_apart = self.votes_file().is_some_and(|file| file.exists());
        let Some(playbook) = Playbook::parse(&bytes).ok().filter(|_| is_apart) else {
            return bytes;
        };
        match self.votes_apart(&playbook) {
            Ok(votes) => playbook.with_votes(&votes).to_bytes(),
            Err(_) => bytes,
        }
    }
}

impl Locked<'_> {
    /// Adds what a job votes to the votes that stand apart from `file`, once; tells whether they
    /// were not there.
    pub(crate) fn add_votes(&self, file: &Playbook, of_job: &VotesApart) -> Result<bool, FsError> {
        let mut votes = self.store.votes_apart(file)?;
        let is_new = votes.add(of_job);
        if is_new {
            self.put_votes(&votes)?;
        }
        Ok(is_new)
    }

    /// As [`Locked::save`], with all votes: those that stood apart from `file` go into it with
    /// `job`.
    pub(crate) fn save_with_votes(
        &self,
        (seen, file): (Option<&[u8]>, &Playbook),
        after: &Playbook,
        job: &str,
    ) -> Result<bool, StoreError> {
        let votes = self.store.votes_apart(file)?;
        let are_apart = votes != VotesApart::default();
        if are_apart {
            self.put_votes(&votes.moved_with(job))?;
        }
        let is_saved = self.save(seen, after)?;
        if is_saved
            && are_apart
            && let Some(file) = self.store.votes_file()
        {
            fsx::remove(&file)?;
        }
        Ok(is_saved)
    }

    fn put_votes(&self, votes: &VotesApart) -> Result<(), FsError> {
        let Some(file) = self.store.votes_file() else {
            return Ok(());
        };
        if let Some(folder) = file.parent() {
            fsx::ensure_dir(folder)?;
        }
        fsx::durable(&file, &fsx::to_json(&file, votes)?)
    }
}
