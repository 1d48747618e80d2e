//! What is shown to a model of a session, and how it is written.
//!
//! Number and label stand at the start of a line and every other line is indented, so that
//! no text of the session can pass for a label. Calls in a row share a line and its number.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::call::Call;
use super::cut;
use super::item::Item;
use super::sanitizer::Sanitizer;
use crate::hint::Signature;

/// What would be sent to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The events chosen, in order of time, gaps marked. Masked.
    pub text: String,
    pub tokens: u64,
    /// How many events were left out, plain tool results not counted.
    pub left_out: u64,
    /// How many of the texts that are shown are not shown whole.
    #[serde(default)]
    pub cut: u64,
    /// Where each chosen event stands in the transcript.
    pub shown: Vec<ShownEvent>,
}

/// Who an event of the record comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventSource {
    /// The person: a message, an answer, the words of a refusal.
    User,
    /// A plan that the person approved.
    Plan,
    /// The agent's own text.
    Agent,
    Call,
    /// An error, a check, a refusal, a report: whatever happened.
    #[default]
    Outcome,
}

/// Where a chosen event stands in the transcript.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownEvent {
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
    /// The number under which the evidence shows it, from 1; 0 in what an older version made.
    #[serde(default)]
    pub number: u32,
    #[serde(default)]
    pub source: EventSource,
    /// The person's own words in it, letter for letter but for masks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The error that struck in it, wherever it strikes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// The agent's calls in it; masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
}

impl ShownEvent {
    pub(crate) fn of(item: &Item, number: u32, sanitizer: &Sanitizer) -> Self {
        let whole = |text: &String| sanitizer.text(text, usize::MAX);
        let words = item.words.iter().map(whole).collect();
        let call = item.call.as_ref();
        let call = call.map(|call| format!("{} {}", call.tool, asked(call)));
        let of_check = Some(&item.command)
            .filter(|command| !command.is_empty())
            .cloned();
        let calls = call.iter().chain(&of_check).map(whole).collect();
        Self {
            number,
            source: item.source,
            words,
            calls,
            signature: item.signature,
            kind: item.kind.to_owned(),
            offset: item.offset,
            uuid: item.uuid.clone(),
            time: item.time.map(|time| time.to_string()),
            message_id: item.message_id.clone(),
        }
    }

    /// Adds another call of the same line.
    pub(crate) fn join(&mut self, other: Self) {
        self.calls.extend(other.calls);
    }
}

/// How much of an item is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ItemForm {
    /// The beginning, or the line that says what an error is.
    Headline,
    Full,
}

/// The kind of the branch at the start, which has no number.
pub(crate) const BRANCH: &str = "branch";

/// What stands before a tool call; calls in a row share it.
pub(crate) const CALLS: &str = "CLAUDE calls";

/// How many calls in a row that only look are named.
const MOST_LOOKED_AT: usize = 5;
/// How much of a text and of a call the headline shows, in bytes.
const HEADLINE: usize = 160;
const HEADLINE_CALL: usize = 80;
/// Returns what a call is about, and where a search looks.
fn asked(call: &Call) -> Cow<'_, str> {
    if call.looked_in.is_empty() {
        Cow::Borrowed(&call.input)
    } else {
        format!("{} in {}", call.input, call.looked_in).into()
    }
}

