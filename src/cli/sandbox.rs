//! A temporary folder in which a session runs with real hooks and a real worker. Also `playbook
//! demo`, in which one session teaches the next.
//!
//! The environment is cleared, so it works offline, inside a session of the client, and with any
//! user settings.

use std::process::Command;

use anyhow::bail;

use super::prelude::*;
use crate::backend::child::{self, Broken, Followers, Output};
use crate::hook::HookEvent;
use crate::store::Store;

pub(super) const SESSION: &str = include_str!("../../examples/demo/session.jsonl");
pub(super) const PLAYBOOK: &str = include_str!("../../examples/demo/playbook.json");
/// The rules answer, and the hooks work, whatever the user's settings are.
const SETTINGS: &[u8] = b"backend = \"rules\"\nhooks.on_exit = true\n";
const LOOK: Duration = Duration::from_millis(10);

/// The time limits of a hook, which takes milliseconds, and of a command.
const HOOK_LIMIT: Duration = Duration::from_secs(5);
const LIMIT: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(60);

/// The hooks' programs. The commands in settings files are never run: a project's may have come
/// from anywhere, and only the client asks before following them.
#[derive(Debug)]
pub(super) enum TrialHooks {
    Ours,
    In(PathBuf),
}

pub(super) struct Sandbox {
    root: tempfile::TempDir,
    hooks: TrialHooks,
}

impl Sandbox {
    pub(super) fn set(hooks: TrialHooks) -> anyhow::Result<Self> {
        let root = tempfile::Builder::new()
            .prefix("playbook-demo-")
            .tempdir()?;
        let sandbox = Self { root, hooks };
        fsx::ensure_dir(&sandbox.path("home"))?;
        for (file, bytes) in [
            (sandbox.path("config").join("config.toml"), SETTINGS),
            (playbook_file(&sandbox.project()), PLAYBOOK.as_bytes()),
            (sandbox.transcript(), SESSION.as_bytes()),
        ] {
            file.parent().map_or(Ok(()), fsx::ensure_dir)?;
            fsx::quick(&file, bytes)?;
        }
        // The folder may be in a git work tree, where nothing is trusted by default.
        sandbox.playbook(&["trust"])?;
        Ok(sandbox)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn project(&self) -> PathBuf {
        self.path("project")
    }

    pub(super) fn transcript(&self) -> PathBuf {
        self.path("state")
            .join(crate::state_guard::PLAYED)
            .join("session.jsonl")
    }

    pub(super) fn learned(&self) -> anyhow::Result<Playbook> {
        Ok(Store::new(playbook_file(&self.project())).load()?)
    }

    pub(super) fn start(&self, session: &str) -> anyhow::Result<String> {
        let answer = self.ask(HookEvent::SessionStart, session)?;
        let answer: Value =
            serde_json::from_slice(&answer).context("session-start said nothing")?;
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str();
        Ok(text.context("session-start gave no context")?.to_owned())
    }

    pub(super) fn end(&self, session: &str) -> anyhow::Result<()> {
        self.ask(HookEvent::SessionEnd, session).map(drop)
    }

    /// Calls a hook as the client does: a process of its own, JSON on stdin. Only SessionEnd starts
    /// a worker, so that none is running when the folder is removed.
    pub(super) fn ask(&self, event: HookEvent, session: &str) -> anyhow::Result<Vec<u8>> {
        let mut command = match &self.hooks {
            TrialHooks::Ours => self.command(&["hook", event.name()])?,
            TrialHooks::In(bin) => self.cleared(&bin.join(event.name())),
        };
        if event != HookEvent::SessionEnd {
            command.env(name::NO_WORKER, "1");
        }
        let input = self.input(event, session).to_string();
        let done = run_with_time_limit(command, input.as_bytes(), HOOK_LIMIT, Followers::Left)?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            bail!("it ended with {}: {}", done.status, said.trim());
        }
        Ok(done.stdout)
    }

