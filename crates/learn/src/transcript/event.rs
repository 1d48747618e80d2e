//! The events of a session, for the evidence and the facts.
//!
//! The texts of events are masked whole ([`super::text::Mask`]) and not yet cut. Each text that is
//! kept passes through the [`super::text::Sanitizer`] first.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

use jiff::Timestamp;
use playbook_core::worded;
use serde::{Deserialize, Serialize};

use super::shell::{self, CheckKind, LineChecks, SimpleCommand};
use super::user::Message;
use super::words::ERROR_NAMES;
use crate::errors::Signature;
use crate::playbook::Id;

#[derive(Debug)]
pub struct Event<'a> {
    pub place: &'a EventPlace,
    pub kind: EventKind<'a>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventPlace {
    /// The start of its record, in bytes from the start of the file.
    pub offset: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventKind<'a> {
    /// The user said something, most often a request.
    Prompt(Prompt<'a>),
    Rejection {
        call: Arc<Call>,
        /// The user's words; empty when there were none.
        words: String,
        is_person: bool,
        /// The lines that the call would have taken away and added, as far as they are kept.
        unwritten: Option<String>,
    },
    Interrupt,
    Text {
        text: Cow<'a, str>,
        /// The key points it cites, each once; and those that no text before it cited.
        cites: Vec<Id>,
        new_cites: Vec<Id>,
    },
    ToolCall(Arc<Call>),
    ToolResult(Arc<Call>),
    ToolError {
        call: Arc<Call>,
        failure: CallFailure,
    },
    /// A command or a subagent was started, and runs while the agent does.
    LeftRunning(Arc<Call>),
    /// The user approved a plan of the agent's.
    Plan(String),
    /// A hook of the user's did not let a call run.
    TurnedBack {
        call: Arc<Call>,
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
    ApiError(Cow<'a, str>),
    Compaction,
    /// A subagent handed its result back.
    HandBack(String),
    /// A hook of the user's gave the agent a text.
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Via<'a> {
    #[default]
    Typed,
    /// A plan that the user approved, which holds no words of theirs.
    Plan,
    /// The arguments of a slash command of this name.
    Command(&'a str),
    Queued,
    Answer,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt<'a> {
    /// The text as typed; for a slash command its arguments.
    pub text: &'a str,
    pub(crate) message: Message,
    /// A person typed it; no program, timer or agent.
    pub is_person: bool,
    pub via: Via<'a>,
}

#[derive(Clone, Debug, Default)]
pub struct Call {
    pub tool: String,
    /// The command, the file, the query: the input that sets the call apart from others.
    pub input: String,
    /// The file or folder that a search looks in, where it names one.
    pub looked_in: String,
    commands: OnceLock<Vec<SimpleCommand>>,
    checks: OnceLock<Option<LineChecks>>,
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            tool,
            input,
            looked_in,
            ..
        } = other;
        self.tool == *tool && self.input == *input && self.looked_in == *looked_in
    }
}

impl Eq for Call {}

impl Call {
    pub(crate) fn new(tool: &str, input: String) -> Self {
        Self {
            tool: tool.to_owned(),
            input,
            ..Self::default()
        }
    }

    pub fn edits(&self) -> bool {
        ["Edit", "MultiEdit", "Write", "NotebookEdit"].contains(&self.tool.as_str())
    }

    /// Returns the commands of its line, which is parsed once; none of a tool that runs no line.
    pub fn shell_commands(&self) -> &[SimpleCommand] {
        self.commands.get_or_init(|| {
            if shell::runs_commands(&self.tool) {
                shell::read(&self.input)
            } else {
                Vec::new()
            }
        })
    }

    pub fn checks(&self) -> Option<&LineChecks> {
        let find = || shell::checks(self.shell_commands());
        self.checks.get_or_init(find).as_ref()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The first and last lines of the tool's answer.
    pub text: String,
    pub message: String,
    pub exit_code: Option<i32>,
    pub category: ErrorCategory,
    /// The error, which is the same wherever it strikes, as the hook computes it from the whole
    /// text.
    pub error: Option<Signature>,
    /// The whole text with its secrets masked, and the text as printed where that differs. The
    /// second is hashed and never stored.
    pub wholes: Vec<String>,
    /// The program with its subcommand that met the error, or the tool.
    pub subject: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckResult {
    /// The tool that reported it: `cargo test`.
    pub runner: String,
    /// The kinds of what it looks at; several of a line whose exit status is that of several checks.
    pub kinds: Vec<CheckKind>,
    pub result: Result<(), ErrorCategory>,
    pub line: String,
}

worded! {
    /// The names are spec/3's.
    pub enum ErrorCategory {
        Timeout = "timeout",
        /// A host, a connection or a remote service failed.
        Network = "network",
        Permission = "permission",
        /// A file, command, symbol or page is not there.
        NotFound = "not_found",
        Syntax = "syntax",
        TypeCompile = "type_compile",
        TestFailure = "test_failure",
        /// An input has the wrong form or value.
        Validation = "validation",
        /// Memory, disk, file handles or size limits ran out.
        Resource = "resource",
        /// Something else changed or holds the thing.
        Conflict = "conflict",
        Unknown = "unknown",
    }
}

impl ErrorCategory {
    /// Reads a word of ours or of spec/3 (`timeout_error`); any other is unknown.
    pub(crate) fn named(word: &str) -> Self {
        let word = word.trim().to_ascii_lowercase();
        Self::from_word(word.strip_suffix("_error").unwrap_or(&word)).unwrap_or(Self::Unknown)
    }

    pub(crate) fn of_api_error(text: &str) -> Self {
        let category = categorize(text, None);
        let numbers = text.split(|c: char| !c.is_ascii_digit());
        let mut statuses = numbers.filter_map(|number| number.parse::<u16>().ok());
        match statuses.find(|status| (400..600).contains(status)) {
            Some(401 | 403) if category == Self::Unknown => Self::Permission,
            Some(429 | 500..) if category == Self::Unknown => Self::Network,
            _ => category,
        }
    }
}

/// Returns the category of an error from its exit code, or from the name of an exception, of an
/// error of the system or of the API in its text.
pub(crate) fn categorize(text: &str, exit_code: Option<i32>) -> ErrorCategory {
    match exit_code {
        Some(124 | 143) => return ErrorCategory::Timeout,
        Some(126) => return ErrorCategory::Permission,
        Some(127) => return ErrorCategory::NotFound,
        Some(137 | 139) => return ErrorCategory::Resource,
        _ if text.contains("Command timed out after") => return ErrorCategory::Timeout,
        _ => {}
    }
    let text = text.to_ascii_lowercase();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    // Where several are named, the first row of the table counts.
    let row = words.filter_map(|word| ROWS.get(word)).min();
    row.map_or(ErrorCategory::Unknown, |(_, category)| {
        ErrorCategory::named(category)
    })
}

/// The row of each name of an error in the table, with its category.
static ROWS: LazyLock<HashMap<&str, (usize, &str)>> = LazyLock::new(|| {
    let rows = ERROR_NAMES.words().iter().enumerate();
    let rows = rows.filter_map(|(at, row)| Some((at, row.split_once(':')?)));
    // Of a name in two rows the first one counts.
    rows.rev()
        .flat_map(|(at, (category, names))| {
            names
                .split_whitespace()
                .map(move |name| (name, (at, category)))
        })
        .collect()
});

#[cfg(test)]
mod tests {
    use super::ErrorCategory::{Network, NotFound, Permission, Resource, Timeout, Unknown};
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Command timed out after 2m 0.0s", None, Timeout)]
    #[case("not found", Some(139), Resource)]
    #[case("{\"type\":\"overloaded_error\"}", None, Network)]
    #[case("ModuleNotFoundError: No module named 'yaml'", None, NotFound)]
    #[case("Error: EACCES: permission denied, open '/a'", Some(1), Permission)]
    #[case("this may be invalid, or not found", Some(1), Unknown)]
    fn an_error_has_the_category_that_it_names(
        #[case] text: &str,
        #[case] code: Option<i32>,
        #[case] want: ErrorCategory,
    ) {
        assert_eq!(categorize(text, code), want);
    }
}
