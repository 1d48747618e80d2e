//! The bounded collector: events in, items that the evidence may show out.
//!
//! Plain results are only counted; a bounded text of all else is kept in a bounded buffer.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use memchr::memmem;
use playbook_core::cue::turned_back_for;

use super::calls;
use super::event::{Call, CallFailure, CheckResult, Event, EventKind, Prompt, Via};
use super::evidence::{CALLS, Choice, EventSource, Evidence, ShownEvent};
use super::text::{self, Sanitizer};
use super::words::{CHATTER, HOUSEKEEPING};
use crate::clip::boundary_before;
use crate::playbook::Id;

/// The limit for all items held, in bytes.
const MAX_SIZE: usize = 2 << 20;
/// The part that is kept of an item that is never left out, where room is short, in bytes.
const MAX_NEEDED: usize = 300;
/// The part that is held of the user's words, of a plan, of a report or a hook's words, of an
/// error or the agent's text, and of any other text, in bytes.
const MAX_SPOKEN: usize = 16_000;
const MAX_PLAN: usize = 4_000;
const MAX_REPORT: usize = 800;
const MAX_PLAIN: usize = 2_000;
const MAX_BODY: usize = 8_000;
/// The part of the line that says what an error is, in bytes.
const MAX_LINE: usize = 240;
/// The number of items that are searched for the text that a user disagreed with.
const CONTEXT: usize = 20;
/// The size of an item without its texts, in bytes.
const COST: usize = 200;
/// The part of a text and of a call that the headline shows, in bytes.
const HEADLINE: usize = 160;
const HEADLINE_CALL: usize = 80;
/// The longest id that a key point can have; longer ones are only counted.
const MAX_ID: usize = 40;

const PLAN: &str = "PLAN that the user approved";

/// The weight of an item, in ascending order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    Call,
    #[default]
    Note,
    Text,
    Setback,
    /// The assistant's text before the user disagreed.
    Context,
    Use,
    Error,
    Prompt,
    /// A rejection, an interrupt, and what the user says next.
    Disagreement,
    /// The first request, the last one, and the assistant's last text.
    Ends,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    /// Its place, its words and the command that ran a check, not sanitized.
    shown: ShownEvent,
    pub rank: Rank,
    /// The text before the call or the body: `CHECK failed (go test)`.
    label: Cow<'static, str>,
    headline: String,
    call: Option<Arc<Call>>,
    exit_code: Option<i32>,
    pub body: String,
    pub is_cut: bool,
    /// The lines added below: a check's line, what the user kept from being written.
    notes: Vec<String>,
    /// The number of times that an error struck.
    pub count: u64,
    cited: Vec<Id>,
    pub before: u64,
}

impl Item {
    pub(crate) fn is_spoken(&self) -> bool {
        matches!(
            &*self.shown.kind,
            "user_prompt" | "command_prompt" | "queued_prompt" | "user_answer"
        )
    }

    pub(crate) fn is_text(&self) -> bool {
        self.shown.kind == "assistant_text"
    }

    /// Returns `true` for the branch at the start, which has no number.
    pub(crate) fn is_branch(&self) -> bool {
        self.shown.kind == "branch"
    }

    /// Returns `true` for what the evidence never leaves out.
    pub(crate) fn is_needed(&self) -> bool {
        let is_kind = matches!(
            &*self.shown.kind,
            "rejection" | "interrupt" | "plan" | "error_event" | "turned_back" | "branch"
        );
        is_kind || self.is_spoken() || !self.cited.is_empty()
    }

    /// Returns what two errors share that may be shown as one.
    pub(crate) fn error_key(&self) -> Option<(&str, &str)> {
        let is_error = self.shown.kind == "error_event";
        let call = self.call.as_ref().filter(|_| is_error)?;
        Some((&call.tool, &self.headline))
    }

    fn size(&self) -> usize {
        let texts = self.shown.words.iter().chain(&self.shown.calls);
        let texts: usize = texts.map(String::len).sum();
        COST + self.label.len() + self.body.len() + texts + self.cited.len() * COST / 4
    }

