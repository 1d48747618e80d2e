//! Measures the cost of waiting jobs, which should be nothing, for hooks and for the worker.
//!
//! `cargo bench --bench queue` starts hooks in turn with an empty spool and with 10,000 waiting
//! jobs. Then the worker drains spools of growing length with the rules, a backend that answers
//! immediately. Tables and limits go to stdout; an exceeded limit fails the run. `--rounds N` sets
//! the number of starts of each hook.
#![allow(clippy::disallowed_methods, reason = "a test makes files as users do")]

#[path = "../tests/common/mod.rs"]
mod common;
mod shared;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::env::{Hook, TestEnv, write};
use common::session::Session;
use serde_json::json;
use shared::{Fallible, build, timed};

/// The default number of starts of each hook.
const ROUNDS: usize = 200;
const WAITING: usize = 10_000;
const DRAINS: [usize; 3] = [100, 300, 1_000];
/// The most by which all those waiting jobs may slow a hook, as a ratio of the lowest tenths.
const HOOK_LIMIT: f64 = 1.15;
/// The largest ratio between the cost of a job in the longest spool and in the shortest.
const JOB_LIMIT: f64 = 1.25;

fn main() -> Fallible<ExitCode> {
    let rounds = shared::rounds(ROUNDS)?;
    let bin = build()?;
    let hooks_are_kept = hooks(&bin, rounds)?;
    let drains_are_kept = drains(&bin)?;
    Ok(if hooks_are_kept && drains_are_kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Creates a user with a short session, `s1`, without a worker, and with jobs that wait for another
/// account.
fn environment(bin: &Path, waiting: usize) -> Fallible<TestEnv> {
    let mut env = TestEnv::with_binaries(bin);
    env.set("PLAYBOOK_NO_WORKER", "1");
    env.write_config("backend = \"rules\"\n");
    env.write_playbook(&[("pat-001", "run the tests before every commit")]);
    end_session(&env, "s1");
    let job = env.spool().pop().ok_or("a hook writes a job")?;
    for n in 0..waiting {
        let mut job = job.clone();
        let id = format!("20261121T100000-{n:08x}");
        job["id"] = json!(id);
        job["need"] = json!({"backend": "anthropic", "base_url": "https://elsewhere", "key": "k"});
        write(
            &env.state().join(format!("spool/{id}.json")),
            job.to_string(),
        );
    }
    // The worker writes its status for the hooks.
    env.worker();
    Ok(env)
}

fn end_session(env: &TestEnv, id: &str) {
    let mut session = Session::new(id);
    session.user("hello").assistant("By [pat-001], done.");
    env.write_transcript(&session);
    env.hook(Hook::SessionEnd, id, json!({})).silent();
}

/// Starts hooks without and with many waiting jobs, in turn.
fn hooks(bin: &Path, rounds: usize) -> Fallible<bool> {
    let environments = [environment(bin, 0)?, environment(bin, WAITING)?];
    println!(
        "\n| hook | no job waits | {WAITING} wait | ratio | ratio of the lowest tenths | limit |\n\
         |---|---:|---:|---:|---:|---:|"
    );
    let mut is_kept = true;
    for hook in [Hook::SessionEnd, Hook::SessionStart, Hook::PreCompact] {
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            for (env, times) in environments.iter().zip(&mut times) {
                let before = newest(env)?;
                let event = env.event(hook, "s1").to_string();
                times.push(timed(env.command(hook.name()), event.as_bytes())?);
                if let Some(job) = newest(env)?.filter(|job| Some(job) != before.as_ref()) {
                    fs::remove_file(job)?;
                }
            }
        }
        for times in &mut times {
            times.sort_unstable();
        }
        let at = |n: usize| (times[0][n], times[1][n]);
        let (none, many) = at(rounds / 2);
        let (low_none, low_many) = at(rounds / 10);
        let low = low_many.as_secs_f64() / low_none.as_secs_f64();
        is_kept &= low <= HOOK_LIMIT;
        println!(
            "| {} | {} | {} | {:.2} | {low:.2} | {HOOK_LIMIT}{} |",
            hook.name(),
            milliseconds(none),
            milliseconds(many),
            many.as_secs_f64() / none.as_secs_f64(),
            broken(low <= HOOK_LIMIT)
        );
    }
    Ok(is_kept)
}

/// Returns the last job of the spool by name: a hook's is later than the waiting ones.
fn newest(env: &TestEnv) -> Fallible<Option<std::path::PathBuf>> {
    let mut newest = None;
    for entry in fs::read_dir(env.state().join("spool"))? {
        newest = newest.max(Some(entry?.path()));
    }
    Ok(newest)
}

/// Drains spools of growing length, alone and with many waiting jobs of another account.
fn drains(bin: &Path) -> Fallible<bool> {
    println!(
        "\n| jobs drained | others waiting | time | jobs/s | ms per job |\n|---:|---:|---:|---:|---:|"
    );
    let mut per_job = Vec::new();
    for (jobs, waiting) in DRAINS
        .map(|n| (n, 0))
        .into_iter()
        .chain([(DRAINS[2], WAITING)])
    {
        let env = environment(bin, waiting)?;
        for n in 0..jobs {
            end_session(&env, &format!("drained-{n}"));
        }
        let begun = Instant::now();
        env.worker();
        let took = begun.elapsed();
        let left = fs::read_dir(env.state().join("spool"))?.count();
        if left != waiting || env.marks_of("pat-001").0 != 1 + jobs as u64 {
            return Err(format!("{left} jobs are left of {waiting}").into());
        }
        let each = took.as_secs_f64() / f64::from(u32::try_from(jobs)?);
        per_job.push(each);
        println!(
            "| {jobs} | {waiting} | {} | {:.0} | {:.2} |",
            milliseconds(took),
            1.0 / each,
            each * 1e3
        );
    }
    let longest = per_job[2] / per_job[0];
    let crowded = per_job[3] / per_job[2];
    let is_kept = longest <= JOB_LIMIT && crowded <= JOB_LIMIT;
    println!(
        "\na job among 1,000 costs {longest:.2} of one among 100, and {crowded:.2} of that with \
         {WAITING} others waiting; limit {JOB_LIMIT}{}",
        broken(is_kept)
    );
    Ok(is_kept)
}

fn broken(is_kept: bool) -> &'static str {
    if is_kept { "" } else { " BROKEN" }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
