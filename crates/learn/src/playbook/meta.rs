//! What we keep in the file beside the key points: the one top-level key `playbook`.
//!
//! `{"next": {"pat": 8}, "aliases": {"pat-002": "pat-005"}, "points": {"pat-005":
//! {"added": time, "used": time, "pinned": true}}, "applied": [job ids], "votes": {job id: "pat-005
//! +1"}}`. Keys of later versions are kept.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::json::Defect;

pub(super) const KEY: &str = "playbook";
/// How many job ids are remembered, so that a restarted job is not applied twice.
pub(crate) const APPLIED_KEPT: usize = 256;
/// How long a chain of aliases is followed; a longer one is a hand-made loop.
const MAX_ALIASES: usize = 64;

/// The value of the key `playbook`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Meta {
    /// By slug: the number the next new id gets.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) next: BTreeMap<String, u64>,
    /// Names that were merged away, each with the name that took them in.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) aliases: BTreeMap<String, String>,
    /// What is known of each point beyond its entry.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) points: BTreeMap<String, Note>,
    /// The jobs applied last, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) applied: Vec<String>,
    /// What they did to the counters, by job.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) votes: BTreeMap<String, String>,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Note {
    #[serde(default, deserialize_with = "time")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added: Option<Timestamp>,
    /// When a session last cited it or was judged by it.
    #[serde(default, deserialize_with = "time")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<Timestamp>,
    /// Whether only the user may take it away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    #[serde(flatten)]
    pub(super) rest: Map<String, Value>,
}

impl Note {
    pub(super) fn is_blank(&self) -> bool {
        *self == Self::default()
    }
}

impl Meta {
    pub(super) fn parse(value: &Value) -> Result<Self, Defect> {
        Self::deserialize(value).map_err(|e| Defect::at(format!("key `{KEY}`"), e.to_string()))
    }

    /// Follows the aliases of `name` to the name that stands for it now.
    pub(super) fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        let mut current = name;
        for _ in 0..MAX_ALIASES {
            match self.aliases.get(current) {
                Some(next) => current = next,
                None => break,
            }
        }
        current
    }
}

/// A time that cannot be read counts as unknown.
fn time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Timestamp>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.and_then(|text| text.parse().ok()))
}
