//! The ways in which a playbook changes. Each leaves a record that explains it and can be undone.

use jiff::Timestamp;
use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::entry::{self, Counts};
use super::model::{Due, DueChange, Note, Playbook, PointPlace, to_second};

/// A job's changes are a list in the order they were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointChange {
    pub kind: ChangeKind,
    /// The name of the changed point: usually an [`Id`](super::Id), in older files any text.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<PointState>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<PointState>,
    /// The point that absorbed this one, for [`ChangeKind::Merge`] and [`ChangeKind::Duplicate`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
        /// The point was merged into another with the same meaning; only older histories have it.
        Duplicate = "duplicate",
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
    let change = DueChange {
        when: None,
        guard: Some(false),
    };
    if let Some(place) = editor.playbook.place(name) {
        editor.change_due(&place, &change);
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

    pub(super) fn state(&self, place: &PointPlace) -> Option<PointState> {
        PointState::of(self.playbook, place)
    }

    pub(super) fn fresh_note(&self) -> Note {
        Note {
            added: Some(self.now),
            ..Note::default()
        }
    }

    /// Skips a section that is no list; an index past its end means its end.
    pub(super) fn put(
        &mut self,
        place: PointPlace,
        fields: Map<String, Value>,
        note: Note,
        kind: ChangeKind,
    ) {
        let name = entry::name(&fields).unwrap_or_default().to_owned();
        let title = place.title.clone();
        let place = match self.playbook.insert(place, Value::Object(fields)) {
            Ok(place) => place,
            Err(reason) => return self.skip(format!("put {name} into {title}"), reason),
        };
        self.playbook.note_given(&name);
        if !name.is_empty() {
            self.note(&name, note);
        }
        self.record(None, Some(&place), kind);
    }

    /// Removes an entry; `into` is the point that replaces it from now on.
    pub(super) fn remove(&mut self, place: &PointPlace, into: Option<&str>, kind: ChangeKind) {
        let Some(before) = self.state(place) else {
            return;
        };
        let name = before.name().to_owned();
        self.playbook.take(place);
        self.playbook.note_given(&name);
        self.note(&name, Note::default());
        self.record(Some(before), None, kind);
        if let (Some(into), Some(change)) = (into, self.done.changes.last_mut()) {
            change.into = Some(into.to_owned());
            self.playbook.meta.aliases.insert(name, into.to_owned());
        }
    }

    /// The index of `to` does not count the entry itself.
    pub(super) fn relocate(&mut self, from: &PointPlace, to: PointPlace) {
        let Some(before) = self.state(from) else {
            return;
        };
        if let Err(reason) = self.playbook.open(&to.title) {
            return self.skip(format!("move {}", before.name()), reason);
        }
        let taken = self.playbook.take(from);
        if let Some(Ok(place)) = taken.map(|entry| self.playbook.insert(to, entry)) {
            self.record(Some(before), Some(&place), ChangeKind::Move);
        }
    }

    /// Changes a point in place; an unchanged one is not recorded.
    fn alter(
        &mut self,
        place: &PointPlace,
        kind: ChangeKind,
        change: impl FnOnce(&mut PointState),
    ) {
        let Some(before) = self.state(place) else {
            return;
        };
        let mut after = before.clone();
        change(&mut after);
        if after.note != before.note {
            self.note(before.name(), after.note);
        }
        if let Some(fields) = self.playbook.entry_mut(place) {
            *fields = after.entry;
        }
        self.record(Some(before), Some(place), kind);
    }

    pub(super) fn recount(&mut self, place: &PointPlace, counts: Counts) {
        self.alter(place, ChangeKind::Recount, |state| {
            entry::set_counts(&mut state.entry, counts);
        });
    }

    pub(super) fn reword(&mut self, place: &PointPlace, text: String) {
        self.alter(place, ChangeKind::Update, |state| {
            state.entry.insert(entry::TEXT.to_owned(), text.into());
        });
    }

    pub(super) fn set_pinned(&mut self, place: &PointPlace, pinned: bool) {
        self.alter(place, ChangeKind::Pin, |state| state.note.pinned = pinned);
    }

    pub(super) fn change_due(&mut self, place: &PointPlace, change: &DueChange) {
        self.alter(place, ChangeKind::Cue, |state| {
            state.note.due = change.of(&state.note.due);
        });
    }

    /// Gives a point the pin, the cue and the entry of another state, each as a change of its own.
    pub(super) fn adopt(&mut self, place: &PointPlace, wanted: PointState) {
        let PointState { entry, note, .. } = wanted;
        self.set_pinned(place, note.pinned);
        self.alter(place, ChangeKind::Cue, |state| state.note.due = note.due);
        let old = self
            .playbook
            .entry(place)
            .and_then(|old| old.get(entry::TEXT));
        let kind = if old == entry.get(entry::TEXT) {
            ChangeKind::Recount
        } else {
            ChangeKind::Update
        };
        self.alter(place, kind, |state| state.entry = entry);
    }

    fn note(&mut self, name: &str, note: Note) {
        let points = &mut self.playbook.meta.points;
        if note.is_blank() {
            points.remove(name);
        } else {
            points.insert(name.to_owned(), note);
        }
    }

    fn record(&mut self, before: Option<PointState>, place: Option<&PointPlace>, kind: ChangeKind) {
        let after = place.and_then(|place| self.state(place));
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
