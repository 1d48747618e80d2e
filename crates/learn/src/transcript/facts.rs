//! The facts of a session as values, collected from its events in one pass and bounded memory.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use playbook_core::cue::turned_back_for;
use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::calls::{self, is_outside};
use super::english::stated_rules;
use super::errors::destructive::is_destructive;
use super::event::{Call, CallFailure, CheckResult, ErrorCategory, Event, EventKind, Prompt, Via};
use super::shell::SimpleCommand;
use super::text::Sanitizer;
use crate::clip::head;
use crate::errors::{Signature, error_keys, exact_key};
use crate::playbook::Id;

/// The number of different key points that are known again, and of citations of one text.
pub(crate) const MAX_IDS: usize = 2_000;
const MAX_STATED: usize = 200;
/// The part of the person's words that is searched for them, in bytes.
const MAX_WORDS: usize = 1 << 20;
/// The part that is kept of the first request and of the sentence of a rule, in bytes.
const MAX_REQUEST: usize = 1_000;
/// The part of a prompt that is compared with those before it, in bytes; what follows is pasted.
const MAX_COMPARED: usize = 2_000;
const MAX_COMPARED_WORDS: usize = 20_000;
const MAX_ERRORS: usize = 1_000;
const MAX_GUARDED: usize = 100;
/// The part of a call or a message that is kept, in bytes.
const MAX_LINE: usize = 240;
/// With fewer prompts, or fewer words in the last one, a drift says nothing.
const SAYS_DRIFT: (u64, usize) = (3, 10);

/// The values that a range of a transcript shows; stored with the job. Texts are masked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// The key points cited, each once, in order of first appearance (REQ-REFL-001).
    pub citations: Vec<Id>,
    /// No person typed in the session: it was started by a program or a timer.
    pub is_unattended: bool,
    /// The session read pages or used tools that bring in what others wrote.
    pub is_outside: bool,
    /// The sentences with which the user stated a rule outright, in English; as typed, masked.
    pub stated: Vec<String>,
    pub errors: Vec<RecurringError>,
    /// The verdicts on the guards that turned a call back.
    pub guards: Vec<GuardVerdict>,
    pub outcome: SessionOutcome,
    /// A commit passed the hooks after the last check and the last edit.
    pub is_committed: bool,
    /// The kind of the error that decided or marked the session.
    pub category: Option<ErrorCategory>,
    pub first_request: Option<String>,
    /// Prompts that a person typed, but for slash commands and those typed while the agent worked.
    pub user_turns: u64,
    pub commands: u64,
    pub queued_prompts: u64,
    pub answers: u64,
    pub assistant_texts: u64,
    pub tool_calls: u64,
    /// Answers of tools, with and without an error.
    pub tool_results: u64,
    /// Answers that are errors; rejections are among them.
    pub tool_errors: u64,
    pub rejections: u64,
    pub interrupts: u64,
    pub compactions: u64,
    /// Test runs, builds, linters and type checkers that passed.
    pub checks_passed: u64,
    pub checks_failed: u64,
    /// Checks that passed after one that had failed.
    pub recoveries: u64,
    pub unresolved: u64,
    pub events: u64,
    pub stakes: Stakes,
}

impl Facts {
    pub(crate) fn has_made_good(&self) -> bool {
        self.tool_errors.saturating_sub(self.rejections) > self.unresolved
    }

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
    pub commits: u64,
    /// Prompts that say how things are always to be done.
    pub critical: u64,
    /// The share of the words of the last prompt that no prompt before it had; 0 while that
    /// says nothing.
    pub drift: f64,
}

worded! {
    /// The end of a session (spec/3).
    #[derive(Default)]
    pub enum SessionOutcome {
        /// The last check (test run, build, linter, type checker) passed or a commit went through,
        /// and nothing went wrong after it.
        #[default]
        Success = "success",
        Failure = "failure",
        /// Neither is known: no check says so, or something else went wrong at the end.
        Partial = "partial",
        Timeout = "timeout",
        /// The model could not be reached at its end.
        Error = "error",
    }
}

/// The texts are masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecurringError {
    pub signature: Signature,
    pub tool: String,
    /// The program with its subcommand that met it, or the tool.
    #[serde(default)]
    pub subject: String,
    /// The line that named it the first time.
    pub example: String,
    #[serde(default)]
    pub keys: BTreeSet<Signature>,
    pub category: ErrorCategory,
    pub occurrences: u64,
}

