//! Which jobs the worker has in hand: how a job that ends the worker is told.
//!
//! A job that makes the process end (memory, a panic) would do so again in every worker,
//! before the others have their turn. So the worker writes down what it has in hand; a
//! job that several workers did not survive waits, longer each time, and the others go on.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::job::JobId;
use crate::fsx::{self, FsError};
use crate::paths::Paths;

/// So many workers must have ended with a job in hand before it is put off: one may have
/// been killed for other reasons.
pub(super) const SUSPECT_AFTER: u32 = 3;
const MAX_FILE: u64 = 1 << 20;

#[derive(Debug, Default)]
pub(super) struct InFlight {
    file: PathBuf,
    jobs: BTreeMap<JobId, Hand>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Hand {
    ended: u32,
    now: bool,
}

/// Returns whether a worker has a job in hand, or had it when it ended.
pub(super) fn holds(paths: &Paths, id: &JobId) -> bool {
    let jobs: Option<BTreeMap<JobId, Hand>> = fsx::read_json(&paths.at_work(), MAX_FILE);
    jobs.is_some_and(|jobs| jobs.get(id).is_some_and(|hand| hand.now))
}

impl InFlight {
    /// Takes over from the last worker. Also returns the jobs that it, like others before,
    /// did not survive, with how many there were.
    pub(super) fn take_over(paths: &Paths) -> (Self, Vec<(JobId, u32)>) {
        let file = paths.at_work();
        let mut jobs: BTreeMap<JobId, Hand> = fsx::read_json(&file, MAX_FILE).unwrap_or_default();
        let spool = paths.spool();
        jobs.retain(|id, _| super::spool::job_file(&spool, id).exists());
        let mut suspects = Vec::new();
        for (id, hand) in &mut jobs {
            if std::mem::take(&mut hand.now) {
                hand.ended += 1;
                if hand.ended >= SUSPECT_AFTER {
                    suspects.push((id.clone(), hand.ended));
                }
            }
        }
        (Self { file, jobs }, suspects)
    }

    /// Writes down what was taken over: that a worker ended is counted once, also where this one
    /// ends before it has a job in hand.
    pub(super) fn keep(&self) -> Result<(), FsError> {
        if self.jobs.is_empty() {
            return Ok(());
        }
        self.write()
    }

    pub(super) fn begin(&mut self, id: &JobId) -> Result<(), FsError> {
        self.jobs.entry(id.clone()).or_default().now = true;
        self.write()
    }

    /// A job is gone; its entry on disk does no harm.
    pub(super) fn gone(&mut self, id: &JobId) {
        self.jobs.remove(id);
    }

    /// A job waits, and the worker has survived it.
    pub(super) fn put_down(&mut self, id: &JobId) -> Result<(), FsError> {
        self.jobs.remove(id);
        self.write()
    }

    fn write(&self) -> Result<(), FsError> {
        fsx::quick(&self.file, &fsx::to_json(&self.file, &self.jobs)?)
    }
}
