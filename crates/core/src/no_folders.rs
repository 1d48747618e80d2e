//! Why there is no place for our files.

use std::fmt;
use std::path::PathBuf;

/// Why folders cannot be used.
#[derive(Debug)]
pub enum NoFolders {
    /// None could be found.
    Home,
    /// One would be another folder in each project, and for the worker.
    Relative {
        /// The variable that names it.
        name: &'static str,
        /// The folder.
        path: PathBuf,
    },
    /// The state folder is the client's or holds it: files would get mixed up.
    Clients(PathBuf),
}

impl fmt::Display for NoFolders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Home => f.write_str(
                "could not find a home folder: set HOME, or PLAYBOOK_CONFIG_DIR and \
                 PLAYBOOK_STATE_DIR",
            ),
            Self::Relative { name, path } => {
                write!(
                    f,
                    "could not use {name}: {}: not an absolute path",
                    path.display()
                )
            }
            Self::Clients(state) => {
                let state = state.display();
                write!(
                    f,
                    "could not use state folder: {state}: Claude Code keeps its files there"
                )
            }
        }
    }
}

impl std::error::Error for NoFolders {}

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
