//! Bullet tags: the reflector's verdict on key points, counted (REQ-REFL-004, -007).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::{Applied, Change, ChangeKind, PointState, Skipped};
use super::clean::clean_text;
use super::entry::{self, Counter};
use super::model::Playbook;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Tag {
    Helpful,
    Harmful,
    /// It did neither, or there is no evidence.
    Neutral,
}

impl Tag {
    /// Reads a tag exactly as it is written; anything else is no tag.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "helpful" => Some(Self::Helpful),
            "harmful" => Some(Self::Harmful),
            "neutral" => Some(Self::Neutral),
            _ => None,
        }
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
            Self::Neutral => "neutral",
        }
    }

    const fn counted(self) -> Option<(Counter, ChangeKind)> {
        match self {
            Self::Helpful => Some((Counter::Helpful, ChangeKind::Helpful)),
            Self::Harmful => Some((Counter::Harmful, ChangeKind::Harmful)),
            Self::Neutral => None,
        }
    }
}

/// One verdict: `{"name", "tag", "rationale"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BulletTag {
    pub(crate) name: String,
    pub(crate) tag: Tag,
    #[serde(default)]
    pub(crate) rationale: String,
}

impl BulletTag {
    /// Reads one item of a model's `bullet_tags`; a wrong rationale counts as none.
    fn read(item: &Value) -> Result<Self, Skipped> {
        let skipped = |reason: &str| Skipped::new(format!("tag {}", shown(item)), reason);
        let Some(name) = item.get("name").and_then(Value::as_str) else {
            return Err(skipped("no name"));
        };
        let Some(tag) = item.get("tag").and_then(Value::as_str).and_then(Tag::parse) else {
            return Err(skipped("neither helpful, harmful nor neutral"));
        };
        let rationale = item.get("rationale").and_then(Value::as_str);
        Ok(Self {
            name: name.to_owned(),
            tag,
            rationale: rationale.unwrap_or_default().to_owned(),
        })
    }
}

/// Reads the `bullet_tags` of a model's reply item by item: a wrong item is dropped with
/// its reason, never the whole.
pub fn read_bullet_tags(value: &Value) -> (Vec<BulletTag>, Vec<Skipped>) {
    let mut tags = Vec::new();
    let mut skipped = Vec::new();
    match value {
        Value::Array(items) => {
            for item in items {
                match BulletTag::read(item) {
                    Ok(tag) => tags.push(tag),
                    Err(reason) => skipped.push(reason),
                }
            }
        }
        Value::Null => {}
        other => skipped.push(Skipped::new(format!("tags {}", shown(other)), "not a list")),
    }
    (tags, skipped)
}

/// A value as it may stand in a log: one line, cut.
pub(super) fn shown(value: &Value) -> String {
    clean_text(&value.to_string())
}

/// Counts the verdicts: each helpful or harmful tag raises its counter by one; neutral
/// changes nothing (REQ-REFL-007).
///
/// Counters are only ever raised (INV-REFL-003), and each call counts every tag once more
/// (INV-REFL-004). A name that was merged away credits the point that took it in; an
/// unknown name is skipped with its reason.
pub fn apply_bullet_tags(playbook: &mut Playbook, tags: &[BulletTag]) -> Applied {
    let mut applied = Applied::default();
    let places = playbook.places();
    for tag in tags {
        let name = playbook.current_name(&places, &tag.name).to_owned();
        let Some(place) = places.get(&name) else {
            let what = format!("tag for {}", clean_text(&tag.name));
            applied
                .skipped
                .push(Skipped::new(what, "no such key point"));
            continue;
        };
        let Some((counter, kind)) = tag.tag.counted() else {
            continue;
        };
        let before = PointState::of(playbook, place);
        if let Some(fields) = playbook.entry_mut(place) {
            entry::raise(fields, counter, 1);
        }
        applied.changes.push(Change {
            kind,
            id: name,
            before,
            after: PointState::of(playbook, place),
            into: None,
            reason: clean_text(&tag.rationale),
        });
    }
    applied
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn playbook(value: &Value) -> Playbook {
        Playbook::parse(value.to_string().as_bytes()).unwrap()
    }

    fn tag(name: &str, tag: Tag) -> BulletTag {
        BulletTag {
            name: name.to_owned(),
            tag,
            rationale: "because".to_owned(),
        }
    }

    fn example() -> Playbook {
        playbook(&json!({"sections": {
            "PATTERNS & APPROACHES":
                [{"name": "pat-001", "text": "use types", "helpful": 3, "harmful": 1}],
            "OTHERS": [{"name": "oth-001", "text": "legacy tip", "helpful": 0, "harmful": 0}]}}))
    }

    fn votes(playbook: &Playbook) -> Vec<(u64, u64)> {
        playbook.points().map(|p| (p.helpful, p.harmful)).collect()
    }

    /// SCN-REFL-006-01 (REQ-REFL-007)
    #[test]
    fn tags_raise_the_counters_by_one() {
        let mut playbook = example();
        let tags = [tag("pat-001", Tag::Helpful), tag("oth-001", Tag::Harmful)];
        let applied = apply_bullet_tags(&mut playbook, &tags);
        assert_eq!(votes(&playbook), [(4, 1), (0, 1)]);
        let change = &applied.changes[0];
        assert_eq!(
            (change.kind, change.id.as_str()),
            (ChangeKind::Helpful, "pat-001")
        );
        assert_eq!(change.before.as_ref().unwrap().helpful(), 3);
        assert_eq!(change.after.as_ref().unwrap().helpful(), 4);
        assert_eq!(change.reason, "because");
    }

    /// SCN-REFL-004-02
    #[test]
    fn a_tag_for_an_unknown_point_is_skipped_with_its_reason() {
        let mut playbook = example();
        let applied = apply_bullet_tags(&mut playbook, &[tag("pat-999", Tag::Helpful)]);
        assert_eq!(votes(&playbook), [(3, 1), (0, 0)]);
        assert_eq!(
            applied.skipped,
            [Skipped::new("tag for pat-999", "no such key point")]
        );
    }

    #[test]
    fn a_name_that_was_merged_away_credits_the_point_that_took_it_in() {
        let mut playbook = playbook(&json!({
            "sections": {"OTHERS": [{"name": "oth-003", "text": "a", "helpful": 1, "harmful": 0}]},
            "playbook": {"aliases": {"oth-001": "oth-002", "oth-002": "oth-003", "x": "y", "y": "x"}}}));
        let tags = [tag("oth-001", Tag::Helpful), tag("x", Tag::Helpful)];
        let applied = apply_bullet_tags(&mut playbook, &tags);
        assert_eq!(votes(&playbook), [(2, 0)]);
        assert_eq!(applied.changes[0].id, "oth-003");
        assert_eq!(applied.skipped.len(), 1);
    }
}
