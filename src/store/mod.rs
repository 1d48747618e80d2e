//! The playbook file: read, change under the lock, replace in one step; and copies of it.

pub(crate) mod in_merge;
pub(crate) mod votes;

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use crate::fsx::lock::{Lock, lock_path};
use crate::fsx::{self, FsError};
use crate::memory::MemoryError;
use crate::paths::{Paths, SNAPSHOTS_FOLDER};
use crate::playbook::read::migrate;
use crate::playbook::three_way::has_markers;
use crate::playbook::{Defect, Playbook};
use crate::project::git_above;
use crate::trust::{TrustRecord, TrustStanding};

/// The largest file that is read as a playbook; ours stay far below it.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The number of times that an expected playbook is looked for, and the pause in between.
const LOOKS: u32 = 5;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

const LINE: &str = "**/.claude/playbook.json.lock";
const MAX_LIST: u64 = 1 << 20;

pub(crate) const WAYS_BACK: &str = "`playbook undo --to` brings back its last version; \
     `echo '{}' > .claude/playbook.json` in the project begins anew";

/// An error of reading or writing a playbook. The file is unchanged in each case.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error("could not read playbook: {}: {flaw}", path.display())]
    Corrupt { path: PathBuf, flaw: Defect },
    #[error("could not read playbook: {}: it is away, though this project had one; jobs wait until it is back", path.display())]
    Away { path: PathBuf },
    #[error("could not read playbook: {}: {why}", path.display())]
    InMerge { path: PathBuf, why: String },
    #[error("could not write playbook: {}: it would have {bytes} bytes, and is read up to {MAX_FILE_BYTES}", path.display())]
    TooLarge { path: PathBuf, bytes: usize },
    #[error("could not lock playbook: {}: in use by another process for {} s", path.display(), waited.as_secs())]
    Locked { path: PathBuf, waited: Duration },
}

#[derive(Debug, Clone)]
struct Owner {
    paths: Paths,
    project: PathBuf,
}

#[derive(Debug, Clone)]
pub(crate) struct Store {
    path: PathBuf,
    owner: Option<Owner>,
    was_seen: bool,
}

impl Store {
    /// The playbook of a project: a file that is not there is an empty one, unless we knew it
    /// with key points. Then it is away: git takes files away for a moment, or with a branch.
    pub(crate) fn of(paths: &Paths, project: &Path) -> Self {
        let owner = Owner {
            paths: paths.clone(),
            project: project.to_owned(),
        };
        Self {
            owner: Some(owner),
            ..Self::new(paths.playbook_file(project))
        }
    }

    /// Takes a playbook that is not there for one that is away, as it was read with key points.
    #[must_use]
    pub(crate) fn that_was_seen(mut self) -> Self {
        self.was_seen = true;
        self
    }

    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            owner: None,
            was_seen: false,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn load(&self) -> Result<Playbook, StoreError> {
        Ok(self.read()?.playbook)
    }

    /// Reads the file; one that git left in the middle of a merge is merged first.
    pub(crate) fn read(&self) -> Result<Loaded, StoreError> {
        match self.read_as_is() {
            Err(StoreError::Corrupt { .. }) if self.is_in_merge()? => {}
            loaded => return loaded,
        }
        // In a project that is not trusted nothing is made, not even a lock.
        let owner = self.owner.as_ref();
        if owner.is_some_and(|it| TrustStanding::of(&it.paths, &it.project).is_trusted()) {
            // Who holds it has merged the file, or does.
            if let Some(_lock) = Lock::acquire(&lock_path(&self.path), Duration::ZERO)? {
                self.merge()?;
            }
        } else {
            self.merge()?;
        }
        self.read_as_is()
    }

    /// Reads for a caller that only wants a possible merge to be made.
    pub(crate) fn settle(&self) {
        if self.is_in_merge().unwrap_or_default() {
            _ = self.read();
        }
    }

