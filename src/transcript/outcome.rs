//! How a session ended: five outcomes, decided by a table of signs.

use serde::{Deserialize, Serialize};

use super::category::ErrorCategory;

/// How a session ended (spec/3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It went well to its end.
    #[default]
    Success,
    /// It ended on a failed test or build, a failed call or a refusal.
    Failure,
    /// It ended well, but the user had to refuse or interrupt on the way, or
    /// three or more failed calls were never made good.
    Partial,
    /// It ended on something that took too long.
    Timeout,
    /// The model could not be reached at its end.
    Error,
}

impl Outcome {
    /// Returns the outcome's name: `success`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Partial => "partial",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }
}

/// The last thing of weight that happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing, or the assistant's last word on what worked.
    #[default]
    Quiet,
    /// The API failed.
    ApiError(ErrorCategory),
    /// A tool call failed and no other worked after it; what the assistant says of it does not
    /// make it good.
    ToolError(ErrorCategory),
    /// The user refused a call.
    Rejection,
    /// The user pressed Esc.
    Interrupt,
}

/// The signs an outcome is decided by.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Signs {
    pub(crate) ending: Ending,
    /// Whether the last test run or build failed.
    pub(crate) last_check_failed: bool,
    /// Tool errors that no later call of the kind made good.
    pub(crate) unresolved: u64,
    /// Rejections and interrupts.
    pub(crate) disagreements: u64,
}

/// So many failed calls that were never made good spoil a success.
const SPOILED: u64 = 3;

/// Decides the outcome; the first sign that is present wins.
pub(crate) fn decide(signs: Signs) -> Outcome {
    match signs.ending {
        Ending::ApiError(_) => Outcome::Error,
        Ending::ToolError(ErrorCategory::Timeout) => Outcome::Timeout,
        Ending::ToolError(_) | Ending::Rejection | Ending::Interrupt => Outcome::Failure,
        Ending::Quiet if signs.last_check_failed => Outcome::Failure,
        Ending::Quiet if signs.disagreements > 0 || signs.unresolved >= SPOILED => Outcome::Partial,
        Ending::Quiet => Outcome::Success,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::nothing_bad(Ending::Quiet, false, 0, 0, Outcome::Success)]
    #[case::api(Ending::ApiError(ErrorCategory::Network), false, 0, 0, Outcome::Error)]
    #[case::timeout(
        Ending::ToolError(ErrorCategory::Timeout),
        false,
        1,
        0,
        Outcome::Timeout
    )]
    #[case::failed_call(
        Ending::ToolError(ErrorCategory::NotFound),
        false,
        1,
        0,
        Outcome::Failure
    )]
    #[case::refused(Ending::Rejection, false, 0, 1, Outcome::Failure)]
    #[case::stopped(Ending::Interrupt, false, 0, 1, Outcome::Failure)]
    #[case::red_tests(Ending::Quiet, true, 0, 0, Outcome::Failure)]
    #[case::stopped_on_the_way(Ending::Quiet, false, 0, 1, Outcome::Partial)]
    #[case::one_error_left(Ending::Quiet, false, 1, 0, Outcome::Success)]
    #[case::errors_left(Ending::Quiet, false, 3, 0, Outcome::Partial)]
    fn signs_decide_the_outcome(
        #[case] ending: Ending,
        #[case] last_check_failed: bool,
        #[case] unresolved: u64,
        #[case] disagreements: u64,
        #[case] want: Outcome,
    ) {
        let signs = Signs {
            ending,
            last_check_failed,
            unresolved,
            disagreements,
        };
        assert_eq!(decide(signs), want);
    }
}
