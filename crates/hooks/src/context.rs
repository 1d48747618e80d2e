//! The surroundings of a hook, resolved once.

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

pub struct HookContext<'a> {
    pub env: &'a Env,
    pub event: HookEvent,
    pub paths: Paths,
    pub now: Timestamp,
    pub(super) input: Input,
    pub cwd: PathBuf,
    pub project: PathBuf,
    /// The settings; jobs are written even without them.
    pub settings: Option<ProjectSettings>,
    /// The reason why the settings cannot be used.
    pub flaw: Option<String>,
    /// Cached, since it is used more than once and needs the file system.
    has_clients_transcript: OnceCell<bool>,
}

impl<'a> HookContext<'a> {
    /// Returns `None` without a home folder or with reflection switched off here.
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
        // A project with key points but without state may have been moved here.
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

    /// Returns `None` on failure; the job is then written without it.
    pub(super) fn need(&self) -> Option<Need> {
        let account = &self.settings.as_ref()?.account;
        let client = ClientEnv::of(self.env, &self.paths, Some(&self.project));
        account
            .need(&client, &self.paths)
            .inspect_err(|error| self.log(&error.to_string()))
            .ok()
    }

    /// Accepts every transcript without a home folder, since this cannot be checked then.
    pub fn is_clients(&self, transcript: &Path) -> bool {
        let has_home = [name::HOME, name::CLAUDE_CONFIG_DIR]
            .iter()
            .any(|name| self.env.os(name).is_some());
        !has_home || state_guard::is_clients(&self.paths, transcript)
    }

    /// Returns the session and its transcript, if that is the client's.
    pub fn session(&self) -> Option<(&String, &PathBuf)> {
        let transcript = self.input.transcript.as_ref();
        let transcript = transcript.filter(|_| self.has_clients_transcript());
        self.input.session.as_ref().zip(transcript)
    }

    pub(super) fn has_clients_transcript(&self) -> bool {
        *self.has_clients_transcript.get_or_init(|| {
            let transcript = self.input.transcript.as_deref();
            transcript.is_some_and(|transcript| self.is_clients(transcript))
        })
    }

    /// Takes only our own words and file names, no text from the client or the settings.
    pub fn log(&self, what: &str) {
        // A failure here cannot be reported.
        _ = fsx::ensure_dir(self.paths.state());
        logfile::note(&self.paths, self.now, self.event.name(), what);
    }
}

/// Returns why a session cannot use our folders; `None` if reflection is switched off there.
pub(super) fn breach(
    env: &Env,
    cwd: Option<PathBuf>,
    source: &dyn AnswerSource,
) -> Result<Option<Breach>, SourceDoubt> {
    let Ok(paths) = Paths::resolve(env) else {
        return Ok(None);
    };
    let breach = state_guard::check(&paths).err();
    // Settings that others can have written are not read.
    if breach.is_some()
        && state_guard::check_settings(&paths).is_ok()
        && let Some(project) = project_of(env, cwd)
        && source.settings(&paths, &project)? == FoundSettings::Off
    {
        return Ok(None);
    }
    Ok(breach)
}

pub(super) fn project_of(env: &Env, cwd: Option<PathBuf>) -> Option<PathBuf> {
    let start = env
        .path(name::CLAUDE_PROJECT_DIR)
        .or_else(|| or_current(cwd))?;
    Some(project::find(&start))
}

fn or_current(cwd: Option<PathBuf>) -> Option<PathBuf> {
    cwd.or_else(|| std::env::current_dir().ok())
}

/// Returns `None` without a home folder, or if others may write in ours.
fn folders(env: &Env, cwd: Option<PathBuf>) -> Option<(Paths, PathBuf)> {
    let paths = Paths::resolve(env).ok()?;
    state_guard::check(&paths).ok()?;
    Some((paths, or_current(cwd)?))
}
