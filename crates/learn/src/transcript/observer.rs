//! Turns events into [`Facts`], in one pass and in bounded memory.

use std::collections::{BTreeSet, HashSet};

use super::category::{self, ErrorCategory};
use super::errors::destructive::is_destructive;
use super::event::{Call, CallFailure, CheckResult, Event, EventKind, Prompt, Via};
use super::facts::{Facts, RecurringError, SessionOutcome};
use super::sanitizer::Sanitizer;
use super::shell::{self, SimpleCommand};
use super::{outside, stated};
use crate::clip::head;
use crate::playbook::Id;

/// The number of different key points that are told apart.
const MAX_IDS: usize = 2_000;
/// The number of rules that the user states that are kept.
const MAX_STATED: usize = 200;
/// The part of the person's words that is looked through for them, in bytes.
const MAX_WORDS: usize = 1 << 20;
/// The part of the first request that is kept, in bytes.
const MAX_REQUEST: usize = 1_000;
/// The part of the sentence of a rule that is kept, in bytes.
const MAX_SENTENCE: usize = 1_000;
/// The part of a prompt that is compared with those before it, in bytes; what follows is pasted.
const MAX_COMPARED: usize = 2_000;
/// The number of words of prompts that are remembered.
const MAX_COMPARED_WORDS: usize = 20_000;
/// The number of different errors that are kept.
const MAX_ERRORS: usize = 1_000;
/// The part of a call or a message that is kept, in bytes.
const MAX_LINE: usize = 240;
/// How many prompts and how many words say something of where a session went.
const SAYS_DRIFT: (u64, usize) = (3, 10);

/// The last thing of weight that happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum LastEvent {
    /// Nothing, or the assistant's last word on what worked.
    #[default]
    Quiet,
    ApiError(ErrorCategory),
    /// A tool call failed and no other worked after it.
    ToolError(ErrorCategory),
    /// The user refused a call or pressed Esc.
    Stopped,
}

/// Collects [`Facts`] from events.
#[derive(Debug, Default)]
pub(crate) struct Observer {
    pub(super) sanitizer: Sanitizer,
    facts: Facts,
    cited: HashSet<Id>,
    /// The person's own words.
    words: String,
    ending: LastEvent,
    last_check: Option<Result<(), ErrorCategory>>,
    /// A commit went through since the last check and the last edit.
    is_committed: bool,
    last_message: Option<String>,
    /// The words of the prompts before the last, and those of the last.
    old_words: BTreeSet<String>,
    last_words: BTreeSet<String>,
}

impl Observer {
    pub(crate) fn new(sanitizer: Sanitizer) -> Self {
        Self {
            sanitizer,
            ..Self::default()
        }
    }

    /// Takes note of a tool that the agent or a subagent of it called.
    pub(crate) fn called(&mut self, tool: &str) {
        self.facts.is_outside |= outside::is_outside(tool);
    }

    pub(crate) fn see(&mut self, event: &Event<'_>) {
        self.facts.events += 1;
        match &event.kind {
            EventKind::Prompt(prompt) => self.prompt(prompt),
            EventKind::Rejection {
                words, is_person, ..
            } => {
                self.facts.tool_results += 1;
                self.facts.tool_errors += 1;
                self.facts.rejections += 1;
                self.ending = LastEvent::Stopped;
                if *is_person {
                    self.hear(words);
                }
            }
            EventKind::Interrupt => {
                self.facts.interrupts += 1;
                self.ending = LastEvent::Stopped;
            }
            EventKind::Text { cites, .. } => {
                let message = &event.place.message_id;
                if message.is_none() || *message != self.last_message {
                    self.facts.assistant_texts += 1;
                }
                self.last_message.clone_from(message);
                if !matches!(self.ending, LastEvent::ToolError(_)) {
                    self.ending = LastEvent::Quiet;
                }
                for id in cites {
                    if self.cited.len() < MAX_IDS && self.cited.insert(id.clone()) {
                        self.facts.citations.push(id.clone());
                    }
                }
            }
            EventKind::ToolCall(_) => self.facts.tool_calls += 1,
            EventKind::ToolResult(call) => {
                self.ran(call);
                self.ending = LastEvent::Quiet;
                if call.edits() {
                    // What passed before says nothing of it.
                    self.last_check = self.last_check.filter(Result::is_err);
                    self.is_committed = false;
                }
                if let Some(has_passed_hooks) = commit(call) {
                    self.facts.stakes.commits += 1;
                    self.is_committed |= has_passed_hooks;
                }
            }
            EventKind::ToolError { call, failure } => {
                self.ran(call);
                self.facts.tool_errors += 1;
                self.ending = LastEvent::ToolError(failure.category);
                self.error(call, failure);
            }
            EventKind::Check { check, .. } => self.check(check),
            EventKind::UnknownCheck { .. } => {
                self.last_check = None;
                self.is_committed = false;
            }
            EventKind::TurnedBack { .. } => self.facts.tool_results += 1,
            EventKind::ApiError(text) => {
                self.ending = LastEvent::ApiError(category::of_api_error(text));
            }
            EventKind::Compaction => self.facts.compactions += 1,
            EventKind::HandBack(_)
            | EventKind::LeftRunning(_)
            | EventKind::Hook(_)
            | EventKind::Plan(_)
            | EventKind::Branch(_) => {}
        }
    }

