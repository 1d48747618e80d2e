//! A user of their own for each test: HOME, settings, state and project in one temporary
//! folder, a cleared environment and a stopped clock.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::run::{Output, Running, Stdin, wait_until};
use super::session::Session;
use super::{processes, programs};

/// The time at which the clock stands still.
pub(crate) const NOW: &str = "2026-11-21T12:00:00Z";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hook {
    SessionStart,
    SessionEnd,
    PreCompact,
    SubagentStart,
    SubagentStop,
    PostToolUseFailure,
    UserPromptSubmit,
}

impl Hook {
    pub(crate) const ALL: [Self; 7] = [
        Self::SessionStart,
        Self::SessionEnd,
        Self::PreCompact,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PostToolUseFailure,
        Self::UserPromptSubmit,
    ];

    /// The binary's name, which is also the event's on our command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::SessionEnd => "session-end",
            Self::PreCompact => "pre-compact",
            Self::SubagentStart => "subagent-start",
            Self::SubagentStop => "subagent-stop",
            Self::PostToolUseFailure => "post-tool-use-failure",
            Self::UserPromptSubmit => "user-prompt-submit",
        }
    }

    /// The client's name of the event.
    pub(crate) fn event_name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::PreCompact => "PreCompact",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::UserPromptSubmit => "UserPromptSubmit",
        }
    }

    /// What the client sends for an ordinary event, beside the keys all events have.
    fn own_keys(self) -> Value {
        match self {
            Self::SessionStart => json!({"source": "startup"}),
            Self::SessionEnd => json!({"prompt_id": PROMPT, "reason": "prompt_input_exit"}),
            Self::PreCompact => {
                json!({"prompt_id": PROMPT, "trigger": "manual", "custom_instructions": null})
            }
            Self::SubagentStart => json!({
                "prompt_id": PROMPT, "agent_id": AGENT, "agent_type": "general-purpose",
            }),
            Self::SubagentStop => json!({
                "prompt_id": PROMPT, "permission_mode": "default", "effort": {"level": "medium"},
                "stop_hook_active": false, "last_assistant_message": "Done.", "background_tasks": [],
                "session_crons": [], "agent_id": AGENT, "agent_type": "general-purpose",
            }),
            Self::PostToolUseFailure => json!({
                "prompt_id": PROMPT, "permission_mode": "default", "effort": {"level": "medium"},
                "tool_name": "Bash", "tool_input": {"command": "make"},
                "tool_use_id": "toolu_01", "error": "Exit code 2\nmake: *** no targets",
                "is_interrupt": false, "duration_ms": 40,
            }),
            Self::UserPromptSubmit => json!({
                "prompt_id": PROMPT, "permission_mode": "default", "prompt": "hello",
            }),
        }
    }
}

/// So often in a row nothing must be seen to run: who looks may just miss the moment in
/// which one process starts another and ends.
const QUIET_LOOKS: u32 = 4;
const PROMPT: &str = "7c9e2b1a-5d43-4f0e-9a86-2f1de0a6b7c8";
/// The id of the subagent in [`Hook::SubagentStop`]'s input.
pub(crate) const AGENT: &str = "a0309dfa644de6096";

/// The environment of one test; what it started has ended when it is dropped.
pub(crate) struct TestEnv {
    root: TempDir,
    bin: PathBuf,
    vars: BTreeMap<OsString, OsString>,
}

impl TestEnv {
    /// An environment in which hooks start the worker, as a user has it.
    pub(crate) fn new() -> Self {
        Self::with_binaries(programs::folder())
    }

    /// An environment in which jobs stay in the spool until [`TestEnv::worker`] is called.
    pub(crate) fn without_worker() -> Self {
        let mut env = Self::new();
        env.set("PLAYBOOK_NO_WORKER", "1");
        env
    }

