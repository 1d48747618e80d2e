//! Where a worker runs, and what it was started with: nothing here changes while it lives.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::account::{Account, login};
use crate::backend::BackendName;
use crate::config::{self, Config, ConfigError};
use crate::env::{Clock, Env, name};
use crate::fsx::FsError;
use crate::paths::Paths;
use crate::prepare;
use crate::telemetry;

pub(crate) struct Surroundings {
    pub(crate) paths: Paths,
    pub(crate) clock: Clock,
    pub(crate) config: Config,
    pub(crate) account: Account,
    pub(crate) home_project: Option<PathBuf>,
    /// Where prompts and replies are kept, in diagnostic mode.
    pub(crate) diagnostics: Option<PathBuf>,
    /// Whether times in logs are left out, so that runs can be compared.
    pub(crate) is_ci: bool,
    /// The fingerprint of the client's login, where the account is that login.
    pub(super) login: Option<String>,
}

impl Surroundings {
    pub(crate) fn new(
        env: &Env,
        paths: Paths,
        config: Config,
        account: Account,
        home_project: Option<PathBuf>,
    ) -> Self {
        let has_login = account.need.backend == BackendName::ClaudeCli;
        Self {
            clock: env.clock(),
            login: has_login.then(|| login::fingerprint(env, &paths)),
            paths,
            config,
            account,
            home_project,
            diagnostics: env.path(name::DEBUG),
            is_ci: env.is_on(name::CI),
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the settings that hold for a project now; a worker may run for hours.
    pub(crate) fn config_for(&self, project: &Path) -> Result<Config, ConfigError> {
        config::for_project(&self.paths, project)
    }

    /// Returns how many jobs are worked on side by side: where no model is asked or time stands
    /// still one after the other, so that the same jobs leave the same bytes.
    pub(super) fn jobs_at_once(&self) -> usize {
        let in_turn = self.account.need.backend.is_offline() || self.clock != Clock::Running;
        if in_turn { 1 } else { self.config.worker.jobs }
    }

    /// Makes what the next start in a project is given; hooks can do without.
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
}