    fn take(&mut self, kind: &EventKind<'_>) {
        let shown = &mut self.shown;
        match kind {
            EventKind::Prompt(prompt) => {
                shown.words.clone_from(&prompt.message.words);
                shown.source = match prompt.via {
                    _ if !prompt.is_person => EventSource::Outcome,
                    Via::Plan => EventSource::Plan,
                    _ => EventSource::User,
                };
            }
            EventKind::Rejection {
                call,
                words,
                is_person,
                unwritten,
            } => {
                self.call = Some(call.clone());
                if *is_person && !words.is_empty() {
                    shown.source = EventSource::User;
                    shown.words.push(words.clone());
                }
                let change = unwritten.iter();
                self.notes
                    .extend(change.map(|lines| format!("it would have changed:\n{lines}")));
            }
            EventKind::Text { new_cites, .. } => {
                shown.source = EventSource::Agent;
                let ids = new_cites.iter().filter(|id| id.as_str().len() <= MAX_ID);
                self.cited = ids.cloned().collect();
            }
            EventKind::ToolCall(call) => {
                shown.source = EventSource::Call;
                self.call = Some(call.clone());
            }
            EventKind::ToolError { call, failure } => {
                self.call = Some(call.clone());
                self.exit_code = failure.exit_code;
                self.headline = text::one_line(&failure.message, MAX_LINE);
                shown.signature = failure.error;
            }
            EventKind::Plan(_) => shown.source = EventSource::Plan,
            EventKind::TurnedBack { call, .. } => self.call = Some(call.clone()),
            EventKind::Check { call, .. } | EventKind::UnknownCheck { call, .. } => {
                shown.calls.push(call.input.clone());
            }
            _ => {}
        }
    }

    pub(crate) fn shown(&self, number: u32, sanitizer: &Sanitizer) -> ShownEvent {
        let whole = |text: &String| sanitizer.text(text, usize::MAX);
        let call = self.call.as_ref();
        let call = call.map(|call| format!("{} {}", call.tool, asked(call)));
        ShownEvent {
            number,
            words: self.shown.words.iter().map(whole).collect(),
            calls: call.iter().chain(&self.shown.calls).map(whole).collect(),
            ..self.shown.clone()
        }
    }

    /// Writes its label, its text and its notes, or only its headline.
    pub(crate) fn write(&self, is_whole: bool, sanitizer: &Sanitizer) -> String {
        // The folder of the session is where a call is made anyway.
        let mut out = sanitizer
            .line(&self.label(is_whole), usize::MAX)
            .replace("`cd . && ", "`");
        let body = if is_whole {
            sanitizer.text(&self.body, usize::MAX)
        } else {
            sanitizer.line(self.headline(), HEADLINE)
        };
        // A text of one line is on that of its label.
        if body.contains('\n') {
            out.push(':');
            for line in body.lines().filter(|line| !line.trim().is_empty()) {
                out.push_str("\n  ");
                out.push_str(line.trim_end());
            }
        } else if !body.is_empty() {
            out.push_str(": ");
            out.push_str(&body);
        }
        for id in &self.cited {
            let mark = format!("[{id}]");
            if !out.contains(&mark) {
                out.push(' ');
                out.push_str(&mark);
            }
        }
        for note in self.notes.iter().filter(|_| is_whole) {
            let (first, lines) = note.split_once('\n').unwrap_or((note, ""));
            out.push_str("\n  → ");
            out.push_str(&sanitizer.line(first, usize::MAX));
            for line in sanitizer.text(lines, usize::MAX).lines() {
                out.push_str("\n    ");
                out.push_str(line);
            }
        }
        out
    }

    /// Returns the line that says what an error is, or in which a key point is cited first.
    fn headline(&self) -> &str {
        let cites = |line: &&str| {
            let mut cited = self.cited.iter();
            cited.any(|id| line.contains(&format!("[{id}]")))
        };
        match self.headline.as_str() {
            "" => self.body.lines().find(cites).unwrap_or(&self.body),
            headline => headline,
        }
    }

    fn label(&self, is_whole: bool) -> String {
        let mut label = self.label.to_string();
        let Some(call) = &self.call else {
            return label;
        };
        label += if label == CALLS { ": " } else { " " };
        label += match call.tool.as_str() {
            "" => "a tool",
            tool => tool,
        };
        // Writing to a String cannot fail.
        if !call.input.is_empty() {
            let most = if is_whole { usize::MAX } else { HEADLINE_CALL };
            _ = write!(label, " `{}`", text::one_line(&asked(call), most));
        }
        _ = match (self.exit_code, self.count) {
            (None, ..=1) => Ok(()),
            (None, times) => write!(label, " ({times} times)"),
            (Some(code), ..=1) => write!(label, " (exit {code})"),
            (Some(code), times) => write!(label, " (exit {code}, {times} times)"),
        };
        label
    }
}

fn asked(call: &Call) -> Cow<'_, str> {
    if call.looked_in.is_empty() {
        Cow::Borrowed(&call.input)
    } else {
        format!("{} in {}", call.input, call.looked_in).into()
    }
}

#[derive(Debug, Default)]
pub struct Collector {
    /// Set when the last event was taken.
    pub(super) sanitizer: Sanitizer,
    /// In order of time. When they are too many, the half with the lowest ranks is dropped, of
    /// equals the older ones.
    items: Vec<Item>,
    size: usize,
    /// The size that the last shrinking left. Needed items may take more than the limit, and are
    /// not visited for each new one.
    kept: usize,
    count: u64,
    has_request: bool,
    last_message: Option<String>,
    /// Set where the user has just stopped the agent; what they type next says why.
    stopped: bool,
}

