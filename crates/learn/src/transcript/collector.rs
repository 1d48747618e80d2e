//! The bounded collector: events in, evidence within a budget out.
//!
//! Pure. Plain results are counted and not kept; of everything else a bounded text goes
//! into a bounded buffer, from which the choice is made.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use memchr::memmem;

use super::choice;
use super::cut;
use super::event::{Call, CallFailure, CheckResult, Event, EventKind, Prompt, Via};
use super::evidence::{CALLS, EventSource, Evidence, ShownEvent};
use super::item::{Item, ItemRank};
use super::outside;
use super::sanitizer::Sanitizer;
use super::words::{CHATTER, HOUSEKEEPING};
use crate::clip::boundary_before;
use crate::playbook::Id;

/// The number of bytes of items that are held.
const MAX_SIZE: usize = 2 << 20;
/// The part that is kept of the text of an item that is never left out, in bytes.
const MAX_NEEDED: usize = 300;
/// The part of the user's words that is held, in bytes.
const MAX_SPOKEN: usize = 16_000;
/// The part of a text that is held, in bytes.
const MAX_BODY: usize = 8_000;
/// The part of a text of the agent's or an error that is held, in bytes.
const MAX_PLAIN: usize = 2_000;
/// The part of a subagent's report and of a hook's words that is held, in bytes.
const MAX_REPORT: usize = 800;
/// The part of a plan that is held, in bytes.
const MAX_PLAN: usize = 4_000;
/// How much of the line that says what an error is, in bytes.
const MAX_LINE: usize = 240;
/// The number of key points that are told apart.
const MAX_IDS: usize = 2_000;
/// The longest id a key point can have; longer ones are only counted.
const MAX_ID: usize = 40;
/// How far back the text is looked for that a user disagreed with, in items.
const CONTEXT: usize = 20;

const PLAN: &str = "PLAN that the user approved";

/// Takes events one by one and keeps what may be chosen.
#[derive(Debug, Default)]
pub struct Collector {
    pub(super) sanitizer: Sanitizer,
    /// In order of time. When they are too many, the least telling half of them goes, of
    /// equals the older ones.
    items: Vec<Item>,
    size: usize,
    /// The size that the last shrinking left: what is needed may take more than the limit, and is
    /// not gone through at each item.
    kept: usize,
    /// How many items there were.
    count: u64,
    cited: HashSet<Id>,
    has_request: bool,
    /// The id of the last event's message.
    last_message: Option<String>,
    /// Whether the user has just stopped the agent; what they type next says why.
    stopped: bool,
}

