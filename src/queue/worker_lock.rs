//! The lock of the one worker per user, and what is written in it.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use fs2::FileExt;
use serde::{Deserialize, Serialize};

use crate::account::Need;
use crate::fsx::{self, Context as _, FsError};
use crate::paths::Paths;
use crate::platform::{Life, ProcessMark};

/// How often a held lock is tried again.
const LOOK: Duration = Duration::from_millis(20);
/// Longest lock file that is read.
const MAX_HOLDER: u64 = 4096;

/// Who holds the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The worker's process.
    pub process: ProcessMark,
    /// Version of the worker.
    pub version: String,
    /// The account it works for.
    pub account: String,
}

impl Holder {
    /// This process, working for `need`.
    pub fn this(need: &Need) -> Self {
        Self {
            process: ProcessMark::of(rustix::process::getpid().as_raw_nonzero().get()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            account: need.account(),
        }
    }
}

/// The held lock; dropping it lets it go.
#[derive(Debug)]
pub struct WorkerLock {
    _file: File,
}

/// Why the lock could not be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// A worker of the same account holds it: it will see every job.
    #[error("a worker (process {}) is at work already", .0.process.pid)]
    SameAccount(Holder),
    /// It was not let go in time.
    #[error("the worker lock was not let go in time")]
    Late,
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] FsError),
}

/// Takes the lock, waiting up to `patience` for a worker of another account.
///
/// A hook may hold the lock for an instant while it looks; that is waited out.
pub fn take(paths: &Paths, holder: &Holder, patience: Duration) -> Result<WorkerLock, LockError> {
    fsx::ensure_dir(paths.state())?;
    let path = paths.worker_lock();
    let mut file = fsx::open_lock_file(&path)?;
    let deadline = Instant::now() + patience;
    while !locked(&file) {
        let other = read(&mut file).filter(|other| other.process.life() != Life::Dead);
        if let Some(other) = other
            && other.account == holder.account
        {
            return Err(LockError::SameAccount(other));
        }
        if Instant::now() >= deadline {
            return Err(LockError::Late);
        }
        sleep(LOOK);
    }
    write(&mut file, holder).context("write lock", &path)?;
    Ok(WorkerLock { _file: file })
}

/// Becomes the one worker of an account that waits for its turn; `None` when another is.
pub fn take_waiting_place(paths: &Paths, need: &Need) -> Result<Option<File>, FsError> {
    let file = fsx::open_lock_file(&paths.waiting_lock(&need.account()))?;
    Ok(locked(&file).then_some(file))
}

/// Tells whether a running worker serves jobs with this need.
pub fn serves(paths: &Paths, need: Option<&Need>) -> bool {
    let Some(holder) = holder(&paths.worker_lock()) else {
        return false;
    };
    need.is_some_and(|need| need.backend.is_offline() || need.account() == holder.account)
}

/// Who holds the lock now; `None` when nobody does.
pub fn holder(path: &Path) -> Option<Holder> {
    let mut file = File::open(path).ok()?;
    if file.try_lock_shared().is_ok() {
        return None;
    }
    read(&mut file)
}

/// Tries the lock; a file system that knows no locks counts as had.
fn locked(file: &File) -> bool {
    match FileExt::try_lock_exclusive(file) {
        Ok(()) => true,
        Err(e) => e.kind() == std::io::ErrorKind::Unsupported,
    }
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
    use crate::backend::Name;
    use crate::env::{Env, name};

    fn paths(dir: &Path) -> Paths {
        let env = Env::from_pairs([(name::CONFIG_DIR, dir), (name::STATE_DIR, dir)]);
        Paths::resolve(&env).unwrap()
    }

    fn need(key: &str) -> Need {
        Need {
            key: Some(key.to_owned()),
            ..Need::bare(Name::Anthropic)
        }
    }

    #[test]
    fn a_hook_sees_whether_a_worker_serves_its_account() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        assert!(!serves(&paths, Some(&need("a"))));
        let lock = take(&paths, &Holder::this(&need("a")), Duration::ZERO).unwrap();
        assert!(serves(&paths, Some(&need("a"))));
        assert!(!serves(&paths, Some(&need("b"))));
        assert!(!serves(&paths, None));
        drop(lock);
        assert!(!serves(&paths, Some(&need("a"))));
    }

    #[test]
    fn one_worker_at_a_time_and_none_waits_for_its_own_account() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        let lock = take(&paths, &Holder::this(&need("a")), Duration::ZERO).unwrap();
        let patience = Duration::from_millis(60);
        let same = take(&paths, &Holder::this(&need("a")), patience).unwrap_err();
        assert!(matches!(same, LockError::SameAccount(_)), "{same:?}");
        let other = take(&paths, &Holder::this(&need("b")), patience).unwrap_err();
        assert!(matches!(other, LockError::Late), "{other:?}");
        drop(lock);
        take(&paths, &Holder::this(&need("b")), patience).unwrap();
    }

    #[test]
    fn a_hook_that_looks_does_not_keep_a_worker_from_starting() {
        let dir = tempfile::tempdir().unwrap();
        let paths = paths(dir.path());
        drop(take(&paths, &Holder::this(&need("a")), Duration::ZERO).unwrap());
        let looking = File::open(paths.worker_lock()).unwrap();
        looking.try_lock_shared().unwrap();
        std::thread::scope(|s| {
            let worker =
                s.spawn(|| take(&paths, &Holder::this(&need("b")), Duration::from_secs(30)));
            while !worker.is_finished() && !std::thread::panicking() {
                FileExt::unlock(&looking).unwrap();
                std::thread::yield_now();
            }
            worker.join().unwrap().unwrap();
        });
    }
}
