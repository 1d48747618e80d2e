//! The paths of our files.

use std::path::{Path, PathBuf};

use crate::digest::name_of;
use crate::env::{Env, name};
pub use crate::no_folders::NoFolders;
use crate::tenant::Tenant;

/// A template of the user has the same name.
pub const PLAYBOOK_TEMPLATE: &str = "playbook.txt";

const OUR_FOLDER: &str = "playbook";
const PLAYBOOK_FILE: &str = "playbook.json";
const MEMORY_FILE: &str = "memory.db";
pub const PLACE_FILE: &str = "place.json";

const SHOWN_POINTS_FOLDER: &str = "shown";

/// The folder of the client's settings that the machine's administrator manages.
pub(crate) const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else {
    "/etc/claude-code"
};

const GATE_FOLDER: &str = "gate";

pub const SNAPSHOTS_FOLDER: &str = "snapshots";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    config: PathBuf,
    state: PathBuf,
    client: PathBuf,
    home: Option<PathBuf>,
}

impl Paths {
    /// Finds absolute folders, since hooks, worker and commands run in different ones.
    pub fn resolve(env: &Env) -> Result<Self, NoFolders> {
        let home = dirs::home_dir();
        let ours = |base: Option<PathBuf>| Some(base?.join(OUR_FOLDER));
        let config = find(env, name::CONFIG_DIR, || ours(dirs::config_dir()))?;
        let state = find(env, name::STATE_DIR, || ours(state_base()))?;
        let client = find(env, name::CLAUDE_CONFIG_DIR, || {
            Some(home.as_ref()?.join(".claude"))
        })?;
        let (Some(config), Some(state)) = (config, state) else {
            return Err(NoFolders::Home);
        };
        if client
            .as_ref()
            .is_some_and(|client| client.starts_with(&state))
        {
            return Err(NoFolders::Clients(state));
        }
        Ok(Self {
            client: client.unwrap_or_else(|| config.join("no-client")),
            config,
            state,
            home,
        })
    }

    /// Returns the folder that prompts show as `~`.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Returns the settings folder, which is also the project of the user's own playbook.
    pub fn own(&self) -> &Path {
        &self.config
    }

    pub fn playbook_file(&self, project: &Path) -> PathBuf {
        let in_project = playbook_file(project);
        let own = project.join(PLAYBOOK_FILE);
        if project == self.own() {
            own
        } else {
            in_project
        }
    }

    /// Resolves a file that the settings name: a relative path starts at their folder.
    pub fn beside_config(&self, file: &Path) -> PathBuf {
        self.config.join(file)
    }

    /// The built-in template replaces a missing one.
    pub fn template(&self, name: &str) -> PathBuf {
        self.templates().join(name)
    }

    pub fn state(&self) -> &Path {
        &self.state
    }

    pub fn log(&self, name: &str) -> PathBuf {
        self.logs().join(name)
    }

    /// Returns the lock of the one worker for environment `hash` that waits for its turn.
    pub fn waiting_lock(&self, hash: &str) -> PathBuf {
        self.state.join(format!("worker-{hash}.lock"))
    }

    pub fn templates(&self) -> PathBuf {
        self.config.join("templates")
    }

    pub fn project(&self, project: &Path) -> PathBuf {
        self.projects()
            .join(name_of(project.as_os_str().as_encoded_bytes()))
    }

    pub fn all_shown_points(&self) -> impl Iterator<Item = PathBuf> {
        self.in_all_projects(SHOWN_POINTS_FOLDER)
    }

    pub fn all_gates(&self) -> impl Iterator<Item = PathBuf> {
        self.in_all_projects(GATE_FOLDER)
    }

    fn in_all_projects(&self, folder: &'static str) -> impl Iterator<Item = PathBuf> {
        let projects = std::fs::read_dir(self.projects());
        let projects = projects.into_iter().flatten().flatten();
        projects.map(move |project| project.path().join(folder))
    }

    pub fn client_settings(&self) -> PathBuf {
        self.client.join("settings.json")
    }

    /// Returns the files in ascending precedence.
    pub fn managed_settings(folder: &Path) -> Vec<PathBuf> {
        let more = std::fs::read_dir(folder.join("managed-settings.d"));
        let more = more.into_iter().flatten().flatten().map(|more| more.path());
        let mut more: Vec<_> = more
            .filter(|file| file.extension() == Some("json".as_ref()))
            .collect();
        more.sort();
        more.insert(0, folder.join("managed-settings.json"));
        more
    }

    pub fn memory_of(&self, tenant: &Tenant) -> PathBuf {
        match tenant.folder() {
            None => self.memory_db(),
            Some(folder) => self.tenants().join(folder).join(MEMORY_FILE),
        }
    }

    pub fn client_projects(&self) -> PathBuf {
        self.client.join("projects")
    }

    pub fn client(&self) -> &Path {
        &self.client
    }
}