impl Collector {
    pub(crate) fn new(sanitizer: Sanitizer) -> Self {
        Self {
            sanitizer,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, event: &Event<'_>) {
        match &event.kind {
            EventKind::Prompt(prompt) => self.prompt(event, prompt),
            EventKind::Rejection {
                call,
                words,
                is_person,
                unwritten,
            } => {
                self.stopped = words.is_empty();
                self.mark_context();
                let item = self.add(event, ItemRank::Disagreement, "USER refused", words);
                item.call = Some(call.clone());
                if *is_person && !words.is_empty() {
                    item.shown.source = EventSource::User;
                    item.shown.words = vec![words.clone()];
                }
                let change = unwritten.iter();
                item.notes
                    .extend(change.map(|lines| format!("it would have changed:\n{lines}")));
            }
            EventKind::Interrupt => {
                self.stopped = true;
                self.mark_context();
                self.add(event, ItemRank::Disagreement, "USER interrupted", "");
            }
            EventKind::Text { text, cites } => self.text(event, text, cites),
            EventKind::ToolCall(call) => {
                self.announced();
                if !HOUSEKEEPING.has(&call.tool) {
                    self.add(event, ItemRank::Call, CALLS, "").call = Some(call.clone());
                }
            }
            EventKind::ToolError { call, failure } => self.error(event, call, failure),
            EventKind::Plan(text) => {
                let item = self.add(event, ItemRank::Ends, PLAN, text);
                item.shown.source = EventSource::Plan;
            }
            EventKind::TurnedBack { call, why } => {
                let item = self.add(event, ItemRank::Setback, "HOOK turned back", why);
                item.call = Some(call.clone());
            }
            EventKind::Branch(name) => _ = self.add(event, ItemRank::Ends, "BRANCH", name),
            EventKind::Check { call, check } => self.check(event, call, check),
            EventKind::UnknownCheck { call, runner } => {
                let label = format!("CHECK ran, its result is not known ({runner})");
                let item = self.add(event, ItemRank::Note, label, "");
                item.shown.calls.push(call.input.clone());
            }
            EventKind::ApiError(text) => _ = self.add(event, ItemRank::Setback, "API ERROR", text),
            EventKind::Compaction => {
                self.add(event, ItemRank::Note, "CONVERSATION compacted", "");
            }
            EventKind::HandBack(report) => {
                self.add(event, ItemRank::Note, "SUBAGENT returned", report);
            }
            EventKind::Hook(text) => _ = self.add(event, ItemRank::Note, "HOOK said", text),
            EventKind::LeftRunning(_) | EventKind::ToolResult(_) => {}
        }
        self.last_message.clone_from(&event.place.message_id);
    }

    /// Chooses and writes the evidence in at most `budget` tokens, estimated as
    /// [`super::estimate_tokens`] does.
    pub fn finish(self, budget: u64) -> Evidence {
        let mut items = self.items;
        for is_one in [Item::is_spoken, Item::is_text] {
            if let Some(last) = items.iter_mut().rfind(|item| is_one(item)) {
                last.raise(ItemRank::Ends);
            }
        }
        choice::choose(&items, self.count, &self.sanitizer, budget)
    }

    fn add(
        &mut self,
        event: &Event<'_>,
        rank: ItemRank,
        label: impl Into<Cow<'static, str>>,
        body: &str,
    ) -> &mut Item {
        let max = match rank {
            _ if matches!(&event.kind, EventKind::Prompt(prompt) if prompt.via != Via::Plan) => {
                MAX_SPOKEN
            }
            _ if matches!(event.kind, EventKind::Prompt(_) | EventKind::Plan(_)) => MAX_PLAN,
            _ if matches!(event.kind, EventKind::HandBack(_) | EventKind::Hook(_)) => MAX_REPORT,
            ItemRank::Note | ItemRank::Text | ItemRank::Error => MAX_PLAIN,
            _ => MAX_BODY,
        };
        let body = cut::middle(body.trim(), max).into_owned();
        self.put(Item {
            shown: ShownEvent {
                kind: event.kind.name().to_owned(),
                offset: event.place.offset,
                uuid: event.place.uuid.clone(),
                time: event.place.time.map(|time| time.to_string()),
                message_id: event.place.message_id.clone(),
                source: match event.kind {
                    EventKind::ToolCall(_) => EventSource::Call,
                    EventKind::Text { .. } => EventSource::Agent,
                    _ => EventSource::Outcome,
                },
                ..ShownEvent::default()
            },
            rank,
            label: label.into(),
            is_cut: memmem::find(body.as_bytes(), cut::LEFT_OUT.as_bytes()).is_some(),
            body,
            count: 1,
            before: self.count,
            ..Item::default()
        })
    }

    fn put(&mut self, mut item: Item) -> &mut Item {
        self.count += 1;
        if self.size > MAX_SIZE.max(2 * self.kept) {
            self.shrink();
        }
        self.size += item.size();
        // What was typed while the agent worked belongs where it was typed.
        let is_earlier = |known: &Item| known.shown.offset <= item.shown.offset;
        let place = self.items.partition_point(is_earlier);
        for later in &mut self.items[place..] {
            item.before = item.before.min(later.before);
            later.before += 1;
        }
        self.items.insert(place, item);
        &mut self.items[place]
    }

    /// Lets the least telling half go; but the beginning stays of what the record never leaves out.
    fn shrink(&mut self) {
        // Some were taken out since, and others cut.
        self.size = self.items.iter().map(Item::size).sum();
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        // Of one rank they stay in order of time.
        order.sort_by_key(|&i| self.items[i].rank);
        let mut goes = vec![false; self.items.len()];
        for i in order {
            if self.size <= MAX_SIZE / 2 {
                break;
            }
            let item = &mut self.items[i];
            self.size = self.size.saturating_sub(item.size());
            if !item.is_needed() {
                goes[i] = true;
                continue;
            }
            let shorten = |text: &mut String| text.truncate(boundary_before(text, MAX_NEEDED));
            shorten(&mut item.body);
            item.shown.words.iter_mut().for_each(shorten);
            item.is_cut = true;
            self.size += item.size();
        }
        let mut goes = goes.into_iter();
        self.items.retain(|_| !goes.next().unwrap_or_default());
        self.kept = self.size;
    }

    /// Returns the latest text of the assistant among the last items.
    fn last_text(&mut self, among: usize) -> Option<&mut Item> {
        let mut last = self.items.iter_mut().rev().take(among);
        last.find(|item| item.is_text())
    }

    fn prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>) {
        let label = match prompt.via {
            Via::Plan => PLAN.into(),
            Via::Command(name) => Cow::Owned(format!("USER with {name}")),
            Via::Answer => "USER answers".into(),
            Via::Queued => "USER adds".into(),
            Via::Typed => "USER".into(),
        };
        let request = prompt.via != Via::Answer;
        let first = request && !std::mem::replace(&mut self.has_request, true);
        let stopped = std::mem::take(&mut self.stopped);
        let rank = if first {
            ItemRank::Ends
        } else if stopped {
            ItemRank::Disagreement
        } else {
            ItemRank::Prompt
        };
        let item = self.add(event, rank, label, &prompt.message.shown);
        item.shown.words.clone_from(&prompt.message.words);
        item.shown.source = match prompt.is_person {
            true if prompt.via == Via::Plan => EventSource::Plan,
            true => EventSource::User,
            false => EventSource::Outcome,
        };
    }

