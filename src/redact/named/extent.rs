//! Where a value begins and ends.

use std::ops::Range;

use super::MAX_VALUE;
use super::lead::{Lead, Style};
use crate::clip::head;
use crate::redact::value::LOOKED_AT;

/// How far the quote that closes a value is looked for, in bytes.
const MAX_QUOTED: usize = 16 << 10;
/// How long the word before a credential may be that names its scheme.
const MAX_SCHEME: usize = 20;

/// Passes over the scheme of a credential; tells whether there was one. In an
/// `Authorization` any word is one.
fn skip_scheme(text: &str, name: &Range<usize>, at: &mut usize) -> bool {
    const SCHEMES: [&str; 8] = [
        "bearer ", "basic ", "token ", "apikey ", "api-key ", "ssws ", "key ", "bot ",
    ];
    let rest = &text.as_bytes()[*at..];
    let scheme = SCHEMES.iter().find(|scheme| {
        rest.get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
    });
    let length = match scheme {
        Some(scheme) => scheme.len(),
        None if ends_in_authorization(&text[name.clone()]) => {
            let part = |b: &&u8| b.is_ascii_alphabetic() || **b == b'-';
            let word = rest.iter().take(MAX_SCHEME).take_while(part).count();
            if word == 0 || rest.get(word) != Some(&b' ') {
                return false;
            }
            word + 1
        }
        None => return false,
    };
    *at += length;
    true
}

fn ends_in_authorization(name: &str) -> bool {
    const NAME: &str = "authorization";
    let start = name.len().checked_sub(NAME.len());
    start.is_some_and(|start| name.as_bytes()[start..].eq_ignore_ascii_case(NAME.as_bytes()))
}

/// A value where it stands. The end of a long bare one is looked for only when it is known
/// to be a secret: names can stand within values, close together, and each asks for its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Value {
    pub(super) start: usize,
    pub(super) style: Style,
    /// Where the part ends that is looked at.
    seen: usize,
    /// What ends it, where that was not reached.
    open: Option<Stops>,
}

