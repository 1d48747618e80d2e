//! What becomes of the calls: they fail, or work, and what their answers show.

use std::borrow::Cow;
use std::sync::Arc;

use super::{MAX_OFFERED, PLAN_TOOL, QUESTION_TOOL, SessionReader, WaitingCall};
use crate::transcript::category::ErrorCategory;
use crate::transcript::event::{Call, CallFailure, CheckResult, EventKind};
use crate::transcript::json::Raw;
use crate::transcript::record::{Author, Block};
use crate::transcript::refusal::{DeniedBy, refusal};
use crate::transcript::stats::Reason;
use crate::transcript::{
    checks, cut, errors, failure, mask, refusal, tool_answer, tool_call, user,
};

/// The part of a subagent's result that is read from either end, in bytes.
const HANDED_BACK: usize = 3_000;

/// With which codes ends what was stopped, and so came to nothing.
const KILLED: [i32; 3] = [130, 137, 143];

/// The part of the summary of a background task that is kept, in bytes.
const MAX_SUMMARY: usize = 240;

impl SessionReader<'_> {
    /// Takes the answer of a tool.
    pub(super) fn answered(&mut self, block: &Block<'_>, denied: DeniedBy) {
        let &Block::ToolResult {
            id,
            is_error,
            content,
        } = block
        else {
            return;
        };
        let place = self.waiting.iter().rposition(|waiting| waiting.id == id);
        let waiting = place
            .and_then(|i| self.waiting.remove(i))
            .unwrap_or_default();
        if is_error {
            self.failed(waiting, content, denied);
        } else if let Some(said) = tool_answer::own_failure(content) {
            // Of a call of which only the answer says that it failed, a line is shown.
            let said = cut::one_line(&self.mask.text(said.into()), MAX_SUMMARY);
            let failure = failure::read(&waiting.call, &said);
            self.has_failed(waiting.call, failure);
        } else {
            self.worked(waiting, content);
        }
    }

    /// Takes a subagent's call, or what the user refused of one.
    pub(super) fn aside(&mut self, blocks: Vec<Block<'_>>) -> Result<(), Reason> {
        for block in blocks {
            match block {
                Block::ToolUse { id, name, input } => self.aside = self.made(id, name, input),
                Block::ToolResult { id, content, .. } if id == self.aside.id => {
                    let text = self.mask.answer(content, tool_answer::ERROR_ENDS);
                    let words = self.refusal(&self.aside.call.tool, &text, DeniedBy::Unsaid);
                    if let Some(words) = words {
                        self.author = Author::Person;
                        let waiting = std::mem::take(&mut self.aside);
                        self.refused(waiting, words);
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(Reason::Bookkeeping)
    }

    /// Returns what the user said with a refusal; a client that marks them leaves none unmarked.
    fn refusal(&self, tool: &str, text: &str, denied: DeniedBy) -> Option<String> {
        let is_error = self.has_marks && denied == DeniedBy::Unsaid;
        (!is_error).then(|| refusal(tool, text, denied))?
    }

    fn refused(&mut self, waiting: WaitingCall, words: String) {
        if waiting.call.tool == PLAN_TOOL && words.is_empty() {
            self.has_left_plan = true;
            return;
        }
        let [old, new] = waiting
            .changes
            .map(|text| self.mask.head(&text, tool_call::MAX_DETAIL));
        self.sink.push(EventKind::Rejection {
            call: waiting.call,
            words,
            is_person: self.is_person(),
            unwritten: cut::diff(&old, &new),
        });
    }

    fn failed(&mut self, waiting: WaitingCall, content: Raw<'_>, denied: DeniedBy) {
        let whole = tool_answer::answer(content, tool_answer::ERROR_ENDS);
        let text = self.mask.text(Cow::Borrowed(&whole));
        if let Some(words) = self.refusal(&waiting.call.tool, &text, denied) {
            return self.refused(waiting, words);
        }
        let call = waiting.call;
        if let Some(why) = refusal::turned_back(&call.tool, &text) {
            let why = why.to_owned();
            return self.sink.push(EventKind::TurnedBack { call, why });
        }
        if tool_answer::was_stopped(&text) {
            // What the client writes next says it.
            return;
        }
        let mut failure = if waiting.is_private {
            failure::read(&call, &mask::without_values(&text))
        } else {
            failure::read(&call, &text)
        };
        if text != whole {
            // The hook sees the error before anything is masked.
            failure.error = errors::error_signature(&call.tool, &call.input, &whole);
            if !waiting.is_private {
                failure.keys.extend(errors::stored_keys(&whole));
            }
        }
        let is_killed = failure.exit_code.is_some_and(|code| KILLED.contains(&code));
        let mut check = None;
        if !waiting.is_private && !is_killed {
            check = checks::find(&call, content, true);
        }
        let red = check.as_ref().and_then(|check| check.result.err());
        if failure.category == ErrorCategory::Unknown {
            failure.category = red.unwrap_or(ErrorCategory::Unknown);
        }
        self.has_failed(call.clone(), failure);
        if let Some(check) = check {
            self.checked(call, check);
        }
    }

    fn has_failed(&mut self, call: Arc<Call>, failure: CallFailure) {
        self.open.failed(&call);
        self.sink.push(EventKind::ToolError { call, failure });
    }

    fn worked(&mut self, waiting: WaitingCall, content: Raw<'_>) {
        let WaitingCall {
            call,
            is_private,
            asks,
            ..
        } = waiting;
        match call.tool.as_str() {
            QUESTION_TOOL => {
                let text = self.mask.answer(content, MAX_OFFERED);
                self.answers(&text, &asks);
            }
            PLAN_TOOL => {
                let text = self.mask.answer(content, MAX_OFFERED);
                let plan = user::approved_plan(&text).map(|plan| match plan.trim() {
                    "" => self.mask.head(&asks, MAX_OFFERED),
                    plan => plan.to_owned(),
                });
                if let Some(plan) = plan.filter(|plan| !plan.trim().is_empty()) {
                    self.sink.push(EventKind::Plan(plan));
                }
            }
            _ => {}
        }
        let goes_on = tool_answer::was_left_running(content);
        let mut is_red = false;
        if !is_private && !goes_on {
            let check = checks::find(&call, content, false).or_else(|| self.made_good(&call));
            if let Some(check) = check {
                is_red = check.result.is_err();
                self.checked(call.clone(), check);
            } else if let Some(runner) = checks::unheard(&call) {
                let call = call.clone();
                self.sink.push(EventKind::UnknownCheck { call, runner });
            }
        }
        if !is_red {
            self.open.worked(&call);
        }
        self.sink.push(EventKind::ToolResult(call.clone()));
        if goes_on {
            self.sink.push(EventKind::LeftRunning(call.clone()));
        }
        if tool_call::AGENT_TOOLS.contains(&call.tool.as_str()) && !is_private {
            let text = self.mask.answer(content, HANDED_BACK);
            self.hand_back(&text);
        }
    }

    fn checked(&mut self, call: Arc<Call>, check: CheckResult) {
        if check.result.is_err() {
            self.red = Some((call.clone(), check.clone()));
        }
        self.sink.push(EventKind::Check { call, check });
    }

    /// The result of a call whose check had failed and that worked, made again, in silence.
    fn made_good(&mut self, call: &Call) -> Option<CheckResult> {
        let (_, red) = self.red.take_if(|(red, _)| **red == *call)?;
        Some(CheckResult {
            result: Ok(()),
            line: "it worked".to_owned(),
            ..red
        })
    }

    /// Takes the end of a background task: its report, or its failure.
    pub(super) fn notified(&mut self, text: &str) {
        let Some(summary) = user::failed_task(text) else {
            return self.hand_back(text);
        };
        let call = Arc::new(Call {
            tool: "Task".to_owned(),
            input: cut::one_line(summary, MAX_SUMMARY),
            ..Call::default()
        });
        let report = user::report(text).unwrap_or_default();
        let failure = failure::read(&call, &report);
        self.sink.push(EventKind::ToolError { call, failure });
    }

    /// Takes what an agent reports.
    fn hand_back(&mut self, text: &str) {
        if let Some(report) = user::report(text) {
            self.sink.push(EventKind::HandBack(report));
        }
    }
}
