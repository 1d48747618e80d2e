//! Reads the value behind a name: where it ends, and if it is one.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::rule::{any_of, bytes};
use super::table::TABLE;
use crate::clip::boundary_after;

/// The most of an unquoted value that is looked at; a token that goes on is masked whole.
const MAX_UNQUOTED_BYTES: usize = 4_096;
/// A longer value is never a placeholder.
const MAX_PLACEHOLDER_BYTES: usize = 200;

/// A quotation mark, and the number of backslashes before it: JSON within JSON has some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) sign: u8,
    pub(super) escapes: usize,
}

impl Quote {
    /// Returns the quotation mark at a place, and the place behind it.
    pub(super) fn at(text: &str, at: usize) -> Option<(Self, usize)> {
        let rest = &text.as_bytes()[at..];
        let escapes = rest.iter().take(16).take_while(|b| **b == b'\\').count();
        let sign = *rest.get(escapes)?;
        let is_quote = matches!(sign, b'"' | b'\'' | b'`');
        is_quote.then_some((Self { sign, escapes }, at + escapes + 1))
    }

    /// Returns the content that begins at `from`, and true if its end is there.
    pub(super) fn content(self, text: &str, mut from: usize) -> (Range<usize>, bool) {
        let bytes = text.as_bytes();
        let triple = [self.sign; 2];
        let is_triple = self.escapes == 0
            && bytes[from..].starts_with(&triple)
            && bytes.get(from + 2) != Some(&b',');
        let is_triple = is_triple && {
            let rest = &bytes[from + 2..bytes.len().min(from + MAX_UNQUOTED_BYTES)];
            let end = memchr::memmem::find(rest, &[self.sign; 3]);
            end.is_some_and(|end| memchr::memmem::find(&rest[..end], b"\n\n").is_none())
        };
        if is_triple {
            from += 2;
        }
        let mut at = from;
        while let Some(found) = memchr::memchr2(self.sign, b'\n', &bytes[at..]) {
            let here = at + found;
            at = here + 1;
            if bytes[here] == b'\n' {
                if is_triple {
                    continue;
                }
                return (from..here, false);
            }
            let before = bytes[from..here].iter().rev();
            let escapes = before.take_while(|b| **b == b'\\').count();
            let is_end = match escapes.checked_sub(self.escapes) {
                Some(more) => more % (2 * (self.escapes + 1)) == 0,
                None => true,
            };
            if is_triple && !bytes[here..].starts_with(&[self.sign; 3]) {
                continue;
            }
            if is_end
                && self.sign == b'\''
                && escapes == 0
                && here > from
                && bytes.get(at) == Some(&b'\'')
            {
                // YAML and SQL write two for one.
                at += 1;
            } else if is_end {
                return (from..here - escapes.min(self.escapes), true);
            }
        }
        (from..text.len(), false)
    }
}

/// Returns the end of the line at `from`, also of one that JSON has as `\n`.
pub(super) fn line_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let limit = boundary_after(text, from + MAX_UNQUOTED_BYTES);
    for at in from..limit {
        match bytes[at] {
            b'\n' | b'\r' => return at,
            b'\\' if is_line_break(&bytes[at..limit]) => return at,
            _ => {}
        }
    }
    limit + token(&text[limit..])
}

fn is_line_break(bytes: &[u8]) -> bool {
    let escapes = bytes.iter().take_while(|b| **b == b'\\').count();
    matches!(bytes.get(escapes), Some(b'n' | b'r'))
}

/// Returns the length of the token that a text begins with.
pub(super) fn token(text: &str) -> usize {
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-.~%".contains(b);
    text.bytes().take_while(|b| is_token(b)).count()
}

/// Returns the end of an unquoted value before `limit`: where a blank, a closing quotation mark or
/// one of `ends` is.
pub(super) fn word_end(text: &str, from: usize, limit: usize, ends: &[u8]) -> usize {
    let bytes = text.as_bytes();
    let is_word = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|b| b.is_ascii_alphanumeric() || *b >= 0x80)
    };
    for at in from..limit {
        let is_end = match bytes[at] {
            b if b.is_ascii_whitespace() || ends.contains(&b) => true,
            b'"' | b'\'' | b'`' => at == from || !is_word(at - 1) || !is_word(at + 1),
            b'\\' => at + 1 == limit || Quote::at(text, at).is_some(),
            b'&' if at + 1 < limit && bytes[at + 1] == b'&' => {
                at + 2 >= limit || bytes[at + 2] == b' '
            }
            b'&' => is_pair(&bytes[at + 1..limit]),
            b';' => {
                let rest = &bytes[at + 1..limit];
                rest.is_empty() || is_pair(rest) || rest.iter().any(|b| b" \t\"'".contains(b))
            }
            _ => false,
        };
        if is_end {
            return at;
        }
    }
    limit.max(from)
}

