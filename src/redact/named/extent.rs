//! Where a value begins and ends.

use std::ops::Range;

use super::MAX_VALUE;
use super::lead::{Lead, Style};

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

/// Returns the value at the end of a lead, and how it stands there.
pub(super) fn value(text: &str, name: &Range<usize>, lead: Lead) -> Option<(Range<usize>, Style)> {
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
        let end = end.unwrap_or_else(|| start + word_length(text, start, ends_at_blank));
        // What stands in backticks and has blanks is a command.
        let is_command = quote == b'`' && bytes[start..end.max(start)].contains(&b' ');
        let style = match style {
            Style::Argument | Style::Bare => style,
            _ => Style::Quoted,
        };
        // `resource "random_password" "main" {`
        let opens = style == Style::Argument && text[end..].get(1..3) == Some(" {");
        return (start < end && !is_command && !opens).then_some((start..end, style));
    }
    if escapes > 0 || needs_quotes {
        return None;
    }
    let has_scheme = skip_scheme(text, name, &mut at);
    let is_line = name.start == 0 || bytes[name.start - 1] == b'\n';
    let to_blank = style == Style::Assigned && (is_line || has_scheme);
    let ends = match style {
        _ if to_blank => ends_at_blank,
        Style::Assigned => ends_at_sign,
        // `&` and `|` stand between values of URLs and commands only.
        _ => |b: u8| ends_at_sign(b) && !matches!(b, b'&' | b'|'),
    };
    let mut end = at + word_length(text, at, ends);
    let is_end = |b: u8| match style {
        Style::Spoken | Style::Bare => matches!(b, b'.' | b'!' | b'?' | b':'),
        Style::Loose => matches!(b, b'.' | b':'),
        Style::Assigned | Style::Quoted | Style::Argument => false,
    };
    while end > at && is_end(bytes[end - 1]) {
        end -= 1;
    }
    (at < end).then_some((at..end, style))
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

/// Tells whether a bare value ends here wherever it stands: at a blank or a quote.
fn ends_at_blank(byte: u8) -> bool {
    let blank = byte.is_ascii_whitespace() || byte.is_ascii_control();
    blank || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'\\')
}

/// The same where other things can follow on its line: also at a separator.
fn ends_at_sign(byte: u8) -> bool {
    let sign = matches!(byte, b',' | b';' | b'&' | b'|' | b')' | b'}' | b']' | b'>');
    sign || ends_at_blank(byte)
}

/// Returns how long a bare value is.
fn word_length(text: &str, at: usize, ends: fn(u8) -> bool) -> usize {
    let bytes = &text.as_bytes()[at..];
    let bytes = &bytes[..bytes.len().min(MAX_VALUE)];
    let mut length = bytes.iter().position(|b| ends(*b)).unwrap_or(bytes.len());
    while !text.is_char_boundary(at + length) {
        length -= 1;
    }
    length
}
