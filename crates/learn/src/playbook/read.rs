//! Reads playbook files of every format version into today's shape, and refuses files that a write
//! would damage.
//!
//! `serde_json` keeps the last of two equal keys and drops the first. A file in which a bad git
//! merge left a section twice would lose key points at the next write, so it counts as corrupt
//! here.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::entry::{self, COUNTERS};
use super::id::{LEGACY_PREFIX, MAX_COUNTED, Section};
use super::model::{LAST_UPDATED, Playbook, SECTIONS, VERSION, VERSION_KEY};
use crate::redact;

const KEY_POINTS: &str = "key_points";
/// The only counter of that format: positive for helpful, negative for harmful.
const SCORE: &str = "score";

/// The deepest nesting of a file. Jobs store its entries a few levels deeper, and JSON is parsed to
/// at most 128.
const MAX_DEPTH: usize = 100;
/// The byte order mark that some editors put before UTF-8.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A duplicate key in an object is an error.
pub(super) fn object(bytes: &[u8]) -> Result<Map<String, Value>, Defect> {
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Builder.deserialize(&mut reader);
    let value = value.and_then(|value| reader.end().map(|()| value));
    match value.map_err(|error| Defect::from_json(&error))? {
        deep if is_deeper(&deep, MAX_DEPTH) => Err(Defect::at(
            "the file",
            format!("nested deeper than {MAX_DEPTH}"),
        )),
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

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct Defect {
    /// `line 2, column 1`, or `OTHERS, entry 3`.
    place: String,
    reason: String,
    is_of_text: bool,
}

impl Defect {
    pub fn at(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: masked(&place.into()),
            reason: masked(&reason.into()),
            is_of_text: false,
        }
    }

    /// Returns `true` if the text is not JSON, as opposed to JSON of another shape.
    pub fn is_of_text(&self) -> bool {
        self.is_of_text
    }

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

fn masked(text: &str) -> String {
    redact::mask(text).into_owned()
}

pub(super) fn is_deeper(value: &Value, levels: usize) -> bool {
    let below = levels.checked_sub(1);
    let is_below = |value: &Value| below.is_none_or(|below| is_deeper(value, below));
    match value {
        Value::Array(items) => below.is_none() || items.iter().any(is_below),
        Value::Object(map) => below.is_none() || map.values().any(is_below),
        _ => false,
    }
}

macro_rules! scalars {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E>(self, value: $type) -> Result<Value, E> {
            Ok(value.into())
        })*
    };
}

/// Builds a value and refuses duplicate keys.
struct Builder;

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

    scalars!(visit_bool: bool, visit_u64: u64, visit_i64: i64, visit_f64: f64, visit_str: &str);

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if map.contains_key(&key) {
                return Err(de::Error::custom(format!("key `{key}` stands here twice")));
            }
            map.insert(key, entries.next_value_seed(Self)?);
        }
        Ok(Value::Object(map))
    }
}

#[derive(Debug, Clone)]
pub struct Migrated {
    pub playbook: Playbook,
    /// Set if the file had another shape; its original should then be kept.
    pub changed: bool,
}

/// Reads a playbook file: flat `key_points` become key points in OTHERS, missing sections are
/// added.
///
/// If there are `sections`, they win, and `key_points` are removed. Items of a flat list that are
/// neither text nor object are dropped. An entry without a name or text is no key point and is kept
/// unchanged. A key point with a negative or non-numeric counter is an error.
pub fn migrate(bytes: &[u8]) -> Result<Migrated, Defect> {
    let mut playbook = Playbook::parse(bytes)?;
    let flat = playbook.root.shift_remove(KEY_POINTS);
    let mut changed = flat.is_some();
    match flat {
        _ if playbook.root.contains_key(SECTIONS) => {}
        None => {
            for (key, value) in [(VERSION_KEY, VERSION.into()), (LAST_UPDATED, Value::Null)] {
                playbook.root.entry(key).or_insert(value);
            }
        }
        Some(Value::Array(items)) => {
            let title = Section::Others.title().to_owned();
            playbook.sections.insert(title, from_flat(items));
        }
        Some(other) => {
            let reason = format!("expected a list, found {}", kind(&other));
            return Err(Defect::at(format!("`{KEY_POINTS}`"), reason));
        }
    }
    changed |= playbook.complete_sections();
    check(&playbook)?;
    Ok(Migrated { playbook, changed })
}

/// An unnamed item gets the next number after those seen so far that no later item has.
fn from_flat(items: Vec<Value>) -> Value {
    let names = items
        .iter()
        .filter_map(|item| entry::name(item.as_object()?));
    let taken: HashSet<String> = names.map(str::to_owned).collect();
    let legacy_name = |number: u64| format!("{LEGACY_PREFIX}{number:03}");
    let mut last = 0;
    let entries = items.into_iter().filter_map(|item| {
        let mut fields = match item {
            Value::String(text) => entry::new("", &text, [0, 0]),
            Value::Object(fields) => fields,
            _ => return None,
        };
        let own = entry::name(&fields).filter(|own| !own.is_empty());
        let name = if let Some(own) = own {
            last = legacy_number(own).unwrap_or(0).max(last);
            own.to_owned()
        } else {
            let mut free = (last + 1..).filter(|n| !taken.contains(&legacy_name(*n)));
            last = free.next().unwrap_or(last);
            legacy_name(last)
        };
        fields.insert(entry::NAME.to_owned(), name.into());
        count_score(&mut fields);
        Some(Value::Object(fields))
    });
    entries.collect()
}

fn legacy_number(name: &str) -> Option<u64> {
    let rest = name.strip_prefix(LEGACY_PREFIX)?;
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok().filter(|&number| number <= MAX_COUNTED)
}

/// Ignores a single counter, which that format never wrote; then the score counts.
fn count_score(fields: &mut Map<String, Value>) {
    let score = fields.shift_remove(SCORE);
    if COUNTERS.iter().all(|counter| fields.contains_key(*counter)) {
        return;
    }
    let score = score.and_then(|score| score.as_number().cloned());
    let score = score.unwrap_or_else(|| 0.into()).to_string();
    let (counted, votes) = match score.strip_prefix('-') {
        Some(votes) => (entry::HARMFUL, votes),
        None => (entry::HELPFUL, &*score),
    };
    for counter in COUNTERS {
        let votes = if counter == counted { votes } else { "0" };
        let votes: Value = serde_json::from_str(votes).unwrap_or_default();
        fields.insert(counter.to_owned(), votes);
    }
}

/// Refuses counters that a vote would replace by another number.
fn check(playbook: &Playbook) -> Result<(), Defect> {
    for (title, index, fields) in playbook.objects() {
        let (Some(name), Some(_)) = (fields.get(entry::NAME), entry::text(fields)) else {
            continue;
        };
        for key in COUNTERS {
            let reason = match fields.get(key) {
                None | Some(Value::Null) => continue,
                Some(Value::Number(number)) if number.as_f64() >= Some(0.0) => continue,
                Some(Value::Number(number)) => number.to_string(),
                Some(other) => kind(other).to_owned(),
            };
            let name = name.as_str().unwrap_or_default();
            let place = format!("{title}, entry {} ({name})", index + 1);
            return Err(Defect::at(place, format!("`{key}` is {reason}")));
        }
    }
    Ok(())
}
