//! Starts the worker, so that it outlives the client.
//!
//! When a hook takes too long, the client ends its process group and every descendant
//! by parent id. Only a process whose parent is gone survives that: the hook spawns
//! `playbook worker --detach`, which becomes a session of its own, spawns the worker
//! and ends.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::account::Need;
use crate::config::Config;
use crate::env::name;
use crate::fault;
use crate::queue::job::JobId;
use crate::queue::worker_lock;

use super::HookEvent;
use super::backlog::Backlog;
use super::context::Context;

const PROGRAM: &str = "playbook";
/// What an inline hook leaves of the client's own limit, for writing and ending.
const MARGIN_MS: u64 = 300;
const LOOK: Duration = Duration::from_millis(2);

/// Starts a worker in the background unless one for this account runs already.
pub(super) fn detached(context: &Context<'_>, event: HookEvent, need: Option<&Need>) {
    if context.env.is_on(name::NO_WORKER) || worker_lock::serves(&context.paths, need) {
        return;
    }
    let Some(program) = program(context) else {
        return context.log(event, NOT_FOUND);
    };
    let started =
        fault::write("spawn").and_then(|()| command(context, program).arg("--detach").spawn());
    fault::stop("spawned");
    if let Err(error) = started {
        context.log(event, &format!("could not start the worker: {error}"));
    }
}

pub(super) fn if_due(
    context: &Context<'_>,
    event: HookEvent,
    need: Option<&Need>,
    backlog: &Backlog<'_>,
) {
    if is_work_due(context, need, backlog) {
        detached(context, event, need);
    }
}

fn is_work_due(context: &Context<'_>, need: Option<&Need>, backlog: &Backlog<'_>) -> bool {
    match backlog.status() {
        Some(status) if status.is_current(&context.paths, context.now) => need
            .and_then(|need| status.due.get(&need.account()))
            .is_some_and(|due| *due <= context.now),
        _ => backlog.oldest().is_some(),
    }
}

/// What is logged, and told to the user, when the worker's program is missing.
pub(super) const NOT_FOUND: &str = "could not find the program `playbook` beside the hook or on PATH; jobs wait until it is installed";

/// Works on one job as an ordinary child and waits for it; after `patience` it stays
/// in the spool, with what was done of it.
pub(super) fn inline(context: &Context<'_>, event: HookEvent, id: &JobId, patience: Duration) {
    if context.env.is_on(name::NO_WORKER) {
        return;
    }
    let Some(program) = program(context) else {
        return context.log(event, NOT_FOUND);
    };
    let deadline = Instant::now() + patience;
    let mut command = command(context, program);
    command.args(["--job", id.as_str()]);
    let child = fault::write("spawn").and_then(|()| command.spawn());
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return context.log(event, &format!("could not start the worker: {error}")),
    };
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
}

pub(super) fn patience(context: &Context<'_>, config: &Config) -> Duration {
    let limit = context
        .env
        .get(name::SESSION_END_TIMEOUT)
        .and_then(|ms| ms.parse::<u64>().ok())
        .map_or(config.worker.inline_ms, |ms| ms.saturating_sub(MARGIN_MS));
    Duration::from_millis(limit)
}

/// Finds the program beside this one, else on PATH.
pub(super) fn program(context: &Context<'_>) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name(PROGRAM);
    if beside.is_file() {
        return Some(beside);
    }
    let path = context.env.os(name::PATH)?;
    std::env::split_paths(path)
        .map(|folder| folder.join(PROGRAM))
        .find(|program| program.is_file())
}

fn command(context: &Context<'_>, program: PathBuf) -> Command {
    let mut command = Command::new(program);
    command
        .arg("worker")
        .arg("--project")
        .arg(&context.project)
        .env(name::WORKER, "1")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
