//! Which key points are worth their room: the order in which they are kept.
//!
//! Pinned points come first. Then by score, best first: `(helpful − harmful) / (helpful +
//! harmful + 2)`, so that one vote weighs less than the fifth of five equal ones, where each
//! session in which the point came up again counts as half a helpful vote, plus a
//! quarter of the recency: one on the day the point was last used (or added), half after 30
//! days, a quarter after 90. A point of which no date is known, as in files written by others, counts as
//! one half. Points unused for 90 days come last of all. Equal points keep the file's
//! order.

use std::cmp::Ordering;

use jiff::Timestamp;

use super::model::Point;

/// After how many days without use a point is stale.
pub const STALE_DAYS: f64 = 90.0;
/// After how many days the recency is half of what it was. It then falls more slowly: a
/// quotient, because an exponential function would load the mathematics library.
const HALF_DAYS: f64 = 30.0;
/// How much recency counts beside votes, which go from -1 to 1.
const RECENCY_WEIGHT: f64 = 0.25;
/// The recency of a point of which no date is known.
const UNKNOWN_RECENCY: f64 = 0.5;
/// How many votes of each kind every point is thought to have, to damp the first ones.
const PRIOR_VOTES: f64 = 2.0;

/// What a session counts in which a point came up again, beside one that it helped.
const NEEDED_WEIGHT: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Worth {
    pinned: bool,
    fresh: bool,
    score: f64,
}

impl Worth {
    /// `needed` is in how many sessions the point came up again.
    pub(crate) fn of(point: &Point<'_>, needed: u64, now: Timestamp) -> Self {
        let days = point.days_unused(now);
        #[expect(clippy::cast_precision_loss, reason = "a score needs no exact votes")]
        let [helpful, harmful, needed] =
            [point.helpful, point.harmful, needed].map(|count| count as f64);
        let helpful = helpful + needed * NEEDED_WEIGHT;
        let votes = (helpful - harmful) / (helpful + harmful + PRIOR_VOTES);
        let recency = days.map_or(UNKNOWN_RECENCY, |days| 1.0 / (1.0 + days / HALF_DAYS));
        Self {
            pinned: point.is_pinned(),
            fresh: days.is_none_or(|days| days < STALE_DAYS),
            score: votes + RECENCY_WEIGHT * recency,
        }
    }

    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        (self.pinned, self.fresh)
            .cmp(&(other.pinned, other.fresh))
            .then(self.score.total_cmp(&other.score))
    }
}

impl Point<'_> {
    /// Tells whether the user pinned it: it is never pruned and always comes first.
    pub fn is_pinned(&self) -> bool {
        self.note.is_some_and(|note| note.pinned)
    }

    /// When it was used last, or else added.
    pub fn last(&self) -> Option<Timestamp> {
        self.note.and_then(|note| note.used.max(note.added))
    }

    /// Tells whether it was unused for [`STALE_DAYS`]; not when no date is known.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.days_unused(now).is_some_and(|days| days >= STALE_DAYS)
    }

    fn days_unused(&self, now: Timestamp) -> Option<f64> {
        let seconds = now.as_second().saturating_sub(self.last()?.as_second());
        #[expect(clippy::cast_precision_loss, reason = "days need no exact seconds")]
        let seconds = seconds.max(0) as f64;
        Some(seconds / 86_400.0)
    }
}
