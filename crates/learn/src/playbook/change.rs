//! The ways in which a playbook changes. Each leaves a record that explains it and can be undone.

use jiff::Timestamp;
use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry;
use super::id::Section;
use super::model::{Due, Note, Playbook, to_second};

/// A job's changes are a list in the order they were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointChange {
    pub kind: ChangeKind,
    /// The name of the changed point: usually an [`Id`](super::Id), in older files any text.
    #[serde(rename = "point")]
    pub id: String,
    pub before: Option<PointState>,
    pub after: Option<PointState>,
    /// The point that absorbed this one, for [`ChangeKind::Merge`].
    pub into: Option<String>,
    pub reason: String,
}

worded! {
    pub enum ChangeKind {
        Helpful = "helpful",
        Harmful = "harmful",
        /// The counters were set, by hand or by an undo.
        Recount = "recount",
        Add = "add",
        Update = "update",
        Move = "move",
        Merge = "merge",
        /// The point received the votes of others that were merged.
        Absorb = "absorb",
        Delete = "delete",
        /// The point was removed because it did more harm than good.
        Prune = "prune",
        /// The point was removed because the playbook was full.
        Evict = "evict",
        Pin = "pin",
        Cue = "cue",
    }
}

/// A key point at one moment, exactly as it was in the file.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PointState {
    /// The title as the file has it.
    pub section: String,
    pub index: usize,
    /// The entry with all its keys, including unknown ones.
    pub entry: Map<String, Value>,
    #[serde(default, skip_serializing_if = "Note::is_blank")]
    pub note: Note,
}

impl PointState {
    pub fn name(&self) -> &str {
        entry::name(&self.entry).unwrap_or_default()
    }

    pub fn text(&self) -> &str {
        entry::text(&self.entry).unwrap_or_default()
    }

    pub fn due(&self) -> &Due {
        &self.note.due
    }

    pub fn helpful(&self) -> u64 {
        entry::count(&self.entry, entry::HELPFUL)
    }

    pub fn harmful(&self) -> u64 {
        entry::count(&self.entry, entry::HARMFUL)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// The requested change: `tag for pat-999`.
    pub what: String,
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

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Applied {
    pub changes: Vec<PointChange>,
    pub skipped: Vec<Skipped>,
}

/// Takes the guard off a key point; its cue stays.
pub fn end_guard(
    playbook: &mut Playbook,
    name: &str,
    reason: &str,
    now: Timestamp,
) -> Vec<PointChange> {
    let mut editor = Editor::new(playbook, reason, now);
    if let Some(state) = editor.playbook.state(name) {
        editor.alter(state, ChangeKind::Cue, |state| state.note.due.guard = false);
    }
    editor.done.changes
}

pub(super) struct Editor<'a> {
    pub(super) playbook: &'a mut Playbook,
    pub(super) reason: String,
    now: Timestamp,
    pub(super) done: Applied,
}

impl<'a> Editor<'a> {
    pub(super) fn new(playbook: &'a mut Playbook, reason: &str, now: Timestamp) -> Self {
        Self {
            playbook,
            reason: reason.to_owned(),
            now: to_second(now),
            done: Applied::default(),
        }
    }

    pub(super) fn skip(&mut self, what: impl Into<String>, reason: impl Into<String>) {
        self.done.skipped.push(Skipped::new(what, reason));
    }

    /// Adds a point at the end of its section.
    pub(super) fn append(
        &mut self,
        section: Section,
        entry: Map<String, Value>,
        note: Note,
        kind: ChangeKind,
    ) {
        let added = Some(self.now);
        let state = PointState {
            section: section.title().to_owned(),
            index: usize::MAX,
            entry,
            note: Note { added, ..note },
        };
        self.put(state, kind);
    }

    /// Skips a section that is no list; an index past its end means its end.
    pub(super) fn put(&mut self, mut state: PointState, kind: ChangeKind) {
        match self.playbook.insert(&mut state) {
            Ok(()) => {
                self.playbook.note_given(state.name());
                self.record(None, Some(state), kind);
            }
            Err(why) => self.skip(format!("put {} into {}", state.name(), state.section), why),
        }
    }

    /// Removes an entry; `into` is the point that replaces it from now on.
    pub(super) fn remove(&mut self, state: PointState, into: Option<&str>, kind: ChangeKind) {
        let name = state.name().to_owned();
        self.playbook.take(&state);
        self.playbook.note_given(&name);
        self.playbook.meta.points.remove(&name);
        self.record(Some(state), None, kind);
        if let (Some(into), Some(change)) = (into, self.done.changes.last_mut()) {
            change.into = Some(into.to_owned());
            self.playbook.meta.aliases.insert(name, into.to_owned());
        }
    }

    /// The index of `to` does not count the entry itself.
    pub(super) fn relocate(
        &mut self,
        from: PointState,
        (section, index): (&str, usize),
    ) -> PointState {
        let mut to = PointState {
            section: section.to_owned(),
            index,
            ..from.clone()
        };
        if let Err(why) = self.playbook.open(section) {
            self.skip(format!("move {}", from.name()), why);
            return from;
        }
        self.playbook.take(&from);
        _ = self.playbook.insert(&mut to);
        self.record(Some(from), Some(to.clone()), ChangeKind::Move);
        to
    }

    /// Changes a point in place; an unchanged one is not recorded.
    pub(super) fn alter(
        &mut self,
        before: PointState,
        kind: ChangeKind,
        change: impl FnOnce(&mut PointState),
    ) -> PointState {
        let mut after = before.clone();
        change(&mut after);
        if after != before {
            self.playbook.set(&after);
        }
        self.record(Some(before), Some(after.clone()), kind);
        after
    }

    /// Gives a point the pin, the cue and the entry of another state, each as a change of its own.
    pub(super) fn adopt(&mut self, now: PointState, wanted: PointState) {
        let PointState { entry, note, .. } = wanted;
        let now = self.alter(now, ChangeKind::Pin, |now| now.note.pinned = note.pinned);
        let now = self.alter(now, ChangeKind::Cue, |now| now.note.due = note.due);
        let kind = if now.entry.get(entry::TEXT) == entry.get(entry::TEXT) {
            ChangeKind::Recount
        } else {
            ChangeKind::Update
        };
        self.alter(now, kind, |now| now.entry = entry);
    }

    fn record(&mut self, before: Option<PointState>, after: Option<PointState>, kind: ChangeKind) {
        if before != after
            && let Some(state) = before.as_ref().or(after.as_ref())
        {
            self.done.changes.push(PointChange {
                kind,
                id: state.name().to_owned(),
                before,
                after,
                into: None,
                reason: self.reason.clone(),
            });
        }
    }
}
