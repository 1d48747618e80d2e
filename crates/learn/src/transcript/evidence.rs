//! What is shown to a model of a session, and how it is written.
//!
//! Number and label stand at the start of a line and every other line is indented, so that
//! no text of the session can pass for a label. Calls in a row share a line and its number.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::item::Item;
use crate::errors::Signature;

/// What would be sent to the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The events chosen, in order of time, gaps marked. Masked.
    pub text: String,
    pub tokens: u64,
    /// How many events were left out, plain tool results not counted.
    pub left_out: u64,
    /// The number of shown texts that are cut.
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

/// What stands before a tool call; calls in a row share it.
pub(crate) const CALLS: &str = "CLAUDE calls";

/// The number of calls that are named of a row that only looks.
const MOST_LOOKED_AT: usize = 5;

/// Joins chosen items in order, with a note of how many were left out between them; `all` is
/// how many there are. Returns the text and the number of each item in it.
pub(crate) fn join(chosen: &[(&Item, Cow<'_, str>)], all: u64) -> (String, Vec<u32>) {
    let mut lines = Vec::new();
    let mut numbers = Vec::with_capacity(chosen.len());
    let (mut number, mut seen) = (0, 0);
    let is_call = |text: &str| text.starts_with(CALLS);
    let rows = chosen.chunk_by(|(a, call), (b, next)| {
        is_call(call) && is_call(next) && b.before == a.before + 1
    });
    for row in rows {
        let (first, text) = &row[0];
        lines.extend(gap(first.before - seen));
        seen = first.before + row.len() as u64;
        if first.is_branch() {
            lines.push(text.to_string());
        } else {
            number += 1;
            let calls = row.iter().filter_map(|(_, text)| text.strip_prefix(CALLS));
            lines.push(match rows_of(calls).as_slice() {
                [] => format!("#{number} {text}"),
                calls => format!("#{number} {CALLS}: {}", calls.join("; ")),
            });
        }
        numbers.extend(row.iter().map(|_| number));
    }
    lines.extend(gap(all - seen));
    (lines.join("\n"), numbers)
}

fn gap(gap: u64) -> Option<String> {
    let events = if gap == 1 { "event" } else { "events" };
    (gap > 0).then(|| format!("… {gap} {events} left out"))
}

/// Gathers calls in a row, those of one tool together.
fn rows_of<'c>(calls: impl Iterator<Item = &'c str>) -> Vec<String> {
    let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
    for call in calls.map(|call| call.trim_start_matches([':', ' '])) {
        let tool = call.split_once(" `").map_or(call, |(tool, _)| tool);
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
