//! Where the parts of a JSON text stand, without changing a byte of it.
//!
//! The text has been checked to be JSON, so nothing here fails; what is no object has no
//! members, and what is no array has no items.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

/// The values of an object's members in their order, two of one name included.
struct Values<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Values<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Values<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut values = Vec::new();
                while let Some((_, value)) = map.next_entry::<Cow<'de, str>, _>()? {
                    values.push(value);
                }
                Ok(Values(values))
            }
        }
        from.deserialize_map(InOrder)
    }
}

pub(super) fn root(text: &str, from: usize) -> Range<usize> {
    let json = text[from..].trim_start_matches(SPACE);
    let start = text.len() - json.len();
    start..start + json.trim_end_matches(SPACE).len()
}

/// The members of the object at `object`; none when something else stands there.
pub(super) fn members(text: &str, object: &Range<usize>) -> Vec<Member> {
    let Ok(Values(values)) = serde_json::from_str(&text[object.clone()]) else {
        return Vec::new();
    };
    // Behind the brace.
    let mut end = object.start + 1;
    let mut member = |value: Range<usize>| {
        let before = text[end..value.start].trim_start_matches([' ', '\t', '\n', '\r', ',']);
        let key = before.trim_end_matches([' ', '\t', '\n', '\r', ':']);
        let start = value.start - before.len();
        end = value.end;
        Member {
            key: start..start + key.len(),
            value,
        }
    };
    let values = values.into_iter().map(|value| place(text, value));
    values.map(&mut member).collect()
}

/// The items of the array at `array`; none when something else stands there.
pub(super) fn items(text: &str, array: &Range<usize>) -> Vec<Range<usize>> {
    let items: Vec<&RawValue> = serde_json::from_str(&text[array.clone()]).unwrap_or_default();
    items.into_iter().map(|item| place(text, item)).collect()
}

fn place(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr().addr() - text.as_ptr().addr();
    start..start + part.get().len()
}

pub(super) const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];
