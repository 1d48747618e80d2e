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
pub(super) struct AtWork {
    file: PathBuf,
    jobs: BTreeMap<JobId, Hand>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Hand {
    ended: u32,
    now: bool,
}

impl AtWork {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, name};

    #[test]
    fn a_job_that_three_workers_did_not_survive_is_suspect_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([
            (name::CONFIG_DIR, dir.path()),
            (name::STATE_DIR, dir.path()),
        ]);
        let paths = Paths::resolve(&env).unwrap();
        let id = |n| JobId::new(jiff::Timestamp::UNIX_EPOCH, n);
        fsx::ensure_dir(&paths.spool()).unwrap();
        for n in 1..=3 {
            fsx::quick(&super::super::spool::job_file(&paths.spool(), &id(n)), b"").unwrap();
        }
        for round in 1..=4 {
            let (mut at_work, suspects) = AtWork::take_over(&paths);
            let expected = if round < 4 {
                Vec::new()
            } else {
                vec![(id(1), 3)]
            };
            assert_eq!(suspects, expected, "{round}");
            at_work.begin(&id(2)).unwrap();
            at_work.begin(&id(1)).unwrap();
            at_work.begin(&id(3)).unwrap();
            at_work.gone(&id(3));
            at_work.put_down(&id(2)).unwrap();
        }
    }
}
