//! Copies of a playbook after each change, kept outside of the project.
//!
//! They are what a corrupt file is answered with: sessions are given the last good one,
//! and `playbook restore` brings one back. Names begin with the job's id, so they sort
//! by time.

use std::path::{Path, PathBuf};

use crate::fsx::{self, Context as _, FsError};

/// How a snapshot's file name ends.
const SUFFIX: &str = ".snapshot.json";
/// How the name of a file ends that was migrated; these are never removed.
const ORIGINAL_SUFFIX: &str = ".original.json";

/// The snapshots of one project.
#[derive(Debug, Clone)]
pub struct Snapshots {
    folder: PathBuf,
}

impl Snapshots {
    /// Names the folder that holds what we keep of a project; nothing is touched.
    pub fn new(project_state: &Path) -> Self {
        Self {
            folder: project_state.join("snapshots"),
        }
    }

    /// Keeps `bytes` as the playbook after `job`, and of all snapshots the last `kept`.
    pub fn keep(&self, job: &str, bytes: &[u8], kept: usize) -> Result<(), FsError> {
        fsx::ensure_dir(&self.folder)?;
        fsx::durable(&self.file(job), bytes)?;
        let names = self.names()?;
        for old in names.iter().rev().skip(kept.max(1)) {
            fsx::remove(&self.file(old))?;
        }
        Ok(())
    }

    /// Keeps a file in an older format before it is migrated.
    pub fn keep_original(&self, job: &str, bytes: &[u8]) -> Result<(), FsError> {
        fsx::ensure_dir(&self.folder)?;
        fsx::durable(&self.folder.join(format!("{job}{ORIGINAL_SUFFIX}")), bytes)
    }

    /// The names of the snapshots, each the id of the job it was made after; oldest first.
    pub fn names(&self) -> Result<Vec<String>, FsError> {
        let entries = match std::fs::read_dir(&self.folder) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.context("list", &self.folder)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.context("list", &self.folder)?.file_name();
            let name = name.to_string_lossy();
            names.extend(name.strip_suffix(SUFFIX).map(str::to_owned));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Reads a snapshot by its name; `None` when there is none of that name.
    pub fn read(&self, name: &str, max: u64) -> Result<Option<Vec<u8>>, FsError> {
        if !self.names()?.iter().any(|known| known == name) {
            return Ok(None);
        }
        fsx::read_if_there(&self.file(name), max)
    }

    /// Reads the last snapshot.
    pub fn last(&self, max: u64) -> Result<Option<Vec<u8>>, FsError> {
        match self.names()?.last() {
            Some(name) => fsx::read_if_there(&self.file(name), max),
            None => Ok(None),
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{SUFFIX}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_few_are_kept_and_originals_stay() {
        let dir = tempfile::tempdir().unwrap();
        let snapshots = Snapshots::new(dir.path());
        assert_eq!(snapshots.last(10).unwrap(), None);
        snapshots.keep_original("a", b"old").unwrap();
        for job in ["a", "b", "c"] {
            snapshots.keep(job, job.as_bytes(), 2).unwrap();
        }
        assert_eq!(snapshots.names().unwrap(), ["b", "c"]);
        assert_eq!(snapshots.last(10).unwrap().unwrap(), b"c");
        assert_eq!(snapshots.read("b", 10).unwrap().unwrap(), b"b");
        assert_eq!(snapshots.read("../b", 10).unwrap(), None);
        assert!(dir.path().join("snapshots/a.original.json").is_file());
    }
}
