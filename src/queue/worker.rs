//! The worker: one at a time per user, drains the spool, outlives the client, and ends.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::task::{self, JoinSet, block_in_place};
use tokio::time::{MissedTickBehavior, interval};

use super::ask::known_points;
use super::backoff::FOREIGN;
use super::context::Worker;
use super::job::{JOB_VERSION, JobEvent, JobId};
use super::outcome::WorkerError::{self, NoLock};
use super::outcome::{Finish, Outcome, is_for_settings, put_off_broken};
use super::progress::{self, Job};
use super::schedule::{QueuePlace, Schedule, ScheduledJob, Wanted};
use super::stages::work;
use super::status::{Due, Status};
use super::worker_lock::{self, Holder, LockError, WorkerLock};
use super::{QueueError, Result, curate, notices, recover, requests, spool};
use crate::account::Need;
use crate::backend::den;
use crate::env::Clock;
use crate::fsx::{self, FsError};
use crate::memory::JobRow;
use crate::paths::Paths;
use crate::{freshness, trust};

/// Longer than a hook holds the lock while it looks who is at work.
const GLANCE: Duration = Duration::from_secs(1);
/// The first pause before a waiting process looks again for its job.
const FIRST_LOOK: Duration = Duration::from_millis(20);
/// The longest such pause: many waiting processes would slow down the one at work.
const LONGEST_LOOK: Duration = Duration::from_millis(160);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkScope {
    All,
    One(JobId),
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

/// Works until there is nothing to do; `None` if another worker of the same account does it. One of
/// each account waits for its turn, however long that takes.
pub(crate) async fn run(context: Arc<Worker>) -> Result<Option<Summary>, WorkerError> {
    let need = &context.account.need;
    let mut summary = Summary::default();
    loop {
        let place = worker_lock::take_waiting_place(context.paths(), need);
        let Some(place) = place.map_err(NoLock)? else {
            return Ok(None);
        };
        let Some(lock) = its_turn(&context).map_err(NoLock)? else {
            return Ok(None);
        };
        drop(place);
        let drain = Drain::new(&context, &lock, &WorkScope::All, &mut summary);
        let schedule = drain.run().await?;
        drop(lock);
        // A job that was written while the lock was let go found a worker, and started none.
        if !has_news(&context, &schedule)? {
            return Ok(Some(summary));
        }
    }
}

fn its_turn(context: &Worker) -> Result<Option<WorkerLock>, FsError> {
    let holder = Holder::of_all(&context.account.need);
    let mut lock = worker_lock::take(context.paths(), &holder, Some(GLANCE));
    if let Err(LockError::Late) = lock {
        context.log("worker", "waits until another worker has ended");
        lock = worker_lock::take(context.paths(), &holder, None);
    }
    worker_lock::if_had(lock)
}

/// Does the work of `scope` now; `None` when any other worker is at it.
pub(crate) async fn run_if_free(
    context: Arc<Worker>,
    scope: &WorkScope,
) -> Result<Option<Summary>, FsError> {
    let holder = Holder::of_some(&context.account.need);
    let Some(lock) = worker_lock::take_if_free(context.paths(), &holder)? else {
        return Ok(None);
    };
    let mut summary = Summary::default();
    let drain = Drain::new(&context, &lock, scope, &mut summary);
    drain.run().await?;
    Ok(Some(summary))
}

/// Sees a job to its end, here or in the running worker; `None` if it waits or is not done in time.
pub(crate) async fn see_through(
    context: Arc<Worker>,
    id: &JobId,
    patience: Duration,
) -> Result<Option<JobRow>> {
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

fn has_news(context: &Worker, schedule: &Schedule) -> Result<bool, FsError> {
    let is_new = |id: &JobId| !schedule.knows(id);
    let is_open = |file: &PathBuf| !context.is_settled(file);
    let paths = context.paths();
    let (wishes, to_screen) = (requests::all(paths)?, trust::screen_requests(paths)?);
    Ok(spool::list(&paths.spool())?.iter().any(is_new)
        || wishes.iter().any(|(file, _)| is_open(file))
        || to_screen.iter().any(|asked| is_open(&asked.file)))
}

/// A worker waits for jobs that are due within this time; else it ends.
const WORTH_WAITING: SignedDuration = SignedDuration::from_secs(60);
const LOOK: Duration = Duration::from_millis(100);

pub(super) struct Drain<'a> {
    pub(super) context: &'a Arc<Worker>,
    pub(super) schedule: Schedule,
    pub(super) summary: &'a mut Summary,
    lock: &'a WorkerLock,
    pub(super) scope: &'a WorkScope,
    tasks: JoinSet<Outcome>,
    running: HashMap<task::Id, Running>,
    pub(super) in_flight: InFlight,
    pub(super) not_dropped: HashSet<JobId>,
    /// The projects that were worked in, with the folder of the last session learned from.
    projects: BTreeMap<PathBuf, Option<PathBuf>>,
    unreadable: BTreeSet<String>,

    /// Until when the status on disk says that the worker waits.
    waits_until: Option<Timestamp>,
}

pub(super) struct Running {
    pub(super) id: JobId,
    /// `true` if it tries an account that has failed: until it has ended, no other job begins.
    pub(super) is_trial: bool,
    pub(super) is_edit: bool,
    pub(super) is_bootstrap: bool,
}

impl<'a> Drain<'a> {
    fn new(
        context: &'a Arc<Worker>,
        lock: &'a WorkerLock,
        scope: &'a WorkScope,
        summary: &'a mut Summary,
    ) -> Self {
        Self {
            context,
            schedule: Schedule::default(),
            summary,
            lock,
            scope,
            tasks: JoinSet::new(),
            running: HashMap::new(),
            in_flight: InFlight::default(),
            not_dropped: HashSet::new(),
            projects: BTreeMap::new(),
            unreadable: BTreeSet::new(),

            waits_until: None,
        }
    }

    /// Puts in order what earlier workers left behind, and finds what there is to do.
    fn prepare(&mut self) -> Result<(), FsError> {
        let context = self.context;
        let is_for_all = *self.scope == WorkScope::All;
        context.refresh();
        let suspects;
        (self.in_flight, suspects) = InFlight::take_over(context);
        for (id, ended) in suspects {
            let reason = format!("{ended} workers ended while they were at it");
            put_off_broken(context, &id, &reason);
        }
        if is_for_all {
            recover::abandoned_sessions(context);
            recover::overlooked_sessions(context);
            curate::at_start(context);
            den::clear();
        }
        self.look()?;
        if !is_for_all {
            self.schedule.keep_only(self.scope.wanted());
        }
        self.requests()?;
        if is_for_all {
            recover::tidy(context);
        }
        Ok(())
    }

    pub(super) async fn run(mut self) -> Result<Schedule, FsError> {
        self.prepare()?;
        self.work().await?;
        if *self.scope == WorkScope::All {
            block_in_place(|| curate::dreams(self.context, self.projects.keys()));
            self.work().await?;
            self.leave_status();
        }
        for project in self.projects.keys() {
            self.context.refresh_records(project);
            self.context.make_ready(project);
        }
        self.look_at_files().await;
        self.summary.waiting = self.schedule.waiting().count();
        Ok(self.schedule)
    }

    /// Finds what the files no longer have of the key points. It may be cut short.
    async fn look_at_files(&self) {
        let context = self.context;
        for (project, folder) in &self.projects {
            let Some(folder) = folder else { continue };
            let config = context.config_for(project);
            let points = config.map_err(QueueError::from);
            let points = points.and_then(|config| known_points(context.paths(), project, &config));
            // What keeps them from being read has been told by the jobs.
            let Ok(playbook) = points else { continue };
            let place = (project.as_path(), folder.as_path());
            match freshness::look(context.paths(), place, &playbook, context.now()).await {
                Ok(true) => context.make_ready(project),
                Ok(false) => {}
                Err(error) => context.log("worker", &error.to_string()),
            }
        }
    }

    async fn work(&mut self) -> Result<(), FsError> {
        let worked = self.until_nothing_is_due().await;
        // Without the state folder nothing can be kept of what is under way; else it was paid for.
        self.lock.check()?;
        while let Some(ended) = self.tasks.join_next_with_id().await {
            self.ended(ended);
        }
        worked
    }

    async fn until_nothing_is_due(&mut self) -> Result<(), FsError> {
        let mut tick = interval(LOOK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tick.reset();
        loop {
            self.lock.check()?;
            if self.context.take_enqueued() {
                self.look_again()?;
            }
            self.start_ready();
            if self.tasks.is_empty() {
                self.look_again()?;
                self.start_ready();
            }
            if self.tasks.is_empty() {
                if !self.is_worth_waiting() || self.has_lost_its_memory() {
                    return Ok(());
                }
                self.say_that_it_waits();
            }
            tokio::select! {
                Some(ended) = self.tasks.join_next_with_id() => self.ended(ended),
                _ = tick.tick() => self.look_again()?,
            }
        }
    }

    fn look_again(&mut self) -> Result<(), FsError> {
        if *self.scope == WorkScope::All {
            self.look()?;
        }
        self.requests()
    }

    fn start_ready(&mut self) {
        let is_blocked = |it: &Self| it.running.values().any(|running| it.blocks_others(running));
        while !is_blocked(self)
            && !self.context.memory().is_broken()
            && let Some(id) = self.next_ready()
        {
            self.start(id);
        }
    }

    /// Returns true where nothing may begin yet: a running job tries an account, or is a bootstrap
    /// job without its claim. A record that several sessions have is claimed by the oldest.
    fn blocks_others(&self, running: &Running) -> bool {
        running.is_trial || running.is_bootstrap && !self.context.claims().has(&running.id)
    }

    /// Returns the next job there is room for; edits wait for no session, and keep their order.
    fn next_ready(&mut self) -> Option<JobId> {
        let context = self.context;
        let busy = self.tasks.len();
        let has_room = busy < context.jobs_at_once();
        let is_editing = self.running.values().any(|running| running.is_edit);
        let wanted = match (has_room, is_editing) {
            (true, false) => Wanted::Any,
            (true, true) => Wanted::NotByHand,
            (false, false) if busy < context.config.worker.jobs => Wanted::ByHand,
            (false, _) => return None,
        };
        self.schedule.next(context.now(), wanted)
    }

    fn start(&mut self, id: JobId) {
        let context = self.context;
        let job = match context.job(&id) {
            Ok(job) if !context.serves(&job) => job,
            Ok(job) => context.adopt(job),
            Err(error) if error.is_missing() => return self.schedule.forget(&id),
            Err(error) => {
                context.log(id.as_str(), &format!("left alone: {error}"));
                return self.pass_over(id, context.now());
            }
        };
        let due = if self.scope.wanted() == Some(&id) {
            // The user asks for this one: its own pause is over.
            context.parked_until(&job)
        } else {
            context.due(&job)
        };
        if let Some(due) = due.filter(|_| !context.is_too_old(&job)) {
            let reason = context.parked_reason(&job);
            return self.schedule.put_off(&id, due, reason);
        }
        let is_trial = context.is_trial(&job);
        let begun = self.in_flight.begin(&id);
        context.log_error(id.as_str(), begun);
        let project = &job.ticket.project;
        if !self.projects.contains_key(project) {
            context.settle_place(project);
        }
        let folder = self.projects.entry(project.clone()).or_default();
        if job.is_of_session() {
            *folder = Some(job.ticket.cwd.clone());
        }
        let running = Running {
            id,
            is_trial,
            is_edit: job.edit.is_some(),
            is_bootstrap: job.ticket.event == JobEvent::Bootstrap,
        };
        let task = {
            let context = Arc::clone(context);
            async move { work(&context, job).await }
        };
        self.spawn(running, task);
    }

    pub(super) fn spawn(
        &mut self,
        running: Running,
        task: impl Future<Output = Outcome> + Send + 'static,
    ) {
        let handle = self.tasks.spawn(task);
        self.running.insert(handle.id(), running);
    }

    pub(super) fn is_running(&self, id: &JobId) -> bool {
        self.running.values().any(|running| running.id == *id)
    }

    fn ended(&mut self, ended: Result<(task::Id, Outcome), task::JoinError>) {
        let (task, end) = match ended {
            Ok((task, end)) => (task, Ok(end)),
            Err(error) => (error.id(), Err(error)),
        };
        let Some(Running { id, .. }) = self.running.remove(&task) else {
            return;
        };
        // What came of it may be worth a word, whenever the next one is due.
        self.waits_until = None;
        match end {
            Ok(Outcome::Done(finish)) => {
                self.in_flight.gone(&id);
                self.schedule.forget(&id);
                self.summary.finished.push((id, finish));
            }
            Ok(Outcome::Wait {
                reason,
                until,
                for_account,
            }) => {
                let put_down = self.in_flight.put_down(&id);
                self.context.log_error(id.as_str(), put_down);
                let now = self.context.now();
                // The account itself says when it may try.
                let due = until.filter(|_| !for_account).unwrap_or(now);
                let is_stuck = !for_account && !is_for_settings(&reason);
                self.schedule.tried(&id, due, reason, is_stuck);
            }
            // What the user wanted dropped and cannot be.
            Ok(Outcome::Fail(_)) => {
                self.schedule.forget(&id);
                self.not_dropped.insert(id);
            }
            Err(error) => {
                let reason = format!("the work on it broke off: {error}");
                let due = put_off_broken(self.context, &id, &reason);
                self.schedule.put_off(&id, due, Some(reason));
            }
        }
    }

    fn is_worth_waiting(&self) -> bool {
        // With a stopped clock nothing ever becomes due.
        let due = self.schedule.next_due();
        let due = due.filter(|_| self.context.clock == Clock::Running);
        let is_soon = |due: Timestamp| due.duration_since(self.context.now()) <= WORTH_WAITING;
        // What was paid for and could not be stored ends with this process, whoever waits for it.
        due.is_some_and(|due| {
            *self.scope == WorkScope::All && is_soon(due) || self.context.has_unsaved_answers()
        })
    }

    /// Returns `true` if another worker has to open the memory, and no answer waits to be saved.
    fn has_lost_its_memory(&self) -> bool {
        self.context.memory().is_broken() && !self.context.has_unsaved_answers()
    }

    /// Leaves the status once for each pause: a start in it is to say why nothing is learned.
    fn say_that_it_waits(&mut self) {
        let until = self.schedule.next_due();
        if *self.scope == WorkScope::All && self.waits_until != until {
            self.waits_until = until;
            self.leave_status();
        }
    }

    fn leave_status(&self) {
        let context = self.context;
        let mut status = Status::quiet(context.now());
        status.remember_leap(context.paths(), context.now());
        let elsewhere = self.schedule.due_elsewhere().into_iter();
        (status.due).extend(elsewhere.map(|(account, due)| (account.to_owned(), Due(due))));
        if let Some(due) = self.schedule.next_due() {
            let names = context.account.names().into_iter();
            status.due.extend(names.map(|name| (name, Due(due))));
        }
        status.notices = notices::all(context, &self.schedule, &self.unreadable);
        status.quarantine = notices::quarantine(context);
        context.log_error("worker", status.write(context.paths()));
    }
}

const ON_DISK_BY_NOW: SignedDuration = SignedDuration::from_mins(2);

impl Drain<'_> {
    /// Adds the spool's new jobs. An error may pass: until then nothing more begins.
    pub(super) fn look(&mut self) -> Result<(), FsError> {
        let spool = self.context.paths().spool();
        for id in spool::list(&spool)? {
            if self.schedule.knows(&id) {
                continue;
            }
            match self.context.job(&id) {
                Ok(job) => self.add(id, job),
                Err(error) if error.is_missing() => {}
                Err(error) if is_no_job(&error) => self.leave_alone(id, &error),
                // What it has claimed nobody knows until it can be read.
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn add(&mut self, id: JobId, job: Job) {
        let context = self.context;
        context.claims().add(&job);
        let mut entry = ScheduledJob::of(&job);
        if job.ticket.v > JOB_VERSION {
            return self.pass_over(id, entry.since);
        }
        if self.scope.wanted().is_none_or(|wanted| *wanted == id) {
            on_disk(context, &job);
        }
        if context.is_too_old(&job) {
            return self.schedule.add(id, entry, QueuePlace::Ready);
        }
        if !context.serves(&job) {
            entry.reason.get_or_insert_with(|| FOREIGN.to_owned());
            let account = job.ticket.need.as_ref().map(Need::account);
            let due = context.due(&job).unwrap_or_else(|| context.now());
            let place = QueuePlace::Foreign(account.unwrap_or_default(), due);
            return self.schedule.add(id, entry, place);
        }
        let job = context.adopt(job);
        let due = context.due(&job);
        if due.is_some() {
            entry.reason = context.parked_reason(&job).or(entry.reason);
        }
        let place = due.map_or(QueuePlace::Ready, QueuePlace::Later);
        self.schedule.add(id, entry, place);
    }

    fn pass_over(&mut self, id: JobId, since: Timestamp) {
        let entry = ScheduledJob::left_alone(since);
        self.schedule.add(id, entry, QueuePlace::Taken);
    }

    /// Leaves a file alone that is no job of ours; what it may have claimed is not claimed again.
    fn leave_alone(&mut self, id: JobId, error: &FsError) {
        let context = self.context;
        context.log(id.as_str(), &format!("left alone: {error}"));
        self.unreadable.insert(error.to_string());
        if let Ok(heading) = progress::read_heading(&context.paths().spool(), &id)
            && heading.v > JOB_VERSION
        {
            context.claims().close(heading.transcript);
        }
        self.pass_over(id, context.now());
    }
}

/// Returns `true` if a file is no job, and will not become one by itself.
fn is_no_job(error: &FsError) -> bool {
    use ErrorKind::{InvalidData, IsADirectory, Other, PermissionDenied, UnexpectedEof};
    let known = [
        InvalidData,
        UnexpectedEof,
        Other,
        IsADirectory,
        PermissionDenied,
    ];
    known.contains(&error.source.kind()) || error.is_link_loop()
}

/// Syncs a new job, for which the hook did not wait.
fn on_disk(context: &Worker, job: &Job) {
    let is_fresh = context.now().duration_since(job.ticket.at).abs() < ON_DISK_BY_NOW;
    if is_fresh && job.progress.claim.is_none() {
        let file = spool::job_file(&context.paths().spool(), &job.ticket.id);
        context.log_error(job.ticket.id.as_str(), crate::fsx::sync(&file));
    }
}

/// The number of workers that may end with a job in hand before it is put off.
pub(super) const SUSPECT_AFTER: u32 = 3;
const MAX_FILE: u64 = 1 << 20;

/// The jobs in hand, on disk. One that several workers did not survive (memory, a panic) waits,
/// longer each time, so that the others have their turn.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    file: PathBuf,
    jobs: BTreeMap<JobId, Hand>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Hand {
    ended: u32,
    now: bool,
}

/// Returns whether a worker has a job in hand, or had it when it ended.
pub(super) fn holds(paths: &Paths, id: &JobId) -> bool {
    let jobs: Option<BTreeMap<JobId, Hand>> = fsx::read_json(&paths.at_work(), MAX_FILE);
    jobs.is_some_and(|jobs| jobs.get(id).is_some_and(|hand| hand.now))
}

impl InFlight {
    /// Takes over from the last worker; also returns jobs that too many workers did not survive.
    fn take_over(context: &Worker) -> (Self, Vec<(JobId, u32)>) {
        let (file, spool) = (context.paths().at_work(), context.paths().spool());
        let mut jobs: BTreeMap<JobId, Hand> = fsx::read_json(&file, MAX_FILE).unwrap_or_default();
        jobs.retain(|id, _| spool::job_file(&spool, id).exists());
        let mut suspects = Vec::new();
        for (id, hand) in &mut jobs {
            if std::mem::take(&mut hand.now) {
                hand.ended += 1;
                if hand.ended >= SUSPECT_AFTER {
                    suspects.push((id.clone(), hand.ended));
                }
            }
        }
        let in_flight = Self { file, jobs };
        // Counted once, also where this worker ends before it has a job in hand.
        if !in_flight.jobs.is_empty() {
            context.log_error("worker", in_flight.write());
        }
        (in_flight, suspects)
    }

    pub(super) fn begin(&mut self, id: &JobId) -> Result<(), FsError> {
        self.jobs.entry(id.clone()).or_default().now = true;
        self.write()
    }

    /// A job is gone; its entry on disk does no harm.
    pub(super) fn gone(&mut self, id: &JobId) {
        self.jobs.remove(id);
    }

    pub(super) fn put_down(&mut self, id: &JobId) -> Result<(), FsError> {
        self.jobs.remove(id);
        self.write()
    }

    fn write(&self) -> Result<(), FsError> {
        fsx::quick(&self.file, &fsx::to_json(&self.file, &self.jobs)?)
    }
}