/// The verdict on the guard of a key point, from what followed a call that it turned back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardVerdict {
    pub point: String,
    /// The same was run next and it worked; otherwise another way was taken and worked.
    pub is_wrong: bool,
}

/// A call that a guard turned back, without a verdict yet.
#[derive(Debug)]
struct GuardedCall {
    call: Arc<Call>,
    points: Vec<String>,
    /// The next call that repeats it or acts, until its result is known.
    next: Option<Arc<Call>>,
}

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

#[derive(Debug, Default)]
pub(crate) struct Observer {
    facts: Facts,
    words: String,
    ending: LastEvent,
    last_check: Option<Result<(), ErrorCategory>>,
    last_message: Option<String>,
    /// The words of the prompts before the last, and those of the last.
    old_words: BTreeSet<String>,
    last_words: BTreeSet<String>,
    turned_back: Vec<GuardedCall>,
}

impl Observer {
    pub(crate) fn called(&mut self, tool: &str) {
        self.facts.is_outside |= is_outside(tool);
    }

    pub(crate) fn see(&mut self, event: &Event<'_>, sanitizer: &Sanitizer) {
        match &event.kind {
            EventKind::Prompt(prompt) => self.prompt(prompt, sanitizer),
            EventKind::Rejection {
                words, is_person, ..
            } => {
                self.ending = LastEvent::Stopped;
                if *is_person {
                    self.hear(words);
                }
            }
            EventKind::Interrupt => self.ending = LastEvent::Stopped,
            EventKind::Text { new_cites, .. } => {
                let message = &event.place.message_id;
                if message.is_none() || *message != self.last_message {
                    self.facts.assistant_texts += 1;
                }
                self.last_message.clone_from(message);
                if !matches!(self.ending, LastEvent::ToolError(_)) {
                    self.ending = LastEvent::Quiet;
                }
                self.facts.citations.extend_from_slice(new_cites);
            }
            EventKind::ToolCall(call) => {
                for guarded in self.turned_back.iter_mut().filter(|it| it.next.is_none()) {
                    let is_next = calls::acts(call) || calls::repeats(call, &guarded.call);
                    guarded.next = is_next.then(|| call.clone());
                }
            }
            EventKind::TurnedBack { call, why } => {
                self.settle_guards(call, false);
                let lines = turned_back_for(why).into_iter().flat_map(str::lines);
                let names =
                    lines.filter_map(|line| Some(line.strip_prefix("- [")?.split_once(']')?.0));
                let points: Vec<String> = names.map(str::to_owned).collect();
                if !points.is_empty() && self.turned_back.len() < MAX_GUARDED {
                    self.turned_back.push(GuardedCall {
                        call: call.clone(),
                        points,
                        next: None,
                    });
                }
            }
            EventKind::LeftRunning(call) => self.settle_guards(call, false),
            EventKind::ToolResult(call) => {
                self.settle_guards(call, true);
                self.worked(call);
            }
            EventKind::ToolError { call, failure } => {
                self.settle_guards(call, false);
                self.facts.stakes.destructive += u64::from(is_destructive(call.shell_commands()));
                self.ending = LastEvent::ToolError(failure.category);
                self.error(call, failure, sanitizer);
            }
            EventKind::Check { check, .. } => self.check(check),
            EventKind::UnknownCheck { .. } => {
                self.last_check = None;
                self.facts.is_committed = false;
            }
            EventKind::ApiError(text) => {
                self.ending = LastEvent::ApiError(ErrorCategory::of_api_error(text));
            }
            _ => {}
        }
    }

