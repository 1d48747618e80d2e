//! JSON values that `serde_json` finds, decoded only where they are needed.
//!
//! More than 90 % of a transcript's bytes are of no interest to us. A key of an unexpected
//! type counts as absent: a later client may write it otherwise.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::mask::without_last_word;
use crate::clip::{boundary_after, boundary_before};

/// The longest id or name, in bytes.
const MAX_NAME: usize = 200;
/// The longest escape, a pair of `\uXXXX`, in bytes.
const MAX_ESCAPE: usize = 12;

/// A value as it is written, if there is one that is not `null`.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// Returns an id or a name: a short string without escapes.
pub(crate) fn name(value: Raw<'_>) -> Option<&str> {
    value.and_then(Str::of).and_then(Str::plain)
}

/// Returns `true` for the value `true` alone.
pub(crate) fn is_true(value: Raw<'_>) -> bool {
    value.is_some_and(|value| value.get() == "true")
}

/// A string as it is written between its quotes, not decoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Str<'a>(&'a str);

impl<'a> Str<'a> {
    /// Takes what JSON has between two quotes.
    pub(crate) fn new(raw: &'a str) -> Self {
        Self(raw)
    }

    pub(crate) fn of(value: &'a RawValue) -> Option<Self> {
        let raw = value.get().strip_prefix('"')?;
        raw.strip_suffix('"').map(Self)
    }

    /// Returns the text as it is written, with escapes.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    fn plain(self) -> Option<&'a str> {
        (self.0.len() <= MAX_NAME && !self.0.contains('\\')).then_some(self.0)
    }

    /// Returns about the first `max` bytes, and no part of an escape.
    pub(crate) fn head(self, max: usize) -> Self {
        if self.0.len() <= max {
            return self;
        }
        let near = max.saturating_sub(MAX_ESCAPE);
        let mut last = self.0.as_bytes()[near..max].iter();
        let end = match last.position(|byte| *byte == b'\\') {
            Some(at) => self.0[..near + at].trim_end_matches('\\').len(),
            None => boundary_before(self.0, max),
        };
        Self(&self.0[..end])
    }

    /// Returns about the last `max` bytes, from the start of a line.
    ///
    /// What looks like a newline can be the end of an escaped backslash and an `n`; then
    /// the line begins a character late.
    pub(crate) fn tail(self, max: usize) -> Self {
        if self.0.len() <= max {
            return self;
        }
        let last = &self.0[boundary_after(self.0, self.0.len() - max)..];
        Self(last.split_once("\\n").map_or("", |(_, lines)| lines))
    }

    /// Decodes about the first and the last `max` bytes, or all of a string that is
    /// not longer than both.
    pub(crate) fn decode_ends(self, max: usize) -> Cow<'a, str> {
        if self.0.len() <= 2 * max {
            return self.decode();
        }
        let (head, tail) = (self.head(max).decode(), self.tail(max).decode());
        // Half a word can be half a secret, which nothing knows as one.
        let head = without_last_word(&head);
        Cow::Owned(format!("{head}\n[… middle left out …]\n{tail}"))
    }

    /// Decodes escapes; half of a surrogate pair becomes U+FFFD.
    pub(crate) fn decode(self) -> Cow<'a, str> {
        if !self.0.contains('\\') {
            return Cow::Borrowed(self.0);
        }
        let quoted = format!("\"{}\"", self.0);
        let decoded = serde_json::Deserializer::from_str(&quoted).deserialize_bytes(Decoded);
        Cow::Owned(decoded.unwrap_or_default())
    }
}

/// Takes a string as bytes, which `serde_json` reads with half a surrogate pair in it, too.
struct Decoded;

impl Visitor<'_> for Decoded {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
        Ok(match String::from_utf8_lossy(bytes) {
            Cow::Borrowed(text) => text.to_owned(),
            // Half a pair is three bytes.
            Cow::Owned(text) => text.replace("\u{FFFD}\u{FFFD}\u{FFFD}", "\u{FFFD}"),
        })
    }
}

/// An object, read as `T`; nothing where another value is.
pub(crate) struct Object<T>(pub Option<T>);

impl<T> Default for Object<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_any(ObjectVisitor(PhantomData))
            .map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Option<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Option<T>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Option<T>, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Option<T>, E> {
        Ok(None)
    }
}

/// Calls `found` with each item of a list, if the value is one.
pub(crate) fn each_item<'a, T: Deserialize<'a>>(value: &'a RawValue, found: impl FnMut(T)) {
    let items: Vec<&RawValue> = serde_json::from_str(value.get()).unwrap_or_default();
    let items = items.into_iter().map(RawValue::get);
    items.flat_map(serde_json::from_str).for_each(found);
}

/// Returns the fields of an object by name; none of another value.
pub(crate) fn fields(value: &RawValue) -> BTreeMap<String, &RawValue> {
    serde_json::from_str(value.get()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("abc", "abc")]
    #[case::escapes(r#"a\"b\\c\/d\n\t\r\b\f"#, "a\"b\\c/d\n\t\r\u{8}\u{c}")]
    #[case::unicode(r"\u00e9\u65e5", "é日")]
    #[case::pair(r"\ud83d\ude42!", "🙂!")]
    #[case::lone_high(r"a\ud83d b", "a\u{FFFD} b")]
    fn strings_are_decoded(#[case] raw: &str, #[case] text: &str) {
        assert_eq!(Str(raw).decode(), text);
    }

    #[rstest]
    #[case::object(r#"{"a":1}"#, Some(1))]
    #[case::list("[{\"a\":1}]", None)]
    #[case::text("\"a\"", None)]
    #[case::number("-1.5e3", None)]
    #[case::literal("true", None)]
    #[case::null("null", None)]
    fn only_an_object_is_read(#[case] json: &str, #[case] want: Option<u64>) {
        let object: Object<std::collections::HashMap<String, u64>> =
            serde_json::from_str(json).unwrap();
        assert_eq!(object.0.map(|fields| fields["a"]), want);
    }

    proptest! {
        #[test]
        fn any_string_survives(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let raw: &RawValue = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(Str::of(raw).unwrap().decode(), text);
        }

        #[test]
        fn the_head_of_a_string_can_be_decoded(text in any::<String>(), max in 0_usize..40) {
            let json = serde_json::to_string(&text).unwrap();
            let head = Str(&json[1..json.len() - 1]).head(max).decode();
            prop_assert!(text.starts_with(&*head));
        }
    }
}
