//! What a lesson may rest on: whose word an event of the evidence is.

use serde::{Deserialize, Serialize};

use super::item::Item;
use super::sanitizer::Sanitizer;

/// How much of one text of the user's or the assistant's own is kept, in bytes.
const MAX_OWN: usize = 3_000;

/// Whose word an event is, and whether it shows something by itself; the strongest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bearing {
    /// The user said it in words of their own.
    Words,
    /// A check that failed and passed later, or its passing.
    PassedLater,
    /// Else it shows what is right or wrong: an error and what helped, a refusal.
    Outcome,
    /// The assistant called a tool.
    Call,
    /// The assistant wrote it.
    Text,
    /// A tool, a file, a hook or another agent says it, or the user handed it over.
    #[default]
    Others,
}

impl Bearing {
    /// Tells whether a lesson may rest on such an event.
    pub fn is_ground(self) -> bool {
        matches!(self, Self::Words | Self::PassedLater | Self::Outcome)
    }
}

/// Returns what of an item is the user's own words or the assistant's own calls.
pub(crate) fn own(item: &Item, sanitizer: &Sanitizer) -> Vec<String> {
    let call = item.call.as_ref().filter(|_| !item.is_refused);
    let call = call.map(|call| call.input.as_str());
    // What is noted below an error are the calls that made it good.
    let notes = item.notes.iter().filter(|_| item.kind == "error_event");
    let own = [item.own.as_str()].into_iter().chain(call);
    own.chain(notes.map(String::as_str))
        .filter(|text| !text.is_empty())
        .map(|text| sanitizer.text(text, MAX_OWN))
        .collect()
}

/// Returns the call of an item that the user refused.
pub(crate) fn refused(item: &Item, sanitizer: &Sanitizer) -> Option<String> {
    let call = item.call.as_ref().filter(|_| item.is_refused);
    call.map(|call| sanitizer.text(&call.input, MAX_OWN))
}

/// Returns what an item names besides, and what is learned may name, too.
pub(crate) fn names(item: &Item, sanitizer: &Sanitizer) -> Vec<String> {
    let call = item.call.as_ref().filter(|_| item.bearing == Bearing::Call);
    let call = call.filter(|_| !item.is_refused);
    let commands = call.iter().flat_map(|call| &call.sent_to_run);
    let names = commands.chain(item.slash_command.as_ref());
    names.map(|name| sanitizer.text(name, MAX_OWN)).collect()
}