/// Defines a function for each name in the state folder, and one that lists them.
macro_rules! in_state {
    ($all:ident: $($(#[$doc:meta])* $name:ident = $file:expr;)+) => {
        impl Paths {
            $($(#[$doc])* pub fn $name(&self) -> PathBuf {
                self.state.join($file)
            })+

            pub fn $all(&self) -> Vec<PathBuf> {
                vec![$(self.$name()),+]
            }
        }
    };
}

in_state! { state_files:
    /// The database: cursors, record hashes, history, reflections.
    memory_db = MEMORY_FILE;
    /// The worker's state that hooks need; the worker writes it.
    status = "status.json";
    /// Backends that failed, and the time until which they are not tried.
    parked = "parked.json";
    /// The jobs that a worker has started and not finished.
    at_work = "at-work.json";
    /// The lock of the one worker at work, with its holder.
    worker_lock = "worker.lock";
    /// The result of the last attempt to write to the database of `memory.url`.
    sending = "sending.json";
    sending_lock = "sending.lock";
    /// The tokens of `playbook server`, hashed.
    server_tokens = "server-tokens.json";
    /// Random bytes that make hashes of keys useless to others.
    salt = "salt";
}

/// Defines a function for each name in the folder of a project.
macro_rules! in_project {
    ($($(#[$doc:meta])* $name:ident = $file:expr;)+) => {
        impl Paths {
            $($(#[$doc])* pub fn $name(&self, project: &Path) -> PathBuf {
                self.project(project).join($file)
            })+
        }
    };
}

in_project! {
    /// The key points that each session of a project was shown.
    shown_points = SHOWN_POINTS_FOLDER;
    gate = GATE_FOLDER;
    /// The corrections of errors that occurred in a project before; the worker writes them.
    corrections = "corrections.json";
    /// The trust in a project, and its known key points.
    trust_record = "trust";
    /// The project's path, now and before.
    place = PLACE_FILE;
    /// The names in its key points that the files have, and those that are gone.
    freshness = "freshness.json";
    /// The votes of a project from before the memory had them.
    votes = "votes.json";
    /// The results of its key points in the sessions that were shown them.
    usage = "usage.json";
    /// The news for the user at the next start: recently learned items.
    learned_news = "learned.json";
    prepared_context = "context.json";
    prepared_settings = "settings.json";
    snapshots = SNAPSHOTS_FOLDER;
}

// Other programs may use these folder names: only files with our names in them are ours.
in_state! { state_folders:
    spool = "spool";
    /// The jobs that failed permanently, until the user retries them.
    failed = "failed";
    open_sessions = "open";
    logs = "log";
    /// The user's requests, which the worker executes.
    requests = "requests";
    /// The times at which the user was last shown each notice.
    told = "told";
    /// The changes by `playbook install` to the client's settings, with the former values.
    registrations = "settings";
    /// The records of learned items that each session was shown.
    shown = "shown";
    /// Projects whose key points the worker still has to screen.
    to_screen = "screen";
    projects = "projects";
    tenants = "tenants";
}

fn state_base() -> Option<PathBuf> {
    // macOS has no such folder, and `dirs` returns none there.
    if cfg!(target_os = "macos") {
        dirs::config_dir()
    } else {
        dirs::state_dir()
    }
}

fn find(
    env: &Env,
    name: &'static str,
    usual: impl FnOnce() -> Option<PathBuf>,
) -> Result<Option<PathBuf>, NoFolders> {
    let (name, path) = match env.path(name) {
        Some(path) => (name, Some(path)),
        None => (name::HOME, usual()),
    };
    match path {
        Some(path) if !path.is_absolute() => Err(NoFolders::Relative { name, path }),
        path => Ok(path),
    }
}

/// Returns a project's playbook; [`Paths::playbook_file`] also handles the user's own.
pub fn playbook_file(project: &Path) -> PathBuf {
    project.join(".claude").join(PLAYBOOK_FILE)
}

pub fn project_config_file(project: &Path) -> PathBuf {
    project.join(".claude").join("playbook.toml")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::state(name::STATE_DIR, "rel/state")]
    #[case::config(name::CONFIG_DIR, "./config")]
    #[case::client(name::CLAUDE_CONFIG_DIR, "cc")]
    #[case::dots(name::STATE_DIR, "..")]
    fn a_relative_folder_is_refused_by_its_variable(#[case] variable: &str, #[case] folder: &str) {
        let absolute = [name::CONFIG_DIR, name::STATE_DIR, name::CLAUDE_CONFIG_DIR];
        let pairs = absolute.map(|name| (name, format!("/{name}")));
        let env = Env::from_pairs(pairs.into_iter().chain([(variable, folder.to_owned())]));
        let error = Paths::resolve(&env).unwrap_err().to_string();
        assert!(
            error.contains(variable) && error.contains(folder),
            "{error}"
        );
    }

    #[rstest]
    #[case::the_same("/h/.claude", true)]
    #[case::above("/h", true)]
    #[case::below("/h/.claude/state", false)]
    #[case::beside("/h/.claude-state", false)]
    fn the_clients_folder_is_no_state_folder(#[case] state: &str, #[case] refused: bool) {
        let env = Env::from_pairs([
            (name::CONFIG_DIR, "/h/.claude"),
            (name::STATE_DIR, state),
            (name::CLAUDE_CONFIG_DIR, "/h/.claude"),
        ]);
        let paths = Paths::resolve(&env);
        assert_eq!(matches!(paths, Err(NoFolders::Clients(_))), refused);
    }
}
