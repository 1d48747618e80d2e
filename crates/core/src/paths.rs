//! Where our files are.

use std::path::{Path, PathBuf};

use crate::digest::name_of;
use crate::env::{Env, name};
pub use crate::no_folders::NoFolders;
use crate::tenant::Tenant;

/// The template of what a session is given; the user's own is looked for under this name.
pub const PLAYBOOK_TEMPLATE: &str = "playbook.txt";

const OUR_FOLDER: &str = "playbook";
const PLAYBOOK_FILE: &str = "playbook.json";
const MEMORY_FILE: &str = "memory.db";
/// The file that says where a project is, in its folder of the state.
pub const PLACE_FILE: &str = "place.json";

/// The folder, in a project's own, of what its sessions were shown of the playbook.
const SHOWN_POINTS_FOLDER: &str = "shown";

/// The folder of the client's settings that the owner of the machine makes.
const MANAGED: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/ClaudeCode"
} else {
    "/etc/claude-code"
};

/// The folder, in a project's own, of what the gate said in its sessions.
const GATE_FOLDER: &str = "gate";

/// The name of the folder with a project's earlier playbooks.
pub const SNAPSHOTS_FOLDER: &str = "snapshots";

/// The folders of one user, resolved once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    config: PathBuf,
    state: PathBuf,
    client: PathBuf,
    home: Option<PathBuf>,
}

impl Paths {
    /// Finds the folders: our variables first, then the system's conventions.
    ///
    /// All of them are absolute: hooks, worker and commands run in different folders.
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

    /// The user's home folder, which prompts show as `~`.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The user's settings.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The folder of the settings, which also is the project of the user's own playbook.
    pub fn own(&self) -> &Path {
        &self.config
    }

    /// The playbook of a project, or the user's own.
    pub fn playbook_file(&self, project: &Path) -> PathBuf {
        let in_project = playbook_file(project);
        let own = project.join(PLAYBOOK_FILE);
        if project == self.own() {
            own
        } else {
            in_project
        }
    }

    /// A file that the settings name: as it stands, or beside them.
    pub fn beside_config(&self, file: &Path) -> PathBuf {
        self.config.join(file)
    }

    /// A template of the user's; the built-in one serves where it is missing.
    pub fn template(&self, name: &str) -> PathBuf {
        self.templates().join(name)
    }

    pub fn state(&self) -> &Path {
        &self.state
    }

    pub fn log(&self, name: &str) -> PathBuf {
        self.logs().join(name)
    }

    /// The lock of the one worker of environment `hash` that waits for its turn.
    pub fn waiting_lock(&self, hash: &str) -> PathBuf {
        self.state.join(format!("worker-{hash}.lock"))
    }

    /// The folder of the user's own templates.
    pub fn templates(&self) -> PathBuf {
        self.config.join("templates")
    }

    /// The folder in the state for what belongs to one project.
    pub fn project(&self, project: &Path) -> PathBuf {
        self.projects()
            .join(name_of(project.as_os_str().as_encoded_bytes()))
    }

    /// The folders of [`Paths::shown_points`] of all projects.
    pub fn all_shown_points(&self) -> impl Iterator<Item = PathBuf> {
        self.in_all_projects(SHOWN_POINTS_FOLDER)
    }

    /// The folders of [`Paths::gate`] of all projects.
    pub fn all_gates(&self) -> impl Iterator<Item = PathBuf> {
        self.in_all_projects(GATE_FOLDER)
    }

    fn in_all_projects(&self, folder: &'static str) -> impl Iterator<Item = PathBuf> {
        let projects = std::fs::read_dir(self.projects());
        let projects = projects.into_iter().flatten().flatten();
        projects.map(move |project| project.path().join(folder))
    }

    /// The client's settings of this user.
    pub fn client_settings(&self) -> PathBuf {
        self.client.join("settings.json")
    }

    /// The client's settings that the owner of the machine makes, the strongest last.
    pub fn managed_settings() -> Vec<PathBuf> {
        let more = std::fs::read_dir(Path::new(MANAGED).join("managed-settings.d"));
        let more = more.into_iter().flatten().flatten().map(|more| more.path());
        let mut more: Vec<_> = more
            .filter(|file| file.extension() == Some("json".as_ref()))
            .collect();
        more.sort();
        more.insert(0, Path::new(MANAGED).join("managed-settings.json"));
        more
    }

