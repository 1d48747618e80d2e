//! A borrowing JSON reader for transcripts.
//!
//! More than 90 % of a transcript's bytes are of no interest to us, and nearly all of
//! them stand inside long strings. This reader finds the end of a string with `memchr`
//! and hands back slices; only what is asked for is ever decoded. It checks the
//! grammar around strings strictly, and what stands in a string when it is decoded.
//! Nesting is counted, not recursed into, so that no input can exhaust the stack.

use super::text::Str;

/// How deeply values may nest; real transcripts stay under 20.
const MAX_DEPTH: u32 = 128;

/// How many bytes are looked at before a string counts as long; a multiple of eight.
const SHORT: usize = 40;

/// Why a text is not the JSON we read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonFault {
    /// It breaks the grammar, or ends too early.
    Syntax,
    /// It nests more than 128 values.
    TooDeep,
    /// A string that is needed is not UTF-8.
    NotUtf8,
}

/// A value of which only the outline is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<S> {
    Str(S),
    /// An object or array: its text with the brackets.
    Nested(S),
    /// `true` or `false`.
    Bool(bool),
    /// A number or `null`.
    Plain,
}

impl<S> Value<S> {
    pub(crate) fn str(self) -> Option<S> {
        match self {
            Self::Str(s) => Some(s),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    pub(crate) fn map<T>(self, form: impl Fn(S) -> T) -> Value<T> {
        match self {
            Self::Str(s) => Value::Str(form(s)),
            Self::Nested(s) => Value::Nested(form(s)),
            Self::Bool(b) => Value::Bool(b),
            Self::Plain => Value::Plain,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct JsonCursor<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> JsonCursor<'a> {
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

    fn take(&mut self, wanted: u8) -> Result<(), JsonFault> {
        if self.peek() == Some(wanted) {
            self.pos += 1;
            Ok(())
        } else {
            Err(JsonFault::Syntax)
        }
    }

    /// Reads an object, calling `field` with each key; `field` must read the value.
    pub(crate) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, Str<'a>) -> Result<(), JsonFault>,
    ) -> Result<(), JsonFault> {
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
                _ => return Err(JsonFault::Syntax),
            }
        }
    }

    /// Reads an array, calling `item` at each element; `item` must read it.
    pub(crate) fn array(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<(), JsonFault>,
    ) -> Result<(), JsonFault> {
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
                _ => return Err(JsonFault::Syntax),
            }
        }
    }

    pub(crate) fn value(&mut self) -> Result<Value<Str<'a>>, JsonFault> {
        match self.peek() {
            Some(b'"') => self.string().map(Value::Str),
            Some(b'{' | b'[') => {
                let start = self.pos;
                self.skip_nested()?;
                Ok(Value::Nested(Str::new(&self.bytes[start..self.pos])))
            }
            Some(b't') => self.literal(b"true").map(|()| Value::Bool(true)),
            Some(b'f') => self.literal(b"false").map(|()| Value::Bool(false)),
            _ => self.plain().map(|()| Value::Plain),
        }
    }

    /// Reads a string; the cursor must stand on its quote.
    fn string(&mut self) -> Result<Str<'a>, JsonFault> {
        if self.bytes.get(self.pos) != Some(&b'"') {
            return Err(JsonFault::Syntax);
        }
        let start = self.pos + 1;
        let mut from = start;
        let mut quote = find_quote(&self.bytes[start..]);
        loop {
            let end = from + quote.ok_or(JsonFault::Syntax)?;
            let before = &self.bytes[from..end];
            let slashes = match before.last() {
                Some(b'\\') => before.iter().rev().take_while(|&&b| b == b'\\').count(),
                _ => 0,
            };
            if slashes % 2 == 0 {
                self.pos = end + 1;
                return Ok(Str::new(&self.bytes[start..end]));
            }
            from = end + 1;
            quote = memchr::memchr(b'"', &self.bytes[from..]);
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), JsonFault> {
        if self.bytes[self.pos..].starts_with(word) {
            self.pos += word.len();
            Ok(())
        } else {
            Err(JsonFault::Syntax)
        }
    }

    /// Skips a number or `null`.
    fn plain(&mut self) -> Result<(), JsonFault> {
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
            _ => Err(JsonFault::Syntax),
        }
    }

    fn skip_nested(&mut self) -> Result<(), JsonFault> {
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
                    _ => return Err(JsonFault::Syntax),
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

    fn key(&mut self) -> Result<(), JsonFault> {
        self.string()?;
        self.take(b':')
    }
}

/// Finds the next quote. Most strings are short, so the first bytes are looked at
/// eight at a time, which is quicker than to call `memchr` for them.
fn find_quote(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const TOPS: u64 = u64::from_ne_bytes([0x80; 8]);
    const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
    let Some(head) = bytes.first_chunk::<SHORT>() else {
        return memchr::memchr(b'"', bytes);
    };
    for (i, word) in head.as_chunks::<8>().0.iter().enumerate() {
        let differs = u64::from_le_bytes(*word) ^ QUOTES;
        let found = differs.wrapping_sub(ONES) & !differs & TOPS;
        if found != 0 {
            return Some(i * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    memchr::memchr(b'"', &bytes[SHORT..]).map(|i| SHORT + i)
}

fn deeper(open: u128, depth: u32, bit: u128) -> Result<(u128, u32), JsonFault> {
    if depth == MAX_DEPTH {
        return Err(JsonFault::TooDeep);
    }
    Ok((open << 1 | bit, depth + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn whole(text: &[u8]) -> Result<(), JsonFault> {
        let mut cursor = JsonCursor::new(text);
        cursor.value()?;
        match cursor.peek() {
            None => Ok(()),
            Some(_) => Err(JsonFault::Syntax),
        }
    }

    #[rstest]
    #[case::empty("")]
    #[case::two("{} {}")]
    #[case::cut_string("\"abc")]
    #[case::escaped_quote_only("\"abc\\\"")]
    #[case::wrong_close("{\"a\":[1}]")]
    #[case::trailing_comma("[1,]")]
    #[case::nan("NaN")]
    #[case::lone_minus("-")]
    fn what_is_not_json_is_a_fault(#[case] text: &str) {
        assert_eq!(whole(text.as_bytes()), Err(JsonFault::Syntax));
    }

    #[test]
    fn a_depth_bomb_is_refused_at_once() {
        assert_eq!(whole(&b"[".repeat(1_000_000)), Err(JsonFault::TooDeep));
        assert_eq!(
            whole(&b"{\"a\":".repeat(1_000_000)),
            Err(JsonFault::TooDeep)
        );
        let deep = format!("{}1{}", "[".repeat(128), "]".repeat(128));
        assert_eq!(whole(deep.as_bytes()), Ok(()));
    }

    proptest! {
        #[test]
        fn the_first_quote_is_found(bytes in r#"[a"]{0,3}[^"]{0,90}[b"]{0,3}"#) {
            prop_assert_eq!(find_quote(bytes.as_bytes()), bytes.find('"'));
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
