//! Reads playbook files of every age into the shape that is written today, and refuses
//! what cannot be right.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::entry::{self, Counter};
use super::flaw::Flaw;
use super::json::kind;
use super::model::{Playbook, SECTIONS};
use super::section::Section;

const KEY_POINTS: &str = "key_points";
/// The one counter of that format: above zero helpful, below harmful.
const SCORE: &str = "score";
const LEGACY_PREFIX: &str = "kpt_";

/// A playbook in today's shape.
#[derive(Debug, Clone)]
pub struct Migrated {
    /// The playbook.
    pub playbook: Playbook,
    /// Whether the file had another shape; its original is then worth keeping.
    pub(crate) changed: bool,
}

/// Reads a playbook file: flat `key_points` become key points in OTHERS, sections that
/// are missing are added.
///
/// Where there are `sections`, they win, and `key_points` go. Items of a flat list that are neither text nor object are dropped. Wrong types
/// inside are flaws with their place: an entry that is no object or has no name or text,
/// a counter that is no number or below zero.
pub fn migrate(bytes: &[u8]) -> Result<Migrated, Flaw> {
    let mut playbook = Playbook::parse(bytes)?;
    let flat = playbook.remove_top(KEY_POINTS);
    let mut changed = flat.is_some();
    match (playbook.top(SECTIONS), flat) {
        (Some(_), _) => {}
        (None, None) => playbook.stamp_version(),
        (None, Some(Value::Array(items))) => {
            playbook.set_list(Section::Others, from_flat(items));
        }
        (None, Some(other)) => {
            let reason = format!("expected a list, found {}", kind(&other));
            return Err(Flaw::at(format!("`{KEY_POINTS}`"), reason));
        }
    }
    changed |= playbook.complete_sections();
    check(&playbook)?;
    Ok(Migrated { playbook, changed })
}

pub(super) struct FlatNames {
    taken: HashSet<String>,
    last: u64,
}

impl FlatNames {
    pub(super) fn new<'a>(given: impl Iterator<Item = &'a str>) -> Self {
        Self {
            taken: given.map(str::to_owned).collect(),
            last: 0,
        }
    }

    /// Returns the next item's name: its own, else one with the next number after those
    /// seen so far that no later item has.
    pub(super) fn next(&mut self, given: Option<&str>) -> String {
        if let Some(given) = given {
            self.last = legacy_number(given).unwrap_or(0).max(self.last);
            return given.to_owned();
        }
        loop {
            self.last += 1;
            let name = format!("{LEGACY_PREFIX}{:03}", self.last);
            if !self.taken.contains(&name) {
                return name;
            }
        }
    }
}

fn from_flat(items: Vec<Value>) -> Vec<Value> {
    let mut names = FlatNames::new(items.iter().filter_map(entry::name));
    let mut entries = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Value::String(text) => {
                let name = names.next(None);
                entries.push(Value::Object(entry::new(&name, &text, 0, 0)));
            }
            Value::Object(mut fields) => {
                let own = names.next(fields.get(entry::NAME).and_then(Value::as_str));
                fields.insert(entry::NAME.to_owned(), own.into());
                count_score(&mut fields);
                entries.push(Value::Object(fields));
            }
            _ => {}
        }
    }
    entries
}

/// The number of `kpt_007` or `kpt_007_b`.
fn legacy_number(name: &str) -> Option<u64> {
    /// Larger numbers were typed by someone; they do not move the next one.
    const MAX: u64 = 1 << 40;
    let rest = name.strip_prefix(LEGACY_PREFIX)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok().filter(|&number| number <= MAX)
}

/// Gives an entry both counters: its own where it has both, else those of its score.
///
/// One counter alone was never written by that format, so it says nothing.
fn count_score(fields: &mut Map<String, Value>) {
    let score = fields.shift_remove(SCORE);
    let counters = [Counter::Helpful, Counter::Harmful];
    if counters.iter().all(|c| fields.contains_key(c.key())) {
        return;
    }
    for counter in counters {
        let votes = match &score {
            Some(Value::Number(score)) if counter.is_counted_by(score) => magnitude(score),
            _ => 0.into(),
        };
        fields.insert(counter.key().to_owned(), Value::Number(votes));
    }
}

