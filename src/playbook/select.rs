//! Which key points are worth their room: the order in which they are kept.
//!
//! Pinned points come first. Then by score, best first: `(helpful − harmful) / (helpful +
//! harmful + 2)`, so that one vote weighs less than the fifth of five equal ones, plus a
//! quarter of the recency, which halves every 30 days since the point was last used (or
//! added). A point of which no date is known, as in files written by others, counts as
//! one half. Points unused for 90 days come last of all. Equal points keep the file's
//! order.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::meta::Note;

/// After how many days without use a point is stale.
pub const STALE_DAYS: f64 = 90.0;
/// In how many days the recency halves.
const HALF_LIFE_DAYS: f64 = 30.0;
/// How much recency counts beside votes, which go from -1 to 1.
const RECENCY_WEIGHT: f64 = 0.25;
/// The recency of a point of which no date is known.
const UNKNOWN_RECENCY: f64 = 0.5;
/// How many votes of each kind every point is thought to have, to damp the first ones.
const PRIOR_VOTES: f64 = 2.0;

/// How much of the client's context the key points may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most UTF-16 units of the whole text; the client cuts at 10,000.
    pub units: usize,
    /// The most key points.
    pub points: usize,
}

impl Limits {
    /// At the start of a session.
    pub const FULL: Self = Self {
        units: 9_500,
        points: usize::MAX,
    };
    /// After a compaction, where the conversation goes on.
    pub const COMPACT: Self = Self {
        units: 2_500,
        points: 10,
    };
}

/// The value of a key point at one moment; the greater one is worth more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    pinned: bool,
    fresh: bool,
    score: f64,
}

impl Value {
    /// Computes the value from the votes and what else is known of the point.
    pub fn of(helpful: u64, harmful: u64, note: Option<&Note>, now: Timestamp) -> Self {
        let days = note.and_then(|note| days_unused(note, now));
        #[expect(clippy::cast_precision_loss, reason = "a score needs no exact votes")]
        let (helpful, harmful) = (helpful as f64, harmful as f64);
        let votes = (helpful - harmful) / (helpful + harmful + PRIOR_VOTES);
        let recency = days.map_or(UNKNOWN_RECENCY, |days| (-days / HALF_LIFE_DAYS).exp2());
        Self {
            pinned: note.is_some_and(|note| note.pinned),
            fresh: days.is_none_or(|days| days < STALE_DAYS),
            score: votes + RECENCY_WEIGHT * recency,
        }
    }

    /// Orders from worth less to worth more.
    pub fn compare(&self, other: &Self) -> Ordering {
        (self.pinned, self.fresh)
            .cmp(&(other.pinned, other.fresh))
            .then(self.score.total_cmp(&other.score))
    }
}

/// Tells whether a point was unused for [`STALE_DAYS`]; not when no date is known.
pub fn is_stale(note: &Note, now: Timestamp) -> bool {
    days_unused(note, now).is_some_and(|days| days >= STALE_DAYS)
}

/// The days since the point was last used, or added; none when no date is known.
fn days_unused(note: &Note, now: Timestamp) -> Option<f64> {
    let last = note.used.max(note.added)?;
    let seconds = now.as_second().saturating_sub(last.as_second()).max(0);
    #[expect(clippy::cast_precision_loss, reason = "days need no exact seconds")]
    let seconds = seconds as f64;
    Some(seconds / 86_400.0)
}