/// Returns true where `name=` begins, or nothing more of the word.
fn is_pair(rest: &[u8]) -> bool {
    let name = rest
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || b"_-. []".contains(b))
        .count();
    matches!(rest.get(name), Some(b'=')) && name > 0
        || matches!(rest.first(), Some(b'&' | b'"' | b'\'') | None)
}

/// Returns a value without what closes the sentence, list or call around it.
pub(super) fn trimmed(text: &str, mut range: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    while range.end > range.start {
        let last = bytes[range.end - 1];
        let inner = &bytes[range.start..range.end - 1];
        let opened = |open: u8| inner.contains(&open);
        let is_closing = match last {
            b',' | b';' | b'.' | b':' | b'*' | b' ' | b'\t' | b'"' | b'\'' | b'`' => true,
            b')' => !opened(b'('),
            b']' => !opened(b'['),
            b'}' => !opened(b'{'),
            _ => false,
        };
        if !is_closing {
            break;
        }
        range.end -= 1;
    }
    range
}

/// Returns true for a value that only stands for a secret: `<your-key>`, `$TOKEN`, `****`.
pub(super) fn is_placeholder(value: &str) -> bool {
    static PLACEHOLDER: LazyLock<Option<Regex>> =
        LazyLock::new(|| any_of(&TABLE.allow.placeholders).ok());
    let value = value.trim();
    value.is_empty()
        || value.len() <= MAX_PLACEHOLDER_BYTES
            && PLACEHOLDER
                .as_ref()
                .is_some_and(|regex| regex.is_match(value))
}

/// Returns true for a word that names a type, a state or a kind of secret: `string`, `required`.
pub(super) fn is_stock_word(value: &str) -> bool {
    static STOCK: LazyLock<Option<Regex>> = LazyLock::new(|| bytes(&TABLE.allow.stock).ok());
    value.len() <= MAX_PLACEHOLDER_BYTES
        && STOCK.as_ref().is_some_and(|regex| regex.is_match(value))
}

/// Returns true for a sentence, which is a message about a secret and none.
pub(super) fn is_message(value: &str) -> bool {
    static MESSAGE: LazyLock<Option<Regex>> = LazyLock::new(|| bytes(&TABLE.allow.message).ok());
    value.contains(' ')
        && value.len() <= MAX_PLACEHOLDER_BYTES
        && MESSAGE.as_ref().is_some_and(|regex| regex.is_match(value))
}

/// Returns true for what code has for a value: a call, a type, a variable, a constant.
pub(super) fn is_expression(value: &str) -> bool {
    static EXPRESSION: LazyLock<Option<Regex>> =
        LazyLock::new(|| any_of(&TABLE.allow.expressions).ok());
    value.len() <= MAX_PLACEHOLDER_BYTES
        && EXPRESSION
            .as_ref()
            .is_some_and(|regex| regex.is_match(value))
}

/// Returns true for a variable, a constant, a number.
pub(super) fn is_word(value: &str) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&TABLE.allow.words).ok());
    value.len() <= MAX_PLACEHOLDER_BYTES
        && WORDS.as_ref().is_some_and(|regex| regex.is_match(value))
}

/// Returns true for a command between backquotes.
pub(super) fn is_command(quote: Quote, content: &str) -> bool {
    let (first, rest) = content.split_once(' ').unwrap_or_default();
    quote.sign == b'`'
        && ([
            "cat", "echo", "pass", "gh", "op", "vault", "aws", "openssl", "head", "security",
            "gcloud", "kubectl",
        ]
        .contains(&first)
            || rest.starts_with(['-', '/', '~', '.', '$']))
}

/// Returns true if more than letters are in it.
pub(super) fn has_sign(value: &str) -> bool {
    value.chars().any(|c| !c.is_alphabetic())
}