impl Counter {
    fn is_counted_by(self, score: &Number) -> bool {
        match self {
            Self::Helpful => score.as_f64() > Some(0.0),
            Self::Harmful => score.as_f64() < Some(0.0),
        }
    }
}

/// A number without its sign, a whole one exactly.
fn magnitude(number: &Number) -> Number {
    if let Some(whole) = number.as_i64() {
        return whole.unsigned_abs().into();
    }
    let positive = number.as_f64().map(f64::abs).and_then(Number::from_f64);
    positive.unwrap_or_else(|| number.clone())
}

fn check(playbook: &Playbook) -> Result<(), Flaw> {
    for title in playbook.titles() {
        for (index, value) in playbook.list(title).iter().enumerate() {
            check_entry(value).map_err(|reason| {
                let name = entry::name(value).map(|name| format!(" ({name})"));
                let place = format!("{title}, entry {}", index + 1);
                Flaw::at(place + &name.unwrap_or_default(), reason)
            })?;
        }
    }
    Ok(())
}

fn check_entry(value: &Value) -> Result<(), String> {
    let Some(fields) = value.as_object() else {
        return Err(format!("expected an object, found {}", kind(value)));
    };
    for key in [entry::NAME, entry::TEXT] {
        match fields.get(key) {
            Some(Value::String(_)) => {}
            Some(other) => return Err(format!("`{key}` is {}", kind(other))),
            None => return Err(format!("no `{key}`")),
        }
    }
    for counter in [Counter::Helpful, Counter::Harmful] {
        let key = counter.key();
        match fields.get(key) {
            None | Some(Value::Null) => {}
            Some(Value::Number(number)) if number.as_f64() >= Some(0.0) => {}
            Some(Value::Number(number)) => return Err(format!("`{key}` is {number}")),
            Some(other) => return Err(format!("`{key}` is {}", kind(other))),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::counter(
        "{\"name\": \"a\", \"text\": \"t\", \"helpful\": \"1\"}",
        "OTHERS, entry 2 (a): `helpful` is a string"
    )]
    #[case::negative(
        "{\"name\": \"a\", \"text\": \"t\", \"harmful\": -1}",
        "OTHERS, entry 2 (a): `harmful` is -1"
    )]
    #[case::no_name("{\"text\": \"t\"}", "OTHERS, entry 2: no `name`")]
    #[case::name(
        "{\"name\": 5, \"text\": \"t\"}",
        "OTHERS, entry 2: `name` is a number"
    )]
    #[case::no_text("{\"name\": \"a\"}", "OTHERS, entry 2 (a): no `text`")]
    #[case::text(
        "{\"name\": \"a\", \"text\": null}",
        "OTHERS, entry 2 (a): `text` is null"
    )]
    #[case::string("\"x\"", "OTHERS, entry 2: expected an object, found a string")]
    #[case::null("null", "OTHERS, entry 2: expected an object, found null")]
    fn a_wrong_type_is_told_with_its_place(#[case] entry: &str, #[case] flaw: &str) {
        let good = r#"{"name": "oth-001", "text": "t", "helpful": 1.5, "harmful": null}"#;
        let file = format!("{{\"sections\": {{\"OTHERS\": [{good}, {entry}]}}}}");
        assert_eq!(migrate(file.as_bytes()).unwrap_err().to_string(), flaw);
    }

    #[test]
    fn a_flat_list_is_told_as_changed_and_keeps_all_else() {
        let file = r#"{"mine": 1, "key_points": ["a"]}"#;
        let migrated = migrate(file.as_bytes()).unwrap();
        assert!(migrated.changed);
        assert_eq!(migrated.playbook.as_map()["mine"], 1);
        assert_eq!(migrated.playbook.points().next().unwrap().name, "kpt_001");
        let again = migrate(&migrated.playbook.to_bytes()).unwrap();
        assert!(!again.changed);
    }
}
