//! The worker: one at a time per user, drains the spool, outlives the client, and ends.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::board::Board;
use super::claim::Claims;
use super::job::{JOB_VERSION, JobId};
use super::progress::Job;
use super::shop::Shop;
use super::stages::{End, work};
use super::status::Status;
use super::worker_lock::{self, Holder, LockError};
use super::{files, recover, spool, waiting};
use crate::account::Need;
use crate::env::Clock;
use crate::fsx::FsError;

/// A worker waits for jobs that are due within this time; else it ends.
const WORTH_WAITING: SignedDuration = SignedDuration::from_secs(60);
/// How often it looks for new jobs while it waits.
const LOOK: Duration = Duration::from_millis(100);
/// How long it waits for a worker of another account.
const PATIENCE: Duration = Duration::from_secs(600);

/// Which jobs are to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// All that are in the spool, and those that come while there is work.
    All,
    /// One job, without waiting for others.
    One(JobId),
}

/// What a worker did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Jobs that are gone from the spool, with what came of each.
    pub finished: Vec<(JobId, super::stages::Finish)>,
    /// Jobs that wait.
    pub waiting: usize,
}

/// Works in the background until there is nothing to do.
///
/// `None` when another worker does it: of the same account at once, of another one when
/// that did not end in time. One worker of each account waits for its turn.
pub async fn run(shop: Arc<Shop>) -> Result<Option<Summary>, FsError> {
    let mut summary = Summary::default();
    let holder = Holder::this(&shop.account.need);
    loop {
        let need = &shop.account.need;
        let Some(place) = worker_lock::take_waiting_place(&shop.paths, need)? else {
            return Ok(None);
        };
        let lock = match worker_lock::take(&shop.paths, &holder, PATIENCE) {
            Ok(lock) => lock,
            Err(LockError::SameAccount(_) | LockError::Late) => return Ok(None),
            Err(LockError::File(error)) => return Err(error),
        };
        drop(place);
        let board = drain(&shop, &Scope::All, &mut summary).await?;
        drop(lock);
        // A job that was written while the lock was being let go found a worker and
        // started none: it is seen here.
        if !has_news(&shop, &board)? {
            return Ok(Some(summary));
        }
    }
}

/// Does the work of `scope` now; `None` when any other worker is at it.
pub async fn run_if_free(shop: Arc<Shop>, scope: &Scope) -> Result<Option<Summary>, FsError> {
    let holder = Holder::this(&shop.account.need);
    let _lock = match worker_lock::take(&shop.paths, &holder, Duration::ZERO) {
        Ok(lock) => lock,
        Err(LockError::SameAccount(_) | LockError::Late) => return Ok(None),
        Err(LockError::File(error)) => return Err(error),
    };
    let mut summary = Summary::default();
    drain(&shop, scope, &mut summary).await?;
    Ok(Some(summary))
}

async fn drain(shop: &Arc<Shop>, scope: &Scope, summary: &mut Summary) -> Result<Board, FsError> {
    *shop.claims() = Claims::of_failed(&shop.paths)?;
    if *scope == Scope::All {
        let found = recover::abandoned_sessions(&shop.paths, shop.now())?;
        if found > 0 {
            shop.log("worker", &format!("{found} sessions never ended; enqueued"));
        }
    }
    let mut board = Board::default();
    look(shop, &mut board)?;
    if let Scope::One(id) = scope {
        board.keep_only(id);
    }
    let mut tasks: JoinSet<(JobId, End)> = JoinSet::new();
    loop {
        while tasks.len() < shop.config.worker.jobs
            && let Some(id) = board.next(shop.now())
        {
            start(shop, &mut board, &mut tasks, id);
        }
        if tasks.is_empty() && !board.has_ready() && *scope == Scope::All {
            look(shop, &mut board)?;
        }
        let waits = *scope == Scope::All && is_worth_waiting(shop, &board);
        if tasks.is_empty() && !board.has_ready() && !waits {
            break;
        }
        let ended = tokio::select! {
            Some(ended) = tasks.join_next() => Some(ended),
            () = sleep(LOOK) => None,
        };
        match ended {
            Some(Ok((id, End::Gone(finish)))) => {
                board.done(&id);
                summary.finished.push((id, finish));
            }
            Some(Ok((id, End::Waits(due)))) => board.put_off(id, due),
            Some(Err(error)) => shop.log("worker", &format!("a job broke off: {error}")),
            None if *scope == Scope::All => look(shop, &mut board)?,
            None => {}
        }
    }
    summary.waiting = board.waiting();
    if *scope == Scope::All {
        leave_status(shop, &board)?;
    }
    Ok(board)
}

fn start(shop: &Arc<Shop>, board: &mut Board, tasks: &mut JoinSet<(JobId, End)>, id: JobId) {
    let job = match files::read(&shop.paths.spool(), &id) {
        Ok(job) => job,
        Err(error) => {
            if !error.is_missing() {
                shop.log(id.as_str(), &error.to_string());
            }
            board.lose(&id);
            return;
        }
    };
    if let Some(until) = shop.parked_until(&job) {
        board.put_off(id, until);
        return;
    }
    let shop = Arc::clone(shop);
    tasks.spawn(async move {
        let job = shop.adopt(job);
        let end = work(&shop, job).await;
        (id, end)
    });
}

