//! The state that all jobs of one worker share.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::backoff::Backoff;
use super::budget::OpenCalls;
use super::claim::Claims;
use super::job::JobId;
use super::progress::{self, Job};
use super::spool::job_file;
use super::{QueueError, notices, transcripts};
use crate::account::{Account, login};
use crate::backend::BackendName;
use crate::config::{self, Config, ConfigError};
use crate::env::{Clock, Env, name};
use crate::fsx::{self, FsError};
use crate::memory::Memory;
use crate::paths::Paths;
use crate::playbook::Skipped;
use crate::{place, prepare, telemetry, usage};

pub(crate) struct Worker {
    paths: Paths,
    pub(crate) clock: Clock,
    pub(crate) config: Config,
    pub(crate) account: Account,
    pub(crate) home_project: Option<PathBuf>,
    pub(super) diagnostics: Option<PathBuf>,
    pub(super) is_ci: bool,
    pub(super) login: Option<String>,
    pub(super) open_calls: OpenCalls,
    /// Jobs whose spool file could not be written; the next save retries them.
    unsaved: Mutex<HashMap<JobId, Job>>,
    memory: Mutex<Memory>,
    claims: Mutex<Claims>,
    backoff: Mutex<Backoff>,
    carried_out: Mutex<HashSet<PathBuf>>,
    locks: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
    has_enqueued: AtomicBool,
}

impl Worker {
    pub(crate) fn new(
        env: &Env,
        paths: Paths,
        config: Config,
        (account, home_project): (Account, Option<PathBuf>),
        memory: Memory,
    ) -> Self {
        let has_login = account.need.backend == BackendName::ClaudeCli;
        let login = has_login.then(|| login::fingerprint(&account.found_in.vars, &paths));
        let backoff = backoff_of(&paths, &account, login.as_deref());
        Self {
            paths,
            clock: env.clock(),
            config,
            account,
            home_project,
            diagnostics: env.path(name::DEBUG),
            is_ci: env.is_on(name::CI),
            login,
            open_calls: OpenCalls::default(),
            unsaved: Mutex::default(),
            memory: Mutex::new(memory),
            claims: Mutex::default(),
            backoff: Mutex::new(backoff),
            carried_out: Mutex::default(),
            locks: Mutex::default(),
            has_enqueued: AtomicBool::new(false),
        }
    }

    /// Notes that the spool holds a job which the schedule does not know yet.
    pub(super) fn note_enqueued(&self) {
        self.has_enqueued.store(true, Ordering::Release);
    }

    pub(super) fn take_enqueued(&self) -> bool {
        self.has_enqueued.swap(false, Ordering::Acquire)
    }

    pub(super) fn refresh_records(&self, project: &Path) {
        notices::refresh(self, project);
        if let Err(error) = usage::refresh(self.paths(), &self.memory(), project) {
            self.log("worker", &error.to_string());
        }
    }

    /// Forgets what another worker may have changed meanwhile.
    pub(super) fn refresh(&self) {
        *self.claims() = Claims::default();
        let spool = self.paths().spool();
        unpoisoned(&self.unsaved).retain(|id, _| job_file(&spool, id).exists());
        *self.backoff() = backoff_of(&self.paths, &self.account, self.login.as_deref());
    }

