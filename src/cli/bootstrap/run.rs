//! Feeds the queue a few sessions at a time and watches them; a worker of its own does them.
//!
//! Few, so that Ctrl-C leaves little to be done, and the oldest come first. The worker is a
//! process that a Ctrl-C does not reach: it ends what it has in hand.

use std::collections::VecDeque;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{BootstrapPlan, Planned};
use crate::cli::output::{self, BAD, DIM, GOOD, counted, plain};
use crate::cli::session::{NamedSession, runtime};
use crate::cli::{OK, USER_ERROR, worker};
use crate::memory::{self, JobOutcome};
use crate::queue::bootstrap::{self, JobFate};
use crate::queue::context::WorkerContext;
use crate::queue::job::JobId;
use crate::queue::reason::in_words;
use crate::queue::request::{self, Wish};
use crate::queue::worker_lock;

/// The status of a run that the user stopped: 128 and the number of SIGINT.
const STOPPED: u8 = 130;
const LOOK: Duration = Duration::from_millis(50);
/// For each job that is worked on, so many are in the spool: a worker never has to wait.
const READY_FOR_EACH: usize = 2;
/// So many workers in a row may end without having done anything.
const MAX_IDLE_WORKERS: u32 = 3;

#[derive(Default)]
pub(super) struct BootstrapResult {
    /// The jobs that ended, with how many changes each made.
    ended: Vec<(memory::FinishedJob, usize)>,
    waiting: Vec<(JobId, String)>,
    left: usize,
    is_stopped: bool,
}

struct Put {
    id: JobId,
    name: String,
    /// What an earlier run's job waits for first: a worker is to try it again.
    request: Option<PathBuf>,
}

struct Watch<'a> {
    session: &'a NamedSession,
    context: Arc<WorkerContext>,
    left: VecDeque<&'a Planned>,
    put: Vec<Put>,
    turn: u16,
    is_held: bool,
    worker: Option<Child>,
    idle_workers: u32,
    bar: ProgressBar,
    is_quiet: bool,
    done: BootstrapResult,
}

pub(super) fn all(
    session: &NamedSession,
    context: Arc<WorkerContext>,
    plan: &BootstrapPlan,
    is_quiet: bool,
) -> anyhow::Result<BootstrapResult> {
    let mut put = Vec::new();
    for (id, name) in &plan.begun {
        let wish = Wish::Retry {
            job: id.clone(),
            need: context.surroundings.account.need.clone(),
        };
        put.push(Put {
            id: id.clone(),
            name: name.clone(),
            request: Some(request::leave(context.paths(), context.now(), wish)?),
        });
    }
    let template = "learning {bar:30} {pos}/{len} {msg} {elapsed}";
    let bar = output::bar(template, put.len() + plan.new.len());
    bar.enable_steady_tick(Duration::from_millis(200));
    let watch = Watch {
        session,
        context,
        left: plan.new.iter().collect(),
        bar,
        put,
        turn: 0,
        is_held: false,
        worker: None,
        idle_workers: 0,
        is_quiet,
        done: BootstrapResult::default(),
    };
    runtime()?.block_on(watch.run())
}