/// Adds the jobs of the spool that are not on the board yet.
fn look(shop: &Shop, board: &mut Board) -> Result<(), FsError> {
    let spool = shop.paths.spool();
    for id in spool::list(&spool)? {
        if board.knows(&id) {
            continue;
        }
        match files::read(&spool, &id) {
            Ok(job) if job.ticket.v > JOB_VERSION => board.pass_over(id),
            Ok(job) => {
                shop.claims().add(&job);
                add(shop, board, &job);
            }
            Err(error) if error.is_missing() => {}
            Err(error) => {
                shop.log(id.as_str(), &format!("left alone: {error}"));
                board.pass_over(id);
            }
        }
    }
    Ok(())
}

fn add(shop: &Shop, board: &mut Board, job: &Job) {
    let id = job.ticket.id.clone();
    let waiting = job.progress.waiting.as_ref();
    let due = waiting
        .filter(|waiting| !waiting::is_for_settings(waiting))
        .filter(|_| !shop.is_newer_key(job))
        .map(|waiting| waiting.next);
    if shop.serves(job) {
        board.add(id, due);
    } else {
        let account = job.ticket.need.as_ref().map(Need::account);
        board.add_foreign(
            id,
            account.unwrap_or_default(),
            due.unwrap_or(job.ticket.at),
        );
    }
}

fn is_worth_waiting(shop: &Shop, board: &Board) -> bool {
    // With a stopped clock nothing ever becomes due.
    shop.clock == Clock::Running
        && board
            .next_due()
            .is_some_and(|due| due.duration_since(shop.now()) <= WORTH_WAITING)
}

fn has_news(shop: &Shop, board: &Board) -> Result<bool, FsError> {
    Ok(spool::list(&shop.paths.spool())?
        .iter()
        .any(|id| !board.knows(id)))
}

fn leave_status(shop: &Shop, board: &Board) -> Result<(), FsError> {
    let mut status = Status::quiet(shop.now());
    status.due = board.foreign_due();
    if let Some(due) = board.next_due() {
        status.due.insert(shop.account.need.account(), due);
    }
    shop.parking().write(&shop.paths)?;
    status.write(&shop.paths)
}

impl Shop {
    /// Tells whether this worker may do a job: its account answers it, or it is a job of
    /// the worker's own project that only has an older key, or none yet.
    pub(crate) fn serves(&self, job: &Job) -> bool {
        let own = &self.account.need;
        let is_home = self.home_project.as_ref() == Some(&job.ticket.project);
        match &job.ticket.need {
            None => is_home,
            Some(need) => need.is_met_by(own) || (is_home && need.differs_only_in_key(own)),
        }
    }

    /// Tells whether this worker would do a job with another key than it waited for: then
    /// what it waited for is over.
    fn is_newer_key(&self, job: &Job) -> bool {
        let need = job.ticket.need.as_ref();
        need.is_some_and(|need| !need.is_met_by(&self.account.need)) && self.serves(job)
    }

    /// Gives a job the account that is going to answer it.
    fn adopt(&self, mut job: Job) -> Job {
        let own = &self.account.need;
        match &mut job.ticket.need {
            None => job.ticket.need = Some(own.clone()),
            Some(need) if !need.is_met_by(own) => need.key.clone_from(&own.key),
            Some(_) => {}
        }
        job
    }

    /// Until when a job's account is parked; `None` when it may try.
    fn parked_until(&self, job: &Job) -> Option<Timestamp> {
        if job.progress.reflection.is_some() {
            return None;
        }
        let now = self.now();
        let account = self.adopt(job.clone()).ticket.need?.account();
        let parking = self.parking();
        let parked = parking.parked(&account, now)?;
        Some(parked.until.unwrap_or(Timestamp::MAX))
    }

    /// Parks a job's account after a failure; returns until when.
    pub(super) fn park_account(
        &self,
        job: &Job,
        reason: &str,
        pause: super::parking::Pause,
    ) -> Option<Timestamp> {
        let account = job.ticket.need.as_ref()?.account();
        let mut parking = self.parking();
        let parked = parking.park(&account, reason, pause, self.now());
        if pause == super::parking::Pause::Open {
            parking.note_login(&account, self.login.as_ref());
        }
        if let Err(error) = parking.write(&self.paths) {
            self.log("worker", &error.to_string());
        }
        parked.until
    }

    /// Lets a job's account try again after a success.
    pub(super) fn release_account(&self, job: &Job) {
        let Some(need) = &job.ticket.need else {
            return;
        };
        let mut parking = self.parking();
        if parking.release(&need.account())
            && let Err(error) = parking.write(&self.paths)
        {
            self.log("worker", &error.to_string());
        }
    }
}
