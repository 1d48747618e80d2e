//! What a lesson may rest on: whose word an event of the evidence is.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::event::Call;
use super::item::Item;
use super::sanitizer::Sanitizer;
use super::shell;

/// How much of one text of the user's or the assistant's own is kept, in bytes.
const MAX_OWN: usize = 3_000;

/// The kind of an event of which what is own is the call that ran it.
const CHECK: &str = "check";

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
    pub(crate) fn is_ground(self) -> bool {
        matches!(self, Self::Words | Self::PassedLater | Self::Outcome)
    }
}

/// Returns what of an item is the user's own words or the assistant's own commands, whose words
/// are those of programs and their subcommands: a path, a search or a message has words of others.
pub(crate) fn own(item: &Item, sanitizer: &Sanitizer) -> Vec<String> {
    let called = called(item).filter(|(call, _)| shell::runs_commands(&call.tool));
    let commands = called.map(|(_, text)| command_words(text));
    let commands = commands.collect::<Vec<_>>();
    // What a tool of the client's is called stands for what it does: `Edit`.
    let tool = item
        .call
        .iter()
        .filter(|call| !item.is_refused && !call.tool.contains("__"));
    let tool = tool.map(|call| call.tool.as_str());
    let said = match item.kind {
        CHECK => command_words(&item.own).into(),
        _ => Cow::Borrowed(item.own.as_str()),
    };
    let own = [&*said].into_iter().chain(tool);
    own.chain(commands.iter().map(String::as_str))
        .filter(|text| !text.is_empty())
        .map(|text| sanitizer.text(text, MAX_OWN))
        .collect()
}

/// The call of an item, and the calls that made good an error, which are noted below it.
fn called(item: &Item) -> impl Iterator<Item = (&Call, &str)> {
    let call = item.call.as_deref().filter(|_| !item.is_refused);
    let notes = item.notes.iter().filter(|_| item.kind == "error_event");
    let notes = notes.map(String::as_str);
    call.into_iter().flat_map(move |call| {
        [call.input.as_str(), call.looked_in.as_str()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .chain(notes.clone())
            .map(move |text| (call, text))
    })
}

/// A command without what is quoted in it or handed to it, and without its paths.
fn command_words(command: &str) -> String {
    let first = command.split("<<").next().unwrap_or_default();
    let mut quote = None;
    let bare = first.chars().filter(|&c| match quote {
        Some(open) => {
            if c == open {
                quote = None;
            }
            false
        }
        None if matches!(c, '"' | '\'') => {
            quote = Some(c);
            false
        }
        None => true,
    });
    let bare: String = bare.collect();
    let bare = bare.split(" #").next().unwrap_or_default();
    // What is printed and how a branch is called are words of anybody.
    let is_slug = |word: &str| word.trim_start_matches('-').matches('-').count() > 1;
    let is_plain = |word: &&str| !word.contains(['/', '_', '=', '@']) && !is_slug(word);
    if bare.trim_start().starts_with("echo ") || bare.trim_start().starts_with("printf ") {
        return String::new();
    }
    bare.split_whitespace()
        .filter(is_plain)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Returns the call of an item that the user refused.
pub(crate) fn refused(item: &Item, sanitizer: &Sanitizer) -> Option<String> {
    let call = item.call.as_ref().filter(|_| item.is_refused);
    call.map(|call| sanitizer.text(&call.input, MAX_OWN))
}

/// Returns what an item names besides, and what is learned may name, too.
pub(crate) fn names(item: &Item, sanitizer: &Sanitizer) -> Vec<String> {
    let sent = item.call.as_ref();
    let sent = sent.filter(|_| item.bearing == Bearing::Call && !item.is_refused);
    let commands = sent.iter().flat_map(|call| &call.sent_to_run);
    let commands = commands.map(String::as_str);
    let names = called(item).map(|(_, text)| text).chain(commands);
    let check = Some(item.own.as_str()).filter(|_| item.kind == CHECK);
    let names = names.chain(item.slash_command.as_deref()).chain(check);
    names.map(|name| sanitizer.text(name, MAX_OWN)).collect()
}
