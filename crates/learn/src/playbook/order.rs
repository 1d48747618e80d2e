//! The order in which key points get their places in what a session is given.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use jiff::Timestamp;

use super::clean::MAX_CHARS;
use super::model::Point;
use super::proof::{ProofRecord, Stage};
use super::ranking::Worth;

/// More points are not looked at: a start waits for this where nothing lay ready.
pub(super) const MOST: usize = 1_000;
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
/// [`SHARE`] of the room, one on probation.
pub(super) fn by_turn(points: &[Point<'_>], now: Timestamp, proof: &ProofRecord) -> Vec<usize> {
    let order = by_worth(points, now, proof);
    if proof.sessions == 0 {
        return order;
    }
    drawn_in_turn(points, order, proof)
}

/// Draws those on probation by the count of sessions, so that each has its turn, and one state
/// gives one order.
fn drawn_in_turn(points: &[Point<'_>], order: Vec<usize>, proof: &ProofRecord) -> Vec<usize> {
    let is_on_probation = |index: &usize| {
        let point = &points[*index];
        let proven = proof.of(point);
        let is_new =
            proven.harmful == 0 && proven.needed == 0 && !proof.by_user.contains(point.name);
        is_new && proof.stage(point) == Stage::Probation
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
        let room = |index: &usize| room(&points[*index]);
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

/// The room of those that a model learned and that nothing speaks for yet. They have no more than
/// their part of it, whatever is left: a prompt that touches them brings them.
#[derive(Debug, Default)]
pub(super) struct UntriedRoom(usize);

impl UntriedRoom {
    /// Tells whether a point still has a place among `units`, and takes it; the first one has.
    pub(super) fn has_place(
        &mut self,
        point: &Point<'_>,
        proof: &ProofRecord,
        units: usize,
    ) -> bool {
        if !proof.is_untried(point) {
            return true;
        }
        let taken = self.0 + room(point);
        let has_place = self.0 == 0 || taken * SHARE <= units;
        if has_place {
            self.0 = taken;
        }
        has_place
    }
}

fn room(point: &Point<'_>) -> usize {
    point.text.len().min(MAX_CHARS)
}

#[cfg(test)]
mod tests {
    use std::ops::RangeInclusive;

    use super::*;
    use crate::playbook::context::{Admission, InjectionLimits, context};
    use crate::playbook::frame::Frame;
    use crate::playbook::proof::Proof;
    use crate::playbook::render::TEMPLATE;
    use serde_json::json;

    #[test]
    fn what_a_model_learned_and_nothing_speaks_for_has_a_fifth_of_the_room() {
        let point = |n: usize| {
            let helpful = u64::from(n == 20);
            let text = format!("{n} {}", "x".repeat(97));
            json!({"name": format!("oth-{n:03}"), "text": text, "helpful": helpful})
        };
        let points: Vec<_> = (1..=24).map(point).collect();
        let file = json!({"sections": {"OTHERS": points}}).to_string();
        let names = |numbers: RangeInclusive<usize>| {
            let names = numbers.map(|n| format!("oth-{n:03}"));
            names.collect::<Vec<_>>()
        };
        let often = Proof {
            needed: 2,
            passed: 9,
            ..Proof::default()
        };
        let proof = ProofRecord {
            points: [("oth-021".to_owned(), often)].into(),
            by_user: ["oth-022".to_owned()].into(),
            by_model: names(1..=22).into_iter().collect(),
            ..ProofRecord::default()
        };
        let limits = InjectionLimits {
            units: 3_000,
            points: usize::MAX,
        };
        let now = "2026-11-21T00:00:00Z".parse().unwrap();
        let frame = Frame::of(TEMPLATE);
        let admit = |_: &Point<'_>| Admission::Given;
        let given = context(file.as_bytes(), frame, limits, (now, &proof), admit);
        let text = given.unwrap().text.unwrap();
        let shown = text.lines().filter_map(|line| line.strip_prefix('['));
        let shown: Vec<_> = shown.filter_map(|line| line.split(']').next()).collect();
        let mut expected = names(1..=6);
        expected.extend(names(20..=24));
        assert_eq!(shown, expected);
        assert!(text.contains("(13 of 24 key points left out"), "{text}");
    }
}
