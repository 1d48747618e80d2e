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

/// The longest id or name, in bytes.
const MAX_NAME: usize = 200;

/// A value as it is written, if there is one that is not `null`.
pub(crate) type Raw<'a> = Option<&'a RawValue>;

/// Returns what a string has between its quotes, not decoded.
pub(crate) fn quoted(value: Raw<'_>) -> Option<&str> {
    value?.get().strip_prefix('"')?.strip_suffix('"')
}

/// Returns an id or a name: a short string without escapes.
pub(crate) fn name(value: Raw<'_>) -> Option<&str> {
    quoted(value).filter(|name| name.len() <= MAX_NAME && !name.contains('\\'))
}

pub(crate) fn is_true(value: Raw<'_>) -> bool {
    value.is_some_and(|value| value.get() == "true")
}

/// Returns a string, decoded; half of a surrogate pair becomes U+FFFD.
pub(crate) fn text(value: Raw<'_>) -> Option<Cow<'_, str>> {
    let quoted = quoted(value)?;
    if memchr::memchr(b'\\', quoted.as_bytes()).is_none() {
        return Some(quoted.into());
    }
    let json = value?.get();
    let decoded = serde_json::from_str(json);
    let lossy = |_| serde_json::Deserializer::from_str(json).deserialize_bytes(Decoded);
    decoded.or_else(lossy).ok().map(Cow::Owned)
}

/// Takes a string with half a surrogate pair in it, which `serde_json` reads as bytes alone.
struct Decoded;

impl Visitor<'_> for Decoded {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
        // Half a pair is three bytes.
        Ok(String::from_utf8_lossy(bytes).replace("\u{FFFD}\u{FFFD}\u{FFFD}", "\u{FFFD}"))
    }
}

pub(crate) fn object<'a, T: Deserialize<'a>>(value: Raw<'a>) -> Option<T> {
    let value = value?.get();
    let is_object = value.starts_with('{');
    is_object.then(|| serde_json::from_str(value).ok())?
}

/// A value of another type counts as absent.
pub(crate) fn if_object<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    from.deserialize_any(IfObject(PhantomData))
}

struct IfObject<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for IfObject<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Some)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        IgnoredAny.visit_seq(seq).map(|_| None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Returns the items of a list, each read as `T`; none of another value.
pub(crate) fn items<'a, T: Deserialize<'a>>(value: Raw<'a>) -> Vec<Option<T>> {
    // The error for another value would quote it whole.
    let list = value.map(RawValue::get).filter(|it| it.starts_with('['));
    let list = list.unwrap_or("[]");
    serde_json::from_str(list).unwrap_or_else(|_| {
        let items: Vec<_> = serde_json::from_str(list).unwrap_or_default();
        items.into_iter().map(object).collect()
    })
}

pub(crate) fn texts(value: Raw<'_>) -> BTreeMap<String, Cow<'_, str>> {
    let fields: BTreeMap<String, Raw<'_>> = object(value).unwrap_or_default();
    let texts = fields.into_iter();
    texts
        .filter_map(|(key, value)| Some((key, text(value)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    fn read(json: &str) -> String {
        text(Some(serde_json::from_str(json).unwrap()))
            .unwrap()
            .into_owned()
    }

    #[rstest]
    #[case::pair(r"\ud83d\ude42!", "🙂!")]
    #[case::lone_high(r"a\ud83d b", "a\u{FFFD} b")]
    fn half_a_pair_is_read(#[case] raw: &str, #[case] text: &str) {
        assert_eq!(read(&format!("\"{raw}\"")), text);
    }

    proptest! {
        #[test]
        fn any_string_survives(text in any::<String>()) {
            prop_assert_eq!(read(&serde_json::to_string(&text).unwrap()), text);
        }
    }
}
