//! One key point as the file has it: an object whose unknown keys are kept.

use serde_json::{Map, Number, Value};

pub(super) const NAME: &str = "name";
pub(super) const TEXT: &str = "text";
pub(super) const HELPFUL: &str = "helpful";
pub(super) const HARMFUL: &str = "harmful";
/// The counters, in the order of [`counts`].
pub(super) const COUNTERS: [&str; 2] = [HELPFUL, HARMFUL];

pub(super) fn new(name: &str, text: &str, [helpful, harmful]: [u64; 2]) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert(NAME.to_owned(), name.into());
    fields.insert(TEXT.to_owned(), text.into());
    fields.insert(HELPFUL.to_owned(), helpful.into());
    fields.insert(HARMFUL.to_owned(), harmful.into());
    fields
}

pub(super) fn name(fields: &Map<String, Value>) -> Option<&str> {
    fields.get(NAME)?.as_str()
}

pub(super) fn text(fields: &Map<String, Value>) -> Option<&str> {
    fields.get(TEXT)?.as_str()
}

/// Returns the value of a counter: whole and not negative; one that is not a number counts as zero.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` rounds towards zero and stops at the limits, which is what is meant"
)]
pub(super) fn count(fields: &Map<String, Value>, counter: &str) -> u64 {
    let number = fields.get(counter).and_then(Value::as_number);
    let whole = number.and_then(|n| n.as_u64().or_else(|| n.as_f64().map(|n| n as u64)));
    whole.unwrap_or_default()
}

/// The helpful and the harmful votes, or their changes.
pub(super) type Counts = [i64; 2];

pub(super) fn plus(one: Counts, other: Counts) -> Counts {
    [0, 1].map(|at| one[at].saturating_add(other[at]))
}

pub(super) fn minus(one: Counts, other: Counts) -> Counts {
    [0, 1].map(|at| one[at].saturating_sub(other[at]))
}

/// Returns both counters, capped so that sums and differences do not overflow.
pub(super) fn counts(fields: &Map<String, Value>) -> Counts {
    const MAX_COUNT: u64 = i64::MAX as u64 / 4;
    COUNTERS.map(|counter| count(fields, counter).min(MAX_COUNT).cast_signed())
}

/// A negative counter becomes zero.
pub(super) fn set_counts(fields: &mut Map<String, Value>, counts: Counts) {
    let now = self::counts(fields);
    for (at, counter) in COUNTERS.into_iter().enumerate() {
        let count = counts[at].max(0);
        if now[at] != count {
            fields.insert(counter.to_owned(), count.into());
        }
    }
}

/// Adds a vote; a missing or non-numeric counter starts from zero, and a fraction is kept.
pub(super) fn raise(fields: &mut Map<String, Value>, counter: &str) {
    let raised = match fields.get(counter) {
        Some(Value::Number(n)) if n.is_f64() => {
            let sum = n.as_f64().unwrap_or_default().max(0.0) + 1.0;
            Number::from_f64(sum).unwrap_or_else(|| 1.into())
        }
        _ => count(fields, counter).saturating_add(1).into(),
    };
    fields.insert(counter.to_owned(), Value::Number(raised));
}
