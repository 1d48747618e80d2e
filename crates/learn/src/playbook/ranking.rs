//! The order in which key points get their room, and its reverse, in which they lose it.
//!
//! Pinned points come first, then those the user said, then those the user added by hand. Among
//! equals helpful minus harmful decides, then the newest. Points equal in all of this keep the
//! file's order.

use jiff::Timestamp;

use super::model::Point;
use super::usage::UsageRecord;

/// More points are not looked at: a start waits for this where nothing was prepared.
pub(super) const MAX_RANKED: usize = 1_000;
/// After how many days without use a point is stale.
pub const STALE_DAYS: i64 = 90;
const DAY_SECS: i64 = 86_400;

/// The rank of a key point; the greater one has its room first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    pinned: bool,
    said: bool,
    by_hand: bool,
    balance: i128,
    added: Option<Timestamp>,
}

impl Rank {
    pub(super) fn of(point: &Point<'_>, usage: &UsageRecord) -> Self {
        Self {
            pinned: point.is_pinned(),
            said: usage.said.contains(point.name),
            by_hand: usage.by_hand.contains(point.name),
            balance: i128::from(point.helpful) - i128::from(point.harmful),
            added: point.note.and_then(|note| note.added),
        }
    }
}

/// Returns the indexes of the points, highest rank first.
pub(super) fn by_rank(points: &[Point<'_>], usage: &UsageRecord) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_cached_key(|&index| std::cmp::Reverse(Rank::of(&points[index], usage)));
    order.truncate(MAX_RANKED);
    order
}

impl Point<'_> {
    /// Returns whether the user pinned it: it is never pruned and always comes first.
    pub fn is_pinned(&self) -> bool {
        self.note.is_some_and(|note| note.pinned)
    }

    /// Returns when it was used last, or else added.
    pub fn last(&self) -> Option<Timestamp> {
        self.note.and_then(|note| note.used.max(note.added))
    }

    /// Returns whether it was unused for [`STALE_DAYS`]; not when no date is known.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        self.last().is_some_and(|last| {
            now.as_second().saturating_sub(last.as_second()) >= STALE_DAYS * DAY_SECS
        })
    }
}
