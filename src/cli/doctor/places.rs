//! The folders that are ours, and the disk that they are on.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::fs::{Access, access};

use super::super::session::NamedSession;
use super::DoctorCheck;
use crate::fsx::lock::{lock_path, try_lock_surely};
use crate::paths::playbook_file;

pub(super) const FOLDERS: &str = "folders";
/// With less free space than this, jobs may not be written ...
const FULL: u64 = 16 << 20;
/// ... and with less than this it is about to come to that.
const NEARLY_FULL: u64 = 256 << 20;

pub(super) fn folders(session: &NamedSession) -> Vec<DoctorCheck> {
    let paths = &session.paths;
    let config = paths.config_file();
    let mut checks = Vec::new();
    for folder in [Some(paths.state()), config.parent()].into_iter().flatten() {
        let there = existing(folder);
        let shown = there.display();
        checks.extend(if !is_writable(there) {
            let todo =
                "make it yours and writable, or set PLAYBOOK_STATE_DIR and PLAYBOOK_CONFIG_DIR";
            Some(DoctorCheck::bad(
                FOLDERS,
                format!("{shown} cannot be written"),
                todo,
            ))
        } else if there == folder && is_open(folder, 0o022) {
            let todo = "`chmod -R go-rwx` that folder, unless you are alone in the group";
            let text = format!("a group can write {shown}: settings and templates");
            Some(DoctorCheck::note(FOLDERS, text, todo))
        } else if there == folder && is_open(folder, 0o077) {
            let text = format!("others can read {shown}");
            Some(DoctorCheck::note(FOLDERS, text, "`chmod 700` that folder"))
        } else {
            None
        });
    }
    let file = playbook_file(&session.project);
    if file.exists() && !file.parent().is_some_and(is_writable) {
        let todo = "make its folder writable; until then jobs wait";
        let text = format!("{} cannot be replaced", file.display());
        checks.push(DoctorCheck::bad(FOLDERS, text, todo));
    }
    let lock = lock_path(&file);
    if lock.exists() && access(&lock, Access::READ_OK).is_err() {
        checks.push(DoctorCheck::bad(
            FOLDERS,
            format!("{} cannot be read", lock.display()),
            "have its owner `chmod a+r` it, or remove it while nothing runs; until then jobs wait",
        ));
    }
    if checks.is_empty() {
        checks.push(DoctorCheck::good(FOLDERS, "yours alone, and writable"));
    }
    checks
}

/// Names the file systems of ours on which no file can be locked.
pub(super) fn locks(session: &NamedSession) -> Vec<DoctorCheck> {
    let playbook = playbook_file(&session.project);
    let folders = [Some(session.paths.state()), playbook.parent()];
    let folders = folders.into_iter().flatten().map(existing);
    let checks = folders.filter_map(|folder| {
        // It has no name, or loses it at once.
        let file = tempfile::tempfile_in(folder).ok()?;
        without_locks(folder, try_lock_surely(&file))
    });
    checks.collect()
}

fn without_locks(folder: &Path, tried: io::Result<bool>) -> Option<DoctorCheck> {
    let error = tried.err()?;
    let text = format!("no file can be locked in {}: {error}", folder.display());
    let todo = "mount it with locks, or move it; until then sessions wait";
    Some(DoctorCheck::note(FOLDERS, text, todo))
}

/// The nearest folder that exists: the others are made where it is.
fn existing(folder: &Path) -> &Path {
    let mut folders = folder.ancestors();
    folders.find(|folder| folder.exists()).unwrap_or(folder)
}

fn is_writable(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

fn is_open(folder: &Path, to: u32) -> bool {
    std::fs::metadata(folder).is_ok_and(|m| m.permissions().mode() & to != 0)
}

pub(super) fn disk(session: &NamedSession) -> Option<DoctorCheck> {
    const TOPIC: &str = "disk";
    let folder = existing(session.paths.state());
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let text = format!("{} MiB free for {}", free >> 20, folder.display());
    let todo = "make room: a session that begins and ends while the disk is full can be lost";
    Some(match free {
        free if free < FULL => DoctorCheck::bad(TOPIC, text, todo),
        free if free < NEARLY_FULL => DoctorCheck::note(TOPIC, text, todo),
        _ => DoctorCheck::good(TOPIC, text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_named() {
        let folder = Path::new("/mnt/share");
        let unsupported = rustix::io::Errno::NOTSUP.into();
        let check = without_locks(folder, Err(unsupported)).map(|check| format!("{check:?}"));
        assert!(check.is_some_and(|told| told.contains("/mnt/share")));
        let file = tempfile::tempfile().unwrap();
        assert_eq!(without_locks(folder, try_lock_surely(&file)), None);
    }
}
