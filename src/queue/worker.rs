//! The worker: one at a time per user, drains the spool, outlives the client, and ends.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::context::Surroundings;
use super::context::WorkerContext;
use super::drain::Drain;
use super::job::JobId;
use super::outcome::Finish;
use super::outcome::WorkerError::{self, NoLock};
use super::schedule::Schedule;
use super::worker_lock::{self, Holder, LockError, WorkerLock};
use super::{QueueError, requests, spool};
use crate::fsx::FsError;
use crate::memory::JobRow;
use crate::trust;

/// Longer than a hook holds the lock while it looks who is at work.
const GLANCE: Duration = Duration::from_secs(1);
/// How soon who waits for a job looks again whether it is done or can be done here, at first.
const FIRST_LOOK: Duration = Duration::from_millis(20);
/// How much later at the most: many who wait take the machine from the one at work.
const LONGEST_LOOK: Duration = Duration::from_millis(160);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkScope {
    /// All that are in the spool, and those that come while there is work.
    All,
    One(JobId),
    /// None: only what the user asks of them.
    Requests,
}

impl WorkScope {
    pub(super) fn wanted(&self) -> Option<&JobId> {
        match self {
            Self::One(id) => Some(id),
            Self::All | Self::Requests => None,
        }
    }
}

#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Summary {
    pub(crate) finished: Vec<(JobId, Finish)>,
    pub(crate) retried: Vec<JobId>,
    pub(crate) waiting: usize,
}

/// Works in the background until there is nothing to do.
///
/// `None` when another worker of the same account does it. One of each account waits for
/// its turn, however long that takes.
pub(crate) async fn run(context: Arc<WorkerContext>) -> Result<Option<Summary>, WorkerError> {
    let need = &context.surroundings.account.need;
    let mut summary = Summary::default();
    loop {
        let place = worker_lock::take_waiting_place(context.paths(), need);
        let Some(place) = place.map_err(NoLock)? else {
            return Ok(None);
        };
        let Some(lock) = its_turn(&context.surroundings).map_err(NoLock)? else {
            return Ok(None);
        };
        drop(place);
        let drain = Drain::begin(&context, &lock, &WorkScope::All, &mut summary);
        let schedule = drain?.run().await?;
        drop(lock);
        // A job that was written while the lock was let go found a worker, and started none.
        if !has_news(&context, &schedule)? {
            return Ok(Some(summary));
        }
    }
}

/// Waits for the lock; `None` when a worker of the same account has it.
fn its_turn(surroundings: &Surroundings) -> Result<Option<WorkerLock>, FsError> {
    let holder = Holder::of_all(&surroundings.account.need);
    let mut lock = worker_lock::take(&surroundings.paths, &holder, Some(GLANCE));
    if let Err(LockError::Late) = lock {
        surroundings.log("worker", "waits until another worker has ended");
        lock = worker_lock::take(&surroundings.paths, &holder, None);
    }
    worker_lock::if_had(lock)
}

/// Does the work of `scope` now; `None` when any other worker is at it.
pub(crate) async fn run_if_free(
    context: Arc<WorkerContext>,
    scope: &WorkScope,
) -> Result<Option<Summary>, FsError> {
    let holder = Holder::of_some(&context.surroundings.account.need);
    let Some(lock) = worker_lock::take_if_free(context.paths(), &holder)? else {
        return Ok(None);
    };
    let mut summary = Summary::default();
    let drain = Drain::begin(&context, &lock, scope, &mut summary)?;
    drain.run().await?;
    Ok(Some(summary))
}

/// Sees a job to its end, here or in the worker that runs already.
///
/// `None` when it waits for something, or was not done in time.
pub(crate) async fn see_through(
    context: Arc<WorkerContext>,
    id: &JobId,
    patience: Duration,
) -> Result<Option<JobRow>, QueueError> {
    let deadline = Instant::now() + patience;
    let mut pause = FIRST_LOOK;
    loop {
        if let Some(row) = context.memory().job(id.as_str())? {
            return Ok(Some(row));
        }
        let scope = WorkScope::One(id.clone());
        if run_if_free(Arc::clone(&context), &scope).await?.is_some() {
            return Ok(context.memory().job(id.as_str())?);
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_LOOK);
    }
}

/// Returns `true` if there is something in the spool that was not there before.
fn has_news(context: &WorkerContext, schedule: &Schedule) -> Result<bool, FsError> {
    let is_new = |id: &JobId| !schedule.knows(id);
    let is_open = |file: &PathBuf| !context.is_settled(file);
    Ok(spool::list(&context.paths().spool())?.iter().any(is_new)
        || requests::all(context.paths())?
            .iter()
            .any(|(file, _)| is_open(file))
        || trust::request::all(context.paths())?
            .iter()
            .any(|asked| is_open(&asked.file)))
}
