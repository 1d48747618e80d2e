//! `playbook demo`: a session teaches the next one, through the real hooks and worker.
//!
//! Everything happens in a temporary folder with a cleared environment, so it works
//! offline, inside a session of the client, and whatever the user has set.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::args;
use super::output::{self, BAD, BOLD, DIM, GOOD, NAME, plain, say};
use crate::env::name;
use crate::paths::playbook_file;
use crate::playbook::store::Store;
use crate::playbook::{Playbook, Point};

/// The session that is played back.
const SESSION: &str = include_str!("../../examples/demo/session.jsonl");
/// What the project has learned before it.
const PLAYBOOK: &str = include_str!("../../examples/demo/playbook.json");
/// How long the worker may take.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often we look whether it is done.
const LOOK: Duration = Duration::from_millis(10);

/// The folder the demo plays in.
struct Stage {
    root: tempfile::TempDir,
}

/// Plays the session and shows what it taught.
pub(super) fn run(args: &args::Demo) -> anyhow::Result<()> {
    let stage = Stage::set().context("could not set up the demo")?;
    let playbook = || Store::new(playbook_file(&stage.project())).load();
    // The folder may lie in a git work tree, where nothing is trusted by itself.
    stage.playbook(&["trust"])?;
    let given_before = stage.start("first")?;
    let before = playbook()?;
    stage.hook(
        "session-end",
        &json!({
            "session_id": "first",
            "transcript_path": stage.transcript(),
            "cwd": stage.project(),
            "hook_event_name": "SessionEnd",
            "reason": "prompt_input_exit",
        }),
    )?;
    stage.wait()?;
    let after = playbook()?;
    let given_after = stage.start("second")?;
    let learned = after.points().find(|now| before.named(now.name).is_none());
    let learned = learned.context("the session taught nothing")?.name;
    if args.json {
        let story = stage.playbook(&["log", learned, "--json"])?;
        let story: Value = serde_json::from_str(&story)?;
        return output::json(&json!({
            "before": points(&before),
            "after": points(&after),
            "given_before": given_before,
            "given_after": given_after,
            "story": story,
        }));
    }
    tell(&before, &after)?;
    tell_story(learned, &stage.playbook(&["log", learned])?)?;
    tell_next(&given_after)
}

impl Stage {
    fn set() -> anyhow::Result<Self> {
        let root = tempfile::Builder::new()
            .prefix("playbook-demo-")
            .tempdir()?;
        let stage = Self { root };
        std::fs::create_dir_all(stage.project().join(".claude"))?;
        std::fs::create_dir_all(stage.path("home"))?;
        crate::fsx::ensure_dir(&stage.path("config"))?;
        crate::fsx::quick(
            &stage.path("config").join("config.toml"),
            b"backend = \"rules\"\n",
        )?;
        crate::fsx::quick(&playbook_file(&stage.project()), PLAYBOOK.as_bytes())?;
        if let Some(folder) = stage.transcript().parent() {
            std::fs::create_dir_all(folder)?;
        }
        crate::fsx::quick(&stage.transcript(), SESSION.as_bytes())?;
        Ok(stage)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn project(&self) -> PathBuf {
        self.path("project")
    }

    fn transcript(&self) -> PathBuf {
        self.path("home")
            .join(".claude/projects/demo/session.jsonl")
    }

    /// Starts a session and returns the context it is given.
    fn start(&self, session: &str) -> anyhow::Result<String> {
        let answer = self.hook(
            "session-start",
            &json!({
                "session_id": session,
                "transcript_path": self.transcript(),
                "cwd": self.project(),
                "hook_event_name": "SessionStart",
                "source": "startup",
            }),
        )?;
        let answer: Value =
            serde_json::from_slice(&answer).context("session-start said nothing")?;
        let text = &answer["hookSpecificOutput"]["additionalContext"];
        Ok(text
            .as_str()
            .context("session-start gave no context")?
            .to_owned())
    }

    /// Calls a hook as the client does: its own process, JSON on stdin.
    fn hook(&self, event: &str, input: &Value) -> anyhow::Result<Vec<u8>> {
        let mut hook = self
            .command(&["hook", event])?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .context("could not start the hook")?;
        if let Some(mut stdin) = hook.stdin.take() {
            stdin.write_all(input.to_string().as_bytes())?;
        }
        let done = hook.wait_with_output()?;
        if !done.status.success() {
            bail!("the hook {event} ended with {}", done.status);
        }
        Ok(done.stdout)
    }

    /// Waits for the worker that session-end left in the background.
    fn wait(&self) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let log = self
            .path("state")
            .join("log")
            .join(crate::telemetry::REFLECTIONS);
        while !log.is_file() || !self.is_worker_gone() {
            if Instant::now() > deadline {
                bail!("the worker did not finish within {} s", PATIENCE.as_secs());
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
    fn playbook(&self, args: &[&str]) -> anyhow::Result<String> {
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
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.project())
            .env_clear()
            .env(name::HOME, self.path("home"))
            .env(name::PATH, "/usr/bin:/bin")
            .env(name::CONFIG_DIR, self.path("config"))
            .env(name::STATE_DIR, self.path("state"))
            .env(name::CLAUDE_CONFIG_DIR, self.path("home").join(".claude"))
            .env(name::CLAUDE_PROJECT_DIR, self.project());
        Ok(command)
    }
}

fn tell(before: &Playbook, after: &Playbook) -> anyhow::Result<()> {
    say!(
        "{BOLD}A session has ended.{BOLD:#} Its hook wrote a job and was gone; the worker judged it by rules,"
    );
    say!("without a network. What it learned, before and after:");
    say!("");
    for now in after.points() {
        let was = before.named(now.name);
        let (was_text, changed) = match &was {
            Some(was) => (votes(was), votes(was) != votes(&now)),
            None => ("new".to_owned(), true),
        };
        let colour = match &was {
            Some(was) if now.harmful > was.harmful => BAD,
            _ if changed => GOOD,
            _ => DIM,
        };
        say!(
            "  {NAME}{:<9}{NAME:#} {was_text:<21} -> {colour}{:<21}{colour:#}  {}",
            now.name,
            votes(&now),
            plain(now.text)
        );
    }
    say!("");
    Ok(())
}

/// Shows what `playbook log` says of the point that is new.
fn tell_story(learned: &str, story: &str) -> anyhow::Result<()> {
    say!("{BOLD}Where it comes from:{BOLD:#} {DIM}playbook log {learned}{DIM:#}");
    say!("");
    for line in story.lines() {
        say!("  {DIM}|{DIM:#} {line}");
    }
    say!("");
    Ok(())
}

fn tell_next(given: &str) -> anyhow::Result<()> {
    say!("{BOLD}The next session is given:{BOLD:#}");
    say!("");
    for line in given.lines() {
        say!("  {DIM}|{DIM:#} {line}");
    }
    say!("");
    say!("{DIM}Nothing of yours was read or changed.{DIM:#}");
    Ok(())
}

fn votes(point: &Point<'_>) -> String {
    format!("helpful={} harmful={}", point.helpful, point.harmful)
}

fn points(playbook: &Playbook) -> Vec<Value> {
    playbook
        .points()
        .map(
            |p| json!({"name": p.name, "text": p.text, "helpful": p.helpful, "harmful": p.harmful}),
        )
        .collect()
}
