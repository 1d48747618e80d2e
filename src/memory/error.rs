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
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest schema version this program knows.
        known: i64,
    },
    /// The file is a database of another program; it is left as it is.
    #[error("could not open memory: {}: a database of another program", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// The file is no database, or a damaged one; it is left as it is.
    #[error("could not {action}: {}: damaged database: {source}", path.display())]
    Damaged {
        /// What was tried: `record job`.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// `SQLite`'s reason.
        source: rusqlite::Error,
    },
    /// Anything else: locked for too long, disk full, not writable, an I/O error.
    #[error("could not {action}: {}: {source}", path.display())]
    Database {
        /// What was tried: `record job`.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// `SQLite`'s reason.
        source: rusqlite::Error,
    },
}

impl MemoryError {
    /// Names the action and the path of `SQLite`'s error.
    pub(crate) fn new(action: &'static str, path: &Path, source: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                action,
                path,
                source,
            },
            _ => Self::Database {
                action,
                path,
                source,
            },
        }
    }

    /// Tells whether waiting may help: a lock, a full disk, a failed read or write.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::File(_) => true,
            Self::Newer { .. } | Self::Foreign { .. } | Self::Damaged { .. } => false,
            Self::Database { source, .. } => matches!(
                source.sqlite_error_code(),
                Some(
                    ErrorCode::DatabaseBusy
                        | ErrorCode::DatabaseLocked
                        | ErrorCode::DiskFull
                        | ErrorCode::SystemIoFailure
                        | ErrorCode::CannotOpen
                        | ErrorCode::ReadOnly
                        | ErrorCode::PermissionDenied
                        | ErrorCode::OutOfMemory
                )
            ),
        }
    }

    /// Returns what the user can do, for a `hint:` line; `None` when time mends it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::File(_) | Self::Database { .. } => None,
            Self::Newer { .. } => Some("update playbook; the file was left as it is".to_owned()),
            Self::Foreign { path } => Some(format!(
                "move {} away, or set PLAYBOOK_STATE_DIR to another folder",
                path.display()
            )),
            Self::Damaged { path, .. } => Some(format!(
                "the file was left as it is; `sqlite3 {0} .recover` may save its content, \
                 or move {0}, {0}-wal and {0}-shm away together to begin anew: the history \
                 so far and the places reached in transcripts are then forgotten, the \
                 playbooks stay",
                path.display()
            )),
        }
    }
}
