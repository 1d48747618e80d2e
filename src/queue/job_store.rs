//! The jobs of the spool as this worker knows them.
//!
//! What cannot be written is kept until it can: as long as this worker runs, neither what a
//! model said must be lost nor what a job has claimed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::files;
use super::job::JobId;
use super::progress::Job;
use super::spool::job_file;
use crate::fsx::FsError;
use crate::paths::Paths;

#[derive(Default)]
pub(super) struct JobStore {
    unsaved: Mutex<HashMap<JobId, Job>>,
}

impl JobStore {
    /// Returns a job as it is: what could not be saved of it counts before its file.
    pub(super) fn read(&self, paths: &Paths, id: &JobId) -> Result<Job, FsError> {
        let unsaved = self.unsaved().get(id).cloned();
        unsaved.map_or_else(|| files::read(&paths.spool(), id), Ok)
    }

    /// Writes a job back to the spool, durably.
    pub(super) fn save(&self, paths: &Paths, job: &Job) -> Result<(), FsError> {
        let saved = files::save(paths, job);
        let mut unsaved = self.unsaved();
        let id = &job.ticket.id;
        if saved.is_ok() {
            unsaved.remove(id);
        } else {
            unsaved.insert(id.clone(), job.clone());
        }
        saved
    }

    /// Forgets a job that has left the spool.
    pub(super) fn forget(&self, id: &JobId) {
        self.unsaved().remove(id);
    }

    /// Forgets the jobs that another worker has done meanwhile.
    pub(super) fn refresh(&self, paths: &Paths) {
        let spool = paths.spool();
        self.unsaved().retain(|id, _| job_file(&spool, id).exists());
    }

    pub(super) fn has_unsaved_answers(&self) -> bool {
        self.unsaved()
            .values()
            .any(|job| !job.progress.spent.calls.is_empty())
    }

    fn unsaved(&self) -> MutexGuard<'_, HashMap<JobId, Job>> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
