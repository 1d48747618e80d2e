//! A borrowing JSON reader for transcripts.
//!
//! More than 90 % of a transcript's bytes are of no interest to us, and nearly all of
//! them stand inside long strings. This reader finds the end of a string with `memchr`
//! and hands back slices; only what is asked for is ever decoded. It checks the
//! grammar around strings strictly, and what stands in a string when it is decoded.
//! Nesting is counted, not recursed into, so that no input can exhaust the stack.

use std::borrow::Cow;

use memchr::memmem;

/// How deeply values may nest; real transcripts stay under 20.
const MAX_DEPTH: u32 = 128;

/// Why a text is not the JSON we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It breaks the grammar, or ends too early.
    Syntax,
    /// It nests more than 128 values.
    TooDeep,
    /// A string that is needed is not UTF-8.
    NotUtf8,
}

/// A string as it stands between its quotes, not decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Str<'a>(&'a [u8]);

impl<'a> Str<'a> {
    /// Takes bytes as they stand in the file.
    pub(crate) fn new(raw: &'a [u8]) -> Self {
        Self(raw)
    }

    /// Returns the bytes as they stand in the file, with escapes.
    pub(crate) fn raw(self) -> &'a [u8] {
        self.0
    }

    /// Returns the string if it has no escapes, as ids and names have none.
    pub(crate) fn plain(self) -> Option<&'a str> {
        let text = std::str::from_utf8(self.0).ok()?;
        memchr::memchr(b'\\', self.0).is_none().then_some(text)
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
    pub(crate) fn decode_ends(self, max: usize) -> Result<Cow<'a, str>, Fault> {
        if self.0.len() <= 2 * max {
            return self.decode();
        }
        let (head, tail) = (self.head(max).decode()?, self.tail(max).decode()?);
        Ok(Cow::Owned(format!("{head}\n[… middle left out …]\n{tail}")))
    }

    /// Decodes escapes; half of a surrogate pair becomes U+FFFD.
    pub(crate) fn decode(self) -> Result<Cow<'a, str>, Fault> {
        let text = std::str::from_utf8(self.0).map_err(|_| Fault::NotUtf8)?;
        if text.bytes().any(|b| b < 0x20) {
            return Err(Fault::Syntax);
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

fn unescape(text: &str, first: usize) -> Result<String, Fault> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut at = Some(first);
    while let Some(i) = at {
        out.push_str(&rest[..i]);
        let code = *rest.as_bytes().get(i + 1).ok_or(Fault::Syntax)?;
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
            _ => return Err(Fault::Syntax),
        }
        rest = &rest[i + used..];
        at = memchr::memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    Ok(out)
}

