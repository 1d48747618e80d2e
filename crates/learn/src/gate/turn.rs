//! What a turn shows of its checks, event by event.

use std::sync::Arc;

use crate::transcript::{Call, Check, Event, EventKind, Via};

/// How many calls and checks are told apart; a turn with more is not judged.
const MAX: usize = 1_000;

/// What happened since the user's last prompt.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    has_prompt: bool,
    /// Whether it ended otherwise than by the agent's own word, or has more in it than is kept.
    is_uncertain: bool,
    /// The calls whose result has not come.
    open: Vec<Arc<Call>>,
    /// The last run of each check.
    checks: Vec<(u64, Arc<Call>, Check)>,
}

impl Turn {
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::Prompt(prompt) => {
                if matches!(prompt.via, Via::Typed | Via::Command(_)) {
                    *self = Self {
                        has_prompt: true,
                        ..Self::default()
                    };
                }
            }
            EventKind::Interrupt | EventKind::ApiError(_) => self.is_uncertain = true,
            EventKind::ToolCall(call) => self.open.push(call.clone()),
            EventKind::ToolResult(call)
            | EventKind::ToolError { call, .. }
            | EventKind::Rejection { call, .. } => {
                self.open.retain(|open| !Arc::ptr_eq(open, call));
            }
            EventKind::Check { call, check } => {
                self.checks.retain(|(_, _, old)| old.runner != check.runner);
                self.checks.push((event.seq, call.clone(), check.clone()));
            }
            _ => {}
        }
        self.is_uncertain |= self.open.len() > MAX || self.checks.len() > MAX;
    }

    /// The checks whose last run failed, each with its number and its command, in order; `None`
    /// where the turn's end is not certain.
    pub(crate) fn failed_checks(&self) -> Option<impl Iterator<Item = (u64, &str, &Check)>> {
        let is_certain = self.has_prompt && !self.is_uncertain && self.open.is_empty();
        let failed = self
            .checks
            .iter()
            .filter(|(_, _, check)| check.result.is_err());
        is_certain.then(|| failed.map(|(run, call, check)| (*run, call.input.as_str(), check)))
    }
}
