//! The lock of the one worker per user, and its content.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::account::Need;
use crate::fsx::lock::try_lock_surely;
use crate::fsx::{self, FsContext as _, FsError};
use crate::paths::Paths;
use crate::platform::{Life, ProcessMark};

/// The first pause before a held lock is tried again. It doubles, since the lock may be held for
/// hours.
const LOOK: Duration = Duration::from_millis(20);
const LONGEST_LOOK: Duration = Duration::from_millis(320);
const MAX_HOLDER: u64 = 4096;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    pub process: ProcessMark,
    pub version: String,
    /// An empty text for a process that does no job.
    pub account: String,
    /// Set if it works through the whole spool; otherwise it will not see other jobs.
    pub takes_all: bool,
}

impl Holder {
    pub fn of_all(need: &Need) -> Self {
        Self {
            takes_all: true,
            ..Self::of_some(need)
        }
    }

    pub fn of_some(need: &Need) -> Self {
        Self {
            account: need.account(),
            ..Self::of_nobody()
        }
    }

    pub fn of_nobody() -> Self {
        Self {
            process: ProcessMark::of(rustix::process::getpid().as_raw_nonzero().get()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            account: String::new(),
            takes_all: false,
        }
    }

    fn is_at(&self, account: &str) -> bool {
        self.takes_all && self.account == account && self.process.life() != Life::Dead
    }
}

/// Releases the lock on drop.
#[derive(Debug)]
pub struct WorkerLock {
    file: File,
    path: PathBuf,
}

impl WorkerLock {
    /// Fails if the lock file on disk was removed or replaced. The state folder was then removed,
    /// and with it the right to write there.
    pub fn check(&self) -> Result<(), FsError> {
        if is_at(&self.file, &self.path)? {
            return Ok(());
        }
        let source = std::io::Error::other("it was taken away");
        Err(source).context("keep the worker's lock", &self.path)
    }
}

/// Returns `true` if `file` is the one at `path`; an error if none is there.
fn is_at(file: &File, path: &Path) -> Result<bool, FsError> {
    let same = || {
        let (ours, there) = (file.metadata()?, std::fs::metadata(path)?);
        Ok((ours.dev(), ours.ino()) == (there.dev(), there.ino()))
    };
    same().context("keep the worker's lock", path)
}

impl Drop for WorkerLock {
    /// Clears the name before releasing the lock. Until the next holder writes its own, this
    /// process must not be mistaken for a worker that sees new jobs.
    fn drop(&mut self) {
        // If that fails, the name is harmless as soon as this process has ended.
        _ = self.file.set_len(0);
    }
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// A worker of the same account holds it and will see every job.
    #[error("a worker (process {0}) is at work already")]
    SameAccount(i32),
    /// Another process held it until the time was over.
    #[error("the worker lock was not let go in time")]
    Late,
    #[error(transparent)]
    File(#[from] FsError),
}

/// Waits up to `patience` or forever for holders that will not see our jobs: a worker of another
/// account, or one with its own task. A hook that holds the lock for an instant to look is waited
/// out.
pub fn take(
    paths: &Paths,
    holder: &Holder,
    patience: Option<Duration>,
) -> Result<WorkerLock, LockError> {
    let begun = Instant::now();
    fsx::ensure_dir(paths.state())?;
    let path = paths.worker_lock();
    let mut file = fsx::open_lock_file(&path)?;
    let mut pause = LOOK;
    loop {
        let is_ours = try_lock_surely(&file).context("lock", &path)?;
        // The folder may have been removed and recreated during the wait.
        if !is_at(&file, &path)? {
            file = fsx::open_lock_file(&path)?;
            continue;
        }
        if is_ours {
            break;
        }
        if let Some(other) = read(&mut file).filter(|other| other.is_at(&holder.account)) {
            return Err(LockError::SameAccount(other.process.pid));
        }
        if patience.is_some_and(|patience| begun.elapsed() >= patience) {
            return Err(LockError::Late);
        }
        sleep(pause);
        pause = (pause * 2).min(LONGEST_LOOK);
    }
    write(&mut file, holder).context("write lock", &path)?;
    Ok(WorkerLock { file, path })
}

pub fn take_if_free(paths: &Paths, holder: &Holder) -> Result<Option<WorkerLock>, FsError> {
    if_had(take(paths, holder, Some(Duration::ZERO)))
}

pub fn if_had(taken: Result<WorkerLock, LockError>) -> Result<Option<WorkerLock>, FsError> {
    match taken {
        Ok(lock) => Ok(Some(lock)),
        Err(LockError::SameAccount(_) | LockError::Late) => Ok(None),
        Err(LockError::File(error)) => Err(error),
    }
}

/// Becomes the one waiting worker of an account; `None` when another is.
pub fn take_waiting_place(paths: &Paths, need: &Need) -> Result<Option<File>, FsError> {
    fsx::ensure_dir(paths.state())?;
    let path = paths.waiting_lock(&need.account());
    let file = fsx::open_lock_file(&path)?;
    Ok(try_lock_surely(&file)
        .context("lock", &path)?
        .then_some(file))
}

/// Returns `true` if a running worker serves jobs with this need. Then none must be started for a
/// job that is already in the spool.
pub fn serves(paths: &Paths, need: Option<&Need>) -> bool {
    let (Some(need), Some(holder)) = (need, holder(&paths.worker_lock())) else {
        return false;
    };
    let account = match need.backend {
        backend if backend.is_offline() => holder.account.clone(),
        _ => need.account(),
    };
    holder.is_at(&account)
}

pub fn is_at_work(paths: &Paths, need: &Need) -> bool {
    holder(&paths.worker_lock()).is_some_and(|holder| holder.is_at(&need.account()))
}

/// Reads the holder of the lock at `path`; `None` when it is free.
pub fn holder(path: &Path) -> Option<Holder> {
    let mut file = fsx::open_regular(path).ok()?;
    if fs2::FileExt::try_lock_shared(&file).is_ok() {
        return None;
    }
    read(&mut file)
}

fn read(file: &mut File) -> Option<Holder> {
    file.rewind().ok()?;
    let mut text = String::new();
    file.take(MAX_HOLDER).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn write(file: &mut File, holder: &Holder) -> std::io::Result<()> {
    file.rewind()?;
    file.set_len(0)?;
    file.write_all(&serde_json::to_vec(holder)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::BackendName;
    use crate::env::{Env, name};

    fn home() -> (tempfile::TempDir, Paths) {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([
            (name::CONFIG_DIR, dir.path()),
            (name::STATE_DIR, dir.path()),
        ]);
        let paths = Paths::resolve(&env).unwrap();
        (dir, paths)
    }

    fn need(key: &str) -> Need {
        Need {
            key: Some(key.to_owned()),
            ..Need::bare(BackendName::Anthropic)
        }
    }

    const NOW: Option<Duration> = Some(Duration::ZERO);

    #[test]
    fn one_worker_at_a_time_serves_its_account_and_none_waits_for_its_own() {
        let (_dir, paths) = home();
        let (a, b) = (need("a"), need("b"));
        assert!(!serves(&paths, Some(&a)));
        let lock = take(&paths, &Holder::of_all(&a), NOW).unwrap();
        assert!(serves(&paths, Some(&a)) && !serves(&paths, Some(&b)) && !serves(&paths, None));
        let same = take(&paths, &Holder::of_all(&a), None).unwrap_err();
        assert!(matches!(same, LockError::SameAccount(_)), "{same:?}");
        let other = take(&paths, &Holder::of_all(&b), NOW).unwrap_err();
        assert!(matches!(other, LockError::Late), "{other:?}");
        drop(lock);
        // The next holder has the lock and has not yet written its name.
        let next = File::open(paths.worker_lock()).unwrap();
        fs2::FileExt::lock_exclusive(&next).unwrap();
        assert!(!serves(&paths, Some(&a)));
        drop(next);
        let alone = take(&paths, &Holder::of_some(&b), NOW).unwrap();
        assert!(!serves(&paths, Some(&b)), "it sees one job alone");
        let late = take(&paths, &Holder::of_all(&b), NOW).unwrap_err();
        assert!(matches!(late, LockError::Late), "{late:?}");
        drop(alone);
        let mut dead = Holder::of_all(&b);
        dead.process.started = dead.process.started.map(|t| t + 1);
        let _dead = take(&paths, &dead, NOW).unwrap();
        // Only Linux reports it.
        assert_eq!(serves(&paths, Some(&b)), cfg!(not(target_os = "linux")));
    }

    #[test]
    fn a_hook_that_looks_does_not_keep_a_worker_from_starting() {
        let (_dir, paths) = home();
        drop(take(&paths, &Holder::of_all(&need("a")), NOW).unwrap());
        let looking = File::open(paths.worker_lock()).unwrap();
        fs2::FileExt::try_lock_shared(&looking).unwrap();
        std::thread::scope(|s| {
            let worker = s.spawn(|| take(&paths, &Holder::of_all(&need("b")), None));
            while !worker.is_finished() && !std::thread::panicking() {
                fs2::FileExt::unlock(&looking).unwrap();
                std::thread::yield_now();
            }
            worker.join().unwrap().unwrap();
        });
    }
}