    fn is_in_merge(&self) -> Result<bool, StoreError> {
        let bytes = fsx::read_if_there(&self.path, MAX_FILE_BYTES)?;
        Ok(self.owner.is_some() && bytes.is_some_and(|bytes| has_markers(&bytes)))
    }

    /// Merges a file that git left in the middle of a merge. The caller holds the lock.
    fn merge(&self) -> Result<(), StoreError> {
        let bytes = fsx::read_if_there(&self.path, MAX_FILE_BYTES)?;
        let (Some(Owner { paths, project }), Some(bytes)) = (&self.owner, bytes) else {
            return Ok(());
        };
        let Some(merged) = in_merge::merged(paths, project, &bytes) else {
            return Ok(());
        };
        let path = self.path.clone();
        let merged = merged.map_err(|why| StoreError::InMerge { path, why })?;
        let after = merged.to_bytes();
        let is_new = after != bytes;
        if is_new && fsx::durable_if_unchanged(&self.path, Some(&bytes), &after)? {
            in_merge::leave_news(paths, project, &merged)?;
        }
        Ok(())
    }

    fn numbered(&self, playbook: Playbook) -> Playbook {
        let owner = self.owner.as_ref();
        if owner.is_some_and(|owner| owner.project == owner.paths.own()) {
            playbook.into_own()
        } else {
            playbook
        }
    }

    fn read_as_is(&self) -> Result<Loaded, StoreError> {
        let bytes = self.bytes()?;
        let migrated = bytes.as_deref().map(migrate).transpose();
        let migrated = migrated.map_err(|flaw| {
            let path = self.path.clone();
            StoreError::Corrupt { path, flaw }
        })?;
        let is_of_another_age = migrated.as_ref().is_some_and(|migrated| migrated.changed);
        let playbook = migrated.map_or_else(Playbook::empty, |migrated| migrated.playbook);
        Ok(Loaded {
            playbook: self.numbered(playbook),
            bytes,
            is_of_another_age,
        })
    }

    /// Returns `None` if there is no file and never was one with key points. A missing one is
    /// looked for again, since git removes a file that it then makes again.
    pub(crate) fn bytes(&self) -> Result<Option<Vec<u8>>, StoreError> {
        for look in 1..=LOOKS {
            let bytes = fsx::read_if_there(&self.path, MAX_FILE_BYTES)?;
            if bytes.is_some() || !self.had_points()? {
                return Ok(bytes);
            }
            if look < LOOKS {
                thread::sleep(BETWEEN_LOOKS);
            }
        }
        let path = self.path.clone();
        Err(StoreError::Away { path })
    }

    /// A job read key points, a snapshot holds some, or the user trusts some unchanged ones.
    fn had_points(&self) -> Result<bool, FsError> {
        let Some(Owner { paths, project }) = &self.owner else {
            return Ok(self.was_seen);
        };
        if self.was_seen || Snapshots::new(&paths.project(project)).have_points()? {
            return Ok(true);
        }
        let record = TrustRecord::read(&paths.trust_record(project))?;
        Ok(record.is_some_and(|record| record.knows_some()))
    }

    /// Takes the lock, waiting at most `wait`; the folder is made where it is missing. Where
    /// the playbook is away nothing is made: it would be in the way of what comes back.
    pub(crate) fn lock(&self, wait: Duration) -> Result<Locked<'_>, StoreError> {
        self.bytes()?;
        self.lock_also_away(wait)
    }

    /// Locks like [`Store::lock`], for a caller that brings an absent playbook back.
    pub(crate) fn lock_also_away(&self, wait: Duration) -> Result<Locked<'_>, StoreError> {
        let mut is_folder_new = false;
        let folder = self.path.parent().filter(|f| !f.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            fsx::ensure_dir(folder)?;
            is_folder_new = true;
        }
        let path = lock_path(&self.path);
        let Some(lock) = Lock::acquire(&path, wait)? else {
            return Err(StoreError::Locked { path, waited: wait });
        };
        // Under the lock nobody is at such a file: what is there was left by a crash.
        fsx::mend(&self.path)?;
        if let Some(folder) = self.path.parent() {
            #[expect(clippy::disallowed_methods, reason = "files have the system's time")]
            fsx::sweep(folder, SystemTime::now())?;
        }
        self.merge()?;
        Ok(Locked {
            store: self,
            lock: Some(lock),
            is_folder_new,
        })
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    /// The playbook without the votes that the memory has ([`votes`]).
    pub(crate) playbook: Playbook,
    /// The content of the file; `None` without a file.
    pub(crate) bytes: Option<Vec<u8>>,
    /// `true` if the next write changes its format, so that the bytes are worth keeping.
    pub(crate) is_of_another_age: bool,
}

