//! Who tells a hook what it cannot find out by itself: what the settings say, and what a
//! session is given of the playbook.

use std::path::Path;

use super::context::HookContext;
use super::stop::{EndedTurn, TurnVerdict};
use crate::account::need::Need;
use crate::paths::Paths;
use crate::prepared::{Injection, ProjectSettings, Ready, StartKind};
use crate::status::Notice;

/// What lies ready cannot be relied on: the whole program is to do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceDoubt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundSettings {
    /// They could be read, and reflection is switched on.
    Known(ProjectSettings),
    /// They cannot be used, and why: jobs are written all the same.
    Broken(String),
    /// Nobody is there who could read them: jobs are written all the same.
    Unknown,
    /// Reflection is switched off here.
    Off,
}

/// What a session is given, and what the user is told with it.
#[derive(Debug, Default)]
pub struct GivenContext {
    /// The text for the model; `None` when there is nothing to say.
    pub injection: Option<Injection>,
    /// How many key points of the file wait for the user.
    pub held: usize,
    /// What the user is told.
    pub notices: Vec<Notice>,
}

/// Answers a hook's questions.
pub trait AnswerSource {
    /// What the settings of `project` say; `SourceDoubt` where only the whole program can tell.
    fn settings(&self, paths: &Paths, project: &Path) -> Result<FoundSettings, SourceDoubt>;

    /// What the session of `context` is given; nothing, where the source has none of it, and
    /// `SourceDoubt` where only the whole program can tell.
    fn given(
        &self,
        _context: &HookContext<'_>,
        _need: Option<&Need>,
        _kind: StartKind,
    ) -> Result<GivenContext, SourceDoubt> {
        Ok(GivenContext::default())
    }

    /// What the gate says of a turn that ends; `SourceDoubt` where only the whole program can tell.
    fn gate(
        &self,
        _context: &HookContext<'_>,
        _stop: &EndedTurn<'_>,
    ) -> Result<Option<TurnVerdict>, SourceDoubt> {
        Err(SourceDoubt)
    }
}

/// What was prepared: the source of session-start.
pub(super) struct PreparedSource;

/// What was prepared of the settings: the source of the hooks that give no start and link nothing
/// that could.
pub(super) struct PreparedSettings;

impl AnswerSource for PreparedSettings {
    fn settings(&self, paths: &Paths, project: &Path) -> Result<FoundSettings, SourceDoubt> {
        PreparedSource.settings(paths, project)
    }
}

impl AnswerSource for PreparedSource {
    fn settings(&self, paths: &Paths, project: &Path) -> Result<FoundSettings, SourceDoubt> {
        ProjectSettings::find(paths, project)
            .map(FoundSettings::Known)
            .ok_or(SourceDoubt)
    }

    fn given(
        &self,
        context: &HookContext<'_>,
        _need: Option<&Need>,
        kind: StartKind,
    ) -> Result<GivenContext, SourceDoubt> {
        let settings = context.settings.as_ref().ok_or(SourceDoubt)?;
        let (paths, project) = (&context.paths, &context.project);
        let ready = Ready::find(paths, project, settings.max_units).ok_or(SourceDoubt)?;
        Ok(GivenContext {
            held: ready.held,
            injection: ready.of(kind),
            notices: Vec::new(),
        })
    }
}

/// The source where nothing can be relied on, and the program that could tell is missing:
/// jobs are written, and nothing is given.
pub(super) struct Unknown;

impl AnswerSource for Unknown {
    fn settings(&self, _paths: &Paths, _project: &Path) -> Result<FoundSettings, SourceDoubt> {
        Ok(FoundSettings::Unknown)
    }
}