    pub fn memory_of(&self, tenant: &Tenant) -> PathBuf {
        match tenant.folder() {
            None => self.memory_db(),
            Some(folder) => self.tenants().join(folder).join(MEMORY_FILE),
        }
    }

    /// The folder of the client's transcripts.
    pub fn client_projects(&self) -> PathBuf {
        self.client.join("projects")
    }

    /// The client's configuration folder.
    pub fn client(&self) -> &Path {
        &self.client
    }
}

/// Gives each name in the state folder its function, and lists them.
macro_rules! in_state {
    ($all:ident: $($(#[$doc:meta])* $name:ident = $file:expr;)+) => {
        impl Paths {
            $($(#[$doc])* pub fn $name(&self) -> PathBuf {
                self.state.join($file)
            })+

            /// Every path of this list.
            pub fn $all(&self) -> Vec<PathBuf> {
                vec![$(self.$name()),+]
            }
        }
    };
}

in_state! { state_files:
    /// The database: cursors, record hashes, history, reflections.
    memory_db = MEMORY_FILE;
    /// What hooks must know beyond their own job; the worker writes it.
    status = "status.json";
    /// Backends that failed, and until when no job tries them.
    parked = "parked.json";
    /// The jobs that a worker has begun and not ended.
    at_work = "at-work.json";
    /// The lock of the one worker at work, and who holds it.
    worker_lock = "worker.lock";
    /// How the last exchange with the shared log went.
    sync_standing = "sync.json";
    /// The lock of the one exchange at a time.
    sync_lock = "sync.lock";
    /// The tokens of `playbook server`, hashed.
    server_tokens = "server-tokens.json";
    /// Random bytes that make hashes of keys useless to others.
    salt = "salt";
}

/// Gives each name in the folder of a project its function.
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
    /// Which key points each session of a project was shown.
    shown_points = SHOWN_POINTS_FOLDER;
    /// What the gate said in each session of a project.
    gate = GATE_FOLDER;
    /// The corrections of errors that struck in a project before; the worker writes them.
    corrections = "corrections.json";
    /// Whether a project is trusted, and which of its key points are known.
    trust_record = "trust";
    /// Where the project is, and where it was before.
    place = PLACE_FILE;
    /// What was seen of the names in its key points, and what of it is gone.
    freshness = "freshness.json";
    /// The votes of a project before the memory had them.
    votes = "votes.json";
    /// How its key points did in the sessions that were shown them.
    usage = "usage.json";
    /// What the user is told of it at the next start: what was learned lately.
    learned_news = "learned.json";
    /// What the next start of a session is given.
    prepared_context = "context.json";
    /// What hooks need of the settings.
    prepared_settings = "settings.json";
    /// What a project's playbook was before.
    snapshots = SNAPSHOTS_FOLDER;
}

// Others may have folders of these names: ours is what has a name of ours in them.
in_state! { state_folders:
    /// The jobs that wait.
    spool = "spool";
    /// The jobs that failed for good, until the user retries them.
    failed = "failed";
    /// The sessions that have begun and not ended.
    open_sessions = "open";
    /// The logs of the hooks, the worker and the commands.
    logs = "log";
    /// What the user asks of jobs; the worker carries it out.
    requests = "requests";
    /// When the user was last told what.
    told = "told";
    /// What `playbook install` changed in the client's settings, and what they were before.
    registrations = "settings";
    /// What each session was shown of what was learned.
    shown = "shown";
    /// Projects whose key points the worker is to screen.
    to_screen = "screen";
    /// What belongs to single projects.
    projects = "projects";
    /// What is remembered of other tenants than the user.
    tenants = "tenants";
}

/// Returns the folder in which the system keeps the state of programs.
fn state_base() -> Option<PathBuf> {
    // macOS has no such folder, and `dirs` names none there.
    if cfg!(target_os = "macos") {
        dirs::config_dir()
    } else {
        dirs::state_dir()
    }
}

/// The folder that the variable `name` names, else the usual one; never a relative one.
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

/// A project's playbook; [`Paths::playbook_file`] knows the user's own, too.
pub fn playbook_file(project: &Path) -> PathBuf {
    project.join(".claude").join(PLAYBOOK_FILE)
}

/// A project's own settings.
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
