//! Reads the JSON of a file that we will write back: nothing in it may get lost.
//!
//! `serde_json` keeps the last of two equal keys and drops the first. A file in which a
//! bad git merge left a section twice would lose key points at the next write, so such a
//! file counts as corrupt here.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::defect::Defect;

/// How deep a file may go. Its entries are stored with jobs, a few levels further down, and
/// JSON is read no deeper than 128.
const MAX_DEPTH: usize = 100;
/// The mark that some editors put in front of UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Reads one JSON object; a key that stands twice in an object is an error.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Defect> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let Strict(value) = serde_json::from_slice(bytes).map_err(|e| Defect::from_json(&e))?;
    match value {
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

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Builder { room: MAX_DEPTH }
            .deserialize(deserializer)
            .map(Self)
    }
}

#[derive(Clone, Copy)]
struct Builder {
    /// How much deeper it may go.
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

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
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