/// Writes one item: its label, its text, its notes.
pub(crate) fn write(item: &Item, form: ItemForm, sanitizer: &Sanitizer) -> String {
    // The folder of the session is where a call is made anyway.
    let mut out = sanitizer
        .line(&label(item, form), usize::MAX)
        .replace("`cd . && ", "`");
    let body = match form {
        ItemForm::Full => sanitizer.text(&item.body, usize::MAX),
        ItemForm::Headline => sanitizer.line(headline(item), HEADLINE),
    };
    if !body.is_empty() {
        out.push(':');
        push_indented(&mut out, &body);
    }
    for id in &item.cited {
        let mark = format!("[{id}]");
        if !out.contains(&mark) {
            out.push(' ');
            out.push_str(&mark);
        }
    }
    let notes = item.notes.iter().filter(|_| form == ItemForm::Full);
    for note in notes {
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
fn headline(item: &Item) -> &str {
    let cites = |line: &&str| {
        item.cited
            .iter()
            .any(|id| line.contains(&format!("[{id}]")))
    };
    match item.headline.as_str() {
        "" => item.body.lines().find(cites).unwrap_or(&item.body),
        headline => headline,
    }
}

fn label(item: &Item, form: ItemForm) -> String {
    let Some(call) = &item.call else {
        return item.label.to_string();
    };
    let colon = if item.label == CALLS { ":" } else { "" };
    let tool = if call.tool.is_empty() {
        "a tool"
    } else {
        &call.tool
    };
    let mut label = format!("{}{colon} {tool}", item.label);
    let most = match form {
        ItemForm::Headline => HEADLINE_CALL,
        ItemForm::Full => usize::MAX,
    };
    if !call.input.is_empty() {
        // Writing to a String cannot fail.
        _ = write!(label, " `{}`", cut::one_line(&asked(call), most));
    }
    let code = item.exit_code.map(|code| format!("exit {code}"));
    let times = (item.count > 1).then(|| format!("{} times", item.count));
    let more: Vec<String> = code.into_iter().chain(times).collect();
    if !more.is_empty() {
        // Writing to a String cannot fail.
        _ = write!(label, " ({})", more.join(", "));
    }
    label
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

/// Joins chosen items in order, with a note of how many were left out between them; `all` is
/// how many there are. Returns the text and the number of each item in it.
pub(crate) fn join(chosen: &[(&Item, Cow<'_, str>)], all: u64) -> (String, Vec<u32>) {
    let mut lines = EvidenceLines::default();
    let mut numbers = Vec::with_capacity(chosen.len());
    let mut calls: Vec<&str> = Vec::new();
    let mut seen = 0;
    for (item, text) in chosen {
        let call = text
            .strip_prefix(CALLS)
            .and_then(|rest| rest.strip_prefix(": "));
        if item.before > seen || call.is_none() {
            lines.push_calls(&mut calls);
            lines.push_gap(item.before - seen);
        }
        match call {
            _ if item.kind == BRANCH => lines.push_line(text),
            Some(call) => calls.push(call),
            None => lines.push_numbered(text),
        }
        numbers.push(lines.count + u32::from(call.is_some()));
        seen = item.before + 1;
    }
    lines.push_calls(&mut calls);
    lines.push_gap(all - seen);
    (lines.text, numbers)
}

#[derive(Default)]
struct EvidenceLines {
    text: String,
    /// How many lines have a number.
    count: u32,
}

impl EvidenceLines {
    /// Writes calls in a row on one line, those of one tool as one (Read × 2: a, b).
    fn push_calls(&mut self, calls: &mut Vec<&str>) {
        if !calls.is_empty() {
            self.push_numbered(&format!("{CALLS}: {}", rows_of(calls).join("; ")));
            calls.clear();
        }
    }

    fn push_numbered(&mut self, line: &str) {
        self.count += 1;
        self.push_line(&format!("#{} {line}", self.count));
    }

    fn push_gap(&mut self, gap: u64) {
        if gap > 0 {
            let events = if gap == 1 { "event" } else { "events" };
            self.push_line(&format!("… {gap} {events} left out"));
        }
    }

    fn push_line(&mut self, line: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
    }
}

/// Gathers calls in a row, those of one tool together.
fn rows_of(calls: &[&str]) -> Vec<String> {
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for call in calls {
        let tool = call.split_once(" `").map_or(*call, |(tool, _)| tool);
        let input = call[tool.len()..].trim_start();
        let row = if only_looks(tool) {
            // In which order things were looked at tells nothing.
            let last = rows.iter().rposition(|(of, _)| !only_looks(of));
            let looks = &mut rows[last.map_or(0, |at| at + 1)..];
            looks.iter_mut().find(|(of, _)| *of == tool)
        } else {
            rows.last_mut().filter(|(of, _)| *of == tool)
        };
        match row {
            Some((_, inputs)) => inputs.push(input),
            None => rows.push((tool, vec![input])),
        }
    }
    rows.iter()
        .map(|(tool, inputs)| row(tool, inputs))
        .collect()
}

fn only_looks(tool: &str) -> bool {
    matches!(
        tool,
        "Read" | "Grep" | "Glob" | "LS" | "WebSearch" | "WebFetch"
    )
}

/// Writes the calls of one tool: each input once, of those that only look a few; a folder
/// that is gone to is named once.
fn row(tool: &str, inputs: &[&str]) -> String {
    let mut shown: Vec<String> = Vec::new();
    let mut folder = "";
    for same in inputs.chunk_by(|a, b| a == b) {
        if shown.len() == MOST_LOOKED_AT && only_looks(tool) {
            shown.push("…".to_owned());
            break;
        }
        let (gone_to, rest) = without_folder(same[0]);
        let mut input = same[0].to_owned();
        if !gone_to.is_empty() && gone_to == folder {
            input = format!("`{rest}");
        }
        folder = gone_to;
        if same.len() > 1 {
            // Writing to a String cannot fail.
            _ = write!(input, " ({} times)", same.len());
        }
        shown.push(input.trim_start().to_owned());
    }
    match shown.as_slice() {
        [one] => format!("{tool} {one}").trim_end().to_owned(),
        _ => format!("{tool} × {}: {}", inputs.len(), shown.join(", ")),
    }
}

/// Splits the input of a call, as it is written, after `cd FOLDER &&`.
fn without_folder(input: &str) -> (&str, &str) {
    match input.split_once(" && ") {
        Some((folder, rest))
            if folder.starts_with("`cd ") && !folder.contains(['\n', ';', '|']) =>
        {
            (folder, rest)
        }
        _ => ("", input),
    }
}
