//! A folder in which a session is played through real hooks and a real worker.
//!
//! Everything happens in a temporary folder with a cleared environment, so it works
//! offline, inside a session of the client, and whatever the user has set.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use crate::env::name;
use crate::hook::HookEvent;
use crate::paths::playbook_file;
use crate::playbook::Playbook;
use crate::playbook::store::Store;

/// The session that is played back.
const SESSION: &str = include_str!("../../examples/demo/session.jsonl");
/// What the project has learned before it.
const PLAYBOOK: &str = include_str!("../../examples/demo/playbook.json");
/// Rules judge, and the hooks do their work whatever the user has set.
const SETTINGS: &[u8] = b"backend = \"rules\"\nhooks.on_exit = true\n";
/// How often we look whether they are done.
const LOOK: Duration = Duration::from_millis(10);

/// Which commands are the hooks.
#[derive(Debug)]
pub(super) enum Hooks {
    /// Our own program.
    Ours,
    /// Commands as they are registered with the client.
    Registered {
        /// For the start of a session.
        start: String,
        /// For its end.
        end: String,
        /// The variables they are started with, beside those of the stage.
        vars: Vec<(&'static str, PathBuf)>,
    },
}

/// The folder.
pub(super) struct Stage {
    root: tempfile::TempDir,
    hooks: Hooks,
}

impl Stage {
    /// Sets the stage: a project with a few key points, and a finished session.
    pub(super) fn set(hooks: Hooks) -> anyhow::Result<Self> {
        let root = tempfile::Builder::new()
            .prefix("playbook-demo-")
            .tempdir()?;
        let stage = Self { root, hooks };
        std::fs::create_dir_all(stage.project().join(".claude"))?;
        std::fs::create_dir_all(stage.path("home"))?;
        crate::fsx::ensure_dir(&stage.path("config"))?;
        crate::fsx::quick(&stage.path("config").join("config.toml"), SETTINGS)?;
        crate::fsx::quick(&playbook_file(&stage.project()), PLAYBOOK.as_bytes())?;
        if let Some(folder) = stage.transcript().parent() {
            crate::fsx::ensure_dir(folder)?;
        }
        crate::fsx::quick(&stage.transcript(), SESSION.as_bytes())?;
        // The folder may lie in a git work tree, where nothing is trusted by itself.
        stage.playbook(&["trust"])?;
        Ok(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// The finished session.
    pub(super) fn transcript(&self) -> PathBuf {
        self.path("state")
            .join(crate::wall::PLAYED)
            .join("session.jsonl")
    }

    /// What the project has learned so far.
    pub(super) fn learned(&self) -> anyhow::Result<Playbook> {
        Ok(Store::new(playbook_file(&self.project())).load()?)
    }

    /// Starts a session and returns the context it is given.
    pub(super) fn start(&self, session: &str) -> anyhow::Result<String> {
        let more = json!({"source": "startup"});
        let answer = self.hook(HookEvent::SessionStart, session, more)?;
        let answer: Value =
            serde_json::from_slice(&answer).context("session-start said nothing")?;
        let text = &answer["hookSpecificOutput"]["additionalContext"];
        Ok(text
            .as_str()
            .context("session-start gave no context")?
            .to_owned())
    }

    /// Ends a session.
    pub(super) fn end(&self, session: &str) -> anyhow::Result<()> {
        let more = json!({"reason": "prompt_input_exit"});
        self.hook(HookEvent::SessionEnd, session, more)?;
        Ok(())
    }

    /// Calls a hook as the client does: its own process, JSON on stdin.
    fn hook(&self, event: HookEvent, session: &str, more: Value) -> anyhow::Result<Vec<u8>> {
        let mut input = json!({
            "session_id": session,
            "transcript_path": self.transcript(),
            "cwd": self.project(),
            "hook_event_name": event.client_name(),
        });
        if let (Value::Object(input), Value::Object(more)) = (&mut input, more) {
            input.extend(more);
        }
        let mut hook = self
            .hook_command(event)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("could not start the hook")?;
        if let Some(mut stdin) = hook.stdin.take() {
            // A hook may leave without having read it all.
            _ = stdin.write_all(input.to_string().as_bytes());
        }
        let done = hook.wait_with_output()?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let said = said.trim();
            bail!(
                "the hook {} ended with {}: {said}",
                event.name(),
                done.status
            );
        }
        Ok(done.stdout)
    }

    fn hook_command(&self, event: HookEvent) -> anyhow::Result<Command> {
        let Hooks::Registered { start, end, vars } = &self.hooks else {
            return self.command(&["hook", event.name()]);
        };
        let command = match event {
            HookEvent::SessionStart => start,
            _ => end,
        };
        let mut sh = self.cleared(Path::new("/bin/sh"));
        sh.arg("-c").arg(command);
        sh.envs(vars.iter().map(|(name, value)| (name, value)));
        Ok(sh)
    }

    /// Waits for the worker that session-end left in the background.
    pub(super) fn wait(&self, patience: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + patience;
        let log = self
            .path("state")
            .join("log")
            .join(crate::telemetry::REFLECTIONS);
        while !log.is_file() || !self.is_worker_gone() {
            if Instant::now() > deadline {
                bail!("the worker did not finish within {} s", patience.as_secs());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn is_worker_gone(&self) -> bool {
        let lock = self.path("state").join("worker.lock");
        crate::queue::worker_lock::holder(&lock).is_none()
    }

    /// Runs a command as the user would, and returns what it says.
    pub(super) fn playbook(&self, args: &[&str]) -> anyhow::Result<String> {
        let done = self
            .command(args)?
            .output()
            .context("could not start our own program")?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr).into_owned();
            bail!("`playbook {}` failed: {said}", args.join(" "));
        }
        Ok(String::from_utf8(done.stdout)?)
    }

    fn command(&self, args: &[&str]) -> anyhow::Result<Command> {
        let program = std::env::current_exe().context("could not find our own program")?;
        let mut command = self.cleared(&program);
        command.args(args);
        Ok(command)
    }

    fn cleared(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env(name::HOME, self.path("home"))
            .env(name::PATH, "/usr/bin:/bin")
            .env(name::CONFIG_DIR, self.path("config"))
            .env(name::STATE_DIR, self.path("state"))
            .env(name::CLAUDE_CONFIG_DIR, self.path("home").join(".claude"))
            .env(name::CLAUDE_PROJECT_DIR, self.project());
        command
    }
}
