//! Values that stand apart from their names: `name: X, value: Y`, `<key>X</key><string>Y`,
//! `variable "X" { default = "Y" }`, and what a command shows whose last word is a name.

use std::ops::Range;

use super::MAX_VALUE;
use super::lead::{Lead, MAX_LINE, Style, last_line, skip_blanks, skip_quote};
use crate::clip::tail;

/// How far from its name a value is looked for.
const MAX_APART: usize = 160;
/// Words that a name can be the value of.
const LABELS: &[&str] = &[
    "name",
    "key",
    "variable",
    "resource",
    "secret",
    "field",
    "option",
    "parameter",
    "id",
];
/// Words that stand before the value of a name, each with what must follow.
const CARRIERS: &[&str] = &[
    "value",
    "default",
    "result",
    "<string>",
    "plaintext",
    "content",
];
/// What ends the record in which a name and its value stand.
const ENDS: &[&str] = &["}", "/>", "\n\n", "\n-", "\n  -", "name", "key\"", "key="];
/// What a shell prompts with.
const PROMPTS: &[&str] = &["$ ", "# ", "% ", "❯ "];
/// Commands that print what is no secret, whatever their last word.
const HARMLESS: &[&str] = &[
    "git ", "sum ", ">", "ls ", "grep ", "find ", "echo '", "echo \"",
];

/// Finds the value of a name that nothing leads to directly.
pub(super) fn after(text: &str, name: &Range<usize>, at: usize, in_quotes: bool) -> Option<Lead> {
    let bytes = text.as_bytes();
    let line_end = match bytes.get(at)? {
        b'\n' => Some(at + 1),
        b'\\' if bytes.get(at + 1) == Some(&b'n') => Some(at + 2),
        _ => None,
    };
    if let Some(next) = line_end
        && !in_quotes
        && let Some(shown) = shown(text, name, next)
    {
        return Some(shown);
    }
    let opens = matches!(bytes[at], b' ' | b',')
        || text[at..].starts_with("</")
        || line_end.is_some()
        || in_quotes;
    (opens && is_labelled(text, name.start))
        .then(|| carried(text, at))
        .flatten()
}

/// Tells whether a name is what a label says: `name: X`, `"key": "X"`, `variable "X"`, `<key>X`.
fn is_labelled(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(['"', '\'', '\\', ' ', ':', '=', '>']);
    let label = |label: &&str| {
        before
            .len()
            .checked_sub(label.len())
            .and_then(|start| before.get(start..))
            .is_some_and(|end| end.eq_ignore_ascii_case(label))
    };
    before.len() < at && at - before.len() <= 12 && LABELS.iter().any(label)
}

/// Finds the value that a word such as `value` leads to, in the same record.
pub(super) fn carried(text: &str, from: usize) -> Option<Lead> {
    let bytes = text.as_bytes();
    // What follows a tag's own name, or opens a block, is the record's.
    let mut at = from;
    if text[at..].starts_with("</key>") {
        at += "</key>".len();
    }
    let limit = bytes.len().min(from + MAX_APART);
    while at < limit {
        let rest = &bytes[at..];
        if let Some(carrier) = CARRIERS.iter().find(|c| begins(rest, c)) {
            at += carrier.len();
            if carrier.starts_with('<') {
                return Some(Lead::new(at, Style::Assigned));
            }
            skip_quote(bytes, &mut at);
            skip_blanks(bytes, &mut at);
            if matches!(bytes.get(at), Some(b':' | b'=')) {
                at += 1;
                skip_blanks(bytes, &mut at);
                return Some(Lead::new(at, Style::Loose));
            }
        } else if ENDS.iter().any(|end| begins(rest, end)) {
            return None;
        } else {
            at += 1;
        }
    }
    None
}

fn begins(text: &[u8], with: &str) -> bool {
    text.get(..with.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(with.as_bytes()))
}

/// Finds what a command printed whose last word is a name: `$ cat config/master.key`.
fn shown(text: &str, name: &Range<usize>, at: usize) -> Option<Lead> {
    let command = last_line(tail(&text[..name.start], MAX_LINE));
    let is_prompt = PROMPTS.iter().any(|prompt| command.contains(prompt));
    let is_harmless = HARMLESS.iter().any(|harmless| command.contains(harmless));
    let bytes = text.as_bytes();
    let word = bytes[at..].iter().take(MAX_VALUE);
    let word = word
        .take_while(|b| !matches!(b, b'\n' | b'\\' | b' ' | b'"'))
        .count();
    let ends = bytes.get(at + word) != Some(&b' ');
    (is_prompt && !is_harmless && ends).then(|| Lead::new(at, Style::Loose))
}
