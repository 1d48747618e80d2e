//! One job's whole effect on a playbook: tags, operations, and the points that leave by themselves,
//! because they harm or because it is full.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::change::{Applied, ChangeKind, Editor, PointChange};
use super::context::Rank;
use super::entry::{self, COUNTERS};
use super::id::Id;
use super::model::{Playbook, PointPlace};
use super::ops::apply_operations;
use super::votes::{BulletTag, Tag, UsageRecord, apply_bullet_tags};

/// What a session teaches, as its answers have it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lesson<'a> {
    /// The votes that count.
    pub tags: &'a [BulletTag],
    /// The curator's operations, as they were written.
    pub operations: &'a [Value],
    /// The curator's reasoning: the reason of operations that bring none.
    pub reasoning: &'a str,
    /// The key points that the session used.
    pub cited: &'a [Id],
    /// When the session was, where it is learned from later.
    pub session: Option<Timestamp>,
}

/// Applies a lesson to the playbook as it is now, and returns every change in order.
pub fn learn(playbook: &mut Playbook, lesson: Lesson<'_>, caps: Caps, now: Timestamp) -> Applied {
    let before = playbook.clone();
    // A neutral verdict is given to points that played no part.
    let judged = lesson.tags.iter().filter(|tag| tag.tag != Tag::Neutral);
    let judged = judged.map(|tag| tag.name.as_str());
    playbook.mark_used(
        judged.chain(lesson.cited.iter().map(Id::as_str)),
        lesson.session.unwrap_or(now),
    );
    let mut applied = apply_bullet_tags(playbook, lesson.tags);
    let operated = apply_operations(playbook, lesson.operations, lesson.reasoning, now);
    applied.changes.extend(operated.changes);
    applied.skipped.extend(operated.skipped);
    applied.changes.extend(prune(playbook, now));
    applied
        .changes
        .extend(enforce(playbook, &before, caps, now));
    applied
}

/// From how many harmful votes on a point may be pruned.
pub(crate) const PRUNE_FROM: u64 = 3;

/// How large a playbook may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    pub points: usize,
    pub bytes: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            points: 1_000,
            bytes: 512 * 1024,
        }
    }
}

/// Removes every point that harmed at least `PRUNE_FROM` times and more often than it
/// helped, in all sections; pinned ones stay.
pub fn prune(playbook: &mut Playbook, now: Timestamp) -> Vec<PointChange> {
    let harm = |fields: &Map<String, Value>| {
        let [helpful, harmful] = COUNTERS.map(|counter| entry::count(fields, counter));
        let pinned = entry::name(fields).is_some_and(|name| playbook.meta.is_pinned(name));
        (harmful >= PRUNE_FROM && harmful > helpful && !pinned)
            .then(|| format!("harmful {harmful} times, helpful {helpful} times"))
    };
    let gone = playbook.entries();
    let gone = gone.filter_map(|(place, fields)| Some((place, harm(fields)?)));
    let mut gone: Vec<(PointPlace, String)> = gone.collect();
    // From the end, so that the indexes in front stay right.
    gone.reverse();
    let mut editor = Editor::new(playbook, "", now);
    for (place, reason) in gone {
        editor.reason = reason;
        editor.remove(&place, None, ChangeKind::Prune);
    }
    editor.done.changes
}

/// Removes the lowest ranked points until the playbook is within its caps, pinned ones excepted.
///
/// A playbook that was over a cap `before` the job is kept from growing, never cut: what
/// leaves makes room for what came, no more. Votes and dates never make a point leave.
pub fn enforce(
    playbook: &mut Playbook,
    before: &Playbook,
    caps: Caps,
    now: Timestamp,
) -> Vec<PointChange> {
    let mut editor = Editor::new(playbook, "", now);
    let old = size(before);
    while let Some(reason) = caps.exceeded(editor.playbook, old) {
        let Some(place) = least(editor.playbook) else {
            break;
        };
        editor.reason = reason;
        editor.remove(&place, None, ChangeKind::Evict);
    }
    editor.done.changes
}

impl Caps {
    fn exceeded(self, playbook: &Playbook, old: (usize, usize)) -> Option<String> {
        let (points, text) = size(playbook);
        if points > self.points && points > old.0 {
            return Some(format!("the playbook is full: {} key points", self.points));
        }
        if text > old.1 && playbook.to_bytes().len() > self.bytes {
            return Some(format!("the playbook is full: {} bytes", self.bytes));
        }
        None
    }
}

/// Returns the number of points and the length of their names and texts, which votes and dates
/// leave as they are.
fn size(playbook: &Playbook) -> (usize, usize) {
    let lengths = playbook.points().map(|p| p.name.len() + p.text.len());
    lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length))
}

/// Returns the place of the lowest ranked point that is not pinned; of equal ones the last.
fn least(playbook: &Playbook) -> Option<PointPlace> {
    let usage = UsageRecord::default();
    let points = playbook.points();
    let free = points.filter(|point| !point.is_pinned());
    let ranked = free.map(|point| (std::cmp::Reverse(Rank::of(&point, &usage)), point.name));
    let (_, name) = ranked.max_by_key(|(rank, _)| *rank)?;
    playbook.place(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Makes a playbook of points of 100 characters, each with its harmful votes.
    fn playbook(points: &[(&str, u64)]) -> Playbook {
        let point = |(name, harmful): &(&str, u64)| json!({"name": name, "text": "x".repeat(100), "harmful": harmful});
        let list: Vec<Value> = points.iter().map(point).collect();
        let file = json!({"sections": {"OTHERS": list}});
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_playbook_over_its_caps_is_kept_from_growing_but_never_cut() {
        let now = "2026-11-21T10:00:00Z".parse().unwrap();
        let before = playbook(&[("a", 0), ("b", 2), ("c", 1)]);
        let caps = Caps {
            points: 2,
            bytes: 100,
        };
        let mut voted = before.clone();
        voted.mark_used(["a"], now);
        voted.mark_applied_to(&before, "a job with a long name");
        assert!(enforce(&mut voted, &before, caps, now).is_empty());
        let mut grown = playbook(&[("a", 0), ("b", 2), ("c", 1), ("d", 0)]);
        let bytes = grown.to_bytes().len();
        let by_bytes = Caps {
            points: 9,
            bytes: bytes - 50,
        };
        for caps in [caps, by_bytes] {
            let mut grown = grown.clone();
            let gone = enforce(&mut grown, &before, caps, now);
            assert_eq!((gone.len(), &*gone[0].id), (1, "b"));
        }
        let roomy = Caps { points: 9, bytes };
        assert!(enforce(&mut grown, &before, roomy, now).is_empty());
    }
}
