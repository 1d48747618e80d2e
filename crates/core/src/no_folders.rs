//! Why there is no place for our files.

use std::path::PathBuf;

/// Why folders cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NoFolders {
    /// None could be found.
    #[error(
        "could not find a home folder: set HOME, or PLAYBOOK_CONFIG_DIR and PLAYBOOK_STATE_DIR"
    )]
    Home,
    /// One would be another folder in each project, and for the worker.
    #[error("could not use {name}: {path}: not an absolute path")]
    Relative {
        /// The variable that names it.
        name: &'static str,
        path: PathBuf,
    },
    /// The state folder is the client's or holds it: files would get mixed up.
    #[error("could not use state folder: {0}: Claude Code keeps its files there")]
    Clients(PathBuf),
}

impl NoFolders {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Home => "for example: PLAYBOOK_STATE_DIR=/var/lib/me/playbook",
            Self::Relative { .. } => "give the whole path, from `/` on, or unset it",
            Self::Clients(_) => "set PLAYBOOK_STATE_DIR to a folder of its own, or unset it",
        }
    }
}
