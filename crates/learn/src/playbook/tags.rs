//! Bullet tags: the reflector's verdict on key points, counted (REQ-REFL-004, -007).

use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::{Applied, ChangeKind, PointChange, PointState, Skipped};
use super::clean::clean_text;
use super::entry::{self, Counter};
use super::model::Playbook;

worded! {
    /// What a session did for a key point, or the point for the session.
    pub enum Tag {
        Helpful = "helpful",
        Harmful = "harmful",
        /// It did neither, or there is no evidence.
        Neutral = "neutral",
    }
}

impl Tag {
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
    pub name: String,
    /// How the point is judged.
    pub tag: Tag,
    /// The event that shows it.
    #[serde(default)]
    pub rationale: String,
}

impl BulletTag {
    /// Reads one item of a model's `bullet_tags`; a wrong rationale counts as none.
    fn read(item: &Value) -> Result<Self, Skipped> {
        let skipped = |reason: &str| Skipped::new(format!("tag {}", shown(item)), reason);
        let Some(name) = item.get("name").and_then(Value::as_str) else {
            return Err(skipped("no name"));
        };
        let Some(tag) = item
            .get("tag")
            .and_then(Value::as_str)
            .and_then(Tag::from_word)
        else {
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
    let mut skipped = Vec::new();
    let items = match value {
        Value::Array(items) => items.as_slice(),
        Value::Null => &[],
        other => {
            skipped.push(Skipped::new(format!("tags {}", shown(other)), "not a list"));
            &[]
        }
    };
    let read = items.iter().map(BulletTag::read);
    let tags = read.filter_map(|read| read.map_err(|why| skipped.push(why)).ok());
    (tags.collect(), skipped)
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
        applied.changes.push(PointChange {
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
