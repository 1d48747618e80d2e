//! One event as it may be shown, and how it is written.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use super::cut;
use super::event::Call;
use super::evidence::{CALLS, ShownEvent};
use super::sanitizer::Sanitizer;
use crate::playbook::Id;

/// What an item takes beside its texts, in bytes.
const COST: usize = 200;
/// How much of a text and of a call the headline shows, in bytes.
const HEADLINE: usize = 160;
const HEADLINE_CALL: usize = 80;
/// The kinds of what the user said.
const SPOKEN: [&str; 4] = [
    "user_prompt",
    "command_prompt",
    "queued_prompt",
    "user_answer",
];
/// The other kinds that the record never leaves out.
const NEEDED: [&str; 6] = [
    "rejection",
    "interrupt",
    "plan",
    "error_event",
    "turned_back",
    "branch",
];

/// How telling an item is; the later the more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ItemRank {
    Call,
    /// A compaction, a subagent's result, a check that passed.
    #[default]
    Note,
    Text,
    /// A check that failed, an error of the API.
    Setback,
    /// What the assistant wrote before the user disagreed.
    Context,
    /// A text that cites a key point.
    Use,
    Error,
    Prompt,
    /// A rejection, an interrupt, and what the user says next.
    Disagreement,
    /// The first request, the last one, and what the assistant wrote last.
    Ends,
}

/// The part of an item that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    Whole,
    /// The beginning, or the line that says what an error is.
    Headline,
}

/// One event as it may be shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Item {
    /// Its place, its words and the command that ran a check, not sanitized.
    pub shown: ShownEvent,
    pub rank: ItemRank,
    /// The line that says what an error is.
    pub headline: String,
    /// What stands before the call or the text: `CHECK failed (go test)`.
    pub label: Cow<'static, str>,
    pub call: Option<Arc<Call>>,
    pub exit_code: Option<i32>,
    /// The text, cut to a bounded size.
    pub body: String,
    /// Whether it was.
    pub is_cut: bool,
    /// What is added below: a fix, what the user kept from being written.
    pub notes: Vec<String>,
    /// How often it happened, for errors.
    pub count: u64,
    /// The key points that it is the first to cite.
    pub cited: Vec<Id>,
    /// How many items were before it.
    pub before: u64,
}

impl Item {
    pub(crate) fn is_spoken(&self) -> bool {
        SPOKEN.contains(&&*self.shown.kind)
    }

    /// Returns `true` for a text of the assistant's.
    pub(crate) fn is_text(&self) -> bool {
        self.shown.kind == "assistant_text"
    }

    /// Returns `true` for the branch at the start, which has no number.
    pub(crate) fn is_branch(&self) -> bool {
        self.shown.kind == "branch"
    }

    /// Returns `true` for what the record never leaves out: the user's messages and refusals,
    /// plans, errors, calls that were turned back, the first citation of a key point.
    pub(crate) fn is_needed(&self) -> bool {
        self.is_spoken() || NEEDED.contains(&&*self.shown.kind) || !self.cited.is_empty()
    }

    /// Returns what two errors share that may be told as one.
    pub(crate) fn error_key(&self) -> Option<(&str, &str)> {
        let is_error = self.shown.kind == "error_event";
        let call = self.call.as_ref().filter(|_| is_error)?;
        Some((&call.tool, &self.headline))
    }

    /// Returns about how many bytes of memory it takes.
    pub(crate) fn size(&self) -> usize {
        let texts = self.shown.words.iter().chain(&self.shown.calls);
        let texts: usize = texts.map(String::len).sum();
        COST + self.label.len() + self.body.len() + texts + self.cited.len() * COST / 4
    }

    /// Makes it at least as telling as `rank`.
    pub(crate) fn raise(&mut self, rank: ItemRank) {
        self.rank = self.rank.max(rank);
    }

    /// Returns what is kept of it where the evidence shows it under `number`.
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

    /// Writes its label, its text and its notes, or its headline alone.
    pub(crate) fn write(&self, detail: Detail, sanitizer: &Sanitizer) -> String {
        // The folder of the session is where a call is made anyway.
        let mut out = sanitizer
            .line(&self.label(detail), usize::MAX)
            .replace("`cd . && ", "`");
        let body = if detail == Detail::Whole {
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
        for note in self.notes.iter().filter(|_| detail == Detail::Whole) {
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

    fn label(&self, detail: Detail) -> String {
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
            let most = match detail {
                Detail::Whole => usize::MAX,
                Detail::Headline => HEADLINE_CALL,
            };
            _ = write!(label, " `{}`", cut::one_line(&asked(call), most));
        }
        let code = self.exit_code.map(|code| format!("exit {code}"));
        let times = (self.count > 1).then(|| format!("{} times", self.count));
        let more: Vec<String> = code.into_iter().chain(times).collect();
        if !more.is_empty() {
            _ = write!(label, " ({})", more.join(", "));
        }
        label
    }
}

/// Returns what a call is about, and where a search looks.
fn asked(call: &Call) -> Cow<'_, str> {
    if call.looked_in.is_empty() {
        Cow::Borrowed(&call.input)
    } else {
        format!("{} in {}", call.input, call.looked_in).into()
    }
}
