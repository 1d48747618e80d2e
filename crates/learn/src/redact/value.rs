//! Reads values: their quotation marks, their ends, and placeholders.

use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use super::rule::short;
use super::table::TABLE;
use crate::clip::{boundary_before, head};

/// The most of an unquoted value that is looked at; a token that goes on is masked whole.
const MAX_UNQUOTED_BYTES: usize = 1_024;
/// A longer value is never a placeholder; of an expression so much is looked at.
const MAX_PLACEHOLDER_BYTES: usize = 200;

/// A quotation mark, and the number of backslashes before it: JSON within JSON has some.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Quote {
    pub(super) sign: u8,
    pub(super) escapes: usize,
}

/// The quotation marks that are open at a place, outermost first.
#[derive(Debug, Clone, Default)]
pub(super) struct Open(pub(super) Vec<Quote>);

impl Open {
    /// Goes on over a part of a line.
    pub(super) fn read(&mut self, text: &str, part: Range<usize>) {
        let bytes = text.as_bytes();
        let is_word = |at: usize| bytes.get(at).is_some_and(|b| is_word(*b));
        for at in memchr::memchr3_iter(b'"', b'\'', b'`', &bytes[part.clone()]) {
            let at = part.start + at;
            let escapes = backslashes(text, at);
            let sign = bytes[at];
            let quote = Quote { sign, escapes };
            let before = at.wrapping_sub(escapes + 1);
            if let Some(known) = self.0.iter().position(|known| *known == quote) {
                if sign != b'\'' || !is_word(before) || !is_word(at + 1) {
                    self.0.truncate(known);
                }
            } else if sign == b'"'
                || !is_word(before) && !matches!(bytes.get(before), Some(b'<' | b'&'))
            {
                self.0.push(quote);
            }
        }
    }

    /// Returns the first place behind `from` at which one of them closes, at most `limit`.
    pub(super) fn close(&self, text: &str, from: usize, limit: usize) -> usize {
        let ends = self
            .0
            .iter()
            .filter_map(|quote| Some(quote.close(text, from, limit)?.0));
        ends.min().unwrap_or(limit)
    }
}

impl Quote {
    /// Returns the quotation mark at a place, and the place behind it.
    pub(super) fn at(text: &str, at: usize) -> Option<(Self, usize)> {
        let rest = text.as_bytes().get(at..)?;
        let escapes = rest.iter().take(64).take_while(|b| **b == b'\\').count();
        let sign = *rest.get(escapes)?;
        let is_quote = matches!(sign, b'"' | b'\'' | b'`');
        is_quote.then_some((Self { sign, escapes }, at + escapes + 1))
    }

    /// Returns the end of what this mark opened before `from`, and the place behind the closing
    /// mark, if it is before `limit`.
    fn close(self, text: &str, from: usize, limit: usize) -> Option<(usize, usize)> {
        let mut at = from;
        while let Some(found) = memchr::memchr(self.sign, text.as_bytes().get(at..limit)?) {
            let here = at + found;
            let escapes = backslashes(&text[from..], here - from);
            let more = escapes.checked_sub(self.escapes);
            let is_end = more.is_none_or(|more| more % (2 * (self.escapes + 1)) == 0);
            at = here + 1;
            // YAML and SQL write two for one.
            let is_double = self.sign == b'\'' && escapes == 0 && here > from;
            if is_end && is_double && text.as_bytes().get(at) == Some(&b'\'') {
                at += 1;
            } else if is_end {
                return Some((here - escapes.min(self.escapes), at));
            }
        }
        None
    }

    /// Returns the content that begins at `from`, and the place behind its closing mark.
    pub(super) fn content(self, text: &str, from: usize, limit: usize) -> (Range<usize>, usize) {
        let sign = char::from(self.sign);
        let rest = &text[from..];
        if let Some(rest) = rest
            .strip_prefix(sign)
            .and_then(|rest| rest.strip_prefix(sign))
            && self.escapes == 0
        {
            let triple = [self.sign; 3];
            let end = memchr::memmem::find(&rest.as_bytes()[..rest.len().min(1_000)], &triple);
            let from = from + 2;
            let Some(end) = end else {
                return (from - 2..from - 2, from);
            };
            let value = rest[..end].trim();
            let start = from + end - rest[..end].trim_start().len();
            return (start..start + value.len(), from + end + 3);
        }
        let limit = limit.max(from);
        match self.close(text, from, limit) {
            Some((end, behind)) => (from..end, behind),
            None => (from..limit, limit),
        }
    }

