//! `playbook bootstrap`: learns from existing sessions.
//!
//! It finds the new ones, asks, and enqueues a job for each. A worker does the jobs; on a terminal
//! this process shows the progress.

use std::collections::HashSet;
use std::io::{IsTerminal as _, stderr};
use std::iter;

use indicatif::ProgressBar;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::sleep;

use super::output::{counted, refuse_if_off};
use super::prelude::*;
use super::worker::start_detached;
use super::{OK, USER_ERROR};
use crate::backend::BackendName;
use crate::queue::bootstrap::{self, BATCH, Estimates, News};
use crate::queue::budget::Usage;
use crate::queue::context::Worker;
use crate::queue::job::JobEvent;
use crate::queue::requests::{self, Wish};
use crate::queue::transcripts::{self, PastTranscript};
use crate::queue::{spool, worker_lock};

/// The exit status after Ctrl-C: 128 and the number of SIGINT.
const STOPPED: u8 = 130;
const LOOK: Duration = Duration::from_millis(100);
/// The time that a new worker has to take its lock.
const START: Duration = Duration::from_secs(1);
/// The most workers in a row that may end without having done anything.
const MAX_IDLE_WORKERS: u32 = 10;
const NO_WORKER: &str = "no worker could do it; see `playbook doctor`";

pub(super) fn run(args: &args::BootstrapArgs) -> anyhow::Result<u8> {
    let session = &NamedSession::on(&args.on)?;
    refuse_if_off(session, "`playbook reflect FILE` shows what it would learn")?;
    // Checked first: a masker that cannot be built would make every job skip its session.
    session.masker()?;
    let context = session.context()?;
    let plan = plan(session, &context, args)?;
    let mut answer = plan.json();
    if !args.on.json {
        let mut shown = answer.clone();
        shown["is_offline"] = plan.backend.is_offline().into();
        shown["is_narrowed"] = (args.since.is_some() || args.skip_subagents).into();
        shown["waiting"] = plan.waiting.into();
        answer::show(include_str!("screens/plan.txt"), shown)?;
    }
    if plan.new.len() + plan.begun.len() == 0 || !agreed(args)? {
        if args.on.json {
            output::json(&answer)?;
        }
        return Ok(OK);
    }
    if !(args.on.json || stderr().is_terminal()) {
        let jobs = enqueue(&context, &plan)?.jobs.len();
        start_detached(&session.project)?;
        say!(
            "A worker learns from {} in the background. `playbook jobs` says what waits, \
             `playbook log` what was learned.",
            counted(jobs, "session")
        );
        return Ok(OK);
    }
    let runtime = runtime()?;
    // From here on Ctrl-C withdraws what was enqueued.
    let interrupt = runtime.block_on(async { signal(SignalKind::interrupt()) })?;
    let before = bootstrap::spent(&context, &session.project)?;
    let mut watch = enqueue(&context, &plan)?;
    runtime.block_on(watch.run(interrupt))?;
    let after = bootstrap::spent(&context, &session.project)?;
    answer["spent"] = json!(Usage {
        calls: after.calls.saturating_sub(before.calls),
        tokens: after.tokens.saturating_sub(before.tokens),
    });
    let status = watch.sum_up(&mut answer)?;
    answer::give(args.on.json, include_str!("screens/bootstrap.txt"), answer)?;
    Ok(status)
}

fn agreed(args: &args::BootstrapArgs) -> anyhow::Result<bool> {
    if args.yes || args.on.json {
        return Ok(args.yes);
    }
    let agreed = output::confirm("Learn from them?")?;
    match agreed {
        None => say!("Nothing was done: say `--yes` to agree to that."),
        Some(false) => say!("Nothing was done."),
        Some(true) => {}
    }
    Ok(agreed == Some(true))
}

#[derive(Debug)]
struct BootstrapPlan {
    /// The sessions without a job, oldest first.
    new: Vec<PastTranscript>,
    /// The unfinished jobs of an earlier run, oldest first.
    begun: Vec<JobId>,
    /// The most that each may cost, those of `begun` first, and the most for a curator run.
    shares: Estimates,
    /// The curator runs that jobs of `begun` start.
    begun_runs: usize,
    backend: BackendName,
    project: PathBuf,
    found: usize,
    too_little: usize,
    open: usize,
    waiting: usize,
    unreadable: Vec<String>,
}

