//! Where the task of a session stands whose request only names it: a plan, an issue.

use super::event::{Call, Via};
use super::shell::{self, base_name};
use super::words::{ISSUE_VIEWS, PLANS};

/// The last request, until its task is known or the work on it begins.
#[derive(Debug, Default)]
pub(crate) enum Task {
    /// There is none, or its task is known.
    #[default]
    Known,
    /// What was typed names its files.
    Typed(String),
    /// A slash command may stand for any plan.
    Command(String),
}

impl Task {
    pub(crate) fn ask(&mut self, request: &str, via: Via<'_>) {
        *self = match via {
            Via::Command(_) => Self::Command(request.to_owned()),
            Via::Typed | Via::Queued => Self::Typed(request.to_owned()),
            Via::Answer => return,
        };
    }

    /// Takes a call that worked; tells whether its answer is the task.
    pub(crate) fn is_in(&mut self, call: &Call) -> bool {
        if matches!(self, Self::Known) {
            return false;
        }
        let name = match call.tool.as_str() {
            "Read" => base_name(&call.input).to_lowercase(),
            _ => String::new(),
        };
        let is_read = name.rsplit('.').next() == Some("md");
        let mut words = name.split(|c: char| !c.is_alphabetic());
        let is_called_so = words.any(|word| PLANS.has(word));
        let is_plan = match self {
            Self::Known => false,
            Self::Typed(request) => is_read && is_called_so && names(request, &name),
            Self::Command(request) if is_read => is_called_so || names(request, &name),
            Self::Command(_) => shell::runs_commands(&call.tool) && ISSUE_VIEWS.begins(&call.input),
        };
        if is_plan || call.edits() {
            *self = Self::Known;
        }
        is_plan
    }
}

fn names(request: &str, file: &str) -> bool {
    request.to_lowercase().contains(file)
}
