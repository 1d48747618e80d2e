//! What a session shows, as values: everything the `rules` backend sees.

use serde::{Deserialize, Serialize};

use super::category::ErrorCategory;
use super::outcome::SessionOutcome;
use super::recurring_errors::RecurringError;
use crate::hint;
use crate::playbook::Id;

/// What a range of a transcript shows; stored with the job. Texts are masked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The key points cited, each once, in order of first appearance (REQ-REFL-001).
    pub citations: Vec<Id>,
    /// The places where they were cited and what came of it, in order; of a key point
    /// that is cited often, the telling ones.
    pub uses: Vec<CitationUse>,
    /// Whether no person typed in the session: it was started by a program or a timer.
    pub is_unattended: bool,
    /// Whether the session read pages or used tools that bring in what others wrote.
    pub is_outside: bool,
    /// The sentences with which the user stated a rule outright, in English; as typed, masked.
    pub stated: Vec<String>,
    /// What the user said that goes beyond the request.
    pub said: Vec<UserRemark>,
    /// Commands that another one replaced in at least two sessions, this one included.
    pub replacements: Vec<Replacement>,
    /// The errors that struck, in the order of their first time.
    pub errors: Vec<RecurringError>,
    /// What the hints did that our own hooks gave.
    pub hints: Vec<hint::EffectWhenShown>,
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

/// A citation and what happened between it and the user's next prompt, that one included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CitationUse {
    /// The key point.
    pub id: Id,
    /// The sentence around the citation.
    pub quote: String,
    /// Whether the sentence stands by the point or disowns it.
    #[serde(default)]
    pub stance: Stance,
    pub followed_by: FollowUp,
}

/// Whether a sentence that cites a key point stands by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stance {
    /// Nothing in it says otherwise.
    #[default]
    Takes,
    /// It says that the key point failed, is outdated or did not help.
    Disowns,
}

/// What followed a citation; the strongest sign wins, in the order of the variants.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FollowUp {
    /// Nothing bad.
    #[default]
    Clean,
    /// A tool call failed.
    ToolError {
        tool: String,
        /// What went wrong.
        message: String,
    },
    /// The user stopped the agent.
    Interrupted,
    /// The user refused a tool call.
    Rejected {
        /// What the user said with it; empty when nothing.
        words: String,
    },
}

impl FollowUp {
    pub(crate) fn strength(&self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::ToolError { .. } => 1,
            Self::Interrupted => 2,
            Self::Rejected { .. } => 3,
        }
    }
}

/// Something the user said that goes beyond the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserRemark {
    pub kind: SaidKind,
    /// The user's words.
    pub text: String,
}

/// The kinds of things a user says beyond the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SaidKind {
    /// How things are to be done from now on.
    StandingInstruction,
    /// The words with which a tool call was refused.
    RejectionWords,
}

/// A command that failed, and the other command that worked in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replacement {
    pub failed: String,
    pub worked: String,
    /// What went wrong.
    pub error: String,
    /// In how many sessions it was seen, this one included.
    pub sessions: u64,
}
