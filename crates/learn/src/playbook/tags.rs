//! Bullet tags: the reflector's verdict on key points, counted (REQ-REFL-004, -007).

use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::{Applied, ChangeKind, PointChange, PointState, Skipped};
use super::clean::clean_text;
use super::entry;
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
        let field = |key: &str| item.get(key).and_then(Value::as_str);
        let flaw = match (field("name"), field("tag").and_then(Tag::from_word)) {
            (Some(name), Some(tag)) => {
                return Ok(Self {
                    name: name.to_owned(),
                    tag,
                    rationale: field("rationale").unwrap_or_default().to_owned(),
                });
            }
            (None, _) => "no name",
            (_, None) => "neither helpful, harmful nor neutral",
        };
        Err(Skipped::new(format!("tag {}", shown(item)), flaw))
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

/// Shows a value in a log: one line, cut.
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
            let skipped = Skipped::new(what, "no such key point");
            applied.skipped.push(skipped);
            continue;
        };
        let (counter, kind) = match tag.tag {
            Tag::Helpful => (entry::HELPFUL, ChangeKind::Helpful),
            Tag::Harmful => (entry::HARMFUL, ChangeKind::Harmful),
            Tag::Neutral => continue,
        };
        let before = PointState::of(playbook, place);
        if let Some(fields) = playbook.entry_mut(place) {
            entry::raise(fields, counter);
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
