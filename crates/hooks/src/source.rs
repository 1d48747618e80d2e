//! Who tells a hook what it cannot find out by itself: what the settings say, and what a
//! session is given of the playbook.

use std::path::Path;

use super::context::Context;
use super::stop::{Stop, Verdict};
use crate::account::need::Need;
use crate::paths::Paths;
use crate::prepared::{Injection, Kind, Ready, Settings};
use crate::status::Notice;

/// What lies ready cannot be relied on: the whole program is to do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt;

/// What is known of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// They could be read, and reflection is switched on.
    Known(Settings),
    /// They cannot be used, and why: jobs are written all the same.
    Broken(String),
    /// Nobody is there who could read them: jobs are written all the same.
    Unknown,
    /// Reflection is switched off here.
    Off,
}

/// What a session is given, and what the user is told with it.
#[derive(Debug, Default)]
pub struct Given {
    /// The text for the model; `None` when there is nothing to say.
    pub injection: Option<Injection>,
    /// How many key points of the file wait for the user.
    pub held: usize,
    /// What the user is told.
    pub notices: Vec<Notice>,
}

/// Answers a hook's questions.
pub trait Source {
    /// What the settings of `project` say; `Doubt` where only the whole program can tell.
    fn settings(&self, paths: &Paths, project: &Path) -> Result<Found, Doubt>;

    /// What the session of `context` is given; nothing, where the source has none of it, and
    /// `Doubt` where only the whole program can tell.
    fn given(
        &self,
        _context: &Context<'_>,
        _need: Option<&Need>,
        _kind: Kind,
    ) -> Result<Given, Doubt> {
        Ok(Given::default())
    }

    /// What the gate says of a turn that ends; `Doubt` where only the whole program can tell.
    fn gate(&self, _context: &Context<'_>, _stop: &Stop<'_>) -> Result<Option<Verdict>, Doubt> {
        Err(Doubt)
    }
}

/// What was prepared: the source of session-start.
pub(super) struct Prepared;

/// What was prepared of the settings: the source of all other hooks, which give nothing of the
/// playbook and link nothing that could.
pub(super) struct PreparedSettings;

impl Source for PreparedSettings {
    fn settings(&self, paths: &Paths, project: &Path) -> Result<Found, Doubt> {
        Prepared.settings(paths, project)
    }
}

impl Source for Prepared {
    fn settings(&self, paths: &Paths, project: &Path) -> Result<Found, Doubt> {
        Settings::find(paths, project)
            .map(Found::Known)
            .ok_or(Doubt)
    }

    fn given(
        &self,
        context: &Context<'_>,
        _need: Option<&Need>,
        kind: Kind,
    ) -> Result<Given, Doubt> {
        let settings = context.settings.as_ref().ok_or(Doubt)?;
        let (paths, project) = (&context.paths, &context.project);
        let ready = Ready::find(paths, project, settings.max_units, context.now).ok_or(Doubt)?;
        Ok(Given {
            held: ready.held,
            injection: ready.of(kind),
            notices: Vec::new(),
        })
    }
}

/// The source where nothing can be relied on, and the program that could tell is missing:
/// jobs are written, and nothing is given.
pub(super) struct Unknown;

impl Source for Unknown {
    fn settings(&self, _paths: &Paths, _project: &Path) -> Result<Found, Doubt> {
        Ok(Found::Unknown)
    }
}
