//! One event as it may be shown.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;

use super::event::{Call, EventKind};
use super::evidence::EventSource;
use crate::hint::Signature;
use crate::playbook::Id;

/// What an item takes beside its texts, in bytes.
const COST: usize = 200;

/// How telling an item is; the later the more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ItemRank {
    Call,
    /// A compaction, a subagent's result, a check that passed.
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

/// One event as it may be shown.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub offset: u64,
    pub uuid: Option<String>,
    pub time: Option<Timestamp>,
    pub message_id: Option<String>,
    pub kind: &'static str,
    pub rank: ItemRank,
    pub source: EventSource,
    /// The person's own words in it.
    pub words: Vec<String>,
    /// The line that says what an error is.
    pub headline: String,
    pub signature: Option<Signature>,
    /// The command that ran a check.
    pub command: String,
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
    /// Returns `true` for what the record never leaves out: the user's messages and refusals,
    /// plans, errors, calls that were turned back, the first citation of a key point.
    pub(crate) fn is_needed(&self) -> bool {
        const KINDS: &[&str] = &[
            "rejection",
            "interrupt",
            "plan",
            "error_event",
            "turned_back",
            "branch",
        ];
        EventKind::is_spoken(self.kind) || KINDS.contains(&self.kind) || !self.cited.is_empty()
    }

    /// Returns what two errors share that may be told as one.
    pub(crate) fn error_key(&self) -> Option<(&str, &str)> {
        let call = self.call.as_ref().filter(|_| self.kind == "error_event")?;
        Some((&call.tool, &self.headline))
    }

    /// Returns about how many bytes of memory it takes.
    pub(crate) fn size(&self) -> usize {
        let cited = self.cited.len() * COST / 4;
        let words: usize = self.words.iter().map(String::len).sum();
        COST + self.label.len() + self.body.len() + self.command.len() + words + cited
    }

    /// Makes it at least as telling as `rank`.
    pub(crate) fn raise(&mut self, rank: ItemRank) {
        self.rank = self.rank.max(rank);
    }
}
