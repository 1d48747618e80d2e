//! One job's whole effect on a playbook: tags, operations, duplicates, pruning, caps.

use jiff::Timestamp;
use serde_json::Value;

use super::change::Applied;
use super::dedup::{Scope, Threshold, dedup, touched};
use super::model::Playbook;
use super::ops::apply_operations;
use super::prune::{Caps, enforce, prune};
use super::tags::{BulletTag, apply_bullet_tags};

/// What a session taught.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lesson<'a> {
    /// The reflector's verdicts.
    pub tags: &'a [BulletTag],
    /// The curator's operations, as its reply has them.
    pub operations: &'a [Value],
    /// The curator's reasoning: the reason of operations that bring none.
    pub reasoning: &'a str,
    /// The names of the points that the session cited.
    pub cited: &'a [String],
}

/// What the settings say about a playbook's growth.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Policy {
    /// How similar two texts are that count as one.
    pub threshold: Threshold,
    /// How large the playbook may grow.
    pub caps: Caps,
}

/// Applies a lesson to the playbook as it is now, and returns every change in order.
pub fn learn(
    playbook: &mut Playbook,
    lesson: Lesson<'_>,
    policy: Policy,
    now: Timestamp,
) -> Applied {
    let before = playbook.clone();
    let tagged = lesson.tags.iter().map(|tag| tag.name.as_str());
    playbook.mark_used(tagged.chain(lesson.cited.iter().map(String::as_str)), now);
    let mut applied = apply_bullet_tags(playbook, lesson.tags);
    applied.extend(apply_operations(
        playbook,
        lesson.operations,
        lesson.reasoning,
        now,
    ));
    let names = touched(&applied.changes);
    let scope = Scope::With(&names);
    applied
        .changes
        .extend(dedup(playbook, policy.threshold, scope, now));
    applied.changes.extend(prune(playbook, now));
    applied
        .changes
        .extend(enforce(playbook, &before, policy.caps, now));
    applied
}
