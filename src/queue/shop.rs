//! What all jobs of one worker share.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;

use super::apply::threshold_from;
use super::budget::Usage;
use super::claim::Claims;
use super::job::JobId;
use super::parking::Parking;
use super::progress::Job;
use crate::account::{Account, login};
use crate::backend::Name;
use crate::config::{self, Config, ConfigError};
use crate::env::{Clock, Env, name};
use crate::memory::Memory;
use crate::paths::Paths;
use crate::telemetry;

/// The worker's tools and what it knows; shared by its jobs.
pub struct Shop {
    /// Where everything is.
    pub paths: Paths,
    /// The time.
    pub clock: Clock,
    /// The user's settings.
    pub config: Config,
    /// Whose jobs these are, and the secret.
    pub account: Account,
    /// The project the worker was started from.
    pub home_project: Option<PathBuf>,
    /// Where prompts and replies are kept, in diagnostic mode.
    pub diagnostics: Option<PathBuf>,
    /// How similar two texts are that count as one, where a variable says so.
    pub dedup_threshold: Option<f64>,
    /// Whether times in logs are left out, so that runs can be compared.
    pub is_ci: bool,
    /// The client's login, for an account that has one.
    pub(super) login: Option<String>,
    memory: Mutex<Memory>,
    claims: Mutex<Claims>,
    parking: Mutex<Parking>,
    pending: Mutex<Usage>,
    pending_agreed: Mutex<HashMap<PathBuf, Usage>>,
    unsaved: Mutex<HashMap<JobId, Job>>,
    locks: Mutex<HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>>,
}

impl Shop {
    /// Sets up shop.
    pub fn new(
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
            parking: Mutex::new(parking_of(&paths, &account, login.as_deref())),
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
            pending: Mutex::default(),
            pending_agreed: Mutex::default(),
            unsaved: Mutex::default(),
            locks: Mutex::default(),
        }
    }

    /// Forgets what another worker may have changed while this one waited for its turn.
    pub(super) fn refresh(&self) {
        *self.claims() = Claims::default();
        *self.parking() = parking_of(&self.paths, &self.account, self.login.as_deref());
    }

    /// The time now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The settings that hold for a project now; a worker may run for hours.
    pub fn config_for(&self, project: &Path) -> Result<Config, ConfigError> {
        config::for_project(&self.paths, project)
    }

    /// The database.
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        unpoisoned(&self.memory)
    }

    /// What the jobs in the spool have claimed.
    pub fn claims(&self) -> MutexGuard<'_, Claims> {
        unpoisoned(&self.claims)
    }

    /// What the calls under way take of the day's budgets.
    pub(super) fn pending(&self) -> MutexGuard<'_, Usage> {
        unpoisoned(&self.pending)
    }

    /// What the calls under way take of what was agreed to for bootstrap, by project.
    pub(super) fn pending_agreed(&self) -> MutexGuard<'_, HashMap<PathBuf, Usage>> {
        unpoisoned(&self.pending_agreed)
    }

    /// The parked accounts.
    pub fn parking(&self) -> MutexGuard<'_, Parking> {
        unpoisoned(&self.parking)
    }

    /// The lock within this process for what must not happen twice at once to a project
    /// (claims, changes of its playbook) or to a transcript (claims).
    pub fn alone(&self, path: &Path) -> Arc<tokio::sync::Mutex<()>> {
        unpoisoned(&self.locks)
            .entry(path.to_owned())
            .or_default()
            .clone()
    }

    /// Keeps a job that could not be saved: what a model said must not be lost with it as
    /// long as this worker runs.
    pub(super) fn keep_unsaved(&self, job: &Job) {
        unpoisoned(&self.unsaved).insert(job.ticket.id.clone(), job.clone());
    }

    /// Takes a job back that could not be saved.
    pub(super) fn take_unsaved(&self, id: &JobId) -> Option<Job> {
        unpoisoned(&self.unsaved).remove(id)
    }

    /// Writes a line to the log.
    pub fn log(&self, who: &str, what: &str) {
        telemetry::note(&self.paths, self.now(), who, what);
    }
}

/// The parked accounts; not those that may have a reason no more: another limit, another
/// login of the client.
fn parking_of(paths: &Paths, account: &Account, login: Option<&str>) -> Parking {
    let mut parking = Parking::read(paths);
    parking.ask_budgets_again();
    if let Some(login) = login {
        parking.welcome(&account.need.account(), login);
    }
    parking
}

/// A job that panicked left nothing half done: every step is a whole value.
fn unpoisoned<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
