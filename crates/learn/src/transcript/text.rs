//! Strings as they stand in JSON, decoded only when they are needed.

use std::borrow::Cow;

use memchr::memmem;

use super::json::JsonFault;
use super::mask::without_last_word;

/// The longest id or name, in bytes.
const MAX_NAME: usize = 200;

/// A string as it stands between its quotes, not decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Str<'a>(&'a [u8]);

impl<'a> Str<'a> {
    /// Takes bytes as they stand in the file.
    pub(crate) fn new(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// Returns where the string stands in `bytes`, which it borrows from.
    pub(crate) fn span(self, bytes: &[u8]) -> Span {
        let start = self.0.as_ptr().addr() - bytes.as_ptr().addr();
        debug_assert!(start + self.0.len() <= bytes.len());
        // Blocks are far smaller than 4 GiB; if one were not, nothing would stand there.
        Span {
            start: u32::try_from(start).unwrap_or(u32::MAX),
            length: u32::try_from(self.0.len()).unwrap_or(0),
        }
    }

    /// Returns the bytes as they stand in the file, with escapes.
    pub(crate) fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Returns the string if it is short and without escapes, as ids and names are.
    pub(crate) fn plain(self) -> Option<&'a str> {
        if self.0.len() > MAX_NAME {
            return None;
        }
        let text = std::str::from_utf8(self.0).ok()?;
        (!self.0.contains(&b'\\')).then_some(text)
    }

    /// Returns about the first `max` bytes, and no part of an escape or a character.
    pub(crate) fn head(self, max: usize) -> Self {
        if self.0.len() <= max {
            return self;
        }
        let mut end = max;
        // The longest escape is a pair of `\\uXXXX`.
        if let Some(i) = memchr::memchr(b'\\', &self.0[end.saturating_sub(12)..end]) {
            end = end.saturating_sub(12) + i;
            while end > 0 && self.0[end - 1] == b'\\' {
                end -= 1;
            }
        }
        while end > 0 && self.0[end] & 0xC0 == 0x80 {
            end -= 1;
        }
        Self(&self.0[..end])
    }

    /// Returns about the last `max` bytes, from the start of a line.
    ///
    /// What looks like a newline can be the end of an escaped backslash and an `n`; then
    /// the line begins a character late.
    pub(crate) fn tail(self, max: usize) -> Self {
        let from = self.0.len().saturating_sub(max);
        if from == 0 {
            return self;
        }
        match memmem::find(&self.0[from..], b"\\n") {
            Some(i) => Self(&self.0[from + i + 2..]),
            None => Self(b""),
        }
    }

    /// Decodes about the first and the last `max` bytes, or all of a string that is
    /// not longer than both.
    pub(crate) fn decode_ends(self, max: usize) -> Result<Cow<'a, str>, JsonFault> {
        if self.0.len() <= 2 * max {
            return self.decode();
        }
        let (head, tail) = (self.head(max).decode()?, self.tail(max).decode()?);
        // Half a word can be half a secret, which nothing knows as one.
        let head = without_last_word(&head);
        Ok(Cow::Owned(format!("{head}\n[… middle left out …]\n{tail}")))
    }

    /// Decodes escapes; half of a surrogate pair becomes U+FFFD.
    pub(crate) fn decode(self) -> Result<Cow<'a, str>, JsonFault> {
        let text = simdutf8::basic::from_utf8(self.0).map_err(|_| JsonFault::NotUtf8)?;
        // To look at them all is quicker than to end at the first.
        if self.0.iter().fold(u8::MAX, |least, b| least.min(*b)) < 0x20 {
            return Err(JsonFault::Syntax);
        }
        match memchr::memchr(b'\\', self.0) {
            None => Ok(Cow::Borrowed(text)),
            Some(first) => unescape(text, first).map(Cow::Owned),
        }
    }

    /// Tells whether the string is `word`; `word` needs no escapes.
    pub(crate) fn is(self, word: &str) -> bool {
        self.0 == word.as_bytes()
    }
}

fn unescape(text: &str, first: usize) -> Result<String, JsonFault> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut at = Some(first);
    while let Some(i) = at {
        out.push_str(&rest[..i]);
        let code = *rest.as_bytes().get(i + 1).ok_or(JsonFault::Syntax)?;
        let mut used = 2;
        match code {
            b'"' | b'\\' | b'/' => out.push(char::from(code)),
            b'n' => out.push('\n'),
            b't' => out.push('\t'),
            b'r' => out.push('\r'),
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'u' => {
                let (c, length) = unicode(&rest.as_bytes()[i..])?;
                out.push(c);
                used = length;
            }
            _ => return Err(JsonFault::Syntax),
        }
        rest = &rest[i + used..];
        at = memchr::memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    Ok(out)
}

/// Reads `\uXXXX`, with its second half where it is a pair; returns the bytes used.
fn unicode(bytes: &[u8]) -> Result<(char, usize), JsonFault> {
    let high = hex4(bytes.get(2..6))?;
    if let Some(c) = char::from_u32(high) {
        return Ok((c, 6));
    }
    if high < 0xDC00 && bytes.get(6..8) == Some(b"\\u") {
        let low = hex4(bytes.get(8..12))?;
        if (0xDC00..0xE000).contains(&low) {
            let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
            return Ok((char::from_u32(code).unwrap_or('\u{FFFD}'), 12));
        }
    }
    Ok(('\u{FFFD}', 6))
}

fn hex4(digits: Option<&[u8]>) -> Result<u32, JsonFault> {
    digits
        .ok_or(JsonFault::Syntax)?
        .iter()
        .try_fold(0, |n, &b| {
            let digit = char::from(b).to_digit(16).ok_or(JsonFault::Syntax)?;
            Ok(n * 16 + digit)
        })
}

/// Where a string or value stands in a block of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    start: u32,
    length: u32,
}

impl Span {
    pub(crate) fn on(self, bytes: &[u8]) -> Str<'_> {
        let start = self.start as usize;
        Str(bytes
            .get(start..start + self.length as usize)
            .unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::json::{JsonCursor, Value};
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("abc", "abc")]
    #[case::escapes(r#"a\"b\\c\/d\n\t\r\b\f"#, "a\"b\\c/d\n\t\r\u{8}\u{c}")]
    #[case::unicode(r"\u00e9\u65e5", "é日")]
    #[case::pair(r"\ud83d\ude42!", "🙂!")]
    #[case::lone_high(r"a\ud83d b", "a\u{FFFD} b")]
    fn strings_are_decoded(#[case] raw: &str, #[case] text: &str) {
        assert_eq!(Str(raw.as_bytes()).decode().unwrap(), text);
    }

    #[rstest]
    #[case::newline(b"a\nb", JsonFault::Syntax)]
    #[case::unknown_escape(br"\x", JsonFault::Syntax)]
    #[case::not_utf8(b"\xff", JsonFault::NotUtf8)]
    fn bad_strings_are_faults(#[case] raw: &[u8], #[case] fault: JsonFault) {
        assert_eq!(Str(raw).decode(), Err(fault));
    }

    proptest! {
        #[test]
        fn any_string_survives(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let Value::Str(s) = JsonCursor::new(json.as_bytes()).value().unwrap() else { panic!() };
            prop_assert_eq!(s.decode().unwrap(), text);
        }

        #[test]
        fn the_head_of_a_string_can_be_decoded(text in any::<String>(), max in 0_usize..40) {
            let json = serde_json::to_string(&text).unwrap();
            let head = Str(&json.as_bytes()[1..json.len() - 1]).head(max).decode().unwrap();
            prop_assert!(text.starts_with(&*head));
        }
    }
}
