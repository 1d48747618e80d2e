//! Replaces a file only if it still holds the bytes that were read.
//!
//! A process that checks a file and then replaces it may overwrite what git or an editor wrote in
//! between. So our file and the target are exchanged in one step, and the bytes that came out are
//! checked:
//!
//! ```text
//! place:  read             ours                          ours: done
//! aside:  ours  exchange>  read, or what came between >  put back in its place
//! ```
//!
//! A kill in between loses nothing: the name of the file aside holds the hashes of our bytes and of
//! the expected ones, and [`mend`] finishes the exchange.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::open::regular_if_there;
use super::replace::follow;
use super::temporary::Temporary;
use super::{FsContext as _, FsError, TEMPORARY_PREFIX, list, parent, read, remove};
use crate::digest::name_of;
use crate::fault;

const ASIDE_SUFFIX: &str = ".aside";
const MAX_FILE: u64 = 256 << 20;
/// The number of attempts to put back a file that others keep writing.
const MAX_TURNS: usize = 100;

/// Replaces `target` by `file`, which holds `bytes`, if it holds `seen`; returns `true` if it did.
pub(super) fn exchange(
    file: Temporary,
    target: &Path,
    seen: &[u8],
    bytes: &[u8],
) -> io::Result<bool> {
    let swap = Swap {
        put: name_of(bytes),
        expected: name_of(seen),
        target: target.to_owned(),
    };
    let aside = swap.aside();
    file.replace(&aside)?;
    if content(target).as_ref() != Some(&swap.expected) {
        return fs::remove_file(&aside).map(|()| false);
    }
    fault::stop("replace: compared");
    match change_places(&aside, target) {
        Ok(()) => {
            fault::stop("replace: exchanged");
            swap.settle()
        }
        // The target was removed.
        Err(e) if e.kind() == io::ErrorKind::NotFound => fs::remove_file(&aside).map(|()| false),
        Err(e) if is_unsupported(&e) => {
            regular_if_there(target)?;
            fs::rename(&aside, target).map(|()| true)
        }
        Err(e) => {
            fs::remove_file(&aside)?;
            Err(e)
        }
    }
}

/// Finishes an exchange next to `path` that was killed in the middle; the caller ensures that no
/// other process is at one.
pub fn mend(path: &Path) -> Result<(), FsError> {
    let target = follow(path).context("write", path)?;
    for entry in list(parent(&target))? {
        let swap = entry.file_name().to_str().and_then(|name| {
            let hashes = name.strip_prefix(TEMPORARY_PREFIX)?;
            let (put, expected) = hashes.strip_suffix(ASIDE_SUFFIX)?.split_once('-')?;
            Some(Swap {
                put: put.to_owned(),
                expected: expected.to_owned(),
                target: target.clone(),
            })
        });
        if let Some(swap) = swap {
            swap.settle().context("write", path)?;
        }
    }
    Ok(())
}

struct Swap {
    put: String,
    expected: String,
    target: PathBuf,
}

impl Swap {
    fn aside(&self) -> PathBuf {
        let Self { put, expected, .. } = self;
        let name = format!("{TEMPORARY_PREFIX}{put}-{expected}{ASIDE_SUFFIX}");
        self.target.with_file_name(name)
    }

    /// Removes the file aside, or puts it back if others wrote it. Returns `true` if ours stays.
    fn settle(&self) -> io::Result<bool> {
        let aside = self.aside();
        let end = |is_ours| remove(&aside).map_err(|e| e.source).map(|()| is_ours);
        let mut out = content(&aside);
        // The known content of the place; anything else that comes out is newer than what was put
        // in.
        let mut within = Some(self.put.clone());
        if out.as_ref() == Some(&self.expected) || out == within {
            return end(out != within);
        }
        for _ in 0..MAX_TURNS {
            match change_places(&aside, &self.target) {
                Ok(()) => {}
                // The process that removed the target has removed this one too.
                Err(e) if e.kind() == io::ErrorKind::NotFound => return end(false),
                Err(e) => return Err(e),
            }
            let back = content(&aside);
            if back == within {
                return end(false);
            }
            within = std::mem::replace(&mut out, back);
        }
        Err(io::Error::other("others write it all the time"))
    }
}

/// Returns `None` for anything but a regular file.
fn content(path: &Path) -> Option<String> {
    Some(name_of(&read(path, MAX_FILE).ok()?))
}

#[cfg(target_os = "linux")]
fn change_places(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(io::Error::from)
}

#[cfg(not(target_os = "linux"))]
fn change_places(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns `true` if the system or file system has no exchange; then it never started.
fn is_unsupported(error: &io::Error) -> bool {
    use rustix::io::Errno;
    error.kind() == io::ErrorKind::Unsupported
        || [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP, Errno::PERM]
            .iter()
            .any(|known| error.raw_os_error() == Some(known.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    /// The state after a kill: `aside` next to the file, after `ours` replaced `read`.
    #[rstest]
    #[case::before_the_exchange("read", "ours", "read")]
    #[case::after_it("ours", "read", "ours")]
    #[case::something_came_out("ours", "theirs", "theirs")]
    #[case::and_something_came_later("later", "theirs", "later")]
    fn what_a_kill_left_behind_is_ended_and_nothing_of_others_is_lost(
        #[case] place: &str,
        #[case] aside: &str,
        #[case] after: &str,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("playbook.json");
        let swap = Swap {
            put: name_of(b"ours"),
            expected: name_of(b"read"),
            target: target.clone(),
        };
        fs::write(&target, place).unwrap();
        fs::write(swap.aside(), aside).unwrap();
        mend(&target).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), after);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