    fn mark_context(&mut self) {
        if let Some(text) = self.last_text(CONTEXT) {
            text.raise(ItemRank::Context);
        }
    }

    fn text(&mut self, event: &Event<'_>, text: &str, cites: &[Id]) {
        if cites.is_empty() && self.joined(event, text) {
            return;
        }
        let mut firsts = Vec::new();
        for id in cites.iter().filter(|id| id.as_str().len() <= MAX_ID) {
            if self.cited.len() < MAX_IDS && self.cited.insert(id.clone()) {
                firsts.push(id.clone());
            }
        }
        let rank = if cites.is_empty() {
            ItemRank::Text
        } else {
            ItemRank::Use
        };
        self.add(event, rank, "CLAUDE", text).cited = firsts;
    }

    /// Takes the line from the text before a call that only announces it: "Let me read it:".
    fn announced(&mut self) {
        let text = self.items.last_mut();
        let Some(text) = text.filter(|item| item.rank == ItemRank::Text) else {
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
        match self.last_text(1) {
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
        let text = match failure.exit_code {
            // The label says it.
            Some(_) => failure.text.split_once('\n').map_or("", |(_, rest)| rest),
            None => &failure.text,
        };
        let is_news = |line: &&str| !CHATTER.begins(line.trim()) && !line.ends_with("... ok");
        let lines: Vec<&str> = text.lines().filter(is_news).collect();
        let text = if outside::prints_others(call) {
            cut::one_line(&failure.message, MAX_LINE)
        } else {
            lines.join("\n")
        };
        let text = cut::middle(text.trim(), MAX_PLAIN);
        if let [.., last, again] = self.items.as_mut_slice()
            && last.rank == ItemRank::Error
            && [&last.call, &again.call]
                .iter()
                .all(|made| made.as_ref() == Some(call))
            && last.body == text
        {
            last.count += 1;
            last.call = Some(call.clone());
            self.items.pop();
            self.count -= 1;
            return;
        }
        let item = self.add(event, ItemRank::Error, "ERROR in", &text);
        item.call = Some(call.clone());
        item.exit_code = failure.exit_code;
        item.headline = cut::one_line(&failure.message, MAX_LINE);
        item.shown.signature = failure.error;
    }

    /// Takes how a check ended, unless the error just before says it.
    fn check(&mut self, event: &Event<'_>, call: &Arc<Call>, check: &CheckResult) {
        let (rank, word) = match check.result {
            Ok(()) => (ItemRank::Note, "passed"),
            Err(_) => (ItemRank::Setback, "failed"),
        };
        let label = format!("CHECK {word} ({})", check.runner);
        let is_its_error =
            |item: &&mut Item| item.rank == ItemRank::Error && item.call.as_ref() == Some(call);
        if let Some(error) = self.items.last_mut().filter(is_its_error) {
            if !error.body.contains(&check.line) {
                error.notes.push(format!("{label}: {}", check.line));
            }
        } else {
            let item = self.add(event, rank, label, &check.line);
            item.shown.calls.push(call.input.clone());
        }
    }
}
