//! Reads the JSON of a file that we will write back: nothing in it may get lost.
//!
//! `serde_json` keeps the last of two equal keys and drops the first. A file in which a
//! bad git merge left a section twice would lose key points at the next write, so such a
//! file counts as corrupt here.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::redact;

/// The deepest nesting that a file may have. Its entries are stored with jobs, a few levels further down, and
/// JSON is read no deeper than 128.
const MAX_DEPTH: usize = 100;
/// The mark that some editors put in front of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads one JSON object; a key that stands twice in an object is an error.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Defect> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Builder { room: MAX_DEPTH }.deserialize(&mut reader);
    let value = value.and_then(|value| reader.end().map(|()| value));
    match value.map_err(|error| Defect::from_json(&error))? {
        Value::Object(map) => Ok(map),
        other => Err(Defect::at(
            "the file",
            format!("expected an object, found {}", kind(&other)),
        )),
    }
}

pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Why a file is no playbook, with the place of the fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Defect {
    /// `line 2, column 1`, or `OTHERS, entry 3`.
    place: String,
    reason: String,
    is_of_text: bool,
}

impl Defect {
    /// A defect at `place`, in words such as "point 3 of OTHERS".
    pub fn at(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: masked(&place.into()),
            reason: masked(&reason.into()),
            is_of_text: false,
        }
    }

    /// Returns true if the text is no JSON, rather than JSON of another shape.
    pub fn is_of_text(&self) -> bool {
        self.is_of_text
    }

    /// Says where `bytes` stop being text.
    pub fn not_utf8(error: &std::str::Utf8Error, bytes: &[u8]) -> Self {
        let good = &bytes[..error.valid_up_to().min(bytes.len())];
        let line = 1 + memchr::memchr_iter(b'\n', good).count();
        let column = good
            .rsplit(|byte| *byte == b'\n')
            .next()
            .map_or(0, <[u8]>::len)
            + 1;
        Self::of_text(line, column, "not UTF-8")
    }

    /// Keeps the line and column of a JSON error, and its reason without them.
    pub fn from_json(error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let reason = match message.rfind(" at line ") {
            Some(end) => message[..end].to_owned(),
            None => message,
        };
        Self::of_text(error.line(), error.column(), &reason)
    }

    fn of_text(line: usize, column: usize, reason: &str) -> Self {
        Self {
            place: format!("line {line}, column {column}"),
            reason: masked(reason),
            is_of_text: true,
        }
    }
}

/// Masks a flaw, which may quote the file and is shown and stored.
fn masked(text: &str) -> String {
    redact::mask(text).into_owned()
}

#[derive(Clone, Copy)]
struct Builder {
    /// The levels that are left.
    room: usize,
}

impl Builder {
    fn below<E: de::Error>(self) -> Result<Self, E> {
        let room = self.room.checked_sub(1);
        let room = room.ok_or_else(|| E::custom(format!("nested deeper than {MAX_DEPTH}")))?;
        Ok(Self { room })
    }
}

impl<'de> DeserializeSeed<'de> for Builder {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Builder {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(below)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(de::Error::custom(format!("key `{key}` stands here twice")));
            }
            map.insert(key, entries.next_value_seed(below)?);
        }
        Ok(Value::Object(map))
    }
}
