//! The order in which key points get their places in what a session is given.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

use super::clean::MAX_CHARS;
use super::model::Point;
use super::proof::{ProofRecord, Stage};
use super::ranking::Worth;

/// Of what is shown one part in so many is for points on probation.
const SHARE: usize = 5;

/// The indexes of the points, those worth most first; equal ones in the file's order.
pub(super) fn by_worth(points: &[Point<'_>], now: Timestamp, proof: &ProofRecord) -> Vec<usize> {
    let worth = |point: &Point<'_>| Worth::of(point, proof.of(point).needed, now);
    let worth: Vec<Worth> = points.iter().map(worth).collect();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| worth[b].compare(&worth[a]));
    order
}

/// The order in which points get their places: those worth most first, and among them, for each
/// [`SHARE`] of the room, one on probation. These are drawn by the count of sessions, so that
/// each has its turn, and one state gives one order.
pub(super) fn by_turn(points: &[Point<'_>], now: Timestamp, proof: &ProofRecord) -> Vec<usize> {
    let order = by_worth(points, now, proof);
    if proof.sessions == 0 {
        return order;
    }
    let is_on_probation = |index: &usize| {
        let point = &points[*index];
        let proven = proof.of(point);
        let is_untried =
            proven.harmful == 0 && proven.needed == 0 && !proof.by_user.contains(point.name);
        is_untried && proof.stage(point) == Stage::Probation
    };
    let (mut drawn, others): (Vec<usize>, Vec<usize>) =
        order.into_iter().partition(is_on_probation);
    drawn.sort_by_cached_key(|index| {
        let mut hasher = DefaultHasher::new();
        (proof.sessions, points[*index].name).hash(&mut hasher);
        hasher.finish()
    });
    let (mut drawn, mut others) = (drawn.into_iter().peekable(), others.into_iter().peekable());
    let (mut order, mut of_drawn, mut all) = (Vec::new(), 0, 0);
    loop {
        let room = |index: &usize| points[*index].text.len().min(MAX_CHARS);
        let is_its_turn = match (drawn.peek(), others.peek()) {
            (Some(next), Some(_)) => (of_drawn + room(next)) * SHARE <= all + room(next),
            (next, _) => next.is_some(),
        };
        let next = if is_its_turn {
            drawn.next()
        } else {
            others.next()
        };
        let Some(next) = next else { return order };
        all += room(&next);
        of_drawn += if is_its_turn { room(&next) } else { 0 };
        order.push(next);
    }
}
