//! The bounded collector: events in, evidence within a budget out.
//!
//! Pure. Plain results are counted and not kept; of everything else a bounded text goes on
//! a bounded shelf, from which the choice is made.

use std::collections::HashMap;
use std::sync::Arc;

use super::choice;
use super::cut;
use super::event::{Call, Cite, Event, EventKind, Failure, Fix, Prompt, Via};
use super::evidence::{CALLS, Evidence, Tally, is_housekeeping};
use super::facts::FollowUp;
use super::item::{Item, Label, Rank, named};
use super::keep::Keeper;
use super::observer::Followed;
use super::shelf::Shelf;
use crate::playbook::Id;

/// How much of the user's words is held, in bytes.
const MAX_SPOKEN: usize = 16_000;
/// How much of a text is held, in bytes.
const MAX_BODY: usize = 3_000;
/// How much of a plain text or an error is held, in bytes.
const MAX_PLAIN: usize = 1_500;
/// How many uses of one key point are shown with their surroundings.
const USES_PER_ID: u32 = 4;
/// How many key points are told apart.
const MAX_IDS: usize = 2_000;
/// The longest id a key point can have; longer ones are only counted.
const MAX_ID: usize = 40;
/// How many kinds of errors are told apart.
const MAX_ERRORS: usize = 300;
/// How far back the text is looked for that a user disagreed with, in items.
const CONTEXT: usize = 20;

/// Takes events one by one and keeps what may be chosen.
#[derive(Debug, Default)]
pub struct Collector {
    keeper: Keeper,
    shelf: Shelf,
    tally: Tally,
    seq: u64,
    uses_of: HashMap<Id, u32>,
    /// The item of each kind of error, by its signature.
    errors: HashMap<u64, u64>,
    has_request: bool,
    /// The message of the last event.
    last_message: String,
    /// Whether the user has just stopped the agent; what they type next says why.
    stopped: bool,
}

impl Collector {
    pub(crate) fn new(keeper: Keeper) -> Self {
        Self {
            keeper,
            ..Self::default()
        }
    }

    /// Shows what lies in the session's folder relative to it.
    pub(crate) fn work_in(&mut self, folder: &str) {
        self.keeper.work_in(folder);
    }

    /// Takes one event.
    pub fn push(&mut self, event: &Event<'_>) {
        self.seq = event.seq;
        let message = event.place.message_id;
        let words = Label::Words;
        match &event.kind {
            EventKind::Prompt(prompt) => self.prompt(event, prompt),
            EventKind::Rejection {
                call,
                words,
                unwritten,
            } => {
                self.stopped = words.is_none();
                self.mark_context();
                let label = Label::Words("USER refused");
                let body = words.as_deref().unwrap_or_default();
                let item = self.add(event, Rank::Disagreement, label, body);
                item.call = Some(call.clone());
                let note = unwritten
                    .iter()
                    .map(|text| format!("it would have written: {text}"));
                item.notes.extend(note);
            }
            EventKind::Interrupt => {
                self.stopped = true;
                self.mark_context();
                self.add(event, Rank::Disagreement, words("USER interrupted"), "");
            }
            EventKind::Text { text, cites } => self.text(event, text, cites),
            EventKind::ToolCall(call) => {
                if !is_housekeeping(&call.tool) {
                    self.add(event, Rank::Call, words(CALLS), "").call = Some(call.clone());
                }
            }
            EventKind::ToolError { call, failure } => self.error(event, call, failure),
            EventKind::Fixed(fix) => self.fixed(fix),
            EventKind::Check { check, .. } => {
                let (rank, word) = if check.result.is_ok() {
                    (Rank::Note, "passed")
                } else {
                    (Rank::Setback, "failed")
                };
                let label = Label::Check(word, check.runner);
                self.add(event, rank, label, &check.line);
            }
            EventKind::ApiError(text) => {
                self.add(event, Rank::Setback, words("API ERROR"), text);
            }
            EventKind::Compaction => {
                self.add(event, Rank::Note, words("CONVERSATION compacted"), "");
            }
            EventKind::HandBack(text) => {
                self.add(event, Rank::Note, words("SUBAGENT returned"), text);
            }
            EventKind::Hook(text) => {
                self.add(event, Rank::Note, words("HOOK said"), text);
            }
            EventKind::ToolResult(_) => {}
        }
        self.last_message.clear();
        self.last_message.push_str(message.unwrap_or_default());
    }

    /// Takes note of what followed the citations, which is shown below them.
    pub(crate) fn note_followed(&mut self, followed: &[Followed]) {
        for Followed { seq, by } in followed {
            let note = match by {
                FollowUp::Clean => continue,
                FollowUp::ToolError { tool, message } => {
                    format!(
                        "then a call of {tool} failed: {}",
                        cut::one_line(message, 100)
                    )
                }
                FollowUp::Interrupted => "then the user interrupted".to_owned(),
                FollowUp::Rejected { words } if words.is_empty() => {
                    "then the user refused a call".to_owned()
                }
                FollowUp::Rejected { words } => {
                    format!(
                        "then the user refused a call: {}",
                        cut::one_line(words, 100)
                    )
                }
            };
            if let Some(item) = self.shelf.telling(*seq) {
                item.notes.push(note);
            }
        }
    }

