//! How a session ended: five outcomes, each by a sign that is certain.

use playbook_core::worded;

use super::category::ErrorCategory;

worded! {
    /// How a session ended (spec/3).
    #[derive(Default)]
    pub enum SessionOutcome {
        /// The last check (test run, build, linter, type checker) passed, and nothing went wrong after it.
        #[default]
        Success = "success",
        /// The last check failed.
        Failure = "failure",
        /// Neither is known: no check says so, or something else went wrong at the end.
        Partial = "partial",
        /// It ended on something that took too long.
        Timeout = "timeout",
        /// The model could not be reached at its end.
        Error = "error",
    }
}

impl SessionOutcome {
    /// Says what of the outcome is certain: `the last check passed`.
    pub fn sign(self) -> &'static str {
        match self {
            Self::Success => "the last check passed",
            Self::Failure => "the last check failed",
            Self::Partial => "not known",
            Self::Timeout => "the last call took too long",
            Self::Error => "the model could not be reached at the end",
        }
    }
}

/// The last thing of weight that happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LastEvent {
    /// Nothing, or the assistant's last word on what worked.
    #[default]
    Quiet,
    ApiError(ErrorCategory),
    /// A tool call failed and no other worked after it.
    ToolError(ErrorCategory),
    /// The user refused a call or pressed Esc.
    Stopped,
}

/// Decides the outcome by how the session ended and whether the last check passed.
pub(crate) fn decide(ending: LastEvent, last_check: Option<bool>) -> SessionOutcome {
    match (ending, last_check) {
        (LastEvent::ApiError(_), _) => SessionOutcome::Error,
        (LastEvent::ToolError(ErrorCategory::Timeout), _) => SessionOutcome::Timeout,
        (_, Some(false)) => SessionOutcome::Failure,
        (LastEvent::Quiet, Some(true)) => SessionOutcome::Success,
        _ => SessionOutcome::Partial,
    }
}