impl Watch<'_> {
    async fn run(mut self) -> anyhow::Result<BootstrapResult> {
        let stopped = tokio::signal::ctrl_c();
        tokio::pin!(stopped);
        loop {
            self.feed()?;
            if self.put.is_empty() {
                break;
            }
            self.keep_a_worker()?;
            tokio::select! {
                _ = &mut stopped => {
                    self.done.is_stopped = true;
                    break;
                }
                () = sleep(LOOK) => {}
            }
            self.look()?;
        }
        self.bar.finish_and_clear();
        self.done.left = self.left.len() + self.put.len();
        Ok(self.done)
    }

    fn feed(&mut self) -> anyhow::Result<()> {
        let room = self.context.surroundings.config.worker.jobs * READY_FOR_EACH;
        while !self.is_held
            && self.put.len() < room
            && let Some(planned) = self.left.front()
            && self.may_follow(planned)
        {
            let planned = *planned;
            self.left.pop_front();
            let id = bootstrap::put(&self.context.surroundings, &planned.earlier, self.turn)?;
            self.turn = self.turn.wrapping_add(1);
            self.put.push(Put {
                id,
                name: planned.name.clone(),
                request: None,
            });
        }
        Ok(())
    }

    /// Tells whether it is a session's turn: a record that several have is claimed by the
    /// oldest, so a copy waits until the others have their part; and all do until the jobs
    /// of an earlier run have theirs.
    fn may_follow(&self, planned: &Planned) -> bool {
        self.put
            .iter()
            .filter(|put| planned.follows || put.request.is_some())
            .all(|put| bootstrap::has_claimed(&self.context.surroundings, &put.id))
    }

    fn keep_a_worker(&mut self) -> anyhow::Result<()> {
        if let Some(worker) = &mut self.worker {
            let ended = worker.try_wait().context("could not watch the worker")?;
            // What it did is seen before the next one is started.
            self.worker = self.worker.take().filter(|_| ended.is_none());
            return Ok(());
        }
        if worker_lock::is_at_work(
            self.context.paths(),
            &self.context.surroundings.account.need,
        ) {
            return Ok(());
        }
        self.idle_workers += 1;
        if self.idle_workers > MAX_IDLE_WORKERS {
            // They end again and again: the log has the reason.
            for put in std::mem::take(&mut self.put) {
                let reason = "the worker ended before it; see `playbook doctor`".to_owned();
                self.done.waiting.push((put.id, reason));
            }
            self.is_held = true;
            return Ok(());
        }
        let mut command = worker::command(Some(&self.session.project))?;
        // A Ctrl-C on our terminal is not for it.
        let child = command.process_group(0).spawn();
        self.worker = Some(child.context("could not start the worker")?);
        Ok(())
    }

    fn look(&mut self) -> anyhow::Result<()> {
        for put in std::mem::take(&mut self.put) {
            if put.request.as_ref().is_some_and(|request| request.exists()) {
                self.put.push(put);
                continue;
            }
            match bootstrap::fate(&self.context, &put.id)? {
                JobFate::OpenCalls => self.put.push(put),
                JobFate::Ended(job) => self.ended(&put, *job)?,
                JobFate::Waits { reason, for_all } => {
                    self.idle_workers = 0;
                    self.is_held |= for_all;
                    let why = plain(in_words(&reason));
                    self.line(&format!("{} {BAD}waits{BAD:#}: {why}", put.name))?;
                    self.done.waiting.push((put.id, reason));
                }
            }
        }
        Ok(())
    }

    fn ended(&mut self, put: &Put, job: memory::FinishedJob) -> anyhow::Result<()> {
        self.idle_workers = 0;
        let changes = self.context.memory().changes_of(put.id.as_str())?.len();
        let name = &put.name;
        let line = match job.outcome {
            JobOutcome::Applied if changes == 0 => {
                format!("{name} {GOOD}learned{GOOD:#}: no change")
            }
            JobOutcome::Applied => {
                let changes = counted(changes, "change");
                format!("{name} {GOOD}learned{GOOD:#}: {changes}")
            }
            JobOutcome::Skipped => format!("{name} {DIM}skipped: {}{DIM:#}", plain(&job.reason)),
            JobOutcome::Failed | JobOutcome::Dropped => {
                let (word, reason) = (job.outcome.word(), plain(in_words(&job.reason)));
                format!("{name} {BAD}{word}{BAD:#}: {reason}")
            }
        };
        self.bar.inc(1);
        self.done.ended.push((job, changes));
        self.line(&line)
    }

    fn line(&self, line: &str) -> anyhow::Result<()> {
        if !self.is_quiet {
            self.bar.suspend(|| output::line(format_args!("{line}")))?;
        }
        Ok(())
    }
}

impl BootstrapResult {
    pub(super) fn status(&self) -> u8 {
        let mut ended = self.ended.iter();
        let has_failed = ended.any(|(job, _)| job.outcome == JobOutcome::Failed);
        if self.is_stopped {
            STOPPED
        } else if self.left + self.waiting.len() > 0 || has_failed {
            USER_ERROR
        } else {
            OK
        }
    }

    pub(super) fn json(&self) -> Value {
        let done = self.ended.iter().map(|(job, changes)| {
            json!({
                "job": job.id,
                "session": job.session,
                "transcript": job.transcript,
                "outcome": job.outcome.word(),
                "reason": job.reason,
                "changes": changes,
                "tokens": job.counts.input_tokens + job.counts.output_tokens,
            })
        });
        let waiting = self.waiting.iter();
        let waiting = waiting.map(|(id, reason)| json!({"job": id, "reason": reason}));
        json!({
            "started": true,
            "done": done.collect::<Vec<_>>(),
            "waiting": waiting.collect::<Vec<_>>(),
            "left": self.left,
            "stopped": self.is_stopped,
        })
    }
}
