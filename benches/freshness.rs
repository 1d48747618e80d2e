//! What the look at a project's files costs the worker after a session.
//!
//! `cargo bench --bench freshness` makes a git repository of 20,000 files and a
//! playbook of 1,000 points that name files, targets and functions in it, and has the worker
//! take sessions in turn: one after which nothing was committed, so that there is nothing to
//! look at, one after a commit, and one after a commit that renames 20 files, 20 targets and
//! 20 functions. What the last two take longer is the look; a broken limit fails the run.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

#[path = "../tests/common/mod.rs"]
mod common;
mod shared;

use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use common::env::{TestEnv, write};
use shared::{Fallible, build, timed};

const ROUNDS: usize = 5;
const FILES: usize = 20_000;
const POINTS: usize = 1_000;
/// The longest look.
const LIMIT: Duration = Duration::from_secs(1);

fn main() -> Fallible<ExitCode> {
    let rounds = shared::rounds(ROUNDS)?;
    let mut env = TestEnv::with_binaries(&build()?);
    env.set("PLAYBOOK_NO_WORKER", "1");
    env.write_config("backend = \"rules\"\n");
    repository(&env)?;
    env.cli(&["trust"]).ok();
    session(&env, "first")?;
    let mut times = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..rounds {
        times[0].push(session(&env, &format!("a{round}"))?);
        git(
            &env.project(),
            &["commit", "-q", "--allow-empty", "-m", "x"],
        )?;
        times[1].push(session(&env, &format!("b{round}"))?);
        rename(&env, round)?;
        times[2].push(session(&env, &format!("c{round}"))?);
    }
    for times in &mut times {
        times.sort_unstable();
    }
    let [none, commit, renames] = times.map(|times| times[rounds / 2]);
    println!(
        "| files | points | worker without a look | look after a commit | after 60 renames | limit |\n\
         |---:|---:|---:|---:|---:|---:|\n\
         | {FILES} | {POINTS} | {} ms | {} ms | {} ms | {LIMIT:?} |",
        none.as_millis(),
        commit.saturating_sub(none).as_millis(),
        renames.saturating_sub(none).as_millis(),
    );
    let is_kept = commit.max(renames).saturating_sub(none) <= LIMIT;
    Ok(if is_kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn git(at: &Path, args: &[&str]) -> Fallible<()> {
    let status = Command::new("git")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@t",
            "-c",
            "gc.auto=0",
        ])
        .args(args)
        .current_dir(at)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status()?;
    status
        .success()
        .then_some(())
        .ok_or_else(|| format!("git {args:?}").into())
}

/// A source file of a usual length.
fn source(n: usize) -> String {
    let line =
        |line: usize| format!("    let value_{line} = self.entry({n}).parse()?; // {line}\n");
    let body: String = (0..40 + n % 160).map(line).collect();
    format!("pub fn handle_case_{n}() {{\n{body}}}\n")
}

fn path(n: usize) -> String {
    format!("src/part_{}/inner_{}/unit_{n}.rs", n % 50, n % 7)
}

fn repository(env: &TestEnv) -> Fallible<()> {
    let mut points = Vec::new();
    for n in 0..POINTS {
        let text = match n % 3 {
            0 => format!("Read `{}` before its part is changed.", path(n)),
            1 => format!("`make step-{n}` comes before a release, `--fast` never."),
            _ => format!("`handle_case_{n}` must not block; `Unit::Entry` holds the lock."),
        };
        points.push((format!("pat-{:03}", n + 1), text));
    }
    env.write_playbook(&points);
    for n in 0..FILES {
        write(&env.project().join(path(n)), source(n));
    }
    let steps = (0..POINTS).map(|n| {
        format!(
            "step-{n}:
	echo {n}
"
        )
    });
    let steps = steps.collect::<Vec<_>>().concat();
    write(&env.project().join("Makefile"), steps);
    git(&env.project(), &["init", "-q"])?;
    git(&env.project(), &["add", "-A"])?;
    git(&env.project(), &["commit", "-q", "-m", "x"])
}

/// Renames twenty of each kind that no other round renames.
fn rename(env: &TestEnv, round: usize) -> Fallible<()> {
    let makefile = env.project().join("Makefile");
    let mut steps = fs::read_to_string(&makefile)?;
    for n in (0..POINTS).skip(round * 60).take(60) {
        let file = env.project().join(path(n));
        match n % 3 {
            0 => fs::rename(&file, file.with_extension("moved.rs"))?,
            1 => steps = steps.replace(&format!("step-{n}:"), &format!("stage-{n}:")),
            _ => fs::write(&file, source(n).replace("handle_case", "settle_case"))?,
        }
    }
    fs::write(makefile, steps)?;
    git(&env.project(), &["add", "-A"])?;
    git(&env.project(), &["commit", "-q", "-m", "x"])
}

/// How long the worker takes after a session.
fn session(env: &TestEnv, id: &str) -> Fallible<Duration> {
    env.end_citing(id);
    let mut worker = env.command("playbook");
    worker.arg("worker");
    timed(worker, b"")
}
