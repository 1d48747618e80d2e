//! The sources of what a hook cannot compute by itself: the settings, and a session's context.

use std::path::Path;

use super::context::HookContext;
use super::stop::{EndedTurn, TurnVerdict};
use crate::account::need::Need;
use crate::paths::Paths;
use crate::prepared::{Injection, ProjectSettings, Ready, StartKind};
use crate::status::Notice;

/// The prepared data may be stale: the whole program must do the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceDoubt;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundSettings {
    /// The settings were read, and reflection is switched on.
    Known(ProjectSettings),
    /// The settings cannot be used, with the reason; jobs are written anyway.
    Broken(String),
    /// The program that could read them is missing; jobs are written anyway.
    Unknown,
    Off,
}

#[derive(Debug, Default)]
pub struct GivenContext {
    /// The text for the model; `None` when there is nothing to say.
    pub injection: Option<Injection>,
    pub held: usize,
    pub notices: Vec<Notice>,
}

pub trait AnswerSource {
    /// Returns the settings of `project`; `SourceDoubt` if only the whole program can read them.
    fn settings(&self, paths: &Paths, project: &Path) -> Result<FoundSettings, SourceDoubt>;

    /// Returns `SourceDoubt` if only the whole program can create the context.
    fn given(
        &self,
        _context: &HookContext<'_>,
        _need: Option<&Need>,
        _kind: StartKind,
    ) -> Result<GivenContext, SourceDoubt> {
        Ok(GivenContext::default())
    }

    /// Returns the gate's verdict on a turn; `SourceDoubt` if only the whole program can reach it.
    fn gate(
        &self,
        _context: &HookContext<'_>,
        _stop: &EndedTurn<'_>,
    ) -> Result<Option<TurnVerdict>, SourceDoubt> {
        Err(SourceDoubt)
    }
}

pub(super) struct PreparedSource;

/// The prepared settings alone: the source of the other hooks, which then link no code for the
/// context.
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

/// The source without prepared data and the whole program: nothing is given.
pub(super) struct Unknown;

impl AnswerSource for Unknown {
    fn settings(&self, _paths: &Paths, _project: &Path) -> Result<FoundSettings, SourceDoubt> {
        Ok(FoundSettings::Unknown)
    }
}
