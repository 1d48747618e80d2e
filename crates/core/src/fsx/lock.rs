//! The lock on a playbook: a file beside it.
//!
//! The playbook itself cannot be locked, because each write replaces it. Held across
//! reload, change and write. Only who holds it may take the file away, where there is no
//! playbook to guard; who waited for it then makes it anew.
//!
//! Some file systems know no such lock and do know the older one of POSIX, as `SQLite` uses
//! it: then that is taken. It belongs to the process, so nobody may open and close a lock file
//! while it is held. Where there is neither, a playbook counts as locked: there, as on NFS, two
//! machines are not protected from each other.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, fcntl_lock};
use rustix::io::Errno;

use super::{FsContext, FsError, open_shared_lock_file, remove};

const PAUSE: Duration = Duration::from_millis(10);

/// A held lock; dropping it lets go, and so does the end of the process.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock file at `path`, waiting at most `wait`; `None` when another process
    /// holds it to the end of that time.
    pub fn acquire(path: &Path, wait: Duration) -> Result<Option<Self>, FsError> {
        let mut file = open_shared_lock_file(path)?;
        let deadline = Instant::now() + wait;
        loop {
            if try_lock(&file).context("lock", path)? {
                if file.metadata().context("lock", path)?.nlink() > 0 {
                    let path = path.to_owned();
                    return Ok(Some(Self { file, path }));
                }
                // Who held it before took the file away: this one guards nothing.
                file = open_shared_lock_file(path)?;
                continue;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            thread::sleep(PAUSE.min(left));
        }
    }

    /// Takes the lock file away and lets go. A link that leads to it stays.
    pub fn remove(self) -> Result<(), FsError> {
        let ours = self.file.metadata().context("look at lock", &self.path)?;
        let there = self.path.symlink_metadata();
        let there = there.context("look at lock", &self.path)?;
        if (ours.dev(), ours.ino()) == (there.dev(), there.ino()) {
            remove(&self.path)?;
        }
        Ok(())
    }
}

/// The lock file that belongs to `file`: its name with `.lock`, beside the file itself
/// and not beside a symlink to it, so that all who write one file share one lock.
pub fn lock_path(file: &Path) -> PathBuf {
    let mut path = file
        .canonicalize()
        .unwrap_or_else(|_| file.to_owned())
        .into_os_string();
    path.push(".lock");
    path.into()
}

/// Tries to lock a file; tells whether nobody else holds it.
///
/// Where a file system knows no locks at all, each counts as had: what this guards is better
/// done twice than not at all.
pub fn try_lock(file: &File) -> io::Result<bool> {
    had_or_unknown(try_lock_surely(file))
}

/// Tries as [`try_lock`] does; an error where a file system knows no locks at all.
pub fn try_lock_surely(file: &File) -> io::Result<bool> {
    // As a method it would be std's, which has the same name in newer versions.
    match had(fs2::FileExt::try_lock_exclusive(file)) {
        Err(e) if is_unsupported(&e) => had(of_process(file)),
        tried => tried,
    }
}

/// The lock of POSIX, which takes a file that is open for writing.
fn of_process(file: &File) -> io::Result<()> {
    match fcntl_lock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::BADF) => Err(Errno::NOTSUP.into()),
        tried => tried.map_err(io::Error::from),
    }
}

fn had(tried: io::Result<()>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(e) if is_held(&e) => Ok(false),
        Err(e) => Err(e),
    }
}

fn had_or_unknown(tried: io::Result<bool>) -> io::Result<bool> {
    match tried {
        Err(e) if is_unsupported(&e) => Ok(true),
        tried => tried,
    }
}

fn is_held(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock
        || error.raw_os_error() == Some(Errno::ACCESS.raw_os_error())
        || error.kind() == io::ErrorKind::Interrupted
}

/// Returns true if a file system knows no locks, or has nobody who keeps them.
fn is_unsupported(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
        || [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS, Errno::NOLCK]
            .iter()
            .any(|known| error.raw_os_error() == Some(known.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::sync::atomic::Ordering;

    #[rstest]
    #[case::had(None, true)]
    #[case::held_by_another(Some(Errno::WOULDBLOCK), false)]
    #[case::no_locks(Some(Errno::NOTSUP), true)]
    #[case::nobody_to_keep_them(Some(Errno::NOLCK), true)]
    #[case::unknown_call(Some(Errno::NOSYS), true)]
    fn where_there_are_no_locks_none_is_waited_for(
        #[case] refused: Option<Errno>,
        #[case] is_had: bool,
    ) {
        let tried = refused.map_or(Ok(()), |e| Err(e.into()));
        assert_eq!(had_or_unknown(had(tried)).unwrap(), is_had);
    }

    #[test]
    fn a_held_lock_is_waited_for_to_the_deadline_and_dropping_it_lets_go() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("playbook.json.lock");
        let held = Lock::acquire(&path, Duration::ZERO).unwrap().unwrap();
        let other = Lock::acquire(&path, Duration::from_millis(30)).unwrap();
        assert!(other.is_none());
        drop(held);
        // A process that another test is just starting holds a copy until it runs.
        let patience = Duration::from_secs(10);
        assert!(Lock::acquire(&path, patience).unwrap().is_some());
        assert!(path.exists());
    }

    #[test]
    fn of_those_who_wait_for_a_lock_that_is_taken_away_one_at_a_time_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("playbook.json.lock");
        let patience = Duration::from_secs(20);
        let held = std::sync::atomic::AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let lock = Lock::acquire(&path, patience).unwrap().unwrap();
                        assert_eq!(held.fetch_add(1, Ordering::SeqCst), 0);
                        held.fetch_sub(1, Ordering::SeqCst);
                        lock.remove().unwrap();
                    }
                });
            }
        });
        assert!(!path.exists());
    }

    #[test]
    fn a_link_to_a_lock_is_not_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a.lock"), dir.path().join("b.lock"));
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let lock = Lock::acquire(&link, Duration::ZERO).unwrap().unwrap();
        lock.remove().unwrap();
        assert!(link.exists());
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
