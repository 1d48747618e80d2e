//! Starts the worker, so that it outlives the client.
//!
//! When a hook takes too long, the client ends its process group and every descendant
//! by parent id. Only a process whose parent is gone survives that: the hook spawns
//! `playbook worker --detach`, which becomes a session of its own, spawns the worker
//! and ends.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::account::need::Need;
use crate::env::{Env, name};
use crate::fault;
use crate::job::JobId;
use crate::status::Status;
use crate::{spool, worker_lock};

use super::context::HookContext;

const PROGRAM: &str = "playbook";
/// What an inline hook leaves of the client's own limit, for writing and ending.
const MARGIN_MS: u64 = 300;
const LOOK: Duration = Duration::from_millis(2);

/// Starts a worker in the background unless one for this account runs already.
pub fn detached(context: &HookContext<'_>, need: Option<&Need>) {
    if !worker_lock::serves(&context.paths, need) {
        // It leaves our folder by itself. With a folder named here, a program that has the C
        // library in it would be copied by `fork` where `posix_spawn` copies nothing.
        command(context, &["--detach"]).and_then(|command| start(context, command));
        fault::stop("spawned");
    }
}

pub(super) fn if_due(context: &HookContext<'_>, need: Option<&Need>, backlog: &Backlog) {
    let is_due = match &backlog.status {
        Some(status) if status.is_current(&context.paths, context.now) => need
            .and_then(|need| status.due.get(&need.account()))
            .is_some_and(|due| due.0 <= context.now),
        _ => backlog.oldest.is_some(),
    };
    if is_due {
        detached(context, need);
    }
}

/// What is logged, and told to the user, when the worker's program is missing.
pub(super) const NOT_FOUND: &str = "could not find the program `playbook` beside the hook or on PATH; jobs wait until it is installed";

/// Works on one job as an ordinary child and waits for it; after `patience` it stays
/// in the spool, with what was done of it.
pub(super) fn inline(context: &HookContext<'_>, id: &JobId, patience: Duration) {
    let deadline = Instant::now() + patience;
    let Some(mut command) = command(context, &["--job", id.as_str()]) else {
        return;
    };
    command.current_dir("/");
    let Some(mut child) = start(context, command) else {
        return;
    };
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
}

pub(super) fn patience(context: &HookContext<'_>, inline_ms: u64) -> Duration {
    let limit = context
        .env
        .get(name::SESSION_END_TIMEOUT)
        .and_then(|ms| ms.parse::<u64>().ok())
        .map_or(inline_ms, |ms| ms.saturating_sub(MARGIN_MS));
    Duration::from_millis(limit)
}

/// Finds the program `playbook` beside this one or on PATH.
pub(super) fn program(env: &Env) -> Option<PathBuf> {
    let beside = std::env::current_exe().ok()?.with_file_name(PROGRAM);
    if beside.is_file() {
        return Some(beside);
    }
    let path = env.os(name::PATH)?;
    std::env::split_paths(path)
        .map(|folder| folder.join(PROGRAM))
        .find(|program| program.is_file())
}

/// The program `playbook worker`, if the user lets hooks start it and it can be found.
fn command(context: &HookContext<'_>, args: &[&str]) -> Option<Command> {
    if context.env.is_on(name::NO_WORKER) {
        return None;
    }
    let Some(program) = program(context.env) else {
        context.log(NOT_FOUND);
        return None;
    };
    let mut command = Command::new(program);
    command
        .args(["worker", "--project"])
        .arg(&context.project)
        .args(args)
        .env(name::WORKER, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Some(command)
}

fn start(context: &HookContext<'_>, mut command: Command) -> Option<Child> {
    let child = fault::write("spawn").and_then(|()| command.spawn());
    child
        .inspect_err(|error| context.log(&format!("could not start the worker: {error}")))
        .ok()
}

/// How many entries of the spool a hook looks at, when it cannot rely on the status.
const SPOOL_LOOK: usize = 16;

/// What a hook knows of the jobs that wait: the worker's word, or a glance at the spool.
pub(super) struct Backlog {
    pub(super) status: Option<Status>,
    pub(super) oldest: Option<JobId>,
}

impl Backlog {
    pub(super) fn of(context: &HookContext<'_>) -> Self {
        Self {
            status: Status::read(&context.paths),
            oldest: spool::oldest_of_first(&context.paths.spool(), SPOOL_LOOK),
        }
    }
}