fn plan(
    session: &NamedSession,
    context: &Worker,
    args: &args::BootstrapArgs,
) -> anyhow::Result<BootstrapPlan> {
    let project = &session.project;
    let candidates = candidates(session, args);
    let waiting = bootstrap::waiting(context, project)?;
    let open = bootstrap::open_now(context);
    let begun = waiting.ours.iter().map(|job| job.ticket.id.clone());
    let mut plan = BootstrapPlan {
        new: Vec::new(),
        begun: begun.collect(),
        shares: Estimates::default(),
        begun_runs: waiting.runs(),
        backend: context.account.need.backend,
        project: project.clone(),
        found: candidates.len(),
        too_little: 0,
        open: 0,
        waiting: waiting.others,
        unreadable: Vec::new(),
    };
    let begun = waiting.ours.iter();
    let mut evidence: Vec<u64> = begun
        .map(|job| bootstrap::evidence_of(context, &session.config, job))
        .collect();
    let most = args.max.unwrap_or(u64::MAX);
    let bar = output::bar("reading {bar:30} {pos}/{len}", candidates.len());
    for (place, past) in (0..).zip(candidates) {
        if evidence.len() as u64 >= most {
            break;
        }
        bar.inc(1);
        if open.contains(&past.transcript) {
            plan.open += 1;
            continue;
        }
        match bootstrap::look(context, (project, &session.config), &waiting, &past, place) {
            Ok(News::Enough(tokens)) => {
                evidence.push(tokens);
                plan.new.push(past);
            }
            Ok(News::TooLittle) => plan.too_little += 1,
            Ok(News::Nothing) => {}
            Err(error) => plan.unreadable.push(error.to_string()),
        }
    }
    bar.finish_and_clear();
    plan.shares = bootstrap::estimates(context, &session.config, project, &evidence)?;
    Ok(plan)
}

fn candidates(session: &NamedSession, args: &args::BootstrapArgs) -> Vec<PastTranscript> {
    let now = session.env.clock().now();
    let since = args.since.and_then(|since| now.checked_sub(since).ok());
    transcripts::of_project(&session.paths, &session.project)
        .into_iter()
        .filter(|past| !(args.skip_subagents && past.is_subagents))
        .filter(|past| since.is_none_or(|since| past.ended >= since))
        .collect()
}

impl BootstrapPlan {
    fn estimate(&self) -> Usage {
        let runs = self.begun_runs + self.new.len().div_ceil(BATCH);
        let runs = iter::repeat_n(self.shares.curator, runs);
        self.shares.sessions.iter().copied().chain(runs).sum()
    }

    fn json(&self) -> Value {
        json!({
            "project": self.project,
            "found": self.found,
            "new": self.new.len(),
            "begun": self.begun.len(),
            "too_little": self.too_little,
            "open": self.open,
            "unreadable": self.unreadable,
            "backend": self.backend,
            "estimate": self.estimate(),
            "started": false,
            "done": [],
            "runs": [],
            "waiting": [],
            "left": 0,
            "in_hand": 0,
            "stopped": false,
            "spent": Usage::default(),
        })
    }
}

fn enqueue<'a>(context: &'a Worker, plan: &'a BootstrapPlan) -> anyhow::Result<Watch<'a>> {
    let mut shares = plan.shares.sessions.iter().copied();
    let mut requests = Vec::new();
    for (job, more) in plan.begun.iter().cloned().zip(&mut shares) {
        let need = context.account.need.clone();
        let wish = Wish::Retry { job, need, more };
        requests.push(requests::leave(context.paths(), context.now(), wish)?);
    }
    let mut jobs = plan.begun.clone();
    // After those of an earlier run, even if the clock has not moved: a copied record counts for
    // the earlier job.
    let first = plan.begun.iter().map(|id| id.turn().saturating_add(1));
    let turns = (first.max().unwrap_or_default()..=u16::MAX).chain((0..=u16::MAX).cycle());
    for (((place, turn), past), agreed) in (1..).zip(turns).zip(&plan.new).zip(shares) {
        let ends = place % BATCH == 0 || place == plan.new.len();
        let agreed = (agreed, ends.then_some(plan.shares.curator));
        jobs.push(bootstrap::put(context, &plan.project, past, turn, agreed)?);
    }
    Ok(Watch {
        context,
        project: &plan.project,
        bar: output::bar("learning {bar:30} {pos}/{len} {elapsed}", jobs.len()),
        pending: jobs.clone(),
        jobs,
        requests,
        waiting: Vec::new(),
        is_stopped: false,
    })
}