    pub(crate) fn paths(&self) -> &Paths {
        &self.paths
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the settings that hold for a project now; a worker may run for hours.
    pub(crate) fn config_for(&self, project: &Path) -> Result<Config, ConfigError> {
        config::for_project(&self.paths, project)
    }

    /// Returns the number of jobs done side by side. Without a model or with a stopped clock it is
    /// one, so that the same jobs leave the same bytes.
    pub(super) fn jobs_at_once(&self) -> usize {
        let in_turn = self.account.need.backend.is_offline() || self.clock != Clock::Running;
        if in_turn { 1 } else { self.config.worker.jobs }
    }

    pub(crate) fn make_ready(&self, project: &Path) {
        prepare::ready(&self.paths, project, self.now());
    }

    pub(crate) fn log(&self, who: &str, what: &str) {
        telemetry::note(&self.paths, self.now(), who, what);
    }

    pub(super) fn log_error(&self, who: &str, done: Result<(), FsError>) {
        if let Err(error) = done {
            self.log(who, &error.to_string());
        }
    }

    pub(super) fn log_skipped<'s>(
        &self,
        who: &str,
        how: &str,
        skipped: impl IntoIterator<Item = &'s Skipped>,
    ) {
        for Skipped { what, reason } in skipped {
            self.log(who, &format!("{what} {how}: {reason}"));
        }
    }

    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        unpoisoned(&self.memory)
    }

    pub(crate) fn claims(&self) -> MutexGuard<'_, Claims> {
        unpoisoned(&self.claims)
    }

    pub(crate) fn backoff(&self) -> MutexGuard<'_, Backoff> {
        unpoisoned(&self.backoff)
    }

    /// Returns the lock of this process for the claims and changes of a project or transcript.
    pub(crate) fn alone(&self, path: &Path) -> Arc<tokio::sync::Mutex<()>> {
        let mut locks = unpoisoned(&self.locks);
        Arc::clone(locks.entry(path.to_owned()).or_default())
    }

    /// Returns a job as it is: what could not be saved of it counts before its file.
    pub(super) fn job(&self, id: &JobId) -> Result<Job, FsError> {
        let unsaved = unpoisoned(&self.unsaved).get(id).cloned();
        let mut job = unsaved.map_or_else(|| progress::read(&self.paths().spool(), id), Ok)?;
        let ticket = &mut job.ticket;
        if !ticket.project.is_dir() {
            // A worktree that was removed counts where it came from; a claim binds to its project.
            let origin = || {
                let is_free = job.progress.claim.is_none();
                is_free.then(|| transcripts::origin(&ticket.transcript))?
            };
            let now = place::moved_to(self.paths(), &ticket.project).or_else(origin);
            ticket.project = now.unwrap_or_else(|| std::mem::take(&mut ticket.project));
        }
        Ok(job)
    }

    /// Notes where a project is, and gives it the memory of the place that it was moved from.
    pub(super) fn settle_place(&self, project: &Path) {
        let followed = place::follow(self.paths(), project).map_err(QueueError::from);
        let settled = followed.and_then(|place| {
            let name = project.to_string_lossy();
            for former in place.iter().flat_map(|place| place.left(self.paths())) {
                let former = former.to_string_lossy();
                self.memory().move_project(&former, &name)?;
            }
            Ok(place::note(self.paths(), project)?)
        });
        if let Err(error) = settled {
            self.log("worker", &error.to_string());
        }
    }

    pub(super) fn save(&self, job: &Job) -> Result<(), FsError> {
        let saved = progress::save(self.paths(), job);
        let mut unsaved = unpoisoned(&self.unsaved);
        match saved {
            Ok(()) => unsaved.remove(&job.ticket.id),
            Err(_) => unsaved.insert(job.ticket.id.clone(), job.clone()),
        };
        saved
    }

    pub(super) fn is_unsaved(&self, id: &JobId) -> bool {
        unpoisoned(&self.unsaved).contains_key(id)
    }

    /// Returns `true` if a model has said what could not be stored so far.
    pub(crate) fn has_unsaved_answers(&self) -> bool {
        let unsaved = unpoisoned(&self.unsaved);
        let mut jobs = unsaved.values();
        jobs.any(|job| !job.progress.spent.calls.is_empty())
    }

    pub(super) fn has_left(&self, job: &Job) {
        unpoisoned(&self.unsaved).remove(&job.ticket.id);
        self.claims().remove(job);
    }

    /// Removes the file of a request; one that cannot be removed is not carried out again.
    pub(super) fn settle_request(&self, file: PathBuf) {
        if let Err(error) = fsx::remove(&file) {
            self.log("worker", &error.to_string());
            unpoisoned(&self.carried_out).insert(file);
        }
    }

    /// Returns `true` if a request is only there because its file could not be removed.
    pub(super) fn is_settled(&self, file: &Path) -> bool {
        unpoisoned(&self.carried_out).contains(file)
    }
}

/// Reads the parked accounts, without those that another limit or login may have freed.
fn backoff_of(paths: &Paths, account: &Account, login: Option<&str>) -> Backoff {
    let mut backoff = Backoff::read(paths);
    backoff.ask_budgets_again();
    if let Some(login) = login {
        backoff.welcome(&account.need.account(), login);
    }
    backoff
}

/// A job that panicked left nothing half done: every step is a whole value.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use super::*;
    use crate::account;
    use crate::config::Config;
    use crate::env::{Env, name};
    use crate::queue::job::{JobEvent, Ticket};
    use crate::queue::spool::{self, IdEntropy, job_file};

    pub(in crate::queue) fn context(dir: &Path) -> Worker {
        let env = Env::from_pairs([(name::CONFIG_DIR, dir), (name::STATE_DIR, dir)]);
        let paths = Paths::resolve(&env).unwrap();
        let config = Config::default();
        let account = account::of_worker(&env, &config, (&paths, None)).unwrap();
        let memory = Memory::open(&paths.memory_db()).unwrap();
        Worker::new(&env, paths, config, (account, None), memory)
    }

    #[test]
    fn what_could_not_be_saved_of_a_job_counts_until_another_worker_has_done_it() {
        let dir = tempfile::tempdir().unwrap();
        let context = context(dir.path());
        let ticket = Ticket::new(JobEvent::SessionEnd, dir.path(), context.now());
        let id = spool::put(context.paths(), &IdEntropy::Chance, ticket).unwrap();
        let mut job = context.job(&id).unwrap();
        job.progress.trigger = Some("an answer".to_owned());
        let file = job_file(&context.paths().spool(), &id);
        // Nothing can be written there for a while.
        let written = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        context.save(&job).unwrap_err();
        fs::remove_dir(&file).unwrap();
        fs::write(&file, written).unwrap();
        context.refresh();
        assert_eq!(context.job(&id).unwrap(), job);
        fs::remove_file(&file).unwrap();
        context.refresh();
        assert!(context.job(&id).unwrap_err().is_missing());
    }
}
