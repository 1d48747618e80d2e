//! What happens in a session, as the evidence and the facts see it.

use std::sync::Arc;

use jiff::Timestamp;

use super::category::ErrorCategory;
use crate::playbook::Id;

/// One thing that happened, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Where in the transcript.
    pub place: Place,
    /// What happened.
    pub kind: EventKind,
}

/// Where an event stands in the transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// Where its line begins, in bytes from the start of the file.
    pub offset: u64,
    /// The record's uuid.
    pub uuid: Option<String>,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// The id of the message that the line is a part of.
    pub message_id: Option<String>,
}

/// The kinds of events; every text in them is masked and cut to a bounded size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// The user asked for something.
    Prompt(Prompt),
    /// The user refused a tool call.
    Rejection {
        /// The call that was refused.
        call: Arc<Call>,
        /// What the user said with it.
        words: Option<String>,
    },
    /// The user pressed Esc.
    Interrupt,
    /// The assistant wrote something.
    Text {
        /// What it wrote.
        text: String,
        /// The key points it cited, each once.
        cites: Vec<Cite>,
    },
    /// The assistant called a tool.
    ToolCall(Arc<Call>),
    /// A tool answered without an error.
    ToolResult(Arc<Call>),
    /// A tool answered with an error.
    ToolError {
        /// The call that failed.
        call: Arc<Call>,
        /// How it failed.
        failure: Failure,
    },
    /// A test run or a build ended, well or not.
    Check {
        /// The call that ran it.
        call: Arc<Call>,
        /// What its output says.
        check: Check,
    },
    /// The model could not be reached or refused.
    ApiError(String),
    /// The conversation was compacted.
    Compaction,
    /// A subagent handed its result back.
    HandBack(String),
}

impl EventKind {
    /// Returns the kind's name as statistics show it (after spec/3's event types).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Prompt(_) => "user_prompt",
            Self::Rejection { .. } => "rejection",
            Self::Interrupt => "interrupt",
            Self::Text { .. } => "assistant_text",
            Self::ToolCall(_) => "tool_call",
            Self::ToolResult(_) => "tool_response",
            Self::ToolError { .. } => "error_event",
            Self::Check { .. } => "check",
            Self::ApiError(_) => "api_error",
            Self::Compaction => "compaction",
            Self::HandBack(_) => "hand_back",
        }
    }
}

/// A user's request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// What was typed; for a slash command its arguments.
    pub text: String,
    /// The slash command it was given to.
    pub command: Option<String>,
    /// Whether it corrects what was done before it.
    pub correction: bool,
    /// Sentences that are meant to hold from now on.
    pub instructions: Vec<String>,
}

/// A citation in an assistant's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cite {
    /// The key point.
    pub id: Id,
    /// The sentence around it, on one line.
    pub quote: String,
}

/// A tool call, as far as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// What tells the call from others: the command, the file, the query.
    pub input: String,
}

/// How a tool call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The first and last lines of what the tool said.
    pub text: String,
    /// The line that says what went wrong.
    pub message: String,
    /// The exit code, where the tool named one.
    pub exit_code: Option<i32>,
    /// What kind of failure it is.
    pub category: ErrorCategory,
}

/// What a test run or a build came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Which tool reported it: `cargo test`.
    pub runner: &'static str,
    /// Whether everything passed.
    pub passed: bool,
    /// The line that says so.
    pub line: String,
}
