//! Changes of a playbook, in a form that explains them and can be undone.

use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry;
use super::meta::Note;
use super::model::{Playbook, PointPlace};

/// One change of one key point. A job's changes are a list in the order they were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointChange {
    /// The kind of the change.
    pub kind: ChangeKind,
    /// The name of the point it happened to: mostly an [`Id`](super::Id), in older files
    /// any text.
    pub id: String,
    /// The point before it; `None` when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<PointState>,
    /// The point after it; `None` when it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PointState>,
    /// The point that took this one in, for [`ChangeKind::Merge`] and
    /// [`ChangeKind::Duplicate`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Why it was done, for `log` and `why`.
    pub reason: String,
}

worded! {
    /// The kinds of changes of a key point.
    pub enum ChangeKind {
        /// It got a helpful vote.
        Helpful = "helpful",
        /// It got a harmful vote.
        Harmful = "harmful",
        /// Its counters were set otherwise: by hand or by an undo.
        Recount = "recount",
        Add = "add",
        /// Its text was replaced.
        Update = "update",
        /// It went to another section.
        Move = "move",
        /// It was joined with others into a new point.
        Merge = "merge",
        /// It was joined into another that said the same; only older histories have it.
        Duplicate = "duplicate",
        /// It took in the votes of others that were merged.
        Absorb = "absorb",
        Delete = "delete",
        /// It did more harm than good, and went.
        Prune = "prune",
        /// It went because there were too many.
        Evict = "evict",
        Pin = "pin",
    }
}

/// A key point at one moment, exactly as it stood in the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PointState {
    /// The title of its section, as the file has it.
    pub section: String,
    /// Its place among the section's entries.
    pub index: usize,
    /// The entry with all its keys, also those that are not ours.
    pub entry: Map<String, Value>,
    /// The note that our own part of the file has of it.
    #[serde(default, skip_serializing_if = "Note::is_blank")]
    pub note: Note,
}

impl PointState {
    pub(super) fn of(playbook: &Playbook, place: &PointPlace) -> Option<Self> {
        let entry = playbook.entry(place)?.clone();
        let note = entry::name(&entry).and_then(|name| playbook.meta.points.get(name));
        let note = note.cloned().unwrap_or_default();
        Some(Self {
            section: place.title.clone(),
            index: place.index,
            entry,
            note,
        })
    }

    pub(super) fn place(&self) -> PointPlace {
        PointPlace {
            title: self.section.clone(),
            index: self.index,
        }
    }

    /// Its name; empty where the entry has none.
    pub fn name(&self) -> &str {
        entry::name(&self.entry).unwrap_or_default()
    }

    /// Its text; empty where the entry has none.
    pub fn text(&self) -> &str {
        entry::text(&self.entry).unwrap_or_default()
    }

    /// Returns the number of helpful votes.
    pub fn helpful(&self) -> u64 {
        entry::count(&self.entry, entry::HELPFUL)
    }

    /// Returns the number of harmful votes.
    pub fn harmful(&self) -> u64 {
        entry::count(&self.entry, entry::HARMFUL)
    }
}

/// Something that was not done, and why; for the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The change that was asked for: `tag for pat-999`.
    pub what: String,
    /// Why it was not done.
    pub reason: String,
}

impl Skipped {
    pub(crate) fn new(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            reason: reason.into(),
        }
    }
}

/// The outcome of a request to change a playbook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// The changes, in the order they were made.
    pub changes: Vec<PointChange>,
    /// The changes that were asked for and not made.
    pub skipped: Vec<Skipped>,
}