    /// The `events` are counts by kind; `unresolved` failed calls were never made good.
    pub(crate) fn finish(
        mut self,
        sanitizer: &Sanitizer,
        events: &BTreeMap<&'static str, u64>,
        unresolved: usize,
    ) -> Facts {
        let drift = self.drift();
        let facts = &mut self.facts;
        for sentence in stated_rules(&self.words) {
            let sentence = sanitizer.text(&sentence, MAX_REQUEST);
            if facts.stated.len() < MAX_STATED && !facts.stated.contains(&sentence) {
                facts.stated.push(sentence);
            }
        }
        facts.stakes.critical = facts.stated.len() as u64;
        facts.stakes.drift = drift;
        let count = |kind| events.get(kind).copied().unwrap_or_default();
        facts.queued_prompts = count("queued_prompt");
        facts.answers = count("user_answer");
        facts.tool_calls = count("tool_call");
        facts.rejections = count("rejection");
        facts.tool_errors = count("error_event") + facts.rejections;
        facts.tool_results = count("tool_response") + count("turned_back") + facts.tool_errors;
        facts.interrupts = count("interrupt");
        facts.compactions = count("compaction");
        facts.events = events.values().sum();
        facts.unresolved = unresolved as u64;
        let last_check = self.last_check.filter(|_| !facts.is_committed);
        facts.outcome = match (self.ending, last_check) {
            (LastEvent::ApiError(_), _) => SessionOutcome::Error,
            (LastEvent::ToolError(ErrorCategory::Timeout), _) => SessionOutcome::Timeout,
            (_, Some(Err(_))) => SessionOutcome::Failure,
            (LastEvent::Quiet, Some(Ok(()))) => SessionOutcome::Success,
            (LastEvent::Quiet, None) if facts.is_committed => SessionOutcome::Success,
            _ => SessionOutcome::Partial,
        };
        facts.category = match self.ending {
            LastEvent::ToolError(category) | LastEvent::ApiError(category) => Some(category),
            _ => self.last_check.and_then(Result::err),
        };
        self.facts
    }

    /// Gives the verdict on the guards whose next call has ended. A repetition that failed, or whose
    /// failure would not show, says nothing; after another way that failed, a later call decides.
    fn settle_guards(&mut self, call: &Arc<Call>, has_worked: bool) {
        let verdicts = &mut self.facts.guards;
        self.turned_back.retain_mut(|guarded| {
            let is_its = |next: &mut Arc<Call>| Arc::ptr_eq(next, call);
            if guarded.next.take_if(is_its).is_none() {
                return true;
            }
            let is_wrong = calls::repeats(call, &guarded.call);
            if has_worked && (!is_wrong || calls::reports_failure(call)) {
                let points = guarded.points.drain(..);
                verdicts.extend(points.map(|point| GuardVerdict { point, is_wrong }));
            }
            !has_worked && !is_wrong
        });
    }

    fn worked(&mut self, call: &Call) {
        let commands = call.shell_commands();
        self.facts.stakes.destructive += u64::from(is_destructive(commands));
        self.ending = LastEvent::Quiet;
        if call.edits() {
            // What passed before says nothing of it.
            self.last_check = self.last_check.filter(Result::is_err);
            self.facts.is_committed = false;
        }
        let skips = |word: &String| ["--no-verify", "-n", "--dry-run"].contains(&word.as_str());
        let is_commit =
            |it: &&SimpleCommand| it.program().is_some_and(|it| it.subject() == "git commit");
        let mut commits = commands.iter().filter(is_commit).peekable();
        if commits.peek().is_some() {
            self.facts.stakes.commits += 1;
            self.facts.is_committed |=
                commits.any(|it| it.propagates_failure && !it.words.iter().any(skips));
        }
    }

    /// Beyond [`MAX_ERRORS`], counts only known errors.
    fn error(&mut self, call: &Call, failure: &CallFailure, sanitizer: &Sanitizer) {
        let Some(signature) = failure.error else {
            return;
        };
        let errors = &mut self.facts.errors;
        if let Some(known) = errors.iter_mut().find(|error| error.signature == signature) {
            known.occurrences += 1;
            known
                .keys
                .extend(failure.wholes.iter().filter_map(|text| exact_key(text)));
        } else if errors.len() < MAX_ERRORS {
            errors.push(RecurringError {
                signature,
                tool: call.tool.clone(),
                subject: sanitizer.line(&failure.subject, MAX_LINE),
                example: sanitizer.line(&failure.message, MAX_LINE),
                keys: failure
                    .wholes
                    .iter()
                    .flat_map(|text| error_keys(text))
                    .collect(),
                category: failure.category,
                occurrences: 1,
            });
        }
    }

    fn check(&mut self, check: &CheckResult) {
        self.facts.is_committed = false;
        let was_red = matches!(self.last_check.replace(check.result), Some(Err(_)));
        let is_green = check.result.is_ok();
        self.facts.checks_passed += u64::from(is_green);
        self.facts.checks_failed += u64::from(!is_green);
        self.facts.recoveries += u64::from(was_red && is_green);
    }

