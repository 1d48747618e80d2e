//! The lock on a playbook: a file next to it, held across reload, change and write.
//!
//! The playbook itself cannot be locked, because each write replaces it. Only the holder may remove
//! the lock file, when there is no playbook to guard; a process that waited then recreates it.
//!
//! File systems without such locks may have the older POSIX lock. It belongs to the process, so a
//! lock file must not be opened and closed while it is held. There, as on NFS, two machines are not
//! protected from each other.

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

/// Releases the lock on drop or at the end of the process.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Returns `None` if another process still holds the lock after `wait`.
    pub fn acquire(path: &Path, wait: Duration) -> Result<Option<Self>, FsError> {
        let mut file = open_shared_lock_file(path)?;
        let deadline = Instant::now() + wait;
        loop {
            if try_lock(&file).context("lock", path)? {
                if file.metadata().context("lock", path)?.nlink() > 0 {
                    let path = path.to_owned();
                    return Ok(Some(Self { file, path }));
                }
                // The former holder removed the file: this one guards nothing.
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

    /// Removes the lock file and releases it. A link that leads to it stays.
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

/// Returns the lock file of `file`: its name with `.lock`, next to the file itself and not to a
/// symlink to it. All writers of one file thus share one lock.
pub fn lock_path(file: &Path) -> PathBuf {
    let mut path = file
        .canonicalize()
        .unwrap_or_else(|_| file.to_owned())
        .into_os_string();
    path.push(".lock");
    path.into()
}

/// Returns `false` if another process holds the lock, and `true` on a file system without locks:
/// the guarded work is better done twice than not at all.
pub fn try_lock(file: &File) -> io::Result<bool> {
    had_or_unknown(try_lock_surely(file))
}

/// Like [`try_lock`], but an error on a file system without locks.
pub fn try_lock_surely(file: &File) -> io::Result<bool> {
    // Called as a method it would be std's of the same name in newer versions.
    match had(fs2::FileExt::try_lock_exclusive(file)) {
        Err(e) if is_unsupported(&e) => had(of_process(file)),
        tried => tried,
    }
}

/// Takes the POSIX lock, which needs a file that is open for writing.
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
        // A process that another test is starting holds a copy until its exec.
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