/// A playbook file whose lock is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    store: &'a Store,
    lock: Option<Lock>,
    is_folder_new: bool,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if let Some(lock) = self.lock.take() {
            // What could not be tidied up now is when the lock is taken next.
            _ = tidy(self.store, lock, self.is_folder_new);
        }
    }
}

impl Locked<'_> {
    pub(crate) fn load(&self) -> Result<Playbook, StoreError> {
        self.store.load()
    }

    /// Replaces the file by `after`, durably, if it still holds `seen`; returns whether it did. The
    /// lock holds off other processes of ours, but no editor and no git.
    pub(crate) fn save(&self, seen: Option<&[u8]>, after: &Playbook) -> Result<bool, StoreError> {
        let bytes = after.to_bytes();
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(StoreError::TooLarge {
                path: self.store.path.clone(),
                bytes: bytes.len(),
            });
        }
        Ok(fsx::durable_if_unchanged(&self.store.path, seen, &bytes)?)
    }
}

/// Releases a lock; no file of ours stays where nothing was learned.
fn tidy(store: &Store, lock: Lock, is_folder_new: bool) -> Result<(), FsError> {
    let Some(parent) = store.path().parent() else {
        return Ok(());
    };
    if store.path().exists() || store.had_points()? {
        return hide(parent);
    }
    lock.remove()?;
    if is_folder_new {
        fsx::remove_dir_if_empty(parent)?;
    }
    Ok(())
}

/// Has git ignore the lock in `folder`; a `.git` that is no real folder may lead anywhere.
fn hide(folder: &Path) -> Result<(), FsError> {
    let Some(git) = git_above(folder).filter(|_| folder.ends_with(".claude")) else {
        return Ok(());
    };
    let info = git.join("info");
    let list = info.join("exclude");
    let is_real = |path: &Path| fs::symlink_metadata(path).is_ok_and(|about| about.is_dir());
    if !is_real(&git) || !is_real(&info) || list.is_symlink() {
        return Ok(());
    }
    let mut text = fsx::read_if_there(&list, MAX_LIST)?.unwrap_or_default();
    let mut lines = text.split(|byte| *byte == b'\n');
    if lines.any(|line| line == LINE.as_bytes()) {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend_from_slice(LINE.as_bytes());
    text.push(b'\n');
    fsx::quick(&list, &text)
}

const SUFFIX: &str = ".snapshot.json";
/// The suffixes of migrated or replaced files; these are never removed.
const ORIGINAL_SUFFIX: &str = ".original.json";
const KEPT: usize = 20;
const DIGITS: usize = 8;

/// Copies of a playbook after each change, kept outside of the project. Jobs are applied in any
/// order, so names begin with a number: `00000012-20261121T221951-3f9a2c1b.snapshot.json`.
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

    /// Keeps `bytes` as the playbook after `job`, and the last [`KEPT`] of all snapshots. The
    /// caller holds the playbook's lock, so that the numbers are those of the changes.
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

    pub(crate) fn last_playbook(&self) -> Result<Option<Playbook>, FsError> {
        let last = self.last()?;
        Ok(last.and_then(|bytes| Playbook::parse(&bytes).ok()))
    }
}

#[cfg(test)]
mod tests;
