//! What a lock leaves in a project: nothing where nothing was learned; else a file that git is
//! told to pass over.

use std::fs;
use std::path::Path;

use super::Store;
use crate::fsx::lock::Lock;
use crate::fsx::{self, FsError};
use crate::project::git_above;

/// What git is told, in a list of the repository that is never committed.
const LINE: &str = "**/.claude/playbook.json.lock";
/// More than any real list.
const MAX_LIST: u64 = 1 << 20;

/// What there was before a lock was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folder {
    WasThere,
    Made,
}

/// Lets go of a lock, and tidies up after it.
pub(super) fn tidy(store: &Store, lock: Lock, folder: Folder) -> Result<(), FsError> {
    let Some(parent) = store.path().parent() else {
        return Ok(());
    };
    if store.path().exists() || store.had_points()? {
        return hide(parent);
    }
    lock.remove()?;
    match folder {
        Folder::Made => fsx::remove_dir_if_empty(parent),
        Folder::WasThere => Ok(()),
    }
}

/// Has git pass over the lock in `folder`. Only a real folder `.git` is written to: a file or a
/// link of that name may lead anywhere.
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
    if text
        .split(|byte| *byte == b'\n')
        .any(|line| line == LINE.as_bytes())
    {
        return Ok(());
    }
    if !text.is_empty() && !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    text.extend_from_slice(LINE.as_bytes());
    text.push(b'\n');
    fsx::quick(&list, &text)
}
