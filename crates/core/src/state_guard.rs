//! Guards our files: only the user may write the state folder and the settings, and only the
//! client's own transcripts are read unasked.
//!
//! Anyone who can write the state folder can have any file read and any key point given. A folder
//! that others may have changed is therefore not used at all.

use std::fs::{self, Metadata};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use crate::fsx::{self, FsContext as _, FsError};
use crate::paths::Paths;

/// The permission bits that let others than the owner write.
const WRITE_BY_OTHERS: u32 = 0o022;
/// The same without the group: a home may give each user a private group that owns every new file.
/// We create the state folder ourselves, but the user may have created the settings.
const WRITE_BY_ALL: u32 = 0o002;
const OTHERS: u32 = 0o077;

pub const PLAYED: &str = "played";

#[derive(Debug)]
struct Ours {
    name: &'static str,
    /// The permission bits that must not be set.
    forbidden: u32,
    /// Set if root may own it too: settings may be machine-wide, and root is trusted.
    may_be_roots: bool,
    elsewhere: &'static str,
}

const STATE: Ours = Ours {
    name: "state folder",
    forbidden: WRITE_BY_OTHERS,
    may_be_roots: false,
    elsewhere: "set PLAYBOOK_STATE_DIR to a folder of your own",
};
const SETTINGS: Ours = Ours {
    name: "settings",
    forbidden: WRITE_BY_ALL,
    may_be_roots: true,
    elsewhere: "set PLAYBOOK_CONFIG_DIR to a folder of your own",
};

/// A folder or file that others could have written, so that it is not used.
#[derive(Debug, thiserror::Error)]
#[error("could not use {what}: {path}: {why}")]
pub struct Breach {
    what: &'static str,
    path: PathBuf,
    why: String,
    pub hint: &'static str,
}

/// Checks that only this user can have written the state folder, the spool and the settings.
pub fn check(paths: &Paths) -> Result<(), Breach> {
    for path in [paths.state().to_owned(), paths.spool()] {
        guard(&STATE, path)?;
    }
    check_settings(paths)
}

pub fn check_settings(paths: &Paths) -> Result<(), Breach> {
    let config = paths.config_file();
    let folder = config.parent().map(Path::to_owned);
    for path in folder.into_iter().chain([config]) {
        guard(&SETTINGS, path)?;
    }
    Ok(())
}

/// Covers the record, its project's folder and the folder of all projects.
///
/// We create each of them private, so the check is valid even if the state folder is open.
pub fn check_trust_record(record: &Path) -> Result<(), FsError> {
    for path in record.ancestors().take(3) {
        guard(&STATE, path.to_owned())
            .map_err(|breach| std::io::Error::other(breach.why))
            .context("read trust record", path)?;
    }
    Ok(())
}

/// Checks that only this user can have written the file, and that no symlink leads to it.
pub fn check_prepared(file: &Path) -> Result<(), FsError> {
    for path in file.ancestors().take(3) {
        let Ok(about) = fs::symlink_metadata(path) else {
            continue;
        };
        let why = if about.is_symlink() {
            "it is a symlink".to_owned()
        } else {
            match guarded(&STATE, path.to_owned(), &about) {
                Ok(()) => continue,
                Err(breach) => breach.why,
            }
        };
        return Err(std::io::Error::other(why)).context("use", path);
    }
    Ok(())
}

fn guard(ours: &Ours, path: PathBuf) -> Result<(), Breach> {
    match fs::metadata(&path) {
        Ok(about) => guarded(ours, path, &about),
        Err(_) => Ok(()),
    }
}

fn guarded(ours: &Ours, path: PathBuf, about: &Metadata) -> Result<(), Breach> {
    let (owner, mode) = (about.uid(), permissions(about));
    let is_roots = ours.may_be_roots && owner == 0;
    let (why, hint) = if owner != rustix::process::geteuid().as_raw() && !is_roots {
        let why = format!("it belongs to another user (uid {owner})");
        (why, ours.elsewhere)
    } else if mode & ours.forbidden != 0 {
        let why = format!("others may write there (mode {mode:o})");
        (
            why,
            "look what is in it; then `chmod -R go-rwx` that folder",
        )
    } else {
        return Ok(());
    };
    let what = ours.name;
    Err(Breach {
        what,
        path,
        why,
        hint,
    })
}

/// Makes the state folder and the spool private if others have access.
pub fn close(paths: &Paths) -> Result<(), FsError> {
    for path in [paths.state().to_owned(), paths.spool()] {
        if fs::metadata(&path).is_ok_and(|about| permissions(&about) & OTHERS != 0) {
            fsx::make_private(&path)?;
        }
    }
    Ok(())
}

/// Makes a record rewritable. Another user's files stay, and stay refused.
pub fn close_trust_record(record: &Path) -> Result<(), FsError> {
    for folder in record.ancestors().skip(1).take(2) {
        fsx::make_private(folder)?;
    }
    // A replacement would keep the file's mode, so it is removed first.
    fsx::remove(record)
}

fn permissions(about: &Metadata) -> u32 {
    about.permissions().mode() & 0o7777
}

/// Returns `true` for a path inside the client's transcripts folder, even before it is written.
pub fn is_clients(paths: &Paths, transcript: &Path) -> bool {
    if !transcript.is_absolute() || transcript.components().any(|c| c == Component::ParentDir) {
        return false;
    }
    // The usual case, without resolving the whole path.
    if is_plainly_in(transcript, &paths.client_projects()) {
        return true;
    }
    // The nearest existing folder; nothing below it can be a link.
    let real = transcript.ancestors().find_map(|above| {
        let real = above.canonicalize().ok()?;
        Some(match transcript.strip_prefix(above) {
            Ok(below) if below.as_os_str().is_empty() => real,
            Ok(below) => real.join(below),
            Err(_) => real,
        })
    });
    // `playbook demo` and `doctor` play a session of our own, in our own folder.
    let is_in = |real: &Path, folder: PathBuf| {
        let folder = folder.canonicalize().unwrap_or(folder);
        real.starts_with(&folder) && real != folder
    };
    real.is_some_and(|real| {
        is_in(&real, paths.client_projects()) || is_in(&real, paths.state().join(PLAYED))
    })
}

/// Expects a path without `..`. Refuses a link in between; a missing component is no link.
fn is_plainly_in(path: &Path, folder: &Path) -> bool {
    let below = path.ancestors().take_while(|above| *above != folder);
    path != folder && path.starts_with(folder) && !below.into_iter().any(Path::is_symlink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::fs::Permissions;

    #[rstest]
    #[case::state(&STATE, &[0o755, 0o700], &[0o777, 0o770, 0o1777, 0o702])]
    #[case::settings(&SETTINGS, &[0o775, 0o664], &[0o777, 0o666])]
    fn what_others_can_write_is_refused(
        #[case] ours: &Ours,
        #[case] used: &[u32],
        #[case] refused: &[u32],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let guarded = |mode: &u32| {
            fs::set_permissions(dir.path(), Permissions::from_mode(*mode)).unwrap();
            guard(ours, dir.path().to_owned())
        };
        assert!(used.iter().all(|mode| guarded(mode).is_ok()));
        for mode in refused {
            let breach = guarded(mode).unwrap_err();
            let told = format!("could not use {}: {}", ours.name, dir.path().display());
            assert!(breach.to_string().starts_with(&told) && breach.hint.contains("chmod"));
        }
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
    }
}
