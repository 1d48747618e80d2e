//! Everything a hook needs, resolved once: where, who, when, and what the settings say.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::HookEvent;
use super::source::{AnswerSource, FoundSettings, SourceDoubt};
use super::wire::Input;
use crate::account::{ClientEnv, Need};
use crate::env::{Env, name};
use crate::fsx;
use crate::logfile;
use crate::paths::Paths;
use crate::place;
use crate::prepared::ProjectSettings;
use crate::project;
use crate::state_guard::{self, Breach};

/// What a hook knows before it does its work.
pub struct HookContext<'a> {
    /// The environment of the process.
    pub env: &'a Env,
    pub event: HookEvent,
    /// Where our files lie.
    pub paths: Paths,
    /// The present time, read once.
    pub now: Timestamp,
    pub(super) input: Input,
    /// Where the session works.
    pub cwd: PathBuf,
    pub project: PathBuf,
    /// The settings; without them jobs are written all the same.
    pub settings: Option<ProjectSettings>,
    /// Why the settings cannot be used.
    pub flaw: Option<String>,
    /// Asked more than once, and looked up in the file system.
    has_clients_transcript: OnceCell<bool>,
}

impl<'a> HookContext<'a> {
    /// Resolves the surroundings; `None` when there is nothing to do: no home, or
    /// reflection is switched off here.
    pub(super) fn resolve(
        env: &'a Env,
        event: HookEvent,
        input: Input,
        source: &dyn AnswerSource,
    ) -> Result<Option<Self>, SourceDoubt> {
        let Some((paths, cwd)) = folders(env, input.cwd.clone()) else {
            return Ok(None);
        };
        let start = env.path(name::CLAUDE_PROJECT_DIR);
        let project = project::find(&start.unwrap_or_else(|| cwd.clone()));
        // One that we know nothing of, though it has key points, may have been moved here.
        if event == HookEvent::SessionStart
            && !paths.project(&project).exists()
            && paths.playbook_file(&project).exists()
        {
            _ = place::follow(&paths, &project);
        }
        let (settings, flaw) = match source.settings(&paths, &project)? {
            FoundSettings::Off => return Ok(None),
            FoundSettings::Known(settings) => (Some(settings), None),
            FoundSettings::Broken(why) => (None, Some(why)),
            FoundSettings::Unknown => (None, None),
        };
        Ok(Some(Self {
            env,
            event,
            now: env.clock().now(),
            paths,
            input,
            cwd,
            project,
            settings,
            flaw,
            has_clients_transcript: OnceCell::new(),
        }))
    }

    /// What jobs of this session need to be answered; `None` when that cannot be told:
    /// the job is written all the same.
    pub(super) fn need(&self) -> Option<Need> {
        let account = &self.settings.as_ref()?.account;
        let client = ClientEnv::of(self.env, &self.paths, Some(&self.project));
        account
            .need(&client, &self.paths)
            .inspect_err(|error| self.log(&error.to_string()))
            .ok()
    }

    /// Returns `true` if a transcript may be read unasked: it lies where the client keeps its
    /// own. Without a home that cannot be told, and none is turned away.
    pub fn is_clients(&self, transcript: &Path) -> bool {
        let has_home = [name::HOME, name::CLAUDE_CONFIG_DIR]
            .iter()
            .any(|name| self.env.os(name).is_some());
        !has_home || state_guard::is_clients(&self.paths, transcript)
    }

    /// The session and its transcript, where that is the client's.
    pub fn session(&self) -> Option<(&String, &PathBuf)> {
        let transcript = self.input.transcript.as_ref();
        let transcript = transcript.filter(|_| self.has_clients_transcript());
        self.input.session.as_ref().zip(transcript)
    }

    /// Returns `true` if the session's transcript is the client's.
    pub(super) fn has_clients_transcript(&self) -> bool {
        *self.has_clients_transcript.get_or_init(|| {
            let transcript = self.input.transcript.as_deref();
            transcript.is_some_and(|transcript| self.is_clients(transcript))
        })
    }

    /// Writes a line to the hooks' log: words of our own and names of files, nothing that
    /// the client or the settings say.
    pub fn log(&self, what: &str) {
        // What fails here cannot be told.
        _ = fsx::ensure_dir(self.paths.state());
        logfile::note(&self.paths, self.now, self.event.name(), what);
    }
}

/// Why our folders cannot be used by a session that works in `cwd`, unless reflection is switched
/// off there.
pub(super) fn breach(
    env: &Env,
    cwd: Option<PathBuf>,
    source: &dyn AnswerSource,
) -> Result<Option<Breach>, SourceDoubt> {
    let Ok(paths) = Paths::resolve(env) else {
        return Ok(None);
    };
    let breach = state_guard::check(&paths).err();
    // Settings that others can have written are not asked.
    if breach.is_some()
        && state_guard::check_settings(&paths).is_ok()
        && let Some(project) = project_of(env, cwd)
        && source.settings(&paths, &project)? == FoundSettings::Off
    {
        return Ok(None);
    }
    Ok(breach)
}

fn project_of(env: &Env, cwd: Option<PathBuf>) -> Option<PathBuf> {
    let start = env
        .path(name::CLAUDE_PROJECT_DIR)
        .or_else(|| or_current(cwd))?;
    Some(project::find(&start))
}

fn or_current(cwd: Option<PathBuf>) -> Option<PathBuf> {
    cwd.or_else(|| std::env::current_dir().ok())
}

/// Our folders and the session's own, unless there is no home or others may write in ours:
/// whoever does could have us do anything, and the command line says so.
fn folders(env: &Env, cwd: Option<PathBuf>) -> Option<(Paths, PathBuf)> {
    let paths = Paths::resolve(env).ok()?;
    state_guard::check(&paths).ok()?;
    Some((paths, or_current(cwd)?))
}
