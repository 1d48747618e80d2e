//! Starts the worker so that it outlives the client.
//!
//! An intermediate process separates the hook from the worker: see [`detach`]. It is another run of
//! the hook's own binary, which starts in a fraction of the whole program's time.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::account::need::Need;
use crate::env::{Env, name};
use crate::fault;
use crate::job::JobId;
use crate::status::Status;
use crate::{spool, worker_lock};

use super::context::HookContext;
use super::detach::{self, DETACH};

const PROGRAM: &str = "playbook";
/// The part of the client's time limit that an inline hook leaves for writing and exiting.
const MARGIN_MS: u64 = 300;
const LOOK: Duration = Duration::from_millis(2);

/// Starts a worker in the background unless one for this account is already running.
pub fn detached(context: &HookContext<'_>, need: Option<&Need>) {
    if worker_lock::serves(&context.paths, need) {
        return;
    }
    let Some(program) = worker_program(context) else {
        return;
    };
    // The process changes its folder itself. With a folder given here, a statically linked program
    // would be copied by `fork` where `posix_spawn` copies nothing.
    let mut command = if let Some(own) = detach::own_binary(context.event) {
        let mut command = Command::new(own);
        command.arg(DETACH).arg(program).arg("worker");
        command
    } else {
        let mut command = Command::new(program);
        command.args(["worker", DETACH]);
        command
    };
    start(context, for_project(&mut command, &context.project));
    fault::stop("spawned");
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

pub(super) const NOT_FOUND: &str = "could not find the program `playbook` beside the hook or on PATH; jobs wait until it is installed";

/// Works on one job as an ordinary child and waits for it. After `patience` the job stays in the
/// spool with its progress.
pub(super) fn inline(context: &HookContext<'_>, id: &JobId, patience: Duration) {
    let deadline = Instant::now() + patience;
    let Some(program) = worker_program(context) else {
        return;
    };
    let mut command = Command::new(program);
    command
        .args(["worker", "--job", id.as_str()])
        .current_dir("/");
    let Some(mut child) = start(context, for_project(&mut command, &context.project)) else {
        return;
    };
    while matches!(child.try_wait(), Ok(None)) && Instant::now() < deadline {
        std::thread::sleep(LOOK);
    }
}

/// The longest wait where the client does not say how long it gives a hook at a session's end.
const INLINE_MS: u64 = 1_200;

pub(super) fn patience(context: &HookContext<'_>) -> Duration {
    let limit = context
        .env
        .get(name::SESSION_END_TIMEOUT)
        .and_then(|ms| ms.parse::<u64>().ok())
        .map_or(INLINE_MS, |ms| ms.saturating_sub(MARGIN_MS));
    Duration::from_millis(limit)
}

/// Finds the program `playbook` next to this one or on PATH.
pub(super) fn program(env: &Env) -> Option<PathBuf> {
    let neighbour = std::env::current_exe().ok()?.with_file_name(PROGRAM);
    if neighbour.is_file() {
        return Some(neighbour);
    }
    let path = env.os(name::PATH)?;
    std::env::split_paths(path)
        .map(|folder| folder.join(PROGRAM))
        .find(|program| program.is_file())
}

/// Returns the worker's program, if hooks may start it and it is found.
fn worker_program(context: &HookContext<'_>) -> Option<PathBuf> {
    if context.env.is_on(name::NO_WORKER) {
        return None;
    }
    let program = program(context.env);
    if program.is_none() {
        context.log(NOT_FOUND);
    }
    program
}

/// Sets the options of every worker: its project, the guard against recursion, no stream of ours.
fn for_project<'c>(command: &'c mut Command, project: &Path) -> &'c mut Command {
    command
        .arg("--project")
        .arg(project)
        .env(name::WORKER, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
}

fn start(context: &HookContext<'_>, command: &mut Command) -> Option<Child> {
    let child = fault::write("spawn").and_then(|()| command.spawn());
    child
        .inspect_err(|error| context.log(&format!("could not start the worker: {error}")))
        .ok()
}

/// The number of spool entries that a hook examines when it cannot rely on the status.
const SPOOL_LOOK: usize = 16;

/// The waiting jobs as far as a hook knows them: the worker's status, or a look at the spool.
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
