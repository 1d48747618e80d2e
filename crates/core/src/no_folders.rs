use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum NoFolders {
    #[error(
        "could not find a home folder: set HOME, or PLAYBOOK_CONFIG_DIR and PLAYBOOK_STATE_DIR"
    )]
    Home,
    /// A relative path would differ between projects, and for the worker.
    #[error("could not use {name}: {path}: not an absolute path")]
    Relative { name: &'static str, path: PathBuf },
    /// The state folder is or contains the client's: files would get mixed up.
    #[error("could not use state folder: {0}: Claude Code keeps its files there")]
    Clients(PathBuf),
}

impl NoFolders {
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Home => "for example: PLAYBOOK_STATE_DIR=/var/lib/me/playbook",
            Self::Relative { .. } => "give the whole path, from `/` on, or unset it",
            Self::Clients(_) => "set PLAYBOOK_STATE_DIR to a folder of its own, or unset it",
        }
    }
}
