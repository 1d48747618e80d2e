//! The whole effect of one job on a playbook: tags, operations, and the removal of points that harm
//! or exceed the limits.

use jiff::Timestamp;
use serde_json::Value;

use super::change::{Applied, ChangeKind, Editor, PointChange, PointState};
use super::id::Id;
use super::model::Playbook;
use super::ops::apply_operations;
use super::render::rank;
use super::votes::{BulletTag, Tag, UsageRecord, apply_bullet_tags};

pub(crate) const PRUNE_FROM: u64 = 3;

#[derive(Debug, Clone, Copy, Default)]
pub struct Lesson<'a> {
    pub tags: &'a [BulletTag],
    /// The curator's operations, unparsed.
    pub operations: &'a [Value],
    /// The curator's reasoning: the reason of operations without their own.
    pub reasoning: &'a str,
    pub cited: &'a [Id],
    /// The time of the session, if it is processed later.
    pub session: Option<Timestamp>,
}

/// Applies a lesson to the current playbook, and returns every change in order.
pub fn learn(
    playbook: &mut Playbook,
    lesson: Lesson<'_>,
    max_points: usize,
    now: Timestamp,
) -> Applied {
    let before = playbook.clone();
    // A neutral verdict means that the point was not used.
    let judged = lesson.tags.iter().filter(|tag| tag.tag != Tag::Neutral);
    let judged = judged.map(|tag| tag.name.as_str());
    let used = judged.chain(lesson.cited.iter().map(Id::as_str));
    playbook.mark_used(used, lesson.session.unwrap_or(now));
    let Applied {
        mut changes,
        mut skipped,
    } = apply_bullet_tags(playbook, lesson.tags);
    let operated = apply_operations(playbook, lesson.operations, lesson.reasoning, now);
    skipped.extend(operated.skipped);
    changes.extend(operated.changes);
    changes.extend(prune(playbook, now));
    changes.extend(enforce(playbook, &before, max_points, now));
    Applied { changes, skipped }
}

/// Allows 512 bytes for each point, and at least 512 KiB.
pub fn max_bytes(max_points: usize) -> usize {
    (max_points * 512).clamp(512 * 1024, 16 << 20)
}

/// Removes every unpinned point with at least `PRUNE_FROM` harmful votes and more harmful than
/// helpful ones, in all sections.
pub fn prune(playbook: &mut Playbook, now: Timestamp) -> Vec<PointChange> {
    let gone: Vec<PointState> = playbook.entries().collect();
    let mut editor = Editor::new(playbook, "", now);
    // In reverse order, so that earlier indexes stay valid.
    for state in gone.into_iter().rev() {
        let (helpful, harmful) = (state.helpful(), state.harmful());
        if harmful >= PRUNE_FROM && harmful > helpful && !state.note.pinned {
            editor.reason = format!("harmful {harmful} times, helpful {helpful} times");
            editor.remove(state, None, ChangeKind::Prune);
        }
    }
    editor.done.changes
}

/// Removes the lowest ranked unpinned points until the playbook is within its caps.
///
/// A playbook that exceeded a cap `before` the job only stops growing. Votes and dates never cause
/// a removal.
pub fn enforce(
    playbook: &mut Playbook,
    before: &Playbook,
    max_points: usize,
    now: Timestamp,
) -> Vec<PointChange> {
    let usage = UsageRecord::default();
    let (old_points, old_text) = size(before);
    let mut editor = Editor::new(playbook, "", now);
    loop {
        let (points, text) = size(editor.playbook);
        let bytes = max_bytes(max_points);
        let room = if points > max_points.max(old_points) {
            format!("{max_points} key points")
        } else if text > old_text && editor.playbook.to_bytes().len() > bytes {
            format!("{bytes} bytes")
        } else {
            break;
        };
        let free = editor.playbook.points().filter(|point| !point.is_pinned());
        // Of equal ones the last.
        let least = free.max_by_key(|point| std::cmp::Reverse(rank(point, &usage)));
        let Some(state) = least.and_then(|point| editor.playbook.state(point.name)) else {
            break;
        };
        editor.reason = format!("the playbook is full: {room}");
        editor.remove(state, None, ChangeKind::Evict);
    }
    editor.done.changes
}

/// Returns the number of points, and the length of their names and texts.
fn size(playbook: &Playbook) -> (usize, usize) {
    let lengths = playbook.points().map(|p| p.name.len() + p.text.len());
    lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_playbook_over_its_caps_is_kept_from_growing_but_never_cut() {
        /// Four of these texts and the file around them have more than `max_bytes(9)`.
        const LENGTH: usize = 512 * 256;
        let playbook = |points: &[(&str, u64)], length: usize| {
            let points = points.iter().map(|(name, harmful)| {
                json!({"name": name, "text": "x".repeat(length), "harmful": harmful})
            });
            let list: Vec<Value> = points.collect();
            let file = json!({"sections": {"OTHERS": list}});
            Playbook::parse(file.to_string().as_bytes()).unwrap()
        };
        let now = "2026-11-21T10:00:00Z".parse().unwrap();
        let old = [("a", 0), ("b", 2), ("c", 1)];
        let new = [old[0], old[1], old[2], ("d", 0)];
        let mut voted = playbook(&old, LENGTH * 2);
        let before = voted.clone();
        voted.mark_used(["a"], now);
        voted.mark_applied_to(&before, "a job with a long name");
        assert!(enforce(&mut voted, &before, 2, now).is_empty());
        for (length, max, expected) in [(9, 2, &["b"][..]), (LENGTH, 9, &["b"]), (9, 9, &[])] {
            let gone = enforce(
                &mut playbook(&new, length),
                &playbook(&old, length),
                max,
                now,
            );
            let gone: Vec<&str> = gone.iter().map(|change| change.id.as_str()).collect();
            assert_eq!(gone, expected);
        }
    }
}