    /// Returns the facts; `unresolved` failed calls were never made good.
    pub(crate) fn finish(mut self, unresolved: usize) -> Facts {
        for sentence in stated::in_words(&self.words) {
            let sentence = self.sanitizer.text(&sentence, MAX_SENTENCE);
            let is_new = !self.facts.stated.contains(&sentence);
            if is_new && self.facts.stated.len() < MAX_STATED {
                self.facts.stated.push(sentence);
            }
        }
        let drift = self.drift();
        let last_check = self.last_check.filter(|_| !self.is_committed);
        let facts = &mut self.facts;
        facts.stakes.critical = facts.stated.len() as u64;
        facts.stakes.drift = drift;
        facts.unresolved = unresolved as u64;
        facts.is_committed = self.is_committed;
        facts.outcome = match (self.ending, last_check) {
            (LastEvent::ApiError(_), _) => SessionOutcome::Error,
            (LastEvent::ToolError(ErrorCategory::Timeout), _) => SessionOutcome::Timeout,
            (_, Some(Err(_))) => SessionOutcome::Failure,
            (LastEvent::Quiet, Some(Ok(()))) => SessionOutcome::Success,
            (LastEvent::Quiet, None) if self.is_committed => SessionOutcome::Success,
            _ => SessionOutcome::Partial,
        };
        facts.category = match self.ending {
            LastEvent::ToolError(category) | LastEvent::ApiError(category) => Some(category),
            _ => self.last_check.and_then(Result::err),
        };
        self.facts
    }

    /// Takes note of an error that has a message; of more than are kept only those that are
    /// known are counted.
    fn error(&mut self, call: &Call, failure: &CallFailure) {
        let Some(signature) = failure.error else {
            return;
        };
        let errors = &mut self.facts.errors;
        if let Some(known) = errors.iter_mut().find(|error| error.signature == signature) {
            known.occurrences += 1;
            known.keys.extend(&failure.keys);
        } else if errors.len() < MAX_ERRORS {
            errors.push(RecurringError {
                signature,
                tool: call.tool.clone(),
                subject: self.sanitizer.line(&failure.subject, MAX_LINE),
                example: self.sanitizer.line(&failure.message, MAX_LINE),
                keys: failure.keys.iter().copied().collect(),
                category: failure.category,
                occurrences: 1,
            });
        }
    }

    fn check(&mut self, check: &CheckResult) {
        self.is_committed = false;
        let was_red = matches!(self.last_check.replace(check.result), Some(Err(_)));
        let is_green = check.result.is_ok();
        self.facts.checks_passed += u64::from(is_green);
        self.facts.checks_failed += u64::from(!is_green);
        self.facts.recoveries += u64::from(was_red && is_green);
    }

    /// Takes note of a command that ran, well or not.
    fn ran(&mut self, call: &Call) {
        self.facts.tool_results += 1;
        self.facts.stakes.destructive +=
            u64::from(shell::runs_commands(&call.tool) && is_destructive(&call.input));
    }

    /// Remembers the words of a prompt, to see how far the last one is from those before it.
    fn compare(&mut self, text: &str) {
        let old = std::mem::take(&mut self.last_words).into_iter();
        let room = MAX_COMPARED_WORDS.saturating_sub(self.old_words.len());
        self.old_words.extend(old.take(room));
        let words = head(text, MAX_COMPARED).split(|c: char| !c.is_alphanumeric());
        let long = words.filter(|word| word.len() > 2);
        self.last_words.extend(long.map(str::to_lowercase));
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a prompt has a few hundred words"
    )]
    fn drift(&self) -> f64 {
        let prompts = self.facts.user_turns + self.facts.commands;
        let words = self.last_words.len();
        if prompts <= SAYS_DRIFT.0 || words < SAYS_DRIFT.1 {
            return 0.0;
        }
        self.last_words.difference(&self.old_words).count() as f64 / words as f64
    }

    fn hear(&mut self, words: &str) {
        let room = MAX_WORDS.saturating_sub(self.words.len());
        self.words.push_str(head(words, room));
        self.words.push('\n');
    }

    fn prompt(&mut self, prompt: &Prompt<'_>) {
        let counter = match prompt.via {
            Via::Typed | Via::Plan => &mut self.facts.user_turns,
            Via::Command(_) => &mut self.facts.commands,
            Via::Queued => &mut self.facts.queued_prompts,
            Via::Answer => &mut self.facts.answers,
        };
        *counter += 1;
        for words in &prompt.message.words {
            self.hear(words);
        }
        if prompt.via == Via::Answer {
            return;
        }
        if self.facts.first_request.is_none() {
            let request = match prompt.via {
                Via::Command(name) if prompt.text.is_empty() => name,
                _ => prompt.text,
            };
            self.facts.first_request = Some(self.sanitizer.text(request, MAX_REQUEST));
        }
        self.ending = LastEvent::Quiet;
        self.compare(prompt.text);
    }
}

/// Returns, for a line that worked and makes a commit, `true` where its hooks let it pass.
fn commit(call: &Call) -> Option<bool> {
    if !shell::runs_commands(&call.tool) {
        return None;
    }
    let skips = |word: &String| ["--no-verify", "-n", "--dry-run"].contains(&word.as_str());
    let commands = shell::read(&call.input);
    let is_commit =
        |it: &&SimpleCommand| it.program().is_some_and(|it| it.subject() == "git commit");
    let commits = commands.iter().filter(is_commit);
    commits
        .map(|it| it.propagates_failure && !it.words.iter().any(skips))
        .reduce(|one, other| one || other)
}