    /// Chooses and writes the evidence in at most `budget` tokens, estimated as
    /// [`super::estimate_tokens`] does.
    pub fn finish(self, budget: u64) -> Evidence {
        let mut items = self.shelf.into_items();
        for kinds in [EventKind::is_spoken, |kind: &str| kind == "assistant_text"] {
            if let Some(last) = items.iter_mut().rev().find(|item| kinds(item.kind)) {
                last.raise(Rank::Ends);
            }
        }
        choice::choose(&items, self.tally, &self.keeper, budget)
    }

    fn add(&mut self, event: &Event<'_>, rank: Rank, label: Label, body: &str) -> &mut Item {
        let max = match rank {
            _ if EventKind::is_spoken(event.kind.name()) => MAX_SPOKEN,
            Rank::Note | Rank::Text | Rank::Error => MAX_PLAIN,
            _ => MAX_BODY,
        };
        let before = self.tally;
        self.tally.count(event.kind.name());
        self.shelf.put(Item {
            seq: event.seq,
            offset: event.place.offset,
            uuid: event.place.uuid.map(str::to_owned),
            time: event.place.time,
            message_id: event.place.message_id.map(str::to_owned),
            kind: event.kind.name(),
            rank,
            label,
            call: None,
            body: cut::middle(body.trim(), max).into_owned(),
            notes: Vec::new(),
            count: 1,
            quotes: Vec::new(),
            before,
        })
    }

    fn prompt(&mut self, event: &Event<'_>, prompt: &Prompt<'_>) {
        let label = match prompt.via {
            Via::Command(name) => Label::Command(name.to_owned()),
            Via::Answer => Label::Words("USER answers"),
            Via::Queued => Label::Words("USER adds"),
            Via::Typed => Label::Words("USER"),
        };
        let request = prompt.via != Via::Answer;
        let first = request && !std::mem::replace(&mut self.has_request, true);
        let stopped = std::mem::take(&mut self.stopped);
        let rank = if first {
            Rank::Ends
        } else if stopped || !prompt.instructions.is_empty() {
            Rank::Disagreement
        } else {
            Rank::Prompt
        };
        self.add(event, rank, label, prompt.text);
    }

    /// Marks the last text as what the user disagreed with.
    fn mark_context(&mut self) {
        if let Some(text) = self.shelf.last_text(CONTEXT) {
            text.raise(Rank::Context);
        }
    }

    fn text(&mut self, event: &Event<'_>, text: &str, cites: &[Cite]) {
        let mut quotes = Vec::new();
        let mut telling = false;
        for cite in cites.iter().filter(|cite| cite.id.as_str().len() <= MAX_ID) {
            let known = self.uses_of.len();
            let count = match self.uses_of.get_mut(&cite.id) {
                Some(count) => count,
                None if known < MAX_IDS => self.uses_of.entry(cite.id.clone()).or_default(),
                None => continue,
            };
            *count += 1;
            telling |= *count <= USES_PER_ID;
            if *count == 1 {
                quotes.push(cite.clone());
            }
        }
        if cites.is_empty() && self.joined(event, text) {
            return;
        }
        let rank = if telling { Rank::Use } else { Rank::Text };
        self.add(event, rank, Label::Words("CLAUDE"), text).quotes = quotes;
    }

    /// Adds a text to the last one when both are parts of one message.
    fn joined(&mut self, event: &Event<'_>, text: &str) -> bool {
        let message = event.place.message_id.unwrap_or_default();
        if message.is_empty() || message != self.last_message {
            return false;
        }
        match self.shelf.last_text(1) {
            Some(last) if last.body.len() + text.len() < MAX_PLAIN => {
                last.body.push('\n');
                last.body.push_str(text.trim());
                true
            }
            _ => false,
        }
    }

    fn error(&mut self, event: &Event<'_>, call: &Arc<Call>, failure: &Failure) {
        if let Some(item) = self.error_item(failure.signature) {
            item.count += 1;
            return;
        }
        if self.errors.len() < MAX_ERRORS {
            self.errors.insert(failure.signature, event.seq);
        }
        let label = Label::Error(failure.exit_code, failure.category);
        self.add(event, Rank::Error, label, &failure.text).call = Some(call.clone());
    }

    fn error_item(&mut self, signature: u64) -> Option<&mut Item> {
        let seq = self.errors.get(&signature)?;
        self.shelf.telling(*seq)
    }

    fn fixed(&mut self, fix: &Fix) {
        let Some(item) = self
            .error_item(fix.signature)
            .filter(|i| i.notes.is_empty())
        else {
            return;
        };
        let note = if fix.failed.input == fix.worked.input {
            let after: Vec<String> = fix.after.iter().map(|call| named(call)).collect();
            if after.is_empty() {
                "then the same call worked".to_owned()
            } else {
                format!("then the same call worked, after: {}", after.join("; "))
            }
        } else {
            format!("then this worked: {}", named(&fix.worked))
        };
        item.notes.push(note);
    }
}
