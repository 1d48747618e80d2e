//! What all jobs of one worker share.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::backoff::Backoff;
use super::claims::Claims;
use super::files;
use super::job::JobId;
use super::open_calls::OpenCalls;
use super::progress::Job;
use super::spool::job_file;
use crate::account::{Account, login};
use crate::backend::Name;
use crate::config::{self, Config, ConfigError};
use crate::env::{Clock, Env, name};
use crate::fsx::{self, FsError};
use crate::memory::Memory;
use crate::paths::Paths;
use crate::prepare;
use crate::telemetry;

pub(crate) struct WorkerContext {
    pub(crate) paths: Paths,
    pub(crate) clock: Clock,
    pub(crate) config: Config,
    pub(crate) account: Account,
    pub(crate) home_project: Option<PathBuf>,
    /// Where prompts and replies are kept, in diagnostic mode.
    pub(crate) diagnostics: Option<PathBuf>,
    /// How similar two texts are that count as one, where a variable says so.
    pub(crate) dedup_threshold: Option<f64>,
    /// Whether times in logs are left out, so that runs can be compared.
    pub(crate) is_ci: bool,
    pub(super) login: Option<String>,
    memory: Mutex<Memory>,
    claims: Mutex<Claims>,
    backoff: Mutex<Backoff>,
    pub(super) open_calls: OpenCalls,
    unsaved: Mutex<HashMap<JobId, Job>>,
    settled: Mutex<HashSet<PathBuf>>,
    locks: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
}

impl WorkerContext {
    pub(crate) fn new(
        env: &Env,
        paths: Paths,
        config: Config,
        account: Account,
        home_project: Option<PathBuf>,
        memory: Memory,
    ) -> Self {
        let has_login = account.need.backend == Name::ClaudeCli;
        let login = has_login.then(|| login::fingerprint(env, &paths));
        Self {
            clock: env.clock(),
            backoff: Mutex::new(backoff_of(&paths, &account, login.as_deref())),
            login,
            paths,
            config,
            account,
            home_project,
            diagnostics: env.path(name::DEBUG),
            dedup_threshold: threshold_from(env),
            is_ci: env.is_on(name::CI),
            memory: Mutex::new(memory),
            claims: Mutex::default(),
            open_calls: OpenCalls::default(),
            unsaved: Mutex::default(),
            settled: Mutex::default(),
            locks: Mutex::default(),
        }
    }