impl Value {
    /// The part that tells whether it is a secret.
    pub(super) fn looked_at<'t>(&self, text: &'t str) -> &'t str {
        head(&text[self.start..self.seen], LOOKED_AT)
    }

    /// Returns where it ends; what is longer than values usually are, at a blank or a quote.
    pub(super) fn end(&self, text: &str) -> usize {
        let Some(stops) = self.open else {
            return self.seen;
        };
        match bare_end(text, self.start, self.style, stops, MAX_VALUE) {
            (end, true) => end,
            (end, false) => {
                let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`');
                let rest = &text.as_bytes()[end..];
                end + rest.iter().position(ends).unwrap_or(rest.len())
            }
        }
    }
}

/// Returns the value at the end of a lead.
pub(super) fn value(text: &str, name: &Range<usize>, lead: Lead) -> Option<Value> {
    let Lead {
        mut at,
        style,
        needs_quotes,
    } = lead;
    let bytes = text.as_bytes();
    // The prefix of a string: `b"…"`, `@"…"`.
    if matches!(
        bytes.get(at),
        Some(b'b' | b'r' | b'f' | b'u' | b'N' | b'L' | b'@' | b'$')
    ) && matches!(bytes.get(at + 1), Some(b'"' | b'\''))
    {
        at += 1;
    }
    let escapes = bytes[at..]
        .iter()
        .take(8)
        .take_while(|b| **b == b'\\')
        .count();
    let quote = bytes.get(at + escapes).copied();
    if let Some(quote @ (b'"' | b'\'' | b'`')) = quote {
        let mut start = at + escapes + 1;
        let end = closing(bytes, start, quote, escapes);
        skip_scheme(text, name, &mut start);
        // Cut off before its end: a word of it at least.
        let end = end.unwrap_or_else(|| start + word_length(text, start, Stops::BLANK, MAX_VALUE));
        // What stands in backticks and has blanks is a command.
        let is_command = quote == b'`' && bytes[start..end.max(start)].contains(&b' ');
        let style = match style {
            Style::Argument | Style::Bare => style,
            _ => Style::Quoted,
        };
        // `resource "random_password" "main" {`
        let opens = style == Style::Argument && text[end..].get(1..3) == Some(" {");
        return (start < end && !is_command && !opens).then_some(Value {
            start,
            style,
            seen: end,
            open: None,
        });
    }
    if escapes > 0 || needs_quotes {
        return None;
    }
    let has_scheme = skip_scheme(text, name, &mut at);
    let is_line = name.start == 0 || bytes[name.start - 1] == b'\n';
    let to_blank = style == Style::Assigned && (is_line || has_scheme);
    let stops = match style {
        _ if to_blank => Stops::BLANK,
        Style::Assigned => Stops::SIGN,
        _ => Stops::LOOSE_SIGN,
    };
    let (seen, is_whole) = bare_end(text, at, style, stops, LOOKED_AT);
    (at < seen).then_some(Value {
        start: at,
        style,
        seen,
        open: (!is_whole).then_some(stops),
    })
}

/// Returns where a bare value ends, and whether it does within `most` bytes.
fn bare_end(text: &str, at: usize, style: Style, stops: Stops, most: usize) -> (usize, bool) {
    let bytes = text.as_bytes();
    let length = word_length(text, at, stops, most);
    let mut end = at + length;
    let is_whole = bytes.get(end).is_none_or(|b| stops.at(*b));
    let is_end = |b: u8| match style {
        Style::Spoken | Style::Bare => matches!(b, b'.' | b'!' | b'?' | b':'),
        Style::Loose => matches!(b, b'.' | b':'),
        Style::Assigned | Style::Quoted | Style::Argument => false,
    };
    while is_whole && end > at && is_end(bytes[end - 1]) {
        end -= 1;
    }
    (end, is_whole)
}

/// Finds the quote that closes a value: one with no more escapes before it than the first
/// had. A value of one line only.
fn closing(bytes: &[u8], start: usize, quote: u8, escapes: usize) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(start + MAX_QUOTED)];
    let mut at = start;
    loop {
        at += memchr::memchr2(quote, b'\n', &bytes[at..])?;
        if bytes[at] == b'\n' {
            return None;
        }
        let before = bytes[start..at].iter().rev();
        let before = before.take_while(|b| **b == b'\\').count();
        if before == escapes || (escapes == 0 && before % 2 == 0) {
            return Some(at - before.min(escapes));
        }
        if before < escapes {
            // The text around it ends here.
            return Some(at - before);
        }
        at += 1;
    }
}

/// What ends a bare value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stops(u8);

impl Stops {
    /// A blank or a quote, wherever it stands.
    const BLANK: Self = Self(1);
    /// Also a separator, where other things can follow on its line.
    const SIGN: Self = Self(3);
    /// The same, but for `&` and `|`, which stand between values of URLs and commands only.
    const LOOSE_SIGN: Self = Self(5);

    /// Which bytes end what.
    const TABLE: [u8; 256] = {
        let mut table = [0; 256];
        let mut byte = 0_u8;
        loop {
            table[byte as usize] = match byte {
                b',' | b';' | b')' | b'}' | b']' | b'>' => 6,
                b'&' | b'|' => 2,
                0..=b' ' | 0x7F | b'"' | b'\'' | b'`' | b'<' | b'\\' => 7,
                _ => 0,
            };
            if byte == u8::MAX {
                break table;
            }
            byte += 1;
        }
    };

    fn at(self, byte: u8) -> bool {
        Self::TABLE[usize::from(byte)] & self.0 != 0
    }
}

/// Returns how long a bare value is, at most `most` bytes.
fn word_length(text: &str, at: usize, stops: Stops, most: usize) -> usize {
    let rest = head(&text[at..], most);
    let length = rest.bytes().position(|b| stops.at(b));
    length.unwrap_or(rest.len())
}
