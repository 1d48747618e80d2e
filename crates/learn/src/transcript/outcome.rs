//! How a session ended: five outcomes, each by a sign that is certain.

use playbook_core::worded;

use super::category::ErrorCategory;

worded! {
    /// How a session ended (spec/3).
    #[derive(Default)]
    pub enum SessionOutcome {
        /// The last check (test run, build, linter, type checker) passed or a commit went through,
        /// and nothing went wrong after it.
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

/// Decides the outcome by how the session ended, whether the last check passed, and whether a
/// commit passed the hooks after it.
pub(crate) fn decide(
    ending: LastEvent,
    last_check: Option<bool>,
    is_committed: bool,
) -> SessionOutcome {
    let last_check = if is_committed { Some(true) } else { last_check };
    match (ending, last_check) {
        (LastEvent::ApiError(_), _) => SessionOutcome::Error,
        (LastEvent::ToolError(ErrorCategory::Timeout), _) => SessionOutcome::Timeout,
        (_, Some(false)) => SessionOutcome::Failure,
        (LastEvent::Quiet, Some(true)) => SessionOutcome::Success,
        _ => SessionOutcome::Partial,
    }
}