impl Collector {
    pub(crate) fn push(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::Prompt(prompt) => self.prompt(event, prompt),
            EventKind::Rejection { words, .. } => {
                self.disagreed(words.is_empty());
                self.add(event, Rank::Disagreement, "USER refused", words);
            }
            EventKind::Interrupt => {
                self.disagreed(true);
                self.add(event, Rank::Disagreement, "USER interrupted", "");
            }
            EventKind::Text { text, cites, .. } if cites.is_empty() => {
                if !self.joined(event, text) {
                    self.add(event, Rank::Text, "CLAUDE", text);
                }
            }
            EventKind::Text { text, .. } => self.add(event, Rank::Use, "CLAUDE", text),
            EventKind::ToolCall(call) => {
                self.announced();
                if !HOUSEKEEPING.has(&call.tool) {
                    self.add(event, Rank::Call, CALLS, "");
                }
            }
            EventKind::ToolError { call, failure } => self.error(event, call, failure),
            EventKind::Plan(text) => self.add(event, Rank::Ends, PLAN, text),
            EventKind::TurnedBack { why, .. } => {
                let (label, why) = match turned_back_for(why) {
                    Some(points) => ("PLAYBOOK turned back, once", points),
                    None => ("HOOK turned back", why.as_str()),
                };
                self.add(event, Rank::Setback, label, why);
            }
            EventKind::Branch(name) => self.add(event, Rank::Ends, "BRANCH", name),
            EventKind::Check { call, check } => self.check(event, call, check),
            EventKind::UnknownCheck { runner, .. } => {
                let label = format!("CHECK ran, its result is not known ({runner})");
                self.add(event, Rank::Note, label, "");
            }
            EventKind::ApiError(text) => self.add(event, Rank::Setback, "API ERROR", text),
            EventKind::Compaction => self.add(event, Rank::Note, "CONVERSATION compacted", ""),
            EventKind::HandBack(report) => {
                self.add(event, Rank::Note, "SUBAGENT returned", report);
            }
            EventKind::Hook(text) => self.add(event, Rank::Note, "HOOK said", text),
            EventKind::LeftRunning(_) | EventKind::ToolResult(_) => {}
        }
        self.last_message.clone_from(&event.place.message_id);
    }

    /// Chooses and writes the evidence in at most `budget` tokens, estimated as
    /// [`super::estimate_tokens`] does.
    pub fn finish(mut self, budget: u64) -> Evidence {
        for is_one in [Item::is_spoken, Item::is_text] {
            if let Some(last) = self.items.iter_mut().rfind(|item| is_one(item)) {
                last.rank = Rank::Ends;
            }
        }
        Choice::of(&self.items, self.count, &self.sanitizer).make(budget)
    }

    fn add(
        &mut self,
        event: &Event<'_>,
        rank: Rank,
        label: impl Into<Cow<'static, str>>,
        body: &str,
    ) {
        let max = match &event.kind {
            EventKind::Prompt(prompt) if prompt.via != Via::Plan => MAX_SPOKEN,
            EventKind::Prompt(_) | EventKind::Plan(_) => MAX_PLAN,
            EventKind::HandBack(_) | EventKind::Hook(_) => MAX_REPORT,
            EventKind::ToolError { .. } => MAX_PLAIN,
            _ if rank == Rank::Text => MAX_PLAIN,
            _ => MAX_BODY,
        };
        let body = text::middle(body.trim(), max).into_owned();
        let mut item = Item {
            shown: ShownEvent {
                kind: event.kind.name().to_owned(),
                place: event.place.clone(),
                ..ShownEvent::default()
            },
            rank,
            label: label.into(),
            is_cut: memmem::find(body.as_bytes(), text::LEFT_OUT.as_bytes()).is_some(),
            body,
            count: 1,
            before: self.count,
            ..Item::default()
        };
        self.count += 1;
        if self.size > MAX_SIZE.max(2 * self.kept) {
            self.shrink();
        }
        self.size += item.size();
        item.take(&event.kind);
        // What was typed while the agent worked belongs where it was typed.
        let is_earlier = |known: &Item| known.shown.place.offset <= event.place.offset;
        let place = self.items.partition_point(is_earlier);
        for later in &mut self.items[place..] {
            item.before = item.before.min(later.before);
            later.before += 1;
        }
        self.items.insert(place, item);
    }

    /// Drops the half with the lowest ranks; of an item that is needed the beginning stays.
    fn shrink(&mut self) {
        // Some were taken out since, and others cut.
        self.size = self.items.iter().map(Item::size).sum();
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        // Of one rank they stay in order of time.
        order.sort_by_key(|&i| self.items[i].rank);
        let mut is_dropped = vec![false; self.items.len()];
        for i in order {
            if self.size <= MAX_SIZE / 2 {
                break;
            }
            let item = &mut self.items[i];
            self.size = self.size.saturating_sub(item.size());
            if !item.is_needed() {
                is_dropped[i] = true;
                continue;
            }
            let shorten = |text: &mut String| text.truncate(boundary_before(text, MAX_NEEDED));
            shorten(&mut item.body);
            item.shown.words.iter_mut().for_each(shorten);
            item.is_cut = true;
            self.size += item.size();
        }
        let mut is_dropped = is_dropped.into_iter();
        self.items
            .retain(|_| !is_dropped.next().unwrap_or_default());
        self.kept = self.size;
    }

    fn prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>) {
        let label = match prompt.via {
            Via::Plan => PLAN.into(),
            Via::Command(name) => Cow::Owned(format!("USER with {name}")),
            Via::Answer => "USER answers".into(),
            Via::Queued => "USER adds".into(),
            Via::Typed => "USER".into(),
        };
        let stopped = std::mem::take(&mut self.stopped);
        let rank = if prompt.via != Via::Answer && !self.has_request {
            self.has_request = true;
            Rank::Ends
        } else if stopped {
            Rank::Disagreement
        } else {
            Rank::Prompt
        };
        self.add(event, rank, label, &prompt.message.shown);
    }

    fn disagreed(&mut self, is_silent: bool) {
        self.stopped = is_silent;
        let mut last = self.items.iter_mut().rev().take(CONTEXT);
        if let Some(text) = last.find(|item| item.is_text()) {
            text.rank = text.rank.max(Rank::Context);
        }
    }

    /// Takes the line from the text before a call that only announces it: "Let me read it:".
    fn announced(&mut self) {
        let text = self.items.last_mut();
        let Some(text) = text.filter(|item| item.rank == Rank::Text) else {
            return;
        };
        if text.body.ends_with(':') {
            let end = text.body.rfind(['\n', '.']).map_or(0, |at| at + 1);
            text.body.truncate(end);
        }
        if text.body.trim().is_empty() {
            self.items.pop();
            self.count -= 1;
        }
    }

    /// Adds a text to the last one when both are parts of one message.
    fn joined(&mut self, event: &Event<'_>, text: &str) -> bool {
        let message = &event.place.message_id;
        if message.is_none() || *message != self.last_message {
            return false;
        }
        match self.items.last_mut().filter(|item| item.is_text()) {
            Some(last) if last.body.len() + text.len() < MAX_PLAIN => {
                last.body.push('\n');
                last.body.push_str(text.trim());
                true
            }
            _ => false,
        }
    }

    /// Takes an error; of a call that was made again at once and failed alike only how often.
    fn error(&mut self, event: &Event<'_>, call: &Arc<Call>, failure: &CallFailure) {
        let said = match failure.exit_code {
            // The label says it.
            Some(_) => failure.text.split_once('\n').map_or("", |(_, rest)| rest),
            None => &failure.text,
        };
        let said = if calls::prints_others(call) {
            text::one_line(&failure.message, MAX_LINE)
        } else {
            let is_news = |line: &&str| !CHATTER.begins(line.trim()) && !line.ends_with("... ok");
            said.lines().filter(is_news).collect::<Vec<_>>().join("\n")
        };
        let said = text::middle(said.trim(), MAX_PLAIN);
        let is_same = |item: &Item| item.call.as_ref() == Some(call);
        if let [.., last, again] = self.items.as_mut_slice()
            && last.rank == Rank::Error
            && is_same(last)
            && is_same(again)
            && last.body == said
        {
            last.count += 1;
            last.call = Some(call.clone());
            self.items.pop();
            self.count -= 1;
            return;
        }
        self.add(event, Rank::Error, "ERROR in", &said);
    }

    /// Takes how a check ended, unless the error just before says it.
    fn check(&mut self, event: &Event<'_>, call: &Arc<Call>, check: &CheckResult) {
        let (rank, word) = match check.result {
            Ok(()) => (Rank::Note, "passed"),
            Err(_) => (Rank::Setback, "failed"),
        };
        let label = format!("CHECK {word} ({})", check.runner);
        let is_its_error =
            |item: &&mut Item| item.rank == Rank::Error && item.call.as_ref() == Some(call);
        if let Some(error) = self.items.last_mut().filter(is_its_error) {
            if !error.body.contains(&check.line) {
                error.notes.push(format!("{label}: {}", check.line));
            }
        } else {
            self.add(event, rank, label, &check.line);
        }
    }
}
