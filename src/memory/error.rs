//! What can go wrong with the memory, and what the user can do about it.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::fsx::FsError;

/// A failed operation on the memory, told apart by what the caller should do.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The file or its folder could not be made or looked at.
    #[error(transparent)]
    File(#[from] FsError),
    /// The file was written by a newer version of Playbook; it is left as it is.
    #[error(
        "could not open memory: {}: written by a newer version (schema {found}, this one knows {known})",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    /// The file was written by a version that is too old.
    #[error(
        "could not open memory: {}: written by an older version (schema {found}, this one knows {known})",
        path.display()
    )]
    Older {
        path: PathBuf,
        found: i64,
        known: i64,
    },
    /// The file is a database of another program; it is left as it is.
    #[error("could not open memory: {}: a database of another program", path.display())]
    Foreign { path: PathBuf },
    /// The file is no database, or a damaged one.
    #[error("could not {}: {}: damaged database: {}", .0.action, .0.path.display(), .0.source)]
    Damaged(Failed),
    /// Anything else: locked for too long, disk full, not writable, an I/O error.
    #[error("could not {}: {}: {}", .0.action, .0.path.display(), .0.source)]
    Database(Failed),
}

/// What was tried (`record job`) on which file, and `SQLite`'s reason.
#[derive(Debug)]
pub struct Failed {
    action: &'static str,
    path: PathBuf,
    source: rusqlite::Error,
}

impl MemoryError {
    pub(crate) fn new(action: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        use ErrorCode::{DatabaseCorrupt, NotADatabase};
        let is_damaged = matches!(
            source.sqlite_error_code(),
            Some(DatabaseCorrupt | NotADatabase)
        );
        let failed = Failed {
            action,
            path: path.to_owned(),
            source,
        };
        if is_damaged {
            Self::Damaged(failed)
        } else {
            Self::Database(failed)
        }
    }

    /// Tells whether the connection that met this is of no use any more.
    pub(super) fn breaks_connection(&self) -> bool {
        let failed = match self {
            Self::Damaged(_) => return true,
            Self::Database(failed) => failed,
            _ => return false,
        };
        failed.source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
    }

    /// Returns what the user can do, for a `hint:` line; `None` when time mends it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(_) | Self::Database(_) => None,
            Self::Newer { .. } => Some("update playbook; the file was left as it is".to_owned()),
            Self::Foreign { path } => Some(format!(
                "move {} away, or set PLAYBOOK_STATE_DIR to another folder",
                path.display()
            )),
            Self::Older { .. } => Some(BEGIN_ANEW.to_owned()),
            Self::Damaged(Failed { path, .. }) => Some(format!(
                "`sqlite3 {} .recover` may save its content; {BEGIN_ANEW}",
                path.display()
            )),
        }
    }

    /// Returns `true` where no later try can read the file: it is damaged or too old.
    pub(super) fn is_of_the_file(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Older { .. })
    }
}

const BEGIN_ANEW: &str = "`playbook worker` renames it and begins with an empty one; the \
    playbooks stay, and what counted does not count again";
