//! The secrets that are masked in a session's messages, told without telling them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Serialize;
use serde_json::Value;

use super::strike::each_message;
use crate::cli::transcripts::Past;
use crate::fsx::FsError;
use crate::redact::Masker;

/// So many characters of a secret are shown, and no more than a quarter of it.
const MOST_SHOWN: usize = 4;
/// So many characters before a secret are shown.
const BEFORE: usize = 40;

/// Something that was masked; the same secret under the same rule is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Masked {
    pub(super) rule: String,
    /// Its first characters and its length.
    pub(super) looks: String,
    /// What stands before it, masked.
    pub(super) before: String,
    /// Where it stands first: the transcript and its line.
    pub(super) place: String,
    pub(super) times: u64,
}

/// What was masked, by rule and secret.
#[derive(Debug, Default)]
pub(super) struct Masks(BTreeMap<(String, String), Masked>);

impl Masks {
    /// Reads the messages of a session as the masks see them.
    pub(super) fn read(&mut self, past: &Past, masker: &Masker) -> Result<(), FsError> {
        let name = past.name();
        each_message(&past.transcript, |line, content| {
            self.value(content, masker, &|| format!("{name}:{line}"));
        })
    }

    fn value(&mut self, value: &Value, masker: &Masker, place: &dyn Fn() -> String) {
        match value {
            Value::String(text) => self.text(text, masker, place),
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.value(item, masker, place)),
            Value::Object(object) if !is_opaque(value) => {
                object
                    .values()
                    .for_each(|item| self.value(item, masker, place));
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, masker: &Masker, place: &dyn Fn() -> String) {
        let without = masker.mask(text);
        if without == text {
            return;
        }
        for (rule, secret, before) in taken_out(text, &without) {
            let known = self.0.entry((rule.to_owned(), secret.to_owned()));
            let known = known.or_insert_with(|| Masked {
                rule: rule.to_owned(),
                looks: looks(secret),
                before: before.to_owned(),
                place: place(),
                times: 0,
            });
            known.times += 1;
        }
    }

    pub(super) fn by_rule(&self) -> BTreeMap<&str, u64> {
        let mut by_rule = BTreeMap::new();
        for masked in self.0.values() {
            *by_rule.entry(masked.rule.as_str()).or_default() += masked.times;
        }
        by_rule
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Masked> {
        self.0.values()
    }
}

/// Tells whether a block holds no text: an image, or thinking that is never read.
fn is_opaque(block: &Value) -> bool {
    let kind = block["type"].as_str();
    matches!(
        kind,
        Some("image" | "thinking" | "redacted_thinking" | "base64")
    )
}

/// The note that stands for a secret.
static NOTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[masked ([a-z0-9-]+)\]").expect("the pattern is our own and compiles")
});

/// Finds what the notes in `masked` stand for: its rule, the secret, and what precedes it.
fn taken_out<'t>(text: &'t str, masked: &'t str) -> Vec<(&'t str, &'t str, &'t str)> {
    let mut found = Vec::new();
    let notes: Vec<_> = NOTE.captures_iter(masked).collect();
    let (mut at, mut read) = (0, 0);
    for (number, note) in notes.iter().enumerate() {
        let (Some(whole), Some(rule)) = (note.get(0), note.get(1)) else {
            continue;
        };
        let before = &masked[read..whole.start()];
        let start = at + before.len();
        read = whole.end();
        let until = notes.get(number + 1).and_then(|next| next.get(0));
        let after = &masked[read..until.map_or(masked.len(), |next| next.start())];
        let Some(rest) = text.get(start..) else { break };
        // What follows the last note ends the text; else it is found where it stands first.
        let length = match until {
            None => rest.len().checked_sub(after.len()),
            Some(_) => rest.find(after),
        };
        let Some(length) = length else { break };
        found.push((rule.as_str(), &rest[..length], last(before)));
        at = start + length;
    }
    found
}

/// The end of what stands before a secret.
fn last(before: &str) -> &str {
    let from = before.char_indices().rev().take(BEFORE).last();
    &before[from.map_or(0, |(at, _)| at)..]
}

/// The first characters of a secret, and how long it is.
fn looks(secret: &str) -> String {
    let length = secret.chars().count();
    let shown = MOST_SHOWN.min(length / 4);
    let start: String = secret.chars().take(shown).collect();
    format!("{start}… ({length} characters)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::one("a SECRET b", "a [masked x] b", &[("x", "SECRET", "a ")])]
    #[case::at_the_end("a SECRET", "a [masked x]", &[("x", "SECRET", "a ")])]
    #[case::two("p ONE q TWO r", "p [masked x] q [masked y-2] r", &[("x", "ONE", "p "), ("y-2", "TWO", " q ")])]
    #[case::none("a", "a", &[])]
    fn what_a_note_stands_for_is_found(
        #[case] text: &str,
        #[case] masked: &str,
        #[case] found: &[(&str, &str, &str)],
    ) {
        assert_eq!(taken_out(text, masked), found);
    }

    #[rstest]
    #[case("abc", "… (3 characters)")]
    #[case("AKIAABCDEFGHIJKLMNOP", "AKIA… (20 characters)")]
    fn a_secret_is_shown_by_its_beginning_alone(#[case] secret: &str, #[case] shown: &str) {
        assert_eq!(looks(secret), shown);
    }
}