    /// Forgets what another worker may have changed while this one waited for its turn.
    ///
    /// What the jobs have claimed is told anew by each that is found in the spool.
    pub(super) fn refresh(&self) {
        *self.claims() = Claims::default();
        let spool = self.paths.spool();
        unpoisoned(&self.unsaved).retain(|id, _| job_file(&spool, id).exists());
        *self.backoff() = backoff_of(&self.paths, &self.account, self.login.as_deref());
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The settings that hold for a project now; a worker may run for hours.
    pub(crate) fn config_for(&self, project: &Path) -> Result<Config, ConfigError> {
        config::for_project(&self.paths, project)
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

    /// The lock within this process for what must not happen twice at once to a project
    /// (claims, changes of its playbook) or to a transcript (claims).
    pub(crate) fn alone(&self, path: &Path) -> Arc<tokio::sync::Mutex<()>> {
        unpoisoned(&self.locks)
            .entry(path.to_owned())
            .or_default()
            .clone()
    }

    /// A job of the spool as it is: what could not be saved of it counts before its file.
    pub(super) fn job(&self, id: &JobId) -> Result<Job, FsError> {
        let unsaved = unpoisoned(&self.unsaved).get(id).cloned();
        unsaved.map_or_else(|| files::read(&self.paths.spool(), id), Ok)
    }

    /// Writes a job back to the spool, durably.
    ///
    /// What cannot be written is kept until it can: as long as this worker runs, neither
    /// what a model said must be lost nor what the job has claimed.
    pub(super) fn save(&self, job: &Job) -> Result<(), FsError> {
        let saved = files::save(&self.paths, job);
        let mut unsaved = unpoisoned(&self.unsaved);
        let id = &job.ticket.id;
        if saved.is_ok() {
            unsaved.remove(id);
        } else {
            unsaved.insert(id.clone(), job.clone());
        }
        saved
    }

    pub(super) fn has_unsaved_answers(&self) -> bool {
        let unsaved = unpoisoned(&self.unsaved);
        unsaved
            .values()
            .any(|job| !job.progress.spent.calls.is_empty())
    }

    /// How many jobs are worked on side by side: where no model is asked or time stands still
    /// one after the other, so that the same jobs leave the same bytes.
    pub(super) fn jobs_at_once(&self) -> usize {
        let in_turn = self.account.need.backend.is_offline() || self.clock != Clock::Running;
        if in_turn { 1 } else { self.config.worker.jobs }
    }

    pub(super) fn has_left(&self, job: &Job) {
        unpoisoned(&self.unsaved).remove(&job.ticket.id);
        self.claims().remove(job);
    }

    /// Removes the file of a request; one that cannot be removed is not carried out again.
    pub(super) fn settle_request(&self, file: PathBuf) {
        if let Err(error) = fsx::remove(&file) {
            self.log("worker", &error.to_string());
            unpoisoned(&self.settled).insert(file);
        }
    }

    /// Tells whether a request is only there because its file could not be removed.
    pub(super) fn is_settled(&self, file: &Path) -> bool {
        unpoisoned(&self.settled).contains(file)
    }

    pub(crate) fn log(&self, who: &str, what: &str) {
        telemetry::note(&self.paths, self.now(), who, what);
    }

    /// Makes what the next start in a project is given; hooks can do without.
    pub(crate) fn make_ready(&self, project: &Path) {
        prepare::ready(&self.paths, project, self.now());
    }

    pub(super) fn log_error(&self, who: &str, done: Result<(), FsError>) {
        if let Err(error) = done {
            self.log(who, &error.to_string());
        }
    }
}

/// Reads the threshold that a variable sets, if it does.
fn threshold_from(env: &Env) -> Option<f64> {
    let threshold = env.get(name::DEDUP_THRESHOLD)?.trim().parse().ok();
    threshold.filter(|threshold: &f64| !threshold.is_nan())
}

/// The parked accounts; not those that may have a reason no more: another limit, another
/// login of the client.
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
    use crate::queue::job::{Event, Ticket};
    use crate::queue::spool::{self, Lot};

    pub(in crate::queue) fn context(dir: &Path) -> WorkerContext {
        let env = Env::from_pairs([(name::CONFIG_DIR, dir), (name::STATE_DIR, dir)]);
        let paths = Paths::resolve(&env).unwrap();
        let config = Config::default();
        let account = account::of_process(&env, &config, &paths).unwrap();
        let memory = Memory::open(&paths.memory_db()).unwrap();
        WorkerContext::new(&env, paths, config, account, None, memory)
    }

    #[test]
    fn what_could_not_be_saved_of_a_job_counts_until_it_can_or_the_job_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        let context = context(dir.path());
        let ticket = Ticket::new(Event::SessionEnd, dir.path(), context.now());
        let id = spool::put(&context.paths, &Lot::Chance, ticket).unwrap();
        let mut job = context.job(&id).unwrap();
        job.progress.trigger = Some("an answer".to_owned());
        let file = job_file(&context.paths.spool(), &id);
        let aside = dir.path().join("aside");

        // Nothing can be written there for a while.
        fs::rename(&file, &aside).unwrap();
        fs::create_dir(&file).unwrap();
        context.save(&job).unwrap_err();
        fs::remove_dir(&file).unwrap();
        fs::rename(&aside, &file).unwrap();
        for _ in 0..2 {
            assert_eq!(
                context.job(&id).unwrap(),
                job,
                "however often it is looked at"
            );
            context.refresh();
        }
        context.save(&job).unwrap();
        assert_eq!(files::read(&context.paths.spool(), &id).unwrap(), job);

        // Another worker has done it meanwhile.
        fs::rename(&file, &aside).unwrap();
        fs::create_dir(&file).unwrap();
        context.save(&job).unwrap_err();
        fs::remove_dir(&file).unwrap();
        context.refresh();
        assert!(context.job(&id).unwrap_err().is_missing());
    }
}
