//! The secrets that are masked in a session's messages, told without telling them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::strike::each_message;
use crate::fsx::FsError;
use crate::queue::transcripts::PastTranscript;
use crate::redact::Masker;

/// So many characters of a secret are shown, and no more than a quarter of it.
const MOST_SHOWN: usize = 4;
/// So many characters before a secret are shown.
const BEFORE: usize = 40;

/// Something that was masked; the same secret under the same rule is one.
#[derive(Debug, Serialize)]
pub(super) struct MaskedSecret {
    rule: String,
    /// Its first characters and its length.
    looks: String,
    /// What stands before it, up to an earlier secret.
    before: String,
    /// Where it stands first: the transcript and its line.
    place: String,
    times: u64,
}

#[derive(Debug, Default)]
pub(super) struct Masks(BTreeMap<(String, String), MaskedSecret>);

impl Masks {
    pub(super) fn read(&mut self, past: &PastTranscript, masker: &Masker) -> Result<(), FsError> {
        let name = past.name();
        each_message(&past.transcript, |line, content| {
            self.value(content, masker, &format!("{name}:{line}"));
        })
    }

    fn value(&mut self, value: &Value, masker: &Masker, place: &str) {
        match value {
            Value::String(text) => self.text(text, masker, place),
            Value::Array(items) => items.iter().for_each(|v| self.value(v, masker, place)),
            Value::Object(object) if !is_opaque(value) => {
                object.values().for_each(|v| self.value(v, masker, place));
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, masker: &Masker, place: &str) {
        let mut from = 0;
        for (rule, at) in masker.secrets(text) {
            let (before, secret) = (&text[from..at.start], &text[at.clone()]);
            let known = self.0.entry((rule.to_owned(), secret.to_owned()));
            let known = known.or_insert_with(|| MaskedSecret {
                rule: rule.to_owned(),
                looks: looks(secret),
                before: last(before).to_owned(),
                place: place.to_owned(),
                times: 0,
            });
            known.times += 1;
            from = at.end;
        }
    }

    pub(super) fn by_rule(&self) -> BTreeMap<&str, u64> {
        let mut by_rule = BTreeMap::new();
        for masked in self.0.values() {
            *by_rule.entry(masked.rule.as_str()).or_default() += masked.times;
        }
        by_rule
    }

    pub(super) fn all(&self) -> Vec<&MaskedSecret> {
        self.0.values().collect()
    }
}

/// Tells whether a block holds no text: an image, or thinking that is never read.
fn is_opaque(block: &Value) -> bool {
    let opaque = ["image", "thinking", "redacted_thinking", "base64"];
    opaque.iter().any(|kind| block["type"] == *kind)
}

fn last(before: &str) -> &str {
    let from = before.char_indices().rev().take(BEFORE).last();
    &before[from.map_or(0, |(at, _)| at)..]
}

fn looks(secret: &str) -> String {
    let length = secret.chars().count();
    let shown = MOST_SHOWN.min(length / 4);
    let start: String = secret.chars().take(shown).collect();
    format!("{start}… ({length} characters)")
}
