//! The whole effect of one job on a playbook: tags, operations, and the removal of points that harm
//! or exceed the limits.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::change::{Applied, ChangeKind, Editor, PointChange};
use super::context::Rank;
use super::entry::{self, COUNTERS};
use super::id::Id;
use super::model::{Playbook, PointPlace};
use super::ops::apply_operations;
use super::votes::{BulletTag, Tag, UsageRecord, apply_bullet_tags};

/// A session's results, as the models' replies have them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lesson<'a> {
    /// The votes that count.
    pub tags: &'a [BulletTag],
    /// The curator's operations, unparsed.
    pub operations: &'a [Value],
    /// The curator's reasoning: the reason of operations without their own.
    pub reasoning: &'a str,
    /// The key points that the session used.
    pub cited: &'a [Id],
    /// The time of the session, if it is processed later.
    pub session: Option<Timestamp>,
}

/// Applies a lesson to the current playbook, and returns every change in order.
pub fn learn(playbook: &mut Playbook, lesson: Lesson<'_>, caps: Caps, now: Timestamp) -> Applied {
    let before = playbook.clone();
    // A neutral verdict means that the point was not used.
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

/// The number of harmful votes from which a point may be pruned.
pub(crate) const PRUNE_FROM: u64 = 3;

/// The size limits of a playbook.
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

/// Removes every unpinned point with at least `PRUNE_FROM` harmful votes and more harmful than
/// helpful ones, in all sections.
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
    // In reverse order, so that earlier indexes stay valid.
    gone.reverse();
    let mut editor = Editor::new(playbook, "", now);
    for (place, reason) in gone {
        editor.reason = reason;
        editor.remove(&place, None, ChangeKind::Prune);
    }
    editor.done.changes
}

/// Removes the lowest ranked unpinned points until the playbook is within its caps.
///
/// A playbook that exceeded a cap `before` the job only stops growing: no more is removed than was
/// added. Votes and dates never cause a removal.
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

/// Returns the number of points and the length of their names and texts, which votes and dates do
/// not change.
fn size(playbook: &Playbook) -> (usize, usize) {
    let lengths = playbook.points().map(|p| p.name.len() + p.text.len());
    lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length))
}

/// Returns the place of the lowest ranked unpinned point; of equal ones the last.
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
