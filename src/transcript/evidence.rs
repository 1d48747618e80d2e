//! What is shown to a model of a session, and how it is written.
//!
//! Labels stand at the start of a line and every other line is indented, so that no text
//! of the session can pass for a label.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::cut;
use super::event::EventKind;
use super::item::{Item, Label, named};
use super::keep::Keeper;

/// What would be sent to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The events chosen, in order of time, gaps marked. Masked.
    pub text: String,
    /// The estimate of its tokens.
    pub tokens: u64,
    /// How many events were left out, plain tool results not counted.
    pub left_out: u64,
    /// Where each chosen event stands in the transcript.
    pub shown: Vec<Shown>,
}

/// Where a chosen event stands in the transcript.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// What kind of event it is.
    pub kind: String,
    /// Where its record begins, in bytes from the start of the file.
    pub offset: u64,
    /// The record's uuid.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uuid: Option<String>,
    /// When it was written, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<String>,
    /// The id of the message that the record is a part of.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub message_id: Option<String>,
}

impl Shown {
    pub(crate) fn of(item: &Item) -> Self {
        Self {
            kind: item.kind.to_owned(),
            offset: item.offset,
            uuid: item.uuid.clone(),
            time: item.time.map(|time| time.to_string()),
            message_id: item.message_id.clone(),
        }
    }
}

/// Tells whether a tool only keeps the agent's own notes; its calls say nothing.
pub(crate) fn is_housekeeping(tool: &str) -> bool {
    matches!(
        tool,
        "TodoWrite"
            | "TodoRead"
            | "TaskCreate"
            | "TaskUpdate"
            | "TaskList"
            | "TaskGet"
            | "ToolSearch"
    )
}

/// How many items of each kind there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) prompts: u64,
    pub(crate) texts: u64,
    pub(crate) calls: u64,
    pub(crate) errors: u64,
    pub(crate) others: u64,
}

impl Tally {
    /// Counts an item of a kind, as [`super::EventKind::name`] names it.
    pub(crate) fn count(&mut self, kind: &str) {
        match kind {
            kind if EventKind::is_spoken(kind) => self.prompts += 1,
            "assistant_text" => self.texts += 1,
            "tool_call" => self.calls += 1,
            "error_event" => self.errors += 1,
            _ => self.others += 1,
        }
    }

    pub(crate) fn total(self) -> u64 {
        self.prompts + self.texts + self.calls + self.errors + self.others
    }

    fn minus(self, other: Self) -> Self {
        Self {
            prompts: self.prompts.saturating_sub(other.prompts),
            texts: self.texts.saturating_sub(other.texts),
            calls: self.calls.saturating_sub(other.calls),
            errors: self.errors.saturating_sub(other.errors),
            others: self.others.saturating_sub(other.others),
        }
    }

    fn words(self) -> String {
        let parts = [
            (self.prompts, "prompt"),
            (self.texts, "text"),
            (self.calls, "call"),
            (self.errors, "error"),
            (self.others, "other"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, word)| {
                if *n == 1 || *word == "other" {
                    format!("{n} {word}")
                } else {
                    format!("{n} {word}s")
                }
            })
            .collect();
        parts.join(", ")
    }
}

/// How much of an item is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// The lines around its first citations only.
    Quotes,
    /// The beginning and the end.
    Short,
    /// All that is held.
    Full,
}

/// What stands before a tool call; calls in a row share it.
pub(crate) const CALLS: &str = "CLAUDE calls";

/// How much of a text the short form shows, in bytes.
const SHORT: usize = 400;
/// How much of a citation's line is shown, in bytes.
const QUOTE: usize = 200;
/// How long a note may be, in bytes.
const NOTE: usize = 300;
/// How long a note below quotes may be, in bytes.
const SHORT_NOTE: usize = 120;

/// Returns about how many bytes of an item's text a form shows at the most.
pub(crate) fn size(item: &Item, form: Form) -> usize {
    match form {
        Form::Quotes => 0,
        Form::Short => item.body.len().min(SHORT),
        Form::Full => item.body.len(),
    }
}

