//! Where our files are.

use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::env::{Env, name};

/// The name of our folder in the user's config and state folders.
const OUR_FOLDER: &str = "playbook";
/// The folder of the templates.
const TEMPLATES_FOLDER: &str = "templates";
/// The folder of the logs.
const LOG_FOLDER: &str = "log";
/// The folder of what is kept about projects.
const PROJECTS_FOLDER: &str = "projects";

/// The folders of one user, resolved once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    config: PathBuf,
    state: PathBuf,
    client: PathBuf,
    home: Option<PathBuf>,
}

/// No folder of the user's could be found.
#[derive(Debug, thiserror::Error)]
#[error("could not find a home folder: set HOME, or PLAYBOOK_CONFIG_DIR and PLAYBOOK_STATE_DIR")]
pub struct NoHome;

impl Paths {
    /// Finds the folders: our variables first, then the system's conventions.
    pub fn resolve(env: &Env) -> Result<Self, NoHome> {
        let config = env
            .path(name::CONFIG_DIR)
            .or_else(|| Some(dirs::config_dir()?.join(OUR_FOLDER)));
        let state = env.path(name::STATE_DIR).or_else(|| {
            let base = dirs::state_dir().or_else(dirs::data_local_dir)?;
            Some(base.join(OUR_FOLDER))
        });
        let home = dirs::home_dir();
        let client = env
            .path(name::CLAUDE_CONFIG_DIR)
            .or_else(|| Some(home.as_ref()?.join(".claude")));
        match (config, state) {
            (Some(config), Some(state)) => Ok(Self {
                client: client.unwrap_or_else(|| config.join("no-client")),
                config,
                state,
                home,
            }),
            _ => Err(NoHome),
        }
    }

    /// The user's home folder, which prompts show as `~`.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The settings.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// A file that the settings name: as it stands, or beside them.
    pub fn beside_config(&self, file: &Path) -> PathBuf {
        self.config.join(file)
    }

    /// A template of the user's; the built-in one serves where it is missing.
    pub fn template(&self, name: &str) -> PathBuf {
        self.config.join(TEMPLATES_FOLDER).join(name)
    }

    /// Our state folder.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Jobs that wait or are being worked on.
    pub fn spool(&self) -> PathBuf {
        self.state.join("spool")
    }

    /// Jobs that cannot go on by themselves.
    pub fn failed(&self) -> PathBuf {
        self.state.join("failed")
    }

    /// Marks of open sessions.
    pub fn open_sessions(&self) -> PathBuf {
        self.state.join("open")
    }

    /// A log file.
    pub fn log(&self, name: &str) -> PathBuf {
        self.state.join(LOG_FOLDER).join(name)
    }

    /// The database: cursors, record hashes, history, reflections.
    pub fn memory_db(&self) -> PathBuf {
        self.state.join("memory.db")
    }

    /// What hooks must know beyond their own job; the worker writes it.
    pub fn status(&self) -> PathBuf {
        self.state.join("status.json")
    }

    /// Backends that failed, and until when no job tries them.
    pub fn parked(&self) -> PathBuf {
        self.state.join("parked.json")
    }

    /// What the user asks of jobs; the worker carries it out.
    pub fn requests(&self) -> PathBuf {
        self.state.join("requests")
    }

    /// The jobs that the worker has in hand.
    pub fn at_work(&self) -> PathBuf {
        self.state.join("at-work.json")
    }

    /// When the user was last told what.
    pub fn told(&self) -> PathBuf {
        self.state.join("told")
    }

    /// The lock of the one worker.
    pub fn worker_lock(&self) -> PathBuf {
        self.state.join("worker.lock")
    }

    /// The lock of the one worker of environment `hash` that waits for its turn.
    pub fn waiting_lock(&self, hash: &str) -> PathBuf {
        self.state.join(format!("worker-{hash}.lock"))
    }

    /// Random bytes that make hashes of keys useless to others.
    pub fn salt(&self) -> PathBuf {
        self.state.join("salt")
    }

    /// All that we keep in the state folder under a name of its own.
    pub fn all_state(&self) -> Vec<PathBuf> {
        let log = self.state.join(LOG_FOLDER);
        let projects = self.state.join(PROJECTS_FOLDER);
        vec![
            self.spool(),
            self.failed(),
            self.open_sessions(),
            log,
            self.memory_db(),
            self.status(),
            self.parked(),
            self.requests(),
            self.at_work(),
            self.told(),
            self.worker_lock(),
            self.salt(),
            self.registrations(),
            self.shown(),
            self.to_screen(),
            projects,
        ]
    }

    /// All that we keep in the config folder.
    pub fn all_config(&self) -> Vec<PathBuf> {
        vec![self.config_file(), self.config.join(TEMPLATES_FOLDER)]
    }

    /// What we keep about one project outside of it.
    pub fn project(&self, project: &Path) -> PathBuf {
        self.state
            .join(PROJECTS_FOLDER)
            .join(name_of(project.as_os_str().as_encoded_bytes()))
    }

    /// What hooks know of what was learned in a project; the worker writes it.
    pub fn memory_index(&self, project: &Path) -> PathBuf {
        self.project(project).join("memory.index")
    }

    /// What each session was shown of what was learned.
    pub fn shown(&self) -> PathBuf {
        self.state.join("shown")
    }

    /// What `playbook install` changed in the client's settings, and what they were before.
    pub fn registrations(&self) -> PathBuf {
        self.state.join("settings")
    }

    /// Whether a project is trusted, and which of its key points are known.
    pub fn trust_record(&self, project: &Path) -> PathBuf {
        self.project(project).join("trust")
    }

    /// Projects whose key points the worker is to screen.
    pub fn to_screen(&self) -> PathBuf {
        self.state.join("screen")
    }

    /// The client's settings.
    pub fn client_settings(&self) -> PathBuf {
        self.client.join("settings.json")
    }

    /// Where the client keeps its transcripts.
    pub fn client_projects(&self) -> PathBuf {
        self.client.join("projects")
    }

    /// The client's configuration folder.
    pub fn client(&self) -> &Path {
        &self.client
    }
}

/// The playbook of a project.
pub fn playbook_file(project: &Path) -> PathBuf {
    project.join(".claude").join("playbook.json")
}

/// The settings a project may set for itself.
pub fn project_config_file(project: &Path) -> PathBuf {
    project.join(".claude").join("playbook.toml")
}

/// A file name for bytes from outside: the first 16 hex digits of their SHA-256.
pub fn name_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes)[..8])
}

/// Lower-case hex digits of `bytes`.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_variables_decide_where_files_are() {
        let env = Env::from_pairs([
            (name::CONFIG_DIR, "/c"),
            (name::STATE_DIR, "/s"),
            (name::CLAUDE_CONFIG_DIR, "/cl"),
        ]);
        let paths = Paths::resolve(&env).unwrap();
        assert_eq!(paths.config_file(), Path::new("/c/config.toml"));
        assert_eq!(paths.spool(), Path::new("/s/spool"));
        assert_eq!(paths.client_settings(), Path::new("/cl/settings.json"));
    }

    #[test]
    fn a_name_from_outside_never_holds_a_path() {
        assert_eq!(name_of(b"../../etc/passwd").len(), 16);
        assert!(name_of(b"../x").bytes().all(|b| b.is_ascii_hexdigit()));
    }
}
