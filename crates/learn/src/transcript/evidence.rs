//! The part of a session that a model is shown, and its text.
//!
//! The choice is made within a budget of tokens. Whatever that is, it takes the user's messages,
//! the headlines of errors and the first citation of each key point; then whole items by rank,
//! the latest first.
//!
//! Number and label begin a line and every other line is indented, so that no text of the
//! session can pass for a label. Calls in a row share a line and its number.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::collector::Item;
use super::event::EventPlace;
use super::text::{self, Sanitizer, estimate_tokens};
use crate::errors::Signature;

/// The most that the note of a gap before an item costs, in tokens.
const GAP: u64 = 24;
/// The number of rounds in which what gaps did not take is used.
const REFUNDS: usize = 32;
/// The number of calls that are named of a row that only looks.
const MOST_LOOKED_AT: usize = 5;

pub(crate) const CALLS: &str = "CLAUDE calls";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The events chosen, in order of time, gaps marked. Masked.
    pub text: String,
    pub tokens: u64,
    /// The number of events left out, plain tool results not counted.
    pub left_out: u64,
    #[serde(default)]
    pub cut: u64,
    pub shown: Vec<ShownEvent>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventSource {
    /// The person: a message, an answer, the words of a refusal.
    User,
    Plan,
    Agent,
    Call,
    /// An event of any other kind: an error, a check, a refusal, a report.
    #[default]
    Outcome,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownEvent {
    pub kind: String,
    #[serde(flatten)]
    pub place: EventPlace,
    /// The number under which the evidence shows it, from 1.
    #[serde(default)]
    pub number: u32,
    #[serde(default)]
    pub source: EventSource,
    /// The person's own words in it, letter for letter but for masks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<String>,
    /// The error in it, which is the same wherever it strikes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
    /// The agent's calls in it; masked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
}

#[derive(Clone)]
struct Chosen {
    is_whole: bool,
    text: String,
    cost: u64,
}

/// The choice of items within a budget. In a first round each rank takes at most half of what is
/// left, so that no rank takes all; what the notes of gaps did not take is used in further rounds.
pub(crate) struct Choice<'a> {
    /// In order of time, with the number of all that happened.
    items: &'a [Item],
    all: u64,
    sanitizer: &'a Sanitizer,
    chosen: Vec<Option<Chosen>>,
    left: u64,
    /// The place of the first error like it; for all else its own.
    first_alike: Vec<usize>,
}

impl<'a> Choice<'a> {
    pub(crate) fn of(items: &'a [Item], all: u64, sanitizer: &'a Sanitizer) -> Self {
        let mut firsts = HashMap::new();
        let places = items.iter().enumerate();
        let first_alike = places.map(|(i, item)| match item.error_key() {
            Some(key) => *firsts.entry(key).or_insert(i),
            None => i,
        });
        Self {
            items,
            all,
            sanitizer,
            chosen: vec![None; items.len()],
            left: 0,
            first_alike: first_alike.collect(),
        }
    }

    pub(crate) fn make(mut self, budget: u64) -> Evidence {
        // The gap after the last item.
        self.left = budget.saturating_sub(GAP);
        for i in 0..self.items.len() {
            // Of errors that are alike the first counts the others.
            if self.items[i].is_needed() && self.first_alike[i] == i {
                let chosen = self.written(i, false);
                self.left = self.left.saturating_sub(chosen.cost);
                self.chosen[i] = Some(chosen);
            }
        }
        let mut order: Vec<usize> = (0..self.items.len()).rev().collect();
        order.sort_by_key(|&i| Reverse(self.items[i].rank));
        for rank in order.chunk_by(|&a, &b| self.items[a].rank == self.items[b].rank) {
            self.fill(rank, self.left / 2);
        }
        self.fill(&order, 0);
        for _ in 0..REFUNDS {
            let used = estimate_tokens(&self.text().0);
            self.left = budget.saturating_sub(used + GAP);
            let before = self.chosen.clone();
            if !self.fill(&order, 0) {
                break;
            }
            // A call that parts a row of calls can take more than its own words.
            if estimate_tokens(&self.text().0) > budget {
                self.chosen = before;
                break;
            }
        }
        self.evidence()
    }

