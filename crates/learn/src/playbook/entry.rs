//! One key point as it stands in the file: an object whose unknown keys we keep.

use serde_json::{Map, Number, Value};

pub(super) const NAME: &str = "name";
pub(super) const TEXT: &str = "text";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counter {
    Helpful,
    Harmful,
}

pub(super) const COUNTERS: [Counter; 2] = [Counter::Helpful, Counter::Harmful];

impl Counter {
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
        }
    }
}

pub(super) fn new(name: &str, text: &str, helpful: u64, harmful: u64) -> Map<String, Value> {
    let mut entry = Map::new();
    entry.insert(NAME.to_owned(), name.into());
    entry.insert(TEXT.to_owned(), text.into());
    entry.insert(Counter::Helpful.key().to_owned(), helpful.into());
    entry.insert(Counter::Harmful.key().to_owned(), harmful.into());
    entry
}

pub(super) fn name(entry: &Map<String, Value>) -> Option<&str> {
    entry.get(NAME)?.as_str()
}

pub(super) fn text(entry: &Map<String, Value>) -> Option<&str> {
    entry.get(TEXT)?.as_str()
}

/// The value of a counter: whole and not negative; what is no number counts as none.
pub(super) fn count(entry: &Map<String, Value>, counter: Counter) -> u64 {
    match entry.get(counter.key()) {
        Some(Value::Number(n)) => n
            .as_u64()
            .or_else(|| n.as_f64().map(whole))
            .unwrap_or_default(),
        _ => 0,
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` rounds towards zero and stops at the limits, which is what is meant"
)]
fn whole(number: f64) -> u64 {
    number as u64
}

/// Adds votes; a counter that is missing or no number starts from none, a fraction stays.
pub(super) fn raise(entry: &mut Map<String, Value>, counter: Counter, by: u64) {
    let raised = match entry.get(counter.key()) {
        Some(Value::Number(n)) if n.is_f64() => {
            #[expect(clippy::cast_precision_loss, reason = "a fraction is not exact anyway")]
            let sum = n.as_f64().unwrap_or(0.0).max(0.0) + by as f64;
            Number::from_f64(sum).unwrap_or_else(|| by.into())
        }
        _ => count(entry, counter).saturating_add(by).into(),
    };
    entry.insert(counter.key().to_owned(), Value::Number(raised));
}
