//! What was done to a playbook, in a form that explains it and can be undone.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::{self, Counter};
use super::meta::Note;
use super::model::Playbook;
use super::tree::Place;

/// One change of one key point. A job's changes are a list in the order they were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// What happened.
    pub kind: ChangeKind,
    /// The name of the point it happened to: mostly an [`Id`](super::Id), in older files
    /// any text.
    pub id: String,
    /// The point before; none when it was not there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<PointState>,
    /// The point after; none when it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PointState>,
    /// The point that took this one in, for [`ChangeKind::Merge`] and
    /// [`ChangeKind::Duplicate`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// Why, in words for the user: a rationale, a rule.
    pub reason: String,
}

/// What happened to a key point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// A session found it helpful.
    Helpful,
    /// A session found it harmful.
    Harmful,
    /// Its counters were set otherwise: by hand or by an undo.
    Recount,
    /// It was added.
    Add,
    /// It got another text.
    Update,
    /// It went to another section or place.
    Move,
    /// It was merged into another point.
    Merge,
    /// It was a duplicate of another point, which took it in.
    Duplicate,
    /// It took in the counters of others.
    Absorb,
    /// It was deleted.
    Delete,
    /// It was pruned: it harmed more than it helped.
    Prune,
    /// It left because the playbook was full.
    Evict,
    /// It was pinned or unpinned.
    Pin,
}

impl ChangeKind {
    /// The word that stands for it in the history and in messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
            Self::Recount => "recount",
            Self::Add => "add",
            Self::Update => "update",
            Self::Move => "move",
            Self::Merge => "merge",
            Self::Duplicate => "duplicate",
            Self::Absorb => "absorb",
            Self::Delete => "delete",
            Self::Prune => "prune",
            Self::Evict => "evict",
            Self::Pin => "pin",
        }
    }
}

/// A key point at one moment, exactly as it stood in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointState {
    /// The title of its section.
    pub section: String,
    /// Its index in the section.
    pub index: usize,
    /// The entry with all its keys, also those that are not ours.
    pub entry: Map<String, Value>,
    /// What was known of it beyond the entry.
    #[serde(default, skip_serializing_if = "Note::is_blank")]
    pub note: Note,
    /// What its section was before it came, if it was no list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened: Option<Opened>,
}

/// What a section was before it became a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opened {
    /// It stood there as `null`.
    Null,
    /// It was not there.
    Missing,
}

impl PointState {
    /// The state of the entry at `place`.
    pub(super) fn of(playbook: &Playbook, place: &Place) -> Option<Self> {
        let entry = playbook.entry(place)?.clone();
        let note = entry
            .get(entry::NAME)
            .and_then(Value::as_str)
            .and_then(|name| playbook.meta.points.get(name))
            .cloned()
            .unwrap_or_default();
        Some(Self {
            section: place.title.clone(),
            index: place.index,
            entry,
            note,
            opened: None,
        })
    }

    /// Where the point stood.
    pub(super) fn place(&self) -> Place {
        Place {
            title: self.section.clone(),
            index: self.index,
        }
    }

    /// Returns the name; empty when the entry has none.
    pub fn name(&self) -> &str {
        let name = self.entry.get(entry::NAME).and_then(Value::as_str);
        name.unwrap_or_default()
    }

    /// Returns the text; empty when the entry has none.
    pub fn text(&self) -> &str {
        entry::text(&self.entry).unwrap_or_default()
    }

    /// Returns how often it helped.
    pub fn helpful(&self) -> u64 {
        entry::count(&self.entry, Counter::Helpful)
    }

    /// Returns how often it harmed.
    pub fn harmful(&self) -> u64 {
        entry::count(&self.entry, Counter::Harmful)
    }
}

/// Something that was not done, and why; for the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// What was to be done: `tag for pat-999`.
    pub what: String,
    /// Why it was not.
    pub reason: String,
}

impl Skipped {
    pub(super) fn new(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            reason: reason.into(),
        }
    }
}

/// What came of a request to change a playbook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    /// What was done, in order.
    pub changes: Vec<Change>,
    /// What was not.
    pub skipped: Vec<Skipped>,
}

impl Applied {
    /// Adds what came of a further request.
    pub fn extend(&mut self, more: Self) {
        self.changes.extend(more.changes);
        self.skipped.extend(more.skipped);
    }
}