/// Reads `\uXXXX`, with its second half where it is a pair; returns the bytes used.
fn unicode(bytes: &[u8]) -> Result<(char, usize), Fault> {
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

fn hex4(digits: Option<&[u8]>) -> Result<u32, Fault> {
    digits.ok_or(Fault::Syntax)?.iter().try_fold(0, |n, &b| {
        let digit = char::from(b).to_digit(16).ok_or(Fault::Syntax)?;
        Ok(n * 16 + digit)
    })
}

/// A value of which only the outline is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A string.
    Str(Str<'a>),
    /// An object or array: its text with the brackets.
    Nested(&'a [u8]),
    /// `true` or `false`.
    Bool(bool),
    /// A number or `null`.
    Plain,
}

impl<'a> Value<'a> {
    /// Returns the string, if it is one.
    pub(crate) fn str(self) -> Option<Str<'a>> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    /// Tells whether it is `true`.
    pub(crate) fn is_true(self) -> bool {
        self == Value::Bool(true)
    }
}

/// A place in a text from which values are read.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at the beginning of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, pos: 0 }
    }

    /// Returns how many bytes were read.
    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    /// Skips blanks and returns the next byte without taking it.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(&b) = self.bytes.get(self.pos) {
            if !matches!(b, b' ' | b'\t' | b'\r' | b'\n') {
                return Some(b);
            }
            self.pos += 1;
        }
        None
    }

    fn take(&mut self, wanted: u8) -> Result<(), Fault> {
        if self.peek() == Some(wanted) {
            self.pos += 1;
            Ok(())
        } else {
            Err(Fault::Syntax)
        }
    }

    /// Reads an object, calling `field` with each key; `field` must read the value.
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, Str<'a>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.take(b'{')?;
        if self.peek() == Some(b'}') {
            self.pos += 1;
            return Ok(());
        }
        loop {
            self.peek();
            let key = self.string()?;
            self.take(b':')?;
            field(self, key)?;
            match self.peek() {
                Some(b',') => self.pos += 1,
                Some(b'}') => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => return Err(Fault::Syntax),
            }
        }
    }

    /// Reads an array, calling `item` at each element; `item` must read it.
    pub(crate) fn array(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.take(b'[')?;
        if self.peek() == Some(b']') {
            self.pos += 1;
            return Ok(());
        }
        loop {
            item(self)?;
            match self.peek() {
                Some(b',') => self.pos += 1,
                Some(b']') => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => return Err(Fault::Syntax),
            }
        }
    }

    /// Reads the next value in outline.
    pub(crate) fn value(&mut self) -> Result<Value<'a>, Fault> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::Str),
            Some(b'{' | b'[') => {
                let start = self.pos;
                self.skip_nested()?;
                Ok(Value::Nested(&self.bytes[start..self.pos]))
            }
            Some(b't') => self.literal(b"true").map(|()| Value::Bool(true)),
            Some(b'f') => self.literal(b"false").map(|()| Value::Bool(false)),
            _ => self.plain().map(|()| Value::Plain),
        }
    }

    /// Reads a string; the cursor must stand on its quote.
    fn string(&mut self) -> Result<Str<'a>, Fault> {
        if self.bytes.get(self.pos) != Some(&b'"') {
            return Err(Fault::Syntax);
        }
        let start = self.pos + 1;
        let mut from = start;
        loop {
            let found = memchr::memchr(b'"', &self.bytes[from..]).ok_or(Fault::Syntax)?;
            let end = from + found;
            let slashes = self.bytes[from..end]
                .iter()
                .rev()
                .take_while(|&&b| b == b'\\')
                .count();
            if slashes % 2 == 0 {
                self.pos = end + 1;
                return Ok(Str(&self.bytes[start..end]));
            }
            from = end + 1;
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Fault> {
        if self.bytes[self.pos..].starts_with(word) {
            self.pos += word.len();
            Ok(())
        } else {
            Err(Fault::Syntax)
        }
    }

    /// Skips a number or `null`.
    fn plain(&mut self) -> Result<(), Fault> {
        let rest = &self.bytes[self.pos..];
        if rest.first() == Some(&b'n') {
            return self.literal(b"null");
        }
        let length = rest
            .iter()
            .take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .count();
        self.pos += length;
        match rest.first() {
            Some(b'0'..=b'9' | b'-') if rest[length - 1].is_ascii_digit() => Ok(()),
            _ => Err(Fault::Syntax),
        }
    }

    fn skip_nested(&mut self) -> Result<(), Fault> {
        // One bit per open value: 1 for an object, 0 for an array.
        let mut open: u128 = 0;
        let mut depth: u32 = 0;
        loop {
            // A value stands here.
            match self.peek() {
                Some(b'{') => {
                    self.pos += 1;
                    (open, depth) = deeper(open, depth, 1)?;
                    if self.peek() != Some(b'}') {
                        self.key()?;
                        continue;
                    }
                }
                Some(b'[') => {
                    self.pos += 1;
                    (open, depth) = deeper(open, depth, 0)?;
                    if self.peek() != Some(b']') {
                        continue;
                    }
                }
                Some(b'"') => drop(self.string()?),
                Some(b't') => self.literal(b"true")?,
                Some(b'f') => self.literal(b"false")?,
                _ => self.plain()?,
            }
            // A value ended here: close what ends with it.
            loop {
                let object = open & 1 == 1;
                match self.peek() {
                    Some(b',') => {
                        self.pos += 1;
                        if object {
                            self.peek();
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => {}
                    Some(b']') if !object => {}
                    _ => return Err(Fault::Syntax),
                }
                self.pos += 1;
                open >>= 1;
                depth -= 1;
                if depth == 0 {
                    return Ok(());
                }
            }
        }
    }

    fn key(&mut self) -> Result<(), Fault> {
        self.string()?;
        self.take(b':')
    }
}

fn deeper(open: u128, depth: u32, bit: u128) -> Result<(u128, u32), Fault> {
    if depth == MAX_DEPTH {
        return Err(Fault::TooDeep);
    }
    Ok((open << 1 | bit, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn whole(text: &[u8]) -> Result<(), Fault> {
        let mut cursor = Cursor::new(text);
        cursor.value()?;
        match cursor.peek() {
            None => Ok(()),
            Some(_) => Err(Fault::Syntax),
        }
    }

    #[rstest]
    #[case::empty("")]
    #[case::two("{} {}")]
    #[case::cut_string("\"abc")]
    #[case::cut_escape("\"abc\\")]
    #[case::escaped_quote_only("\"abc\\\"")]
    #[case::cut_object("{\"a\":1")]
    #[case::wrong_close("{\"a\":[1}]")]
    #[case::no_value("{\"a\":}")]
    #[case::no_key("{1:2}")]
    #[case::trailing_comma("[1,]")]
    #[case::bare_word("nul")]
    #[case::nan("NaN")]
    #[case::lone_minus("-")]
    #[case::lone_close("]")]
    fn what_is_not_json_is_a_fault(#[case] text: &str) {
        assert_eq!(whole(text.as_bytes()), Err(Fault::Syntax));
    }

    #[test]
    fn a_depth_bomb_is_refused_at_once() {
        assert_eq!(whole(&b"[".repeat(1_000_000)), Err(Fault::TooDeep));
        assert_eq!(whole(&b"{\"a\":".repeat(1_000_000)), Err(Fault::TooDeep));
        let deep = format!("{}1{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(whole(deep.as_bytes()), Ok(()));
    }

    #[rstest]
    #[case::plain("abc", "abc")]
    #[case::escapes(r#"a\"b\\c\/d\n\t\r\b\f"#, "a\"b\\c/d\n\t\r\u{8}\u{c}")]
    #[case::unicode(r"\u00e9\u65e5", "é日")]
    #[case::pair(r"\ud83d\ude42!", "🙂!")]
    #[case::lone_high(r"a\ud83d b", "a\u{FFFD} b")]
    #[case::lone_low(r"\ude42", "\u{FFFD}")]
    #[case::high_then_other(r"\ud83d\u0041", "\u{FFFD}A")]
    fn strings_are_decoded(#[case] raw: &str, #[case] text: &str) {
        assert_eq!(Str(raw.as_bytes()).decode().unwrap(), text);
    }

    #[rstest]
    #[case::newline(b"a\nb", Fault::Syntax)]
    #[case::nul(b"a\0b", Fault::Syntax)]
    #[case::unknown_escape(br"\x", Fault::Syntax)]
    #[case::short_unicode(br"\u12", Fault::Syntax)]
    #[case::not_utf8(b"\xff", Fault::NotUtf8)]
    fn bad_strings_are_faults(#[case] raw: &[u8], #[case] fault: Fault) {
        assert_eq!(Str(raw).decode(), Err(fault));
    }

    proptest! {
        #[test]
        fn any_string_survives(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let Value::Str(s) = Cursor::new(json.as_bytes()).value().unwrap() else { panic!() };
            prop_assert_eq!(s.decode().unwrap(), text);
        }

        #[test]
        fn the_head_of_a_string_can_be_decoded(text in any::<String>(), max in 0_usize..40) {
            let json = serde_json::to_string(&text).unwrap();
            let head = Str(&json.as_bytes()[1..json.len() - 1]).head(max).decode().unwrap();
            prop_assert!(text.starts_with(&*head));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = whole(&bytes);
        }

        #[test]
        fn what_serde_reads_is_read(text in r#"[\[\]{}:,"a1\\ truefalsn-]{0,24}"#) {
            if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
                prop_assert_eq!(whole(text.as_bytes()), Ok(()));
            }
        }
    }
}
