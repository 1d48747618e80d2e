//! Reads playbook files of every age into the shape that is written today, and refuses
//! what cannot be counted in.

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use super::entry::{self, COUNTERS};
use super::json::Defect;
use super::json::kind;
use super::model::{LAST_UPDATED, Playbook, PointPlace, SECTIONS, VERSION, VERSION_KEY};
use super::section::Section;

const KEY_POINTS: &str = "key_points";
/// The one counter of that format: above zero helpful, below harmful.
const SCORE: &str = "score";
const LEGACY_PREFIX: &str = "kpt_";

/// A playbook in today's shape.
#[derive(Debug, Clone)]
pub struct Migrated {
    /// The playbook in today's format.
    pub playbook: Playbook,
    /// Whether the file had another shape; its original is then worth keeping.
    pub changed: bool,
}

/// Reads a playbook file: flat `key_points` become key points in OTHERS, sections that
/// are missing are added.
///
/// Where there are `sections`, they win, and `key_points` go. Items of a flat list that are
/// neither text nor object are dropped. An entry without a name or text is no key point: it
/// is kept as it is. A key point whose counter is no number or below zero is a flaw.
pub fn migrate(bytes: &[u8]) -> Result<Migrated, Defect> {
    let mut playbook = Playbook::parse(bytes)?;
    let flat = playbook.root.shift_remove(KEY_POINTS);
    let mut changed = flat.is_some();
    match (playbook.root.get(SECTIONS), flat) {
        (Some(_), _) => {}
        (None, None) => {
            for (key, value) in [(VERSION_KEY, VERSION.into()), (LAST_UPDATED, Value::Null)] {
                playbook.root.entry(key).or_insert(value);
            }
        }
        (None, Some(Value::Array(items))) => {
            playbook.set_list(Section::Others, from_flat(items));
        }
        (None, Some(other)) => {
            let reason = format!("expected a list, found {}", kind(&other));
            return Err(Defect::at(format!("`{KEY_POINTS}`"), reason));
        }
    }
    changed |= playbook.complete_sections();
    check(&playbook)?;
    Ok(Migrated { playbook, changed })
}

/// Makes entries of the flat list. An item without a name gets the next number after those
/// seen so far that no later item has.
fn from_flat(items: Vec<Value>) -> Vec<Value> {
    let names = items
        .iter()
        .filter_map(|item| entry::name(item.as_object()?));
    let taken: HashSet<String> = names.map(str::to_owned).collect();
    let mut last = 0;
    let mut entries = Vec::with_capacity(items.len());
    for item in items {
        let mut fields = match item {
            Value::String(text) => entry::new("", &text, [0, 0]),
            Value::Object(fields) => fields,
            _ => continue,
        };
        let own = fields.get(entry::NAME).and_then(Value::as_str);
        let name = match own {
            Some(own) if !own.is_empty() => {
                last = legacy_number(own).unwrap_or(0).max(last);
                own.to_owned()
            }
            _ => loop {
                last += 1;
                let name = format!("{LEGACY_PREFIX}{last:03}");
                if !taken.contains(&name) {
                    break name;
                }
            },
        };
        fields.insert(entry::NAME.to_owned(), name.into());
        count_score(&mut fields);
        entries.push(Value::Object(fields));
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
    if COUNTERS.iter().all(|counter| fields.contains_key(*counter)) {
        return;
    }
    let score = match score {
        Some(Value::Number(score)) => score,
        _ => 0.into(),
    };
    let counted = if score.as_f64() < Some(0.0) {
        entry::HARMFUL
    } else {
        entry::HELPFUL
    };
    for counter in COUNTERS {
        let votes = if counter == counted {
            magnitude(&score)
        } else {
            0.into()
        };
        fields.insert(counter.to_owned(), Value::Number(votes));
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

/// Refuses counters that a vote would replace by another number.
fn check(playbook: &Playbook) -> Result<(), Defect> {
    for (PointPlace { title, index }, fields) in playbook.entries() {
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