    fn input(&self, event: HookEvent, session: &str) -> Value {
        let mut input = match event {
            HookEvent::SessionStart => json!({"source": "startup"}),
            HookEvent::SessionEnd => json!({"reason": "prompt_input_exit"}),
            HookEvent::PreCompact => json!({"trigger": "manual", "custom_instructions": null}),
            HookEvent::SubagentStart => {
                json!({"agent_id": "trial", "agent_type": "general-purpose"})
            }
            HookEvent::SubagentStop => json!({"stop_hook_active": false, "agent_id": "trial"}),
            HookEvent::PostToolUseFailure => json!({
                "tool_name": "Bash",
                "tool_input": {"command": "make"},
                "error": "Exit code 2\nmake: *** no targets",
            }),
            HookEvent::UserPromptSubmit => json!({"prompt": "hello"}),
            HookEvent::PreToolUse => {
                json!({"tool_name": "Bash", "tool_input": {"command": "make"}})
            }
            HookEvent::Stop => json!({"stop_hook_active": false, "background_tasks": []}),
        };
        input["session_id"] = session.into();
        input["transcript_path"] = json!(self.transcript());
        input["cwd"] = json!(self.project());
        input["hook_event_name"] = event.client_name().into();
        input
    }

    pub(super) fn wait(&self, patience: Duration) -> anyhow::Result<()> {
        let deadline = Instant::now() + patience;
        let state = self.path("state");
        let log = state.join("log").join(crate::telemetry::REFLECTIONS);
        // The worker releases its lock before it closes the database; the folder cannot be removed
        // while it writes.
        let is_worker_gone = || {
            let holder = crate::queue::worker_lock::holder(&state.join("worker.lock"));
            holder.is_none() && !state.join("memory.db-wal").exists()
        };
        while !log.is_file() || !is_worker_gone() {
            if Instant::now() > deadline {
                bail!("the worker did not finish within {} s", patience.as_secs());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    pub(super) fn playbook(&self, args: &[&str]) -> anyhow::Result<String> {
        let done = run_with_time_limit(self.command(args)?, b"", LIMIT, Followers::Killed)?;
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

pub(super) fn demo(as_json: bool) -> anyhow::Result<()> {
    let sandbox = Sandbox::set(TrialHooks::Ours).context("could not set up the demo")?;
    let given_before = sandbox.start("first")?;
    let before = sandbox.learned()?;
    sandbox.end("first")?;
    sandbox.wait(PATIENCE)?;
    let after = sandbox.learned()?;
    let given_after = sandbox.start("second")?;
    let learned = after.points().find(|now| before.named(now.name).is_none());
    let learned = learned.context("the session taught nothing")?.name;
    let mut answer = json!({
        "before": points(&before),
        "after": points(&after),
        "given_before": given_before,
        "given_after": given_after,
    });
    if as_json {
        let story = sandbox.playbook(&["log", learned, "--json"])?;
        answer["story"] = serde_json::from_str(&story)?;
    } else {
        answer["story"] = sandbox.playbook(&["log", learned])?.into();
        answer["learned"] = learned.into();
    }
    answer::give(as_json, include_str!("screens/demo.txt"), answer)
}

fn points(playbook: &Playbook) -> Vec<Value> {
    let points = playbook.points().map(
        |p| json!({"name": p.name, "text": p.text, "helpful": p.helpful, "harmful": p.harmful}),
    );
    points.collect()
}

const MAX_SAID: usize = 8 << 20;

pub(super) fn run_with_time_limit(
    command: Command,
    input: &[u8],
    limit: Duration,
    followers: Followers,
) -> anyhow::Result<Output> {
    let command = command.into();
    let run = async { child::run(command, input, limit, MAX_SAID, followers, |_| {}).await };
    runtime()?.block_on(run).map_err(|broken| match broken {
        Broken::NotStarted(error) => anyhow::Error::new(error).context("could not be started"),
        Broken::Timeout => anyhow::anyhow!("no answer within {} s", limit.as_secs()),
        Broken::TooLarge => anyhow::anyhow!("it said more than {MAX_SAID} bytes"),
    })
}
