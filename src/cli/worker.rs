//! `playbook worker`: what hooks start in the background.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::json;

use super::server;
use super::session::{NamedSession, runtime};
use super::{answer, args};
use crate::account;
use crate::config;
use crate::env::{Env, name};
use crate::hook::detach::{self, DETACH};
use crate::memory::Memory;
use crate::paths::Paths;
use crate::project;
use crate::queue::context::Surroundings;
use crate::queue::context::WorkerContext;
use crate::queue::job::JobId;
use crate::queue::outcome::{Finish, WorkerError};
use crate::queue::worker::{self, Summary};
use crate::queue::{curate, outcome, worker_lock};
use crate::sharing;
use crate::state_guard;
use crate::telemetry;

/// How long `--job` waits for another worker before the job is left to that one.
const INLINE_PATIENCE: Duration = Duration::from_secs(600);

pub(super) fn run(args: &args::WorkerArgs) -> anyhow::Result<()> {
    let env = Env::from_process();
    if env.is_on(name::DISABLE) {
        return Ok(());
    }
    if args.detach {
        return detach(args);
    }
    let paths = Paths::resolve(&env)?;
    // Nothing is written there, not even to the log.
    state_guard::check(&paths)?;
    state_guard::close(&paths)?;
    // Whoever starts a worker has written a job there; the folder was taken away since, by
    // `uninstall --purge`, and must not come back.
    if !paths.state().is_dir() {
        return tell(args, Some(&Summary::default()));
    }
    let done = start(&env, &paths, args);
    if let Err(error) = &done
        && paths.state().is_dir()
    {
        telemetry::note(&paths, env.clock().now(), "worker", &format!("{error:#}"));
    }
    let done = done?;
    if done
        .as_ref()
        .is_some_and(|summary| !summary.finished.is_empty())
    {
        share(&env, &paths);
    }
    tell(args, done.as_ref())
}

fn share(env: &Env, paths: &Paths) {
    let is_wanted = |config| sharing::is_wanted(env, &config);
    if !config::load(&paths.config_file()).is_ok_and(is_wanted) {
        return;
    }
    if let Err(error) = server::start_sync() {
        telemetry::note(paths, env.clock().now(), "sync", &format!("{error:#}"));
    }
}

fn start(env: &Env, paths: &Paths, args: &args::WorkerArgs) -> anyhow::Result<Option<Summary>> {
    let now = || env.clock().now();
    let mut config = match config::load(&paths.config_file()) {
        Ok(config) => config,
        Err(error) => {
            outcome::for_all(paths, now(), &outcome::reason_of(&error))?;
            return Err(error.into());
        }
    };
    let home = home_project(env, args.project.clone());
    let account = account::of_worker(env, &config, (paths, home.as_deref()))?;
    // Of many that are started at once, one is enough.
    if args.job.is_none() && worker_lock::is_at_work(paths, &account.need) {
        return Ok(None);
    }
    let open = || sharing::open_memory(paths, &config);
    let begin_anew = |error| Memory::set_aside(&paths.memory_db(), error, now());
    let memory = match open().or_else(|error| begin_anew(error).and_then(|()| open())) {
        Ok(memory) => memory,
        Err(error) => {
            outcome::for_all(paths, now(), &error.to_string())?;
            return Err(error.into());
        }
    };
    if let Some(jobs) = args.jobs {
        config.worker.jobs = usize::from(jobs);
    }
    let surroundings = Surroundings::new(env, paths.clone(), config, account, home);
    let context = Arc::new(WorkerContext::new(surroundings, memory));
    let runtime = runtime()?;
    let Some(id) = &args.job else {
        let done = runtime.block_on(worker::run(context));
        if let Err(WorkerError::NoLock(error)) = &done {
            outcome::tell(paths, now(), &error.to_string())?;
        }
        return Ok(done?);
    };
    let id = JobId::parse(id).context(format!("not a job id: {id}"))?;
    let see_through = |id: &JobId| {
        let context = Arc::clone(&context);
        runtime.block_on(worker::see_through(context, id, INLINE_PATIENCE))
    };
    let mut rows = vec![(see_through(&id)?, id)];
    // The container may end before another worker comes for the run that this has made due.
    if let (Some(row), _) = &rows[0]
        && let Some(run) = curate::waiting_run(paths, Path::new(&row.job.project))?
    {
        rows.push((see_through(&run)?, run));
    }
    let waiting = rows.iter().filter(|(row, _)| row.is_none()).count();
    let finished = rows
        .into_iter()
        .filter_map(|(row, id)| Some((id, Finish::of(row?.job))));
    Ok(Some(Summary {
        waiting,
        finished: finished.collect(),
        ..Summary::default()
    }))
}

fn home_project(env: &Env, given: Option<PathBuf>) -> Option<PathBuf> {
    given
        .or_else(|| env.path(name::CLAUDE_PROJECT_DIR))
        .or_else(|| std::env::current_dir().ok())
        .map(|folder| project::find(&folder))
}

/// Spawns the worker as a process that no one waits for, and ends.
fn detach(args: &args::WorkerArgs) -> anyhow::Result<()> {
    let mut command = command(args.project.as_deref())?;
    if let Some(jobs) = args.jobs {
        command.arg("--jobs").arg(jobs.to_string());
    }
    detach::start(&mut command).context("could not start the worker")
}

pub(super) fn start_in_background(session: &NamedSession) -> anyhow::Result<()> {
    if session.env.is_on(name::NO_WORKER) {
        return Ok(());
    }
    start_detached(&session.project)
}

/// Starts a worker as a hook does: it outlives this process.
pub(super) fn start_detached(project: &Path) -> anyhow::Result<()> {
    let mut child = command(Some(project))?
        .arg(DETACH)
        .spawn()
        .context("could not start the worker")?;
    child.wait().context("could not start the worker")?;
    Ok(())
}

/// A worker of our own program, without a stream or folder of ours.
fn command(project: Option<&Path>) -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("could not find our own program")?;
    let mut command = Command::new(program);
    command.arg("worker");
    if let Some(project) = project {
        command.arg("--project").arg(project);
    }
    command
        .env(name::WORKER, "1")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}

fn tell(args: &args::WorkerArgs, summary: Option<&Summary>) -> anyhow::Result<()> {
    let finished = summary.into_iter().flat_map(|summary| &summary.finished);
    let finished =
        finished.map(|(id, f)| json!({"job": id, "outcome": f.outcome.word(), "reason": f.reason}));
    let told = json!({
        "busy": summary.is_none(),
        "finished": finished.collect::<Vec<_>>(),
        "waiting": summary.map(|summary| summary.waiting),
    });
    answer::give(args.json, include_str!("screens/worker.txt"), told)
}