    /// Returns true for a command between backquotes.
    pub(super) fn is_command(self, content: &str) -> bool {
        let has_blank = || content.contains(' ') && content.contains(['/', '$', '-', '|']);
        self.sign == b'`' && (content.contains("$(") || content.contains("${") || has_blank())
    }

    /// Returns true for the tag of a field in Go.
    pub(super) fn is_tag(self, content: &str) -> bool {
        self.sign == b'`' && [":\"", ":\\\""].iter().any(|sign| content.contains(sign))
    }
}

/// Returns the number of backslashes before a place.
pub(super) fn backslashes(text: &str, at: usize) -> usize {
    let before = text.as_bytes()[..at].iter().rev();
    before.take_while(|b| **b == b'\\').count()
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || byte == b'_'
}

/// Moves the ends of a range off the escapes of JSON that they would cut in two.
pub(super) fn off_escapes(text: &str, range: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = range;
    let bytes = text.as_bytes();
    let is_cut = |at: usize| backslashes(text, at) % 2 == 1;
    if start < end && b"nrtbfu\"/\\".contains(&bytes[start]) && is_cut(start) {
        let is_code = bytes[start] == b'u' && end - start > 5 && text.is_char_boundary(start + 5);
        start += if is_code { 5 } else { 1 };
    }
    if end > start && end < text.len() && bytes[end - 1] == b'\\' && is_cut(end) {
        end -= 1;
    }
    start..end
}

/// Returns the end of the line at `from`, also of one that JSON has as `\n`.
pub(super) fn line_end(text: &str, from: usize) -> usize {
    let limit = boundary_before(text, from + MAX_UNQUOTED_BYTES).max(from);
    let line = &text.as_bytes()[from..limit];
    let end = memchr::memchr3_iter(b'\n', b'\r', b'\\', line).find(|at| {
        let escapes = line[*at..].iter().take_while(|b| **b == b'\\').count();
        let rest = &line[at + escapes..];
        escapes == 0 || rest.starts_with(b"n") || rest.starts_with(b"r\\")
    });
    end.map_or_else(|| limit + token(&text[limit..]), |at| from + at)
}

/// Returns the length of the token that a text begins with.
pub(super) fn token(text: &str) -> usize {
    let is_token = |b: &u8| b.is_ascii_alphanumeric() || b"+/=_-.~%".contains(b);
    text.bytes().take_while(|b| is_token(b)).count()
}

/// Returns the word at `from` as a shell reads it, without the marks around it: up to a blank, the
/// next `name=`, or one of `ends`, but for those in quoted parts.
pub(super) fn word(text: &str, from: usize, limit: usize, ends: &[u8]) -> Range<usize> {
    let bytes = &text.as_bytes()[..limit.max(from)];
    let is_part = |at: usize| bytes.get(at).is_some_and(|b| is_word(*b));
    let (mut at, mut start, mut end) = (from, from, from);
    while at < bytes.len() {
        let byte = bytes[at];
        let is_begin = at == from || end < at;
        if let Some((quote, inner)) = Quote::at(&text[..bytes.len()], at).filter(|_| is_begin) {
            let Some((close, behind)) = quote.close(text, inner, limit) else {
                break;
            };
            start = if at == from { inner } else { start };
            (end, at) = (close, behind);
            if !matches!(bytes.get(at), Some(b'"' | b'\'' | b'`' | b'\\')) {
                break;
            }
            continue;
        }
        let is_end = match byte {
            b if b == 0 || b.is_ascii_whitespace() || ends.contains(&b) => true,
            b'"' | b'\'' | b'`' => !is_part(at - 1) || !is_part(at + 1),
            b'&' | b';' => ends_pair(&bytes[at..]),
            _ => false,
        };
        if is_end {
            break;
        }
        at += 1;
        end = at;
    }
    start..end
}

