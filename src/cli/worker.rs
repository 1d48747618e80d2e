//! `playbook worker`, which hooks start in the background. `playbook-server` is another program, so
//! that this one links nothing of it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use anyhow::bail;

use super::prelude::*;
use super::sandbox::run_with_time_limit;
use crate::backend::child::Followers;
use crate::config::Config;
use crate::hook::detach::{self, DETACH};
use crate::memory::{Answer, Question};
use crate::queue::context::Worker;
use crate::queue::outcome::{self, Finish, WorkerError};
use crate::queue::worker::{self, Summary};
use crate::queue::{curate, worker_lock};
use crate::{account, config, project, telemetry};

/// The time that `--job` waits for another worker before it leaves the job to that one.
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
    // After a breach nothing is written there, not even to the log.
    state_guard::check(&paths)?;
    state_guard::close(&paths)?;
    // The starter of a worker has written a job there. If the folder is missing, `uninstall
    // --purge` has removed it since, and it must not be created again.
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
    if done.is_some()
        && let Ok(config) = config::load(&paths.config_file())
        && let Err(error) = start_sending(&env, &config)
    {
        telemetry::note(&paths, env.clock().now(), "send", &format!("{error:#}"));
    }
    tell(args, done.as_ref())
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
    let home = args.project.clone();
    let home = home.or_else(|| env.path(name::CLAUDE_PROJECT_DIR));
    let home = home.or_else(|| std::env::current_dir().ok());
    let home = home.map(|folder| project::find(&folder));
    let account = account::of_worker(env, &config, (paths, home.as_deref()))?;
    // Of many that are started at the same time, one is enough.
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
    let place = (account, home);
    let context = Arc::new(Worker::new(env, paths.clone(), config, place, memory));
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
    // The container may end before another worker comes for the curator run that is due now.
    if let (Some(row), _) = &rows[0]
        && let Some(run) = curate::waiting_run(paths, Path::new(&row.job.project))?
    {
        rows.push((see_through(&run)?, run));
    }
    let waiting = rows.iter().filter(|(row, _)| row.is_none()).count();
    let finished = rows
        .into_iter()
        .filter_map(|(row, id)| row.map(|row| (id, Finish::new(row.job.outcome, row.job.reason))));
    Ok(Some(Summary {
        waiting,
        finished: finished.collect(),
        ..Summary::default()
    }))
}

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
    let child = command(Some(project))?.arg(DETACH).spawn();
    let ended = child.and_then(|mut child| child.wait());
    ended.map(drop).context("could not start the worker")
}

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
    let answer = json!({
        "busy": summary.is_none(),
        "finished": finished.collect::<Vec<_>>(),
        "waiting": summary.map(|summary| summary.waiting),
    });
    answer::give(args.json, include_str!("screens/worker.txt"), answer)
}

const SERVER: &str = "playbook-server";

pub(super) fn server(arguments: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    let error = Command::new(server_program()?).args(arguments).exec();
    Err(Hinted::error(
        format!("could not start `{SERVER}`: {error}"),
        "`./install.sh --server` puts it beside `playbook`",
    ))
}

/// Writes to the database of `memory.url` what waits for it, if one is set. Does not wait; errors
/// are kept for `playbook status`.
fn start_sending(env: &Env, config: &Config) -> anyhow::Result<()> {
    if !sharing::is_wanted(env, config) {
        return Ok(());
    }
    Command::new(server_program()?)
        .arg("send")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("could not start `{SERVER}`"))
        .map(drop)
}

/// Writes what a command has changed; the next worker reports what prevents that.
pub(super) fn send(session: &NamedSession) {
    if !session.env.is_on(name::NO_WORKER) {
        _ = start_sending(&session.env, &session.config);
    }
}

const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Has `playbook-server` ask the database of `memory.url`.
pub(super) fn ask(question: &Question) -> anyhow::Result<Answer> {
    let mut command = Command::new(server_program()?);
    command.arg("ask");
    let question = serde_json::to_vec(question)?;
    let output = run_with_time_limit(command, &question, ANSWER_LIMIT, Followers::Killed);
    let output = output.context(SERVER)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().next().unwrap_or_default();
        bail!("{}", reason.trim_start_matches("error: "));
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(super) fn has_server(env: &Env) -> bool {
    let path = env.os(name::PATH).unwrap_or_default();
    let on_path = || std::env::split_paths(path).any(|folder| folder.join(SERVER).is_file());
    server_program().is_ok_and(|program| program.is_absolute() || on_path())
}

fn server_program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("could not find this program")?;
    let beside = own.with_file_name(SERVER);
    Ok(if beside.is_file() {
        beside
    } else {
        SERVER.into()
    })
}