    fn hear(&mut self, words: &str) {
        let room = MAX_WORDS.saturating_sub(self.words.len());
        self.words.push_str(head(words, room));
        self.words.push('\n');
    }

    fn prompt(&mut self, prompt: &Prompt<'_>, sanitizer: &Sanitizer) {
        for words in &prompt.message.words {
            self.hear(words);
        }
        match prompt.via {
            Via::Typed | Via::Plan => self.facts.user_turns += 1,
            Via::Command(_) => self.facts.commands += 1,
            Via::Queued => {}
            Via::Answer => return,
        }
        if self.facts.first_request.is_none() {
            let request = match prompt.via {
                Via::Command(name) if prompt.text.is_empty() => name,
                _ => prompt.text,
            };
            self.facts.first_request = Some(sanitizer.text(request, MAX_REQUEST));
        }
        self.ending = LastEvent::Quiet;
        // To see later how far the last prompt is from those before it.
        let old = std::mem::take(&mut self.last_words).into_iter();
        let room = MAX_COMPARED_WORDS.saturating_sub(self.old_words.len());
        self.old_words.extend(old.take(room));
        let words = head(prompt.text, MAX_COMPARED).split(|c: char| !c.is_alphanumeric());
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
}

/// Returns each id of a key point that `text` cites in brackets, in order, repeated ones included:
/// `\[((?:pat|mis|pref|ctx|oth)-\d+|kpt_\d+)\]` with ASCII digits (REQ-REFL-001). Those of the
/// user's own points are left out.
fn all_cited(text: &str) -> impl Iterator<Item = Id> {
    memchr::memchr_iter(b'[', text.as_bytes()).filter_map(|open| {
        let rest = &text[open + 1..];
        let is_in_id = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let after = rest.trim_start_matches(is_in_id);
        let id = &rest[..rest.len() - after.len()];
        let id = after.starts_with(']').then(|| Id::parse(id)).flatten();
        id.filter(|id| !id.is_own())
    })
}

pub(crate) fn cites(text: &str) -> Vec<Id> {
    unique(all_cited(text)).take(MAX_IDS).collect()
}

fn unique(ids: impl Iterator<Item = Id>) -> impl Iterator<Item = Id> {
    let mut seen = HashSet::new();
    ids.filter(move |id| seen.insert(id.clone()))
}

/// Returns each id once, in order of first appearance (REQ-REFL-001, INV-REFL-001). Only text
/// counts: a string, or the text blocks of a list.
pub fn extract_cited_ids(messages: &[Value]) -> Vec<Id> {
    let mut texts = Vec::new();
    for message in messages.iter().filter(|m| m["role"] == "assistant") {
        match &message["content"] {
            Value::String(text) => texts.push(text.as_str()),
            Value::Array(blocks) => texts.extend(blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.as_str()),
                _ if block["type"] == "text" => block["text"].as_str(),
                _ => None,
            })),
            _ => {}
        }
    }
    unique(texts.into_iter().flat_map(all_cited)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn cited(text: &str) -> Vec<String> {
        all_cited(text).map(|id| id.to_string()).collect()
    }

    #[rstest]
    #[case::the_users_own("[my-001] [My-1] [my_1]", &[])]
    #[case::all_slugs("[pat-1] [mis-22] [pref-333] [ctx-4] [oth-05] [kpt_006]", &["pat-1", "mis-22", "pref-333", "ctx-4", "oth-05", "kpt_006"])]
    #[case::nested("[[pat-001]] [a[mis-002]b]", &["pat-001", "mis-002"])]
    #[case::restarted("[pat-[pat-001]", &["pat-001"])]
    #[case::repeated("[pat-1][pat-1]", &["pat-1", "pat-1"])]
    #[case::other_shapes("[kpt-1] [pat_1] [PAT-1] [ pat-1] [pat-1a] [pat-] [pat-1, mis-2]", &[])]
    #[case::other_digits("[pat-٣] [pat-１]", &[])]
    #[case::cut_off("[pat-001", &[])]
    fn only_ids_in_brackets_are_citations(#[case] text: &str, #[case] ids: &[&str]) {
        assert_eq!(cited(text), ids);
    }
}
