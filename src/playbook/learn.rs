//! One job's whole effect on a playbook: tags, operations, duplicates, pruning, caps.

use jiff::Timestamp;
use serde_json::Value;

use super::change::Applied;
use super::dedup::{Scope, Threshold, dedup, touched};
use super::id::Id;
use super::model::Playbook;
use super::ops::apply_operations;
use super::prune::{Caps, enforce, prune};
use super::tags::{BulletTag, Tag, apply_bullet_tags};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lesson<'a> {
    pub(crate) tags: &'a [BulletTag],
    pub(crate) operations: &'a [Value],
    /// The curator's reasoning: the reason of operations that bring none.
    pub(crate) reasoning: &'a str,
    pub(crate) cited: &'a [Id],
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Policy {
    pub(crate) threshold: Threshold,
    pub(crate) caps: Caps,
}

/// Applies a lesson to the playbook as it is now, and returns every change in order.
pub(crate) fn learn(
    playbook: &mut Playbook,
    lesson: Lesson<'_>,
    policy: Policy,
    now: Timestamp,
) -> Applied {
    let before = playbook.clone();
    // A neutral verdict is given to points that played no part.
    let judged = lesson.tags.iter().filter(|tag| tag.tag != Tag::Neutral);
    let judged = judged.map(|tag| tag.name.as_str());
    playbook.mark_used(judged.chain(lesson.cited.iter().map(Id::as_str)), now);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::ChangeKind;
    use serde_json::json;

    fn now() -> Timestamp {
        "2026-11-21T00:00:00Z".parse().unwrap()
    }

    #[test]
    fn a_job_tags_operates_joins_and_prunes_and_tells_each_change() {
        let file = json!({"sections": {"OTHERS": [
            {"name": "oth-001", "text": "Use tabs", "helpful": 1, "harmful": 0},
            {"name": "oth-002", "text": "Guess the password", "helpful": 1, "harmful": 2},
            {"name": "oth-003", "text": "Ask first", "helpful": 0, "harmful": 0}]}});
        let mut playbook = Playbook::parse(file.to_string().as_bytes()).unwrap();
        let tag = |name: &str, tag| BulletTag {
            name: name.to_owned(),
            tag,
            rationale: "r".to_owned(),
        };
        let tags = [tag("oth-002", Tag::Harmful), tag("oth-003", Tag::Neutral)];
        let operations = [json!({"type": "ADD", "text": "Always use tabs.", "section": "others"})];
        let cited = [Id::parse("oth-001").unwrap()];
        let lesson = Lesson {
            tags: &tags,
            operations: &operations,
            reasoning: "said so",
            cited: &cited,
        };
        let applied = learn(&mut playbook, lesson, Policy::default(), now());
        let told: Vec<_> = applied
            .changes
            .iter()
            .map(|c| (c.kind, c.id.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (ChangeKind::Harmful, "oth-002"),
                (ChangeKind::Add, "oth-004"),
                (ChangeKind::Duplicate, "oth-004"),
                (ChangeKind::Prune, "oth-002"),
            ]
        );
        let used: Vec<_> = playbook
            .points()
            .map(|p| (p.name, p.note.is_some_and(|n| n.used.is_some())))
            .collect();
        assert_eq!(used, [("oth-001", true), ("oth-003", false)]);
        assert_eq!(
            playbook.next_id(crate::playbook::Section::Others).as_str(),
            "oth-005"
        );
    }

    #[test]
    fn an_empty_lesson_changes_nothing() {
        let mut playbook = Playbook::empty();
        let before = playbook.to_bytes();
        assert_eq!(
            learn(&mut playbook, Lesson::default(), Policy::default(), now()),
            Applied::default()
        );
        assert_eq!(playbook.to_bytes(), before);
    }
}
