//! The events since the user's last prompt, as far as the gate needs them.

use std::sync::Arc;

use super::claim::{self, AgentClaim};
use super::finding;
use super::languages::is_code;
use super::verdict::GateVerdict;
use crate::transcript::{AGENT_TOOLS, Call, CheckResult, Event, EventKind, shell};

#[derive(Debug)]
pub(super) enum TurnStep {
    Run(Run),
    /// A file that checks cover was changed; `None` for a command, which does not name it.
    Edit(Option<String>),
    /// A call that may have run a check or changed files unseen.
    Unseen(Arc<Call>),
}

#[derive(Debug)]
pub(super) struct Run {
    pub command: String,
    pub check: CheckResult,
}

#[derive(Debug, Default)]
pub struct Turn {
    pub(super) steps: Vec<TurnStep>,
    open: Vec<Arc<Call>>,
    /// Set if the user stopped the turn or refused a call, the model could not be reached, or
    /// something is still running.
    is_cut: bool,
    /// Set if the user wants no checks, or the agent said why a failure is left alone.
    is_excused: bool,
    message: String,
    message_id: Option<String>,
}

impl Turn {
    pub fn see(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::Prompt(prompt) => self.is_excused |= claim::excuses(prompt.text),
            EventKind::Text { text, .. } => {
                self.is_excused |= claim::sets_aside(text);
                self.write(text, event.place.message_id.as_deref());
            }
            EventKind::HandBack { .. } => self.steps.push(TurnStep::Unseen(Arc::default())),
            EventKind::ToolCall(call) => {
                self.message.clear();
                self.open.push(call.clone());
            }
            EventKind::ToolResult(call) => {
                self.worked(call);
                self.answered(call);
            }
            EventKind::ToolError { call, .. } => self.answered(call),
            EventKind::TurnedBack { call, .. } => self.open.retain(|open| !Arc::ptr_eq(open, call)),
            EventKind::Check { call, check } => self.checked(call, check),
            EventKind::Rejection { .. }
            | EventKind::Interrupt
            | EventKind::ApiError(_)
            | EventKind::LeftRunning(_) => self.is_cut = true,
            _ => {}
        }
    }

    /// Returns the agent's last message as far as it is recorded.
    pub fn message(&self) -> Option<&str> {
        let message = self.message.trim();
        (!message.is_empty()).then_some(message)
    }

    pub fn verdict(&self, message: &str) -> GateVerdict {
        let is_certain = self.has_ended() && !self.is_excused;
        let has_run = self
            .steps
            .iter()
            .any(|step| matches!(step, TurnStep::Run(_)));
        // Reading a message costs milliseconds.
        let claims = (is_certain && has_run).then(|| AgentClaim::all_of(message));
        let found = claims.and_then(|claims| finding::find(&self.steps, &claims));
        GateVerdict::of(found.into_iter().collect())
    }

    /// Returns `true` if the turn was not stopped, and no part of it is missing or running.
    pub fn has_ended(&self) -> bool {
        !self.is_cut && self.open.is_empty()
    }

    /// Appends text to the message; one message may span several records.
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
        if may_check(call) && !self.has_just_run(call) {
            self.steps.push(TurnStep::Unseen(call.clone()));
        }
    }

    fn has_just_run(&self, call: &Call) -> bool {
        let last = self.steps.last();
        last.is_some_and(|step| matches!(step, TurnStep::Run(run) if run.command == call.input))
    }

    /// A check whose line also rewrites files, or whose output was read later, counts as unseen.
    fn checked(&mut self, call: &Arc<Call>, check: &CheckResult) {
        // Its error was reported before its check.
        let is_it = |step: &mut TurnStep| matches!(step, TurnStep::Unseen(known) if Arc::ptr_eq(known, call));
        _ = self.steps.pop_if(is_it);
        let commands = call.shell_commands();
        let is_plain = shell::checks(commands).is_some() && !shell::rewrites(commands);
        self.steps.push(if is_plain {
            TurnStep::Run(Run {
                command: call.input.clone(),
                check: check.clone(),
            })
        } else {
            TurnStep::Unseen(call.clone())
        });
    }

    fn worked(&mut self, call: &Call) {
        if call.edits() && is_code(&call.input) {
            self.steps.push(TurnStep::Edit(Some(call.input.clone())));
        } else if !self.has_just_run(call) && shell::writes(call.shell_commands()) {
            self.steps.push(TurnStep::Edit(None));
        }
    }
}

/// Returns `true` for a call that may run a check or change files unseen.
fn may_check(call: &Call) -> bool {
    let is_foreign = call.tool.starts_with("mcp__") || AGENT_TOOLS.contains(&call.tool.as_str());
    is_foreign || shell::may_check(call.shell_commands())
}
