//! What becomes of the calls: they fail, or work, and what their answers show.

use std::borrow::Cow;
use std::sync::Arc;

use super::MAX_OFFERED;
use super::{PLAN_TOOL, QUESTION_TOOL};
use super::{SessionReader, WaitingCall};

use crate::hint::Effect;
use crate::transcript::category::ErrorCategory;
use crate::transcript::event::{Call, CheckResult, EventKind, EventPlace, KnownBy};
use crate::transcript::json::{Raw, Str};
use crate::transcript::record::{Author, Block};
use crate::transcript::refusal::{DeniedBy, refusal};
use crate::transcript::stats::Reason;
use crate::transcript::{
    checks, cut, errors, failure, mask, refusal, tool_answer, tool_call, user,
};

/// How much of a subagent's result is read from either end, in bytes.
const HANDED_BACK: usize = 3_000;

/// With which codes ends what was stopped, and so came to nothing.
const KILLED: [i32; 3] = [130, 137, 143];

/// How much of the summary of a background task is kept, in bytes.
const MAX_SUMMARY: usize = 240;

impl SessionReader<'_> {
    pub(super) fn answered_call(&mut self, id: Option<&str>) -> WaitingCall {
        let id = id.unwrap_or_default();
        let place = self.waiting.iter().rposition(|waiting| *waiting.id == *id);
        place
            .and_then(|i| self.waiting.remove(i))
            .unwrap_or_default()
    }

    /// Takes a subagent's call, or what the user refused of one.
    pub(super) fn aside(
        &mut self,
        blocks: &[Block<'_>],
        place: EventPlace<'_>,
    ) -> Result<(), Reason> {
        for block in blocks {
            match *block {
                Block::ToolUse { id, name, input } => self.aside = self.made(id, name, input),
                Block::ToolResult { id, content, .. } => {
                    let text = tool_answer::answer(content, tool_answer::ERROR_ENDS);
                    let text = self.mask.text(text);
                    let is_it = id == Some(&*self.aside.id);
                    let tool = &self.aside.call.tool;
                    let words = refusal(tool, &text, DeniedBy::Unsaid);
                    if let Some(words) = words.filter(|_| is_it) {
                        let waiting = std::mem::take(&mut self.aside);
                        let is_person = self.is_person(Author::Person);
                        self.refused(waiting, words, is_person, place);
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Err(Reason::Bookkeeping)
    }

    fn refused(
        &mut self,
        waiting: WaitingCall,
        words: String,
        is_person: bool,
        place: EventPlace<'_>,
    ) {
        if waiting.call.tool == PLAN_TOOL && words.is_empty() {
            self.has_left_plan = true;
            return;
        }
        let changes = waiting.changes;
        let [old, new] = changes.map(|text| self.mask.head(Str::new(&text), tool_call::MAX_DETAIL));
        self.hints.end_turn(Effect::Failed);
        let kind = EventKind::Rejection {
            call: waiting.call,
            words,
            is_person,
            unwritten: cut::diff(&old, &new),
        };
        self.sink.push(place, kind);
    }

    pub(super) fn failed(
        &mut self,
        waiting: WaitingCall,
        content: Raw<'_>,
        denied: DeniedBy,
        is_person: bool,
        place: EventPlace<'_>,
    ) {
        let whole = tool_answer::answer(content, tool_answer::ERROR_ENDS);
        let text = self.mask.text(Cow::Borrowed(&whole));
        if let Some(words) = refusal(&waiting.call.tool, &text, denied) {
            return self.refused(waiting, words, is_person, place);
        }
        if let Some(why) = refusal::turned_back(&waiting.call.tool, &text) {
            let (call, why) = (waiting.call, why.to_owned());
            return self.sink.push(place, EventKind::TurnedBack { call, why });
        }
        if tool_answer::was_stopped(&text) {
            // What the client writes next says it.
            return;
        }
        let WaitingCall {
            id,
            call,
            is_private,
            ..
        } = waiting;
        let mut failure = if is_private {
            failure::read(&call, &mask::without_values(&text))
        } else {
            failure::read(&call, &text)
        };
        if text != whole {
            // The hook sees the error before anything is masked.
            failure.error = errors::error_signature(&call.tool, &call.input, &whole);
        }
        let is_killed = failure.exit_code.is_some_and(|code| KILLED.contains(&code));
        let check = if is_private || is_killed {
            None
        } else {
            read_check(&call, content, true)
        };
        let red = check.as_ref().and_then(|check| check.result.err());
        if failure.category == ErrorCategory::Unknown {
            failure.category = red.unwrap_or(ErrorCategory::Unknown);
        }
        let again = self.open.failed(&id, &call, failure.error);
        self.hints.settle(&again, Effect::Failed);
        let kind = EventKind::ToolError {
            call: call.clone(),
            failure,
        };
        self.sink.push(place, kind);
        if let Some(check) = check {
            self.checked(call, check, place);
        }
    }

    /// Takes a call of which only the answer says that it failed; of that only a line is shown.
    pub(super) fn failed_by_itself(
        &mut self,
        waiting: WaitingCall,
        said: &str,
        place: EventPlace<'_>,
    ) {
        let said = self.mask.text(Cow::Borrowed(said));
        let said = cut::one_line(&said, MAX_SUMMARY);
        let (id, call) = (waiting.id, waiting.call);
        let failure = failure::read(&call, &said);
        let again = self.open.failed(&id, &call, failure.error);
        self.hints.settle(&again, Effect::Failed);
        self.sink
            .push(place, EventKind::ToolError { call, failure });
    }

    pub(super) fn worked(
        &mut self,
        waiting: WaitingCall,
        content: Raw<'_>,
        is_person: bool,
        place: EventPlace<'_>,
    ) {
        let WaitingCall {
            call,
            is_private,
            asks,
            ..
        } = waiting;
        if call.tool == QUESTION_TOOL {
            let text = self.mask.answer(content, MAX_OFFERED);
            self.answers(&text, &asks, is_person, place);
        }
        if call.tool == PLAN_TOOL {
            let text = self.mask.answer(content, MAX_OFFERED);
            let plan = user::approved_plan(&text).map(|plan| match plan.trim() {
                "" => self.mask.head(Str::new(&asks), MAX_OFFERED),
                plan => plan.to_owned(),
            });
            if let Some(plan) = plan.filter(|plan| !plan.trim().is_empty()) {
                self.sink.push(place, EventKind::Plan(plan));
            }
        }
        let goes_on = tool_answer::was_left_running(content);
        let check = if is_private || goes_on {
            None
        } else {
            read_check(&call, content, false).or_else(|| self.made_good(&call))
        };
        let is_red = check.as_ref().is_some_and(|check| check.result.is_err());
        if let Some(check) = check {
            self.checked(call.clone(), check, place);
        } else if let Some(runner) = checks::unheard(&call).filter(|_| !is_private && !goes_on) {
            let call = call.clone();
            self.sink
                .push(place, EventKind::UnknownCheck { call, runner });
        }
        if !is_red {
            let made_good = self.open.worked(&call);
            self.hints.settle(&made_good, Effect::Helped);
        }
        let hand_back = tool_call::AGENT_TOOLS.contains(&call.tool.as_str()) && !is_private;
        self.sink.push(place, EventKind::ToolResult(call.clone()));
        if goes_on {
            self.sink.push(place, EventKind::LeftRunning(call.clone()));
        }
        if hand_back {
            let text = self.mask.answer(content, HANDED_BACK);
            self.hand_back(&text, place);
        }
    }

    fn checked(&mut self, call: Arc<Call>, check: CheckResult, place: EventPlace<'_>) {
        if check.result.is_err() {
            self.red = Some((call.clone(), check.runner.clone()));
        }
        self.sink.push(place, EventKind::Check { call, check });
    }

    /// The result of a call whose check had failed and that worked, made again, in silence.
    fn made_good(&mut self, call: &Call) -> Option<CheckResult> {
        let (_, runner) = self.red.take_if(|(red, _)| **red == *call)?;
        Some(CheckResult {
            runner,
            result: Ok(()),
            line: "it worked".to_owned(),
            known_by: KnownBy::Exit,
        })
    }

    /// Takes the end of a background task: its report, or its failure.
    pub(super) fn notified(&mut self, text: &str, place: EventPlace<'_>) {
        let Some(summary) = user::failed_task(text) else {
            return self.hand_back(text, place);
        };
        let call = Arc::new(Call {
            tool: "Task".to_owned(),
            input: cut::one_line(summary, MAX_SUMMARY),
            ..Call::default()
        });
        let report = user::report(text).unwrap_or_default();
        let failure = failure::read(&call, &report);
        self.sink
            .push(place, EventKind::ToolError { call, failure });
    }

    /// Takes what an agent reports.
    fn hand_back(&mut self, text: &str, place: EventPlace<'_>) {
        if let Some(report) = user::report(text) {
            self.sink.push(place, EventKind::HandBack(report));
        }
    }
}

fn read_check(call: &Call, content: Raw<'_>, failed: bool) -> Option<CheckResult> {
    let output = tool_answer::last_text(content)?;
    checks::find(call, output, failed)
}
