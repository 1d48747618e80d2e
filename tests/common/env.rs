//! A separate user for each test: HOME, settings, state and project in one temporary folder, a
//! cleared environment and a stopped clock.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::hook::AGENT;
pub(crate) use super::hook::Hook;
use super::programs;
use super::run::{Output, Running, Stdin};
use super::session::Session;

pub(crate) const NOW: &str = "2026-11-21T12:00:00Z";

/// The environment of one test. Dropping it ends the processes that it started.
pub(crate) struct TestEnv {
    root: TempDir,
    bin: PathBuf,
    vars: BTreeMap<OsString, OsString>,
}

impl TestEnv {
    /// Creates an environment in which hooks start the worker, as a user has it.
    pub(crate) fn new() -> Self {
        Self::with_binaries(programs::folder())
    }

    pub(crate) fn with_binaries(bin: &Path) -> Self {
        Self::rooted(bin, &std::env::temp_dir())
    }

    /// Creates an environment in which jobs stay in the spool until [`TestEnv::worker`] is called.
    pub(crate) fn without_worker() -> Self {
        let mut env = Self::new();
        env.set("PLAYBOOK_NO_WORKER", "1");
        env
    }

    /// Creates an environment in memory if the system has `/dev/shm`, for tests that write very
    /// often.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let mut env = if memory.is_dir() {
            Self::rooted(programs::folder(), memory)
        } else {
            Self::new()
        };
        env.set("PLAYBOOK_NO_WORKER", "1");
        env
    }

    fn rooted(bin: &Path, folder: &Path) -> Self {
        let root = tempfile::Builder::new()
            .prefix("playbook-test-")
            .tempdir_in(folder)
            .expect("a temporary folder");
        let mut env = Self {
            root,
            bin: bin.to_owned(),
            vars: BTreeMap::new(),
        };
        for folder in [env.home(), env.project(), env.root().join("tmp")] {
            fs::create_dir_all(folder).expect("a folder");
        }
        env.set("HOME", env.home());
        env.set("TMPDIR", env.root().join("tmp"));
        env.set("PATH", "/usr/bin:/bin");
        env.set("LC_ALL", "C.UTF-8");
        env.set("PLAYBOOK_CONFIG_DIR", env.config_dir());
        env.set("PLAYBOOK_STATE_DIR", env.state());
        env.set("PLAYBOOK_NOW", NOW);
        env.set("CLAUDE_PROJECT_DIR", env.project());
        env
    }

    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.vars.insert(name.into(), value.as_ref().to_owned());
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.vars.remove(OsStr::new(name));
    }

    /// Switches to another project of the user's, with the same playbook.
    pub(crate) fn go_to_project(&mut self, name: &str) -> PathBuf {
        let other = self.root().join(name);
        if let Ok(playbook) = fs::read(self.playbook_path()) {
            write(&other.join(".claude/playbook.json"), playbook);
        }
        fs::create_dir_all(&other).expect("a folder");
        self.set("CLAUDE_PROJECT_DIR", &other);
        other
    }

    /// Points the `anthropic` backend at a loopback server, with quick retries.
    pub(crate) fn use_api(&mut self, base_url: &str, key: &str) {
        self.set("AGENTIC_CONTEXT_BASE_URL", base_url);
        self.set("AGENTIC_CONTEXT_API_KEY", key);
        self.write_config("[retry]\nbase_ms = 1\n");
    }

    /// Copies this hook to a folder without the program `playbook`.
    pub(crate) fn take_program_away(&mut self, hook: Hook) {
        let alone = self.root().join("alone");
        fs::create_dir_all(&alone).expect("a folder");
        let (from, to) = (self.bin.join(hook.name()), alone.join(hook.name()));
        // A symlink would lead back to the program.
        if fs::hard_link(&from, &to).is_err() {
            fs::copy(&from, &to).expect("a copy");
        }
        self.bin = alone;
    }

    /// Returns the folder in which install.sh puts the programs.
    pub(crate) fn installed_bin(&self) -> PathBuf {
        self.home().join(".claude/playbook/bin")
    }

    pub(crate) fn project_state(&self) -> PathBuf {
        let projects = fs::read_dir(self.state().join("projects")).expect("a folder");
        let project = projects.flatten().next().expect("a project");
        project.path()
    }

    // -- places

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    pub(crate) fn config_dir(&self) -> PathBuf {
        self.root().join("config")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    pub(crate) fn playbook_path(&self) -> PathBuf {
        self.project().join(".claude/playbook.json")
    }

    pub(crate) fn transcript_path(&self, session: &str) -> PathBuf {
        let mangled: String = self
            .project()
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        self.home()
            .join(".claude/projects")
            .join(mangled)
            .join(format!("{session}.jsonl"))
    }

    pub(crate) fn agent_transcript_path(&self, session: &str) -> PathBuf {
        self.transcript_path(session)
            .with_extension("")
            .join(format!("subagents/agent-{AGENT}.jsonl"))
    }

    // -- files

    pub(crate) fn write_project(&self, name: &str, content: impl AsRef<[u8]>) {
        write(&self.project().join(name), content);
    }

    pub(crate) fn write_state(&self, name: &str, content: impl AsRef<[u8]>) {
        write(&self.state().join(name), content);
    }

    pub(crate) fn write_config(&self, text: &str) {
        write(&self.config_dir().join("config.toml"), text);
    }

    pub(crate) fn client_settings(&self) -> PathBuf {
        self.home().join(".claude/settings.json")
    }

    pub(crate) fn write_client_settings(&self, settings: &Value) {
        write(&self.client_settings(), settings.to_string());
    }

    pub(crate) fn write_playbook(&self, points: &[(impl AsRef<str>, impl AsRef<str>)]) {
        let mut sections = serde_json::Map::new();
        for (name, text) in points {
            let (name, text) = (name.as_ref(), text.as_ref());
            let point = json!({"name": name, "text": text, "helpful": 0, "harmful": 0});
            let section = sections.entry(section_of(name)).or_insert(json!([]));
            section.as_array_mut().expect("a list").push(point);
        }
        let playbook = json!({"version": "1.0", "last_updated": NOW, "sections": sections});
        let text = serde_json::to_string_pretty(&playbook).expect("JSON");
        write(&self.playbook_path(), text);
    }

    pub(crate) fn playbook(&self) -> Value {
        let bytes = fs::read(self.playbook_path()).expect("a playbook");
        serde_json::from_slice(&bytes).expect("a playbook in JSON")
    }

    pub(crate) fn marks(&self) -> BTreeMap<String, (u64, u64)> {
        let playbook = self.playbook();
        let sections = playbook["sections"].as_object().expect("sections");
        sections
            .values()
            .flat_map(|points| points.as_array().expect("a list of points"))
            .map(|point| {
                let count = |key: &str| point[key].as_u64().expect("a count");
                let name = point["name"].as_str().expect("a name").to_owned();
                (name, (count("helpful"), count("harmful")))
            })
            .collect()
    }

    #[track_caller]
    pub(crate) fn marks_of(&self, name: &str) -> (u64, u64) {
        self.marks()[name]
    }

    pub(crate) fn write_transcript(&self, session: &Session) -> PathBuf {
        let path = self.transcript_path(session.id());
        write(&path, session.text());
        path
    }

    pub(crate) fn write_held(&self, session: &Session) -> PathBuf {
        let project = self.project();
        let project = project.to_str().expect("UTF-8");
        let text = session.text().replace("/home/user/project", project);
        let path = self.transcript_path(session.id());
        write(&path, text);
        path
    }

    /// Returns all files in the test's folder with their bytes, by relative path.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(bytes) = fs::read(&path) {
                    let name = path.strip_prefix(self.root()).expect("below the root");
                    files.insert(name.to_owned(), bytes);
                }
            }
        }
        files
    }

    /// Asserts that no file holds one of these texts, except files whose paths end with one of
    /// `but_in`.
    #[track_caller]
    pub(crate) fn assert_nowhere(&self, secrets: &[&str], but_in: &[&str]) {
        for (path, bytes) in self.files() {
            let text = String::from_utf8_lossy(&bytes);
            let may = but_in.iter().any(|name| path.ends_with(name));
            let found = secrets.iter().find(|secret| text.contains(**secret));
            assert!(may || found.is_none(), "in {}", path.display());
        }
    }

    /// Returns the files that are new, changed or removed since `before`.
    pub(crate) fn changed_since(&self, before: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
        let after = self.files();
        let gone = before.keys().filter(|path| !after.contains_key(*path));
        let new = after
            .iter()
            .filter(|(path, bytes)| before.get(*path) != Some(*bytes));
        gone.chain(new.map(|(path, _)| path)).cloned().collect()
    }

    // -- processes

    #[track_caller]
    pub(crate) fn cli(&self, args: &[&str]) -> Output {
        self.cli_with(args, b"")
    }

    #[track_caller]
    pub(crate) fn cli_with(&self, args: &[&str], input: &[u8]) -> Output {
        let mut command = self.command("playbook");
        command.args(args);
        Running::start(command, input, Stdin::Closed).finish()
    }

    /// Runs a command whose arguments contain no spaces.
    #[track_caller]
    pub(crate) fn types(&self, line: &str) -> Output {
        self.cli(&line.split(' ').collect::<Vec<_>>())
    }

    /// Works through the spool in the foreground.
    #[track_caller]
    pub(crate) fn worker(&self) {
        self.cli(&["worker"]).ok();
    }

    #[track_caller]
    pub(crate) fn worker_at(&mut self, now: &str) {
        self.set("PLAYBOOK_NOW", now);
        self.worker();
    }

    pub(crate) fn begin(&self, args: &[&str]) -> Running {
        let mut command = self.command("playbook");
        command.args(args);
        Running::start(command, b"", Stdin::Closed)
    }

    /// Prepares a binary of ours to be started as this user in the project.
    pub(crate) fn command(&self, binary: &str) -> Command {
        let mut command = Command::new(self.bin.join(binary));
        command
            .env_clear()
            .envs(&self.vars)
            .current_dir(self.project());
        command
    }
}

pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a folder above")).expect("a folder");
    fs::write(path, content).expect("a file");
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(path, mode).expect("a mode");
}

pub(crate) fn write_program(path: &Path, text: impl AsRef<[u8]>) {
    write(path, text);
    set_mode(path, 0o755);
}

/// Asserts that a JSON value contains the keys and values of another.
#[track_caller]
pub(crate) fn includes(found: &Value, wanted: &Value) {
    match (found, wanted) {
        (Value::Object(object), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                let part = object.get(key);
                includes(
                    part.unwrap_or_else(|| panic!("no {key} in {found}")),
                    wanted,
                );
            }
        }
        _ => assert_eq!(found, wanted),
    }
}

/// Returns one text field of each object of a list; empty where it is missing.
pub(crate) fn texts(list: &Value, key: &str) -> Vec<String> {
    let list = list.as_array().expect("a list").iter();
    list.map(|item| item[key].as_str().unwrap_or_default().to_owned())
        .collect()
}

fn section_of(name: &str) -> &'static str {
    match name.split(['-', '_']).next() {
        Some("pat") => "PATTERNS & APPROACHES",
        Some("mis") => "MISTAKES TO AVOID",
        Some("pref") => "USER PREFERENCES",
        Some("ctx") => "PROJECT CONTEXT",
        _ => "OTHERS",
    }
}
