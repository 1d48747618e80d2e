//! One job's whole effect on a playbook: tags, operations, pruning, caps.

use jiff::Timestamp;
use serde_json::Value;

use super::change::Applied;
use super::id::Id;
use super::model::Playbook;
use super::ops::apply_operations;
use super::prune::{Caps, enforce, prune};
use super::tags::{BulletTag, Tag, apply_bullet_tags};

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
}

/// Applies a lesson to the playbook as it is now, and returns every change in order.
pub fn learn(playbook: &mut Playbook, lesson: Lesson<'_>, caps: Caps, now: Timestamp) -> Applied {
    let before = playbook.clone();
    // A neutral verdict is given to points that played no part.
    let judged = lesson.tags.iter().filter(|tag| tag.tag != Tag::Neutral);
    let judged = judged.map(|tag| tag.name.as_str());
    playbook.mark_used(judged.chain(lesson.cited.iter().map(Id::as_str)), now);
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
