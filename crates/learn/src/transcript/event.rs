//! What happens in a session, as the evidence and the facts see it.
//!
//! Events are masked whole ([`super::mask`]), and not yet cut to what is kept of them:
//! whoever keeps a text passes it through [`super::sanitizer`] first.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;

use super::category::ErrorCategory;
use super::pasted::Message;
use super::shell::CheckKind;
use crate::errors::Signature;
use crate::playbook::Id;

/// One thing that happened.
#[derive(Debug)]
pub struct Event<'a> {
    pub place: &'a EventPlace,
    pub kind: EventKind<'a>,
}

/// Where an event stands in the transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventPlace {
    /// Where its record begins, in bytes from the start of the file.
    pub offset: u64,
    /// The id of its record, where it has one.
    pub uuid: Option<String>,
    /// When it was written.
    pub time: Option<Timestamp>,
    /// The id of the message that the record is a part of.
    pub message_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind<'a> {
    /// The user said something, most often a request.
    Prompt(Prompt<'a>),
    /// The user refused a tool call.
    Rejection {
        call: Arc<Call>,
        /// What was said with it; empty when nothing.
        words: String,
        /// A person said it.
        is_person: bool,
        /// The lines that the call would have taken away and added, as far as they are kept.
        unwritten: Option<String>,
    },
    /// The user pressed Esc.
    Interrupt,
    /// The assistant wrote something.
    Text {
        text: Cow<'a, str>,
        /// The key points it cited, each once.
        cites: Vec<Id>,
    },
    ToolCall(Arc<Call>),
    /// A tool answered without an error.
    ToolResult(Arc<Call>),
    ToolError {
        call: Arc<Call>,
        failure: CallFailure,
    },
    /// A command or a subagent was started, and goes on while the agent does.
    LeftRunning(Arc<Call>),
    /// The user approved a plan of the agent's.
    Plan(String),
    /// A hook of the user's did not let a call run.
    TurnedBack {
        call: Arc<Call>,
        /// The reason that the hook gave.
        why: String,
    },
    /// The branch on which the session began.
    Branch(String),
    /// A test run, a build, a linter or a type checker ended, well or not.
    Check {
        call: Arc<Call>,
        check: CheckResult,
    },
    /// A check ran, and neither its output nor an exit status says how it ended.
    UnknownCheck {
        call: Arc<Call>,
        runner: String,
    },
    /// The model could not be reached or refused.
    ApiError(Cow<'a, str>),
    Compaction,
    /// A subagent handed its result back.
    HandBack(String),
    /// A hook of the user's told the agent something.
    Hook(Cow<'a, str>),
}

impl EventKind<'_> {
    /// Returns the kind's name as statistics show it (after spec/3's event types).
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Prompt(prompt) => match prompt.via {
                Via::Typed | Via::Plan => "user_prompt",
                Via::Command(_) => "command_prompt",
                Via::Queued => "queued_prompt",
                Via::Answer => "user_answer",
            },
            Self::Rejection { .. } => "rejection",
            Self::Interrupt => "interrupt",
            Self::Text { .. } => "assistant_text",
            Self::ToolCall(_) => "tool_call",
            Self::ToolResult(_) => "tool_response",
            Self::ToolError { .. } => "error_event",
            Self::LeftRunning(_) => "left_running",
            Self::Plan(_) => "plan",
            Self::TurnedBack { .. } => "turned_back",
            Self::Branch(_) => "branch",
            Self::Check { .. } | Self::UnknownCheck { .. } => "check",
            Self::ApiError(_) => "api_error",
            Self::Compaction => "compaction",
            Self::HandBack(_) => "hand_back",
            Self::Hook(_) => "hook",
        }
    }
}

/// How what the user said reached the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via<'a> {
    #[default]
    Typed,
    /// As a plan that the user approved, which holds no words of theirs.
    Plan,
    /// As the arguments of a slash command of this name.
    Command(&'a str),
    /// While the agent worked.
    Queued,
    /// As the answer to a question of the agent's.
    Answer,
}

/// What a user said: a request, or more than that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt<'a> {
    /// What was typed; for a slash command its arguments.
    pub text: &'a str,
    /// What the record shows of it, and the person's own words in it.
    pub(crate) message: Message,
    /// A person typed it; no program, timer or agent.
    pub is_person: bool,
    /// How it came: typed, as a slash command, or as an answer.
    pub via: Via<'a>,
}

/// A tool call, as far as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// The command, the file, the query: the input that sets the call apart from others.
    pub input: String,
    /// The file or folder that a search looks in, where it names one.
    pub looked_in: String,
}

impl Call {
    /// Returns `true` for a call that writes a file.
    pub fn edits(&self) -> bool {
        ["Edit", "MultiEdit", "Write", "NotebookEdit"].contains(&self.tool.as_str())
    }
}

/// How a tool call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The first and last lines of what the tool said.
    pub text: String,
    /// The line that says what went wrong.
    pub message: String,
    /// The exit code, where the tool named one.
    pub exit_code: Option<i32>,
    pub category: ErrorCategory,
    /// The error it is, wherever it strikes; as the hook computes it from the whole text.
    pub error: Option<Signature>,
    /// The keys by which `seen` knows the error again.
    pub keys: Vec<Signature>,
    /// What met the error: a program with its subcommand, or a tool.
    pub subject: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// Which tool reported it: `cargo test`.
    pub runner: String,
    /// What it looks at; several of a line whose exit status is that of several checks.
    pub kinds: Vec<CheckKind>,
    /// Whether everything passed, or what kind of failure it is.
    pub result: Result<(), ErrorCategory>,
    /// The line of the output that says so.
    pub line: String,
}