    /// An environment whose files are in memory where the system offers that: for tests
    /// that write thousands of times and are not about the disk.
    pub(crate) fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            memory.to_owned()
        } else {
            std::env::temp_dir()
        };
        let mut env = Self::rooted(programs::folder(), &folder);
        env.set("PLAYBOOK_NO_WORKER", "1");
        env
    }

    /// An environment that uses the binaries in `bin`.
    pub(crate) fn with_binaries(bin: &Path) -> Self {
        Self::rooted(bin, &std::env::temp_dir())
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
        for folder in [env.home(), env.project(), env.tmp()] {
            fs::create_dir_all(folder).expect("a folder");
        }
        env.set("HOME", env.home());
        env.set("TMPDIR", env.tmp());
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

    /// Points the `anthropic` backend at a loopback server, with quick retries.
    pub(crate) fn use_api(&mut self, base_url: &str, key: &str) {
        self.set("AGENTIC_CONTEXT_BASE_URL", base_url);
        self.set("AGENTIC_CONTEXT_API_KEY", key);
        self.write_config("[retry]\nbase_ms = 1\n");
    }

    /// From now on this hook stands alone: the program `playbook` is not beside it.
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

    fn tmp(&self) -> PathBuf {
        self.root().join("tmp")
    }

    pub(crate) fn playbook_path(&self) -> PathBuf {
        self.project().join(".claude/playbook.json")
    }

    /// Where the client keeps the transcript of a session.
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

    /// Where the client keeps the transcript of the subagent of a session.
    pub(crate) fn agent_transcript_path(&self, session: &str) -> PathBuf {
        self.transcript_path(session)
            .with_extension("")
            .join(format!("subagents/agent-{AGENT}.jsonl"))
    }

    // -- files

    /// Writes a file below the project.
    pub(crate) fn write_project(&self, name: &str, content: impl AsRef<[u8]>) {
        write(&self.project().join(name), content);
    }

    /// Writes a file below the state folder.
    pub(crate) fn write_state(&self, name: &str, content: impl AsRef<[u8]>) {
        write(&self.state().join(name), content);
    }

    pub(crate) fn write_config(&self, text: &str) {
        write(&self.config_dir().join("config.toml"), text);
    }

    /// Writes the client's own settings.
    pub(crate) fn write_client_settings(&self, settings: &Value) {
        let path = self.home().join(".claude/settings.json");
        write(&path, settings.to_string());
    }

    /// Writes a playbook of points that nothing was counted for.
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

    /// Helpful and harmful marks of each key point.
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

    /// Helpful and harmful marks of one key point.
    #[track_caller]
    pub(crate) fn marks_of(&self, name: &str) -> (u64, u64) {
        self.marks()[name]
    }

    pub(crate) fn write_transcript(&self, session: &Session) -> PathBuf {
        let path = self.transcript_path(session.id());
        write(&path, session.text());
        path
    }

    /// Every file under the test's folder with its bytes, by relative path.
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

    /// The files that are new or different since `before`.
    pub(crate) fn changed_since(&self, before: &BTreeMap<PathBuf, Vec<u8>>) -> Vec<PathBuf> {
        let after = self.files();
        let gone = before.keys().filter(|path| !after.contains_key(*path));
        let new = after
            .iter()
            .filter(|(path, bytes)| before.get(*path) != Some(*bytes));
        gone.chain(new.map(|(path, _)| path)).cloned().collect()
    }

    /// The jobs in the spool, in the order of their names.
    pub(crate) fn spool(&self) -> Vec<Value> {
        jobs_in(&self.state().join("spool"))
    }

    /// The jobs that could not be done.
    pub(crate) fn failed(&self) -> Vec<Value> {
        jobs_in(&self.state().join("failed"))
    }

    /// The lines of the log of reflections.
    pub(crate) fn reflections(&self) -> Vec<Value> {
        let log = self.state().join("log/reflections.jsonl");
        let text = fs::read_to_string(log).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a line in JSON"))
            .collect()
    }

    /// The reason that each job waits or has failed for, as the user sees it.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let jobs = self.cli(&["jobs", "--json"]).json();
        let jobs = jobs["jobs"].as_array().expect("a list of jobs").iter();
        jobs.map(|job| job["reason"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    // -- processes

    /// The client's input for an ordinary event of `session`.
    pub(crate) fn event(&self, hook: Hook, session: &str) -> Value {
        let mut event = json!({
            "session_id": session,
            "transcript_path": self.transcript_path(session),
            "cwd": self.project(),
            "hook_event_name": hook.event_name(),
        });
        if hook == Hook::SubagentStop {
            event["agent_transcript_path"] = json!(self.agent_transcript_path(session));
        }
        merge(&mut event, hook.own_keys());
        event
    }

    /// Runs a hook on an ordinary event of `session`, with the keys of `change` on top.
    #[track_caller]
    pub(crate) fn hook(&self, hook: Hook, session: &str, change: Value) -> Output {
        let mut event = self.event(hook, session);
        merge(&mut event, change);
        self.hook_bytes(hook, format!("{event}\n").as_bytes(), Stdin::Closed)
    }

    #[track_caller]
    pub(crate) fn hook_bytes(&self, hook: Hook, input: &[u8], stdin: Stdin) -> Output {
        Running::start(self.command(hook.name()), input, stdin).finish()
    }

    /// Runs `playbook` with nothing on stdin.
    #[track_caller]
    pub(crate) fn cli(&self, args: &[&str]) -> Output {
        self.cli_with(args, b"")
    }

    /// Runs `playbook` with `input` on stdin.
    #[track_caller]
    pub(crate) fn cli_with(&self, args: &[&str], input: &[u8]) -> Output {
        let mut command = self.command("playbook");
        command.args(args);
        Running::start(command, input, Stdin::Closed).finish()
    }

    /// Works through the spool in the foreground.
    #[track_caller]
    pub(crate) fn worker(&self) {
        self.cli(&["worker"]).ok();
    }

    /// A binary of ours, ready to start as this user in the project.
    pub(crate) fn command(&self, binary: &str) -> Command {
        let mut command = Command::new(self.bin.join(binary));
        command
            .env_clear()
            .envs(&self.vars)
            .current_dir(self.project());
        command
    }

    /// Waits until the background work is done: no process of this user is left.
    #[track_caller]
    pub(crate) fn settle(&self) {
        let mut quiet = 0;
        wait_until("the background work to end", || {
            let is_quiet = !processes::may_run(&self.started());
            quiet = if is_quiet { quiet + 1 } else { 0 };
            quiet >= QUIET_LOOKS
        });
    }

    /// The processes that were started with this test's state folder.
    pub(crate) fn processes(&self) -> Vec<u32> {
        processes::started_with(&self.started())
    }

    /// The variable that tells this test's processes.
    fn started(&self) -> String {
        format!("PLAYBOOK_STATE_DIR={}", self.state().display())
    }
}

impl Drop for TestEnv {
    /// Ends what is still running, by its id, and shows the logs of a failed test.
    fn drop(&mut self) {
        for pid in self.processes() {
            if let Some(pid) = i32::try_from(pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw)
            {
                _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        if thread::panicking() {
            let logs = fs::read_dir(self.state().join("log")).into_iter().flatten();
            for path in logs.flatten().map(|entry| entry.path()) {
                let text = fs::read_to_string(&path).unwrap_or_default();
                eprintln!("--- {}\n{text}", path.display());
            }
        }
    }
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a folder above")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// Sets the keys of `change` in `value`; both are objects.
fn merge(value: &mut Value, change: Value) {
    let Value::Object(change) = change else {
        panic!("a change is an object: {change}");
    };
    value.as_object_mut().expect("an object").extend(change);
}

fn jobs_in(folder: &Path) -> Vec<Value> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "json"));
    paths.sort();
    // A worker may take a job away between the listing and the reading.
    paths
        .iter()
        .filter_map(|path| fs::read(path).ok())
        .map(|bytes| serde_json::from_slice(&bytes).expect("a job in JSON"))
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