struct Watch<'a> {
    context: &'a Worker,
    project: &'a Path,
    /// All jobs that are waited for; curator runs are added as they come up.
    jobs: Vec<JobId>,
    pending: Vec<JobId>,
    requests: Vec<PathBuf>,
    /// The pending jobs that no worker can do soon, each with the reason.
    waiting: Vec<(JobId, String)>,
    is_stopped: bool,
    bar: ProgressBar,
}

impl Watch<'_> {
    async fn run(&mut self, mut interrupt: Signal) -> anyhow::Result<()> {
        self.bar.enable_steady_tick(Duration::from_millis(200));
        let (mut ended, mut idle_workers, mut started) = (0, 0, None::<Instant>);
        while self.has_work()? {
            if self.jobs.len() - self.pending.len() > ended {
                (ended, idle_workers) = (self.jobs.len() - self.pending.len(), 0);
            }
            let is_there = worker_lock::holder(&self.context.paths().worker_lock()).is_some();
            if !is_there && started.is_none_or(|at| at.elapsed() >= START) {
                idle_workers += 1;
                if idle_workers > MAX_IDLE_WORKERS {
                    let stuck = bootstrap::reasons(self.context, &self.pending);
                    let why = |why: Option<String>| why.unwrap_or_else(|| NO_WORKER.into());
                    self.waiting = stuck.map(|(id, reason)| (id, why(reason))).collect();
                    break;
                }
                start_detached(self.project)?;
                started = Some(Instant::now());
            }
            tokio::select! {
                _ = interrupt.recv() => {
                    self.is_stopped = true;
                    bootstrap::withdraw(self.context, &mut self.pending)?;
                    self.has_work()?;
                    let waiting = bootstrap::reasons(self.context, &self.pending);
                    self.waiting = waiting.filter_map(|(id, why)| Some((id, why?))).collect();
                    break;
                }
                () = sleep(LOOK) => {}
            }
        }
        self.bar.finish_and_clear();
        Ok(())
    }

    /// Updates which jobs have ended; returns `false` once no other can be done soon.
    fn has_work(&mut self) -> anyhow::Result<bool> {
        self.requests.retain(|request| request.exists());
        let there = spool::list(&self.context.paths().spool())?;
        let there: HashSet<JobId> = there.into_iter().collect();
        self.pending.retain(|id| there.contains(id));
        // The curator run is written before the session's job that made it due is removed.
        for id in there {
            if !self.jobs.contains(&id) && bootstrap::is_run(self.context, self.project, &id) {
                self.jobs.push(id.clone());
                self.pending.push(id);
            }
        }
        self.bar.set_length(self.jobs.len() as u64);
        self.bar
            .set_position((self.jobs.len() - self.pending.len()) as u64);
        if !self.requests.is_empty() && !self.pending.is_empty() {
            return Ok(true);
        }
        let waiting: Option<Vec<_>> = bootstrap::reasons(self.context, &self.pending)
            .map(|(id, why)| Some((id, why?)))
            .collect();
        let has_work = waiting.is_none();
        self.waiting = waiting.unwrap_or_default();
        Ok(has_work)
    }

    fn sum_up(&self, answer: &mut Value) -> anyhow::Result<u8> {
        let memory = self.context.memory();
        let (mut done, mut runs) = (Vec::new(), Vec::new());
        let (mut left, mut has_failed) = (0, false);
        for id in self.jobs.iter().filter(|id| !self.pending.contains(id)) {
            // A withdrawn job is not recorded.
            let Some(row) = memory.job(id.as_str())? else {
                left += 1;
                continue;
            };
            let job = row.job;
            has_failed |= job.outcome == JobOutcome::Failed;
            let mut ended = json!({
                "job": id, "outcome": job.outcome.word(), "reason": job.reason,
                "changes": memory.changes_of(id.as_str())?.len(),
                "tokens": job.counts.input_tokens + job.counts.output_tokens,
            });
            if job.event == JobEvent::Curate.word() {
                runs.push(ended);
            } else {
                ended["session"] = json!(job.session);
                ended["transcript"] = json!(job.transcript);
                done.push(ended);
            }
        }
        let waiting = self.waiting.iter();
        let waiting = waiting.map(|(id, reason)| json!({"job": id, "reason": reason}));
        answer["started"] = true.into();
        answer["done"] = done.into();
        answer["runs"] = runs.into();
        answer["waiting"] = waiting.collect();
        answer["left"] = left.into();
        answer["in_hand"] = (self.pending.len() - self.waiting.len()).into();
        answer["stopped"] = self.is_stopped.into();
        Ok(if self.is_stopped {
            STOPPED
        } else if left + self.waiting.len() > 0 || has_failed {
            USER_ERROR
        } else {
            OK
        })
    }
}
