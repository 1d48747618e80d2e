//! Replaces a file in one step, through a temporary one in its folder.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use super::exchange::exchange;
use super::open::regular_if_there;
use super::temporary::Temporary;
use super::{FILE_MODE, FsContext as _, FsError, parent, sync_dir};
use crate::fault;

/// A longer chain of symlinks counts as a loop.
const MAX_LINKS: usize = 40;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Quick,
    Durable,
}

/// Returns when the bytes are on disk.
pub fn durable(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    replace(path, bytes, Strength::Durable)
}

/// Replaces `path` by `bytes` without waiting for the disk.
pub fn quick(path: &Path, bytes: &[u8]) -> Result<(), FsError> {
    replace(path, bytes, Strength::Quick)
}

/// Writes as [`durable`] does if `path` still holds `seen`; returns `true` if it did. Only one
/// process may call it at a time, and must call [`mend`] first.
///
/// [`mend`]: super::mend
pub fn durable_if_unchanged(
    path: &Path,
    seen: Option<&[u8]>,
    bytes: &[u8],
) -> Result<bool, FsError> {
    let write = || -> io::Result<bool> {
        let target = follow(path)?;
        let file = prepare(&target, bytes, Strength::Durable)?;
        let is_ours = match seen {
            None => file.take_place(&target)?,
            Some(seen) => exchange(file, &target, seen, bytes)?,
        };
        if is_ours {
            fault::write("replace: sync")?;
            sync_dir(parent(&target))?;
        }
        Ok(is_ours)
    };
    write().context("write", path)
}

fn replace(path: &Path, bytes: &[u8], strength: Strength) -> Result<(), FsError> {
    let write = || -> io::Result<()> {
        let target = follow(path)?;
        let file = prepare(&target, bytes, strength)?;
        regular_if_there(&target)?;
        file.replace(&target)?;
        if strength == Strength::Durable {
            fault::write("replace: sync")?;
            sync_dir(parent(&target))?;
        }
        Ok(())
    };
    write().context("write", path)
}

/// The temporary file has the mode and owner of `target`.
fn prepare(target: &Path, bytes: &[u8], strength: Strength) -> io::Result<Temporary> {
    let old = regular_if_there(target)?;
    fault::write("replace: create")?;
    let mut temporary = Temporary::new(parent(target))?;
    let file = &mut temporary.file;
    if let Some(old) = &old {
        keep_owner(file, old)?;
        file.set_permissions(Permissions::from_mode(old.mode() & 0o7777))?;
    }
    fault::write("replace: write")?;
    file.write_all(bytes)?;
    if strength == Strength::Durable {
        file.sync_all()?;
    }
    fault::write("replace: rename")?;
    Ok(temporary)
}

/// Gives a file the owner of the one it replaces. Only root can; any other user who may write in
/// the folder becomes the owner.
fn keep_owner(file: &File, old: &Metadata) -> io::Result<()> {
    let new = file.metadata()?;
    if (new.uid(), new.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    match fchown(file, Some(old.uid()), Some(old.gid())) {
        Err(e) if e.kind() != io::ErrorKind::PermissionDenied => Err(e),
        _ => Ok(()),
    }
}

/// Returns `false` if something exists at `path`.
pub fn create_new(path: &Path, bytes: &[u8]) -> Result<bool, FsError> {
    let write = || -> io::Result<bool> {
        fault::write("create: create")?;
        let mut temporary = Temporary::new(parent(path))?;
        fault::write("create: write")?;
        temporary.file.write_all(bytes)?;
        fault::write("create: rename")?;
        temporary.take_place(path)
    };
    write().context("create", path)
}

/// Returns `false` if something exists there. Of several concurrent processes, exactly one gets
/// `true`.
pub fn mark_new(path: &Path) -> Result<bool, FsError> {
    let made = fault::write("mark: create").and_then(|()| {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(FILE_MODE)
            .open(path)
    });
    match made {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        made => made.map(|_| true).context("create", path),
    }
}

/// Returns the file that a write to `path` must replace: the end of its chain of symlinks.
pub(super) fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = parent(&target).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many symlinks"))
}