/// Writes one item: its label, its text, its notes.
pub(crate) fn write(item: &Item, form: Form, keeper: &Keeper) -> String {
    let mut out = keeper.line(&label(item), 2 * NOTE);
    let body = match form {
        Form::Quotes => quotes(item, keeper),
        Form::Short if item.body.is_empty() => quotes(item, keeper),
        Form::Short => keeper.text(&item.body, SHORT),
        Form::Full => keeper.text(&item.body, usize::MAX),
    };
    if !body.is_empty() {
        out.push(':');
        push_indented(&mut out, &body);
    }
    let max = if form == Form::Quotes {
        SHORT_NOTE
    } else {
        NOTE
    };
    for note in &item.notes {
        out.push_str("\n  → ");
        out.push_str(&keeper.line(note, max));
    }
    out
}

fn label(item: &Item) -> String {
    let call = item.call.as_ref().map(|call| named(call));
    let call = call.unwrap_or_default();
    let label = match &item.label {
        Label::Words(CALLS) => return format!("{CALLS}: {call}"),
        Label::Words(words) if call.is_empty() => return (*words).to_owned(),
        Label::Words(words) => return format!("{words} {call}"),
        Label::Command(name) => return format!("USER with {name}"),
        Label::Check(word, runner) => return format!("CHECK {word} ({runner})"),
        Label::Error(None, category) => format!("ERROR in {call} ({}", category.name()),
        Label::Error(Some(code), category) => {
            format!("ERROR in {call} (exit {code}, {}", category.name())
        }
    };
    match item.count {
        1 => label + ")",
        count => format!("{label}, {count} times)"),
    }
}

fn quotes(item: &Item, keeper: &Keeper) -> String {
    let mut quotes: Vec<String> = Vec::new();
    for cite in &item.quotes {
        let mark = format!("[{}]", cite.id);
        if quotes.iter().any(|q| q.contains(&mark)) {
            continue;
        }
        let quote = keeper.line(&cite.quote, QUOTE);
        if quote.contains(&mark) {
            quotes.push(quote);
        } else {
            quotes.push(format!("{mark} {}", cut::one_line(&quote, QUOTE / 2)));
        }
    }
    quotes.join("\n")
}

/// Puts a text after a label: on its line when it is one line, else below it.
fn push_indented(out: &mut String, text: &str) {
    if !text.contains('\n') {
        out.push(' ');
        out.push_str(text);
        return;
    }
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        out.push_str("\n  ");
        out.push_str(line.trim_end());
    }
}

/// Joins chosen items in order, with a note of what was left out between them. Calls in a
/// row stand on one line.
pub(crate) fn join(chosen: &[(&Item, &str)], all: Tally) -> String {
    let mut out = String::new();
    let mut seen = Tally::default();
    let mut calls = Calls::default();
    for (item, text) in chosen {
        let gap = item.before.minus(seen);
        let call = matches!(item.label, Label::Words(CALLS))
            .then(|| text.trim_start_matches(CALLS).trim_start_matches(": "));
        if gap.total() > 0 || call.is_none() {
            calls.end(&mut out);
        }
        push_gap(&mut out, gap);
        match call {
            Some(call) => calls.push(&mut out, call),
            None => push_line(&mut out, text),
        }
        seen = item.before;
        seen.count(item.kind);
    }
    calls.end(&mut out);
    push_gap(&mut out, all.minus(seen));
    out
}

/// A line of calls that is being written.
#[derive(Default)]
struct Calls<'a> {
    /// The last call on the line, and how often it was made in a row.
    last: Option<(&'a str, u64)>,
}

impl<'a> Calls<'a> {
    fn push(&mut self, out: &mut String, call: &'a str) {
        match &mut self.last {
            Some((last, times)) if *last == call => *times += 1,
            Some(_) => {
                self.end_call(out);
                out.push_str("; ");
                out.push_str(call);
                self.last = Some((call, 1));
            }
            None => {
                push_line(out, CALLS);
                out.push_str(": ");
                out.push_str(call);
                self.last = Some((call, 1));
            }
        }
    }

    /// Writes how often the last call was made.
    fn end_call(&self, out: &mut String) {
        if let Some((_, times @ 2..)) = self.last {
            // Writing to a String cannot fail.
            _ = write!(out, " ({times} times)");
        }
    }

    fn end(&mut self, out: &mut String) {
        self.end_call(out);
        self.last = None;
    }
}

fn push_line(out: &mut String, line: &str) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(line);
}

fn push_gap(out: &mut String, gap: Tally) {
    if gap.total() > 0 {
        push_line(out, "… left out: ");
        out.push_str(&gap.words());
    }
}
