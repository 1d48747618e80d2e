//! What happened since the user's last prompt, as far as the gate needs it.

use std::path::Path;
use std::sync::Arc;

use super::claim::{self, Claim};
use super::finding;
use super::verdict::Verdict;
use crate::transcript::{Call, Check, Event, EventKind};

/// Tools that hand work to another agent.
const SUBAGENTS: &[&str] = &["Task", "Agent"];
/// Endings of files that no check looks at.
const PROSE: &[&str] = &["md", "mdx", "txt", "rst", "adoc"];

/// What happened since the user's last prompt.
#[derive(Debug, Default)]
pub struct Turn {
    pub(super) steps: Vec<Step>,
    /// The calls that are not answered yet.
    open: Vec<Arc<Call>>,
    doubt: Option<Doubt>,
    message: String,
    message_id: Option<String>,
}

/// What of a turn bears on whether its checks pass.
#[derive(Debug)]
pub(super) enum Step {
    /// A check ran.
    Run(Run),
    /// A file was changed that checks look at.
    Edit(String),
    /// Something that may have run a check, or changed files, unseen.
    Unseen,
}

/// A check that ran.
#[derive(Debug)]
pub(super) struct Run {
    pub command: String,
    pub check: Check,
}

/// Why nothing certain can be said of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doubt {
    /// The user stopped the agent or refused a call.
    Stopped,
    /// The model could not be reached.
    ApiError,
    /// Something still runs.
    Background,
    /// The user wants no checks, or only part of the work.
    Excused,
}

impl Turn {
    /// Takes one event of the turn.
    pub fn see(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::Prompt(prompt) => {
                if claim::excuses(prompt.text) {
                    self.doubt = Some(Doubt::Excused);
                }
            }
            EventKind::Text { text, .. } => {
                self.write(text, event.place.message_id);
            }
            EventKind::ToolCall(call) => {
                self.message.clear();
                self.open.push(call.clone());
                if call.tool == "ExitPlanMode" {
                    self.doubt = Some(Doubt::Excused);
                }
            }
            EventKind::ToolResult(call) => {
                self.answered(call);
                self.ran(call);
            }
            EventKind::ToolError { call, .. } => self.answered(call),
            EventKind::Check { call, check } => self.steps.push(Step::Run(Run {
                command: call.input.clone(),
                check: check.clone(),
            })),
            EventKind::Rejection { .. } | EventKind::Interrupt => {
                self.doubt = Some(Doubt::Stopped);
            }
            EventKind::ApiError(_) => self.doubt = Some(Doubt::ApiError),
            EventKind::LeftRunning(_) => self.doubt = Some(Doubt::Background),
            _ => {}
        }
    }

    /// The agent's last message, as far as it is written down.
    pub fn message(&self) -> Option<&str> {
        let message = self.message.trim();
        (!message.is_empty()).then_some(message)
    }

    /// Says what is wrong with `message`, the agent's last one. At most two of `lessons` are
    /// told with it.
    pub fn verdict(&self, message: &str, lessons: &[&str]) -> Verdict {
        let findings = match Claim::of(message) {
            Some(claim) if self.is_certain() => finding::find(&self.steps, &claim),
            _ => Vec::new(),
        };
        Verdict::of(findings, lessons)
    }

    /// Tells whether all that happened is known.
    fn is_certain(&self) -> bool {
        self.doubt.is_none() && self.open.is_empty()
    }

    /// One message may stand in several records.
    fn write(&mut self, text: &str, id: Option<&str>) {
        if id.is_none() || id != self.message_id.as_deref() {
            self.message.clear();
        }
        self.message_id = id.map(str::to_owned);
        self.message.push_str(text);
        self.message.push('\n');
    }

    fn answered(&mut self, call: &Arc<Call>) {
        let place = self.open.iter().position(|open| Arc::ptr_eq(open, call));
        place.map(|place| self.open.swap_remove(place));
    }

    fn ran(&mut self, call: &Call) {
        if call.edits() {
            let ending = Path::new(&call.input).extension();
            let ending = ending.and_then(|ending| ending.to_str());
            if ending.is_none_or(|ending| !PROSE.contains(&ending)) {
                self.steps.push(Step::Edit(call.input.clone()));
            }
        } else if SUBAGENTS.contains(&call.tool.as_str()) {
            self.steps.push(Step::Unseen);
        }
    }
}
