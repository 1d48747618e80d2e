//! Everything a hook needs, resolved once: where, who, when, and what the settings say.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::HookEvent;
use super::wire::Input;
use crate::account::{self, Need};
use crate::config::{self, Config, ConfigError};
use crate::env::{Env, name};
use crate::paths::Paths;
use crate::project;
use crate::telemetry;
use crate::wall;

pub(super) struct Context<'a> {
    pub(super) env: &'a Env,
    pub(super) event: HookEvent,
    pub(super) paths: Paths,
    pub(super) now: Timestamp,
    pub(super) input: Input,
    pub(super) cwd: PathBuf,
    pub(super) project: PathBuf,
    /// The settings, or why they cannot be used: then jobs are written all the same.
    pub(super) config: Result<Config, ConfigError>,
}

impl<'a> Context<'a> {
    /// Resolves the surroundings; `None` when there is nothing to do: no home, or
    /// reflection is switched off here.
    pub(super) fn resolve(env: &'a Env, event: HookEvent, input: Input) -> Option<Self> {
        let paths = Paths::resolve(env).ok()?;
        // Whoever else writes there could have us do anything; the command line says so.
        wall::check(&paths).ok()?;
        let cwd = input.cwd.clone().or_else(|| std::env::current_dir().ok())?;
        let start = env
            .get(name::CLAUDE_PROJECT_DIR)
            .map_or_else(|| cwd.clone(), PathBuf::from);
        let project = project::find(&start);
        let config = config::unless_switched_off(&paths, &project)?;
        Some(Self {
            env,
            event,
            now: env.clock().now(),
            paths,
            input,
            cwd,
            project,
            config,
        })
    }

    /// What jobs of this session need to be answered; `None` when that cannot be told:
    /// the job is written all the same.
    pub(super) fn need(&self) -> Option<Need> {
        let config = self.config.as_ref().ok()?;
        account::of_process(self.env, config, &self.paths)
            .inspect_err(|error| self.log(&error.to_string()))
            .ok()
            .map(|account| account.need)
    }

    /// Tells whether a transcript may be read unasked: it lies where the client keeps its
    /// own. Without a home that cannot be told, and none is turned away.
    pub(super) fn is_clients(&self, transcript: &Path) -> bool {
        let has_home = [name::HOME, name::CLAUDE_CONFIG_DIR]
            .iter()
            .any(|name| self.env.os(name).is_some());
        !has_home || wall::is_clients(&self.paths, transcript)
    }

    /// The session and its transcript, where that is the client's.
    pub(super) fn session(&self) -> Option<(&String, &PathBuf)> {
        let transcript = self.input.transcript.as_ref();
        let transcript = transcript.filter(|transcript| self.is_clients(transcript));
        self.input.session.as_ref().zip(transcript)
    }

    /// Writes a line to the hooks' log: words of our own and names of files, nothing that
    /// the client or the settings say.
    pub(super) fn log(&self, what: &str) {
        telemetry::note_of_ours(&self.paths, self.now, self.event.name(), what);
    }
}