/// Returns true if `&` or `;` and what follows are the beginning of another pair or command.
fn ends_pair(text: &[u8]) -> bool {
    let is_part = |b: &&u8| b.is_ascii_alphanumeric() || b"_-.[]".contains(b);
    let name = text.iter().skip(1).take(40).take_while(is_part).count();
    match (text, &text[1 + name..]) {
        ([_] | [_, b'"' | b'\'' | b' ' | b'\t' | b'\\', ..] | [_, b'&', b' ', ..], _) => true,
        (_, [b'=', b'=', ..]) => false,
        (_, [b'=', ..] | [b':', b' ', ..] | [b' ', b'=', ..]) => name > 0,
        ([b';', ..], [b'(', ..]) => name > 2,
        _ => false,
    }
}

/// Returns a value without what closes the sentence, list or call around it.
pub(super) fn trimmed(text: &str, mut range: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    while let [inner @ .., last] = &bytes[range.clone()] {
        let is_closing = match last {
            b',' | b';' | b'.' | b':' | b' ' | b'\t' | b'"' | b'\'' | b'`' => true,
            b'*' if inner.ends_with(b"*") => {
                range.end -= 1;
                true
            }
            b')' => !inner.contains(&b'('),
            b']' => !inner.contains(&b'['),
            b'}' => !inner.contains(&b'{'),
            _ => false,
        };
        if !is_closing {
            break;
        }
        range.end -= 1;
    }
    range
}

/// A set of patterns of the table, compiled on first use.
macro_rules! known {
    ($(#[$doc:meta] $name:ident: $patterns:expr;)*) => {$(
        #[$doc]
        pub(super) fn $name(value: &str) -> bool {
            static KNOWN: LazyLock<Option<Regex>> = LazyLock::new(|| short($patterns));
            value.len() <= MAX_PLACEHOLDER_BYTES && KNOWN.as_ref().is_some_and(|r| r.is_match(value))
        }
    )*};
}

known! {
    /// Returns true for a placeholder: `<your-key>`, `$TOKEN`, `****`.
    is_stand_in: &TABLE.allow.placeholders;
    /// Returns true for a word that names a type, a state or a kind of secret: `string`, `required`.
    is_stock_word: &[&TABLE.allow.stock];
    /// Returns true for what a sentence about a secret has in it.
    has_message_word: &[&TABLE.allow.message];
    /// Returns true for the beginning of what code has for a value.
    begins_expression: &TABLE.allow.expressions;
    /// Returns true for a variable, a constant, a number.
    is_plain_word: &TABLE.allow.words;
}

/// Returns true for what code has for a value: a call, a type, a variable, a constant.
pub(super) fn is_expression(value: &str) -> bool {
    begins_expression(head(value, MAX_PLACEHOLDER_BYTES))
}

/// Returns true for a text that is no secret in any place.
pub(super) fn is_placeholder(value: &str) -> bool {
    let value = value.trim();
    let is_short_number = value.len() < 4 && value.bytes().all(|b| b.is_ascii_digit());
    is_short_number || is_stand_in(value) || is_stock_word(value)
}

/// Returns true for a sentence, which is a message about a secret.
pub(super) fn is_message(value: &str) -> bool {
    value.trim().contains(' ') && has_message_word(value)
}

/// Returns true for what no one writes by hand in code: with digits or signs, and not short.
pub(super) fn looks_random(value: &str) -> bool {
    let is_path = value.starts_with(['/', '.']) || value.contains("://");
    let has_digit = || value.bytes().any(|b| b.is_ascii_digit());
    let has_sign = || {
        value
            .chars()
            .any(|c| !c.is_alphabetic() && !"_-./: ".contains(c))
    };
    !is_path
        && (value.len() > 5 && has_digit() || value.len() > 11 && has_sign() || value.len() > 200)
}
