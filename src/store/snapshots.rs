//! Copies of a playbook after each change, kept outside of the project.
//!
//! They are what a corrupt file is answered with: sessions are given the last good one,
//! and `playbook undo --to` brings one back. Jobs are applied in any order, and several in
//! one second, so a file's name begins with a number of its own:
//! `00000012-20261121T221951-3f9a2c1b.snapshot.json`.

use std::path::{Path, PathBuf};

use super::MAX_FILE_BYTES;
use crate::fsx::{self, FsError};
use crate::paths::SNAPSHOTS_FOLDER;
use crate::playbook::Playbook;

const SUFFIX: &str = ".snapshot.json";
/// How the name of a file ends that was migrated or replaced; these are never removed.
const ORIGINAL_SUFFIX: &str = ".original.json";
const KEPT: usize = 20;
const DIGITS: usize = 8;

#[derive(Debug, Clone)]
pub(crate) struct Snapshots {
    folder: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Snapshot {
    number: u64,
    pub(crate) job: String,
}

impl Snapshot {
    fn parse(file: &str) -> Option<Self> {
        let (number, job) = file.strip_suffix(SUFFIX)?.split_once('-')?;
        Some(Self {
            number: number.parse().ok()?,
            job: job.to_owned(),
        })
    }

    fn file(&self) -> String {
        format!("{:0DIGITS$}-{}{SUFFIX}", self.number, self.job)
    }
}

impl Snapshots {
    pub(crate) fn new(project_state: &Path) -> Self {
        Self {
            folder: project_state.join(SNAPSHOTS_FOLDER),
        }
    }

    /// Keeps `bytes` as the playbook after `job`, and of all snapshots the last [`KEPT`].
    ///
    /// The caller holds the lock of the playbook, so that the numbers are those of the
    /// changes.
    pub(crate) fn keep(&self, job: &str, bytes: &[u8]) -> Result<(), FsError> {
        fsx::ensure_dir(&self.folder)?;
        let mut list = self.list()?;
        let snapshot = Snapshot {
            number: list.last().map_or(1, |last| last.number.saturating_add(1)),
            job: job.to_owned(),
        };
        fsx::durable(&self.folder.join(snapshot.file()), bytes)?;
        list.push(snapshot);
        for old in list.iter().rev().skip(KEPT) {
            fsx::remove(&self.folder.join(old.file()))?;
        }
        Ok(())
    }

    /// Keeps a file as it was before `job` migrated or replaced it.
    pub(crate) fn keep_original(&self, job: &str, bytes: &[u8]) -> Result<(), FsError> {
        fsx::ensure_dir(&self.folder)?;
        fsx::durable(&self.folder.join(format!("{job}{ORIGINAL_SUFFIX}")), bytes)
    }

    pub(crate) fn list(&self) -> Result<Vec<Snapshot>, FsError> {
        let entries = fsx::list(&self.folder)?.into_iter();
        let list = entries.filter_map(|entry| Snapshot::parse(entry.file_name().to_str()?));
        let mut list: Vec<Snapshot> = list.collect();
        list.sort_unstable();
        Ok(list)
    }

    /// Reads the playbook as it was after `job`; `None` when that is not kept.
    pub(crate) fn read(&self, job: &str) -> Result<Option<Vec<u8>>, FsError> {
        let list = self.list()?;
        match list.iter().rev().find(|snapshot| snapshot.job == job) {
            Some(snapshot) => self.bytes_of(snapshot),
            None => Ok(None),
        }
    }

    fn bytes_of(&self, snapshot: &Snapshot) -> Result<Option<Vec<u8>>, FsError> {
        fsx::read_if_there(&self.folder.join(snapshot.file()), MAX_FILE_BYTES)
    }

    /// Returns `true` if the last snapshot has key points, or cannot be read.
    pub(crate) fn have_points(&self) -> Result<bool, FsError> {
        let last = self.last()?;
        Ok(last.is_some_and(|bytes| Playbook::parse(&bytes).map_or(true, |p| !p.is_empty())))
    }

    pub(crate) fn last(&self) -> Result<Option<Vec<u8>>, FsError> {
        match self.list()?.last() {
            Some(snapshot) => self.bytes_of(snapshot),
            None => Ok(None),
        }
    }

    /// The playbook as it was last kept, if that can be read.
    pub(crate) fn last_playbook(&self) -> Result<Option<Playbook>, FsError> {
        let last = self.last()?;
        Ok(last.and_then(|bytes| Playbook::parse(&bytes).ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_few_are_kept_in_the_order_of_the_changes_and_originals_stay() {
        let dir = tempfile::tempdir().unwrap();
        let snapshots = Snapshots::new(dir.path());
        assert_eq!(snapshots.last().unwrap(), None);
        snapshots.keep_original("z", b"old").unwrap();
        // A job that waited has an older name than those applied before it.
        let more = (0..KEPT - 2).map(|n| format!("d{n}"));
        for job in ["z", "c", "b"].map(str::to_owned).into_iter().chain(more) {
            snapshots.keep(&job, job.as_bytes()).unwrap();
        }
        let jobs: Vec<String> = snapshots
            .list()
            .unwrap()
            .into_iter()
            .map(|s| s.job)
            .collect();
        assert_eq!(jobs[..3], ["c", "b", "d0"]);
        assert_eq!((jobs.len(), jobs[KEPT - 1].as_str()), (KEPT, "d17"));
        assert_eq!(snapshots.last().unwrap().unwrap(), b"d17");
        assert_eq!(snapshots.read("c").unwrap().unwrap(), b"c");
        assert_eq!(snapshots.read("../b").unwrap(), None);
        assert!(dir.path().join("snapshots/z.original.json").is_file());
    }
}