    fn written(&self, i: usize, is_whole: bool) -> Chosen {
        let text = self.items[i].write(is_whole, self.sanitizer);
        let cost = estimate_tokens(&text) + 1 + GAP;
        Chosen {
            is_whole,
            text,
            cost,
        }
    }

    /// Stops when only `unused` tokens are left; returns `true` when it took any item.
    fn fill(&mut self, order: &[usize], unused: u64) -> bool {
        let mut has_taken = false;
        for &i in order {
            let before = match &self.chosen[i] {
                Some(chosen) if chosen.is_whole => continue,
                Some(chosen) => chosen.cost,
                None => 0,
            };
            if self.left < unused + GAP {
                break;
            }
            let room = self.left + before - unused;
            // To write an item takes time, and most are tried when the budget is used up.
            if text::least_tokens(self.items[i].body.len()) > room {
                continue;
            }
            let chosen = self.written(i, true);
            if chosen.cost <= room {
                self.left = self.left + before - chosen.cost;
                self.chosen[i] = Some(chosen);
                has_taken = true;
            }
        }
        has_taken
    }

    fn chosen(&self) -> impl Iterator<Item = (usize, &Item, &Chosen)> {
        let all = self.items.iter().zip(&self.chosen).enumerate();
        all.filter_map(|(i, (item, chosen))| Some((i, item, chosen.as_ref()?)))
    }

    /// Writes what is chosen, with notes of what is not; returns the number of each item, too.
    fn text(&self) -> (String, Vec<u32>) {
        // Of errors that are alike the others are only counted.
        let mut alike = vec![0; self.items.len()];
        for (i, first) in self.first_alike.iter().enumerate() {
            if self.items[i].is_needed() && self.chosen[i].is_none() {
                alike[*first] += self.items[i].count;
            }
        }
        let chosen = self.chosen().map(|(i, item, chosen)| {
            let text = match alike[i] {
                0 => Cow::Borrowed(chosen.text.as_str()),
                more => format!("{}\n  → {more} more like it", chosen.text).into(),
            };
            (item, text)
        });
        match chosen.collect::<Vec<_>>().as_slice() {
            [] => Default::default(),
            chosen => join(chosen, self.all),
        }
    }

    fn evidence(self) -> Evidence {
        let (text, numbers) = self.text();
        let mut evidence = Evidence {
            tokens: estimate_tokens(&text),
            text,
            left_out: self.all,
            ..Evidence::default()
        };
        for ((_, item, chosen), number) in self.chosen().zip(numbers) {
            evidence.left_out = evidence.left_out.saturating_sub(1);
            evidence.cut += u64::from(item.is_cut || !chosen.is_whole);
            let event = item.shown(number, self.sanitizer);
            match evidence.shown.last_mut() {
                _ if item.is_branch() => {}
                Some(last) if last.number == number => last.calls.extend(event.calls),
                _ => evidence.shown.push(event),
            }
        }
        evidence
    }
}

/// Joins chosen items in order, with a note of how many of `all` were left out between them.
/// Returns the text and the number of each item in it.
fn join(chosen: &[(&Item, Cow<'_, str>)], all: u64) -> (String, Vec<u32>) {
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
            // The order in which things were looked at says nothing.
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
    let rows = rows.iter();
    rows.map(|(tool, inputs)| row(tool, inputs)).collect()
}

/// Returns `true` for a tool that changes nothing.
pub(crate) fn only_looks(tool: &str) -> bool {
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
        let (gone_to, rest) = match same[0].split_once(" && ") {
            Some((cd, rest)) if cd.starts_with("`cd ") && !cd.contains(['\n', ';', '|']) => {
                (cd, rest)
            }
            _ => ("", same[0]),
        };
        let mut input = if !gone_to.is_empty() && gone_to == folder {
            format!("`{rest}")
        } else {
            same[0].to_owned()
        };
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
