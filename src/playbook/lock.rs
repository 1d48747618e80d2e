//! The lock on a playbook: a file beside it that is never deleted.
//!
//! The playbook itself cannot be locked, because each write replaces it. Held across
//! reload, change and write.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::fsx::{self, Context, FsError, try_lock};

const PAUSE: Duration = Duration::from_millis(10);

/// A held lock; dropping it lets go, and so does the end of the process.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock file at `path`, waiting at most `wait`; `None` when another process
    /// holds it to the end of that time.
    pub(crate) fn acquire(path: &Path, wait: Duration) -> Result<Option<Self>, FsError> {
        let file = fsx::open_shared_lock_file(path)?;
        let deadline = Instant::now() + wait;
        loop {
            if try_lock(&file).context("lock", path)? {
                return Ok(Some(Self { _file: file }));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(PAUSE.min(left));
        }
    }
}

/// The lock file that belongs to `file`: its name with `.lock`, beside the file itself
/// and not beside a symlink to it, so that all who write one file share one lock.
pub(crate) fn lock_path(file: &Path) -> PathBuf {
    let mut path = file
        .canonicalize()
        .unwrap_or_else(|_| file.to_owned())
        .into_os_string();
    path.push(".lock");
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_lock_is_waited_for_to_the_deadline_and_dropping_it_lets_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("playbook.json.lock");
        let held = Lock::acquire(&path, Duration::ZERO).unwrap().unwrap();
        let other = Lock::acquire(&path, Duration::from_millis(30)).unwrap();
        assert!(other.is_none());
        drop(held);
        assert!(Lock::acquire(&path, Duration::ZERO).unwrap().is_some());
        assert!(path.exists());
    }

    #[test]
    fn a_file_and_a_link_to_it_have_one_lock() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a.json"), dir.path().join("b.json"));
        std::fs::write(&file, "{}").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(lock_path(&file), lock_path(&link));
    }
}
