//! What a session shows, as values.

use std::collections::BTreeSet;

use playbook_core::worded;
use serde::{Deserialize, Serialize};

use super::category::ErrorCategory;
use crate::errors::Signature;
use crate::playbook::Id;

/// What a range of a transcript shows; stored with the job. Texts are masked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The key points cited, each once, in order of first appearance (REQ-REFL-001).
    pub citations: Vec<Id>,
    /// Whether no person typed in the session: it was started by a program or a timer.
    pub is_unattended: bool,
    /// Whether the session read pages or used tools that bring in what others wrote.
    pub is_outside: bool,
    /// The sentences with which the user stated a rule outright, in English; as typed, masked.
    pub stated: Vec<String>,
    /// The errors that struck, in the order of their first time.
    pub errors: Vec<RecurringError>,
    pub outcome: SessionOutcome,
    /// A commit passed the hooks after the last check and the last edit.
    pub is_committed: bool,
    /// What kind of error decided or marked the session.
    pub category: Option<ErrorCategory>,
    /// The first thing the user asked for.
    pub first_request: Option<String>,
    /// Prompts a person typed (slash commands and what was typed while the agent worked not
    /// among them).
    pub user_turns: u64,
    /// Slash commands whose arguments are a request.
    pub commands: u64,
    /// Prompts typed while the agent worked.
    pub queued_prompts: u64,
    /// Questions of the agent's that the user answered.
    pub answers: u64,
    pub assistant_texts: u64,
    pub tool_calls: u64,
    /// Answers of tools, with and without an error.
    pub tool_results: u64,
    /// Answers that are errors; rejections are among them.
    pub tool_errors: u64,
    /// Calls the user refused.
    pub rejections: u64,
    /// How often the user pressed Esc.
    pub interrupts: u64,
    /// How often the conversation was compacted.
    pub compactions: u64,
    /// Checks that passed: test runs, builds, linters, type checkers.
    pub checks_passed: u64,
    pub checks_failed: u64,
    /// How often a check passed after one that had failed.
    pub recoveries: u64,
    /// Failed calls that no later call of the kind made good.
    pub unresolved: u64,
    /// Everything that happened.
    pub events: u64,
    pub stakes: Stakes,
}

impl Facts {
    /// Returns `true` where a failed call was made good by a later one.
    pub(crate) fn has_made_good(&self) -> bool {
        self.tool_errors.saturating_sub(self.rejections) > self.unresolved
    }

    /// Says what of the outcome is certain: `the last check passed`.
    pub fn sign(&self) -> &'static str {
        match self.outcome {
            SessionOutcome::Success if self.is_committed => "a commit went through",
            SessionOutcome::Success => "the last check passed",
            SessionOutcome::Failure => "the last check failed",
            SessionOutcome::Partial => "not known",
            SessionOutcome::Timeout => "the last call took too long",
            SessionOutcome::Error => "the model could not be reached at the end",
        }
    }
}

/// Signs that a session matters beyond its size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Stakes {
    /// Commands that ran and cannot be taken back.
    pub destructive: u64,
    /// Commits that were made.
    pub commits: u64,
    /// Prompts that say how things are always to be done.
    pub critical: u64,
    /// The share of the words of the last prompt that no prompt before it had; 0 while that
    /// says nothing.
    pub drift: f64,
}

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

/// An error with a message that struck, wherever in the session. Texts are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecurringError {
    /// The error, as hooks and memory know it.
    pub signature: Signature,
    pub tool: String,
    /// What met it: a program with its subcommand, or the tool.
    #[serde(default)]
    pub subject: String,
    /// The line that named it the first time.
    pub example: String,
    /// The keys by which `seen` knows it again.
    #[serde(default)]
    pub keys: BTreeSet<Signature>,
    pub category: ErrorCategory,
    /// How often it struck.
    pub occurrences: u64,
}
