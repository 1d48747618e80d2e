//! The few ways in which a playbook changes; each leaves its record behind.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::change::{Applied, ChangeKind, PointChange, PointState, Skipped};
use super::entry;
use super::meta::Note;
use super::model::{Playbook, PointPlace, to_second};

/// Changes a playbook and keeps the list of what it changed.
pub struct Editor<'a> {
    pub(super) playbook: &'a mut Playbook,
    /// Why the next change is made.
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

    /// Puts an entry into a section, past its end means at its end; skipped where the
    /// section is no list.
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
        if !note.is_blank() && !name.is_empty() {
            self.playbook.meta.points.insert(name.clone(), note);
        }
        let after = self.state(&place);
        self.record(name, None, after, kind);
    }

    /// Takes an entry out; `into` is the point that takes its place from now on.
    pub(super) fn remove(&mut self, place: &PointPlace, into: Option<&str>, kind: ChangeKind) {
        let Some(before) = self.state(place) else {
            return;
        };
        let name = before.name().to_owned();
        self.playbook.take(place);
        self.playbook.note_given(&name);
        self.playbook.meta.points.remove(&name);
        self.record(name.clone(), Some(before), None, kind);
        if let Some(into) = into.map(str::to_owned) {
            if let Some(change) = self.done.changes.last_mut() {
                change.into = Some(into.clone());
            }
            self.playbook.meta.aliases.insert(name, into);
        }
    }

    /// Changes an entry in its place; nothing is recorded when it stays the same.
    pub(super) fn rewrite(
        &mut self,
        place: &PointPlace,
        change: impl FnOnce(&mut Map<String, Value>),
    ) {
        let before = self.state(place);
        let Some(fields) = self.playbook.entry_mut(place) else {
            return;
        };
        let old_text = fields.get(entry::TEXT).cloned();
        change(fields);
        let kind = if fields.get(entry::TEXT) == old_text.as_ref() {
            ChangeKind::Recount
        } else {
            ChangeKind::Update
        };
        self.record_difference(before, place, kind);
    }

    /// Pins a point or takes the pin off.
    pub(super) fn set_pinned(&mut self, place: &PointPlace, pinned: bool) {
        let Some(before) = self.state(place) else {
            return;
        };
        let note = Note {
            pinned,
            ..before.note.clone()
        };
        let points = &mut self.playbook.meta.points;
        if note.is_blank() {
            points.remove(before.name());
        } else {
            points.insert(before.name().to_owned(), note);
        }
        self.record_difference(Some(before), place, ChangeKind::Pin);
    }

    /// Moves an entry to another place, counted without itself.
    pub(super) fn relocate(&mut self, from: &PointPlace, to: PointPlace) {
        let Some(before) = self.state(from) else {
            return;
        };
        if let Err(reason) = self.playbook.open(&to.title) {
            return self.skip(format!("move {}", before.name()), reason);
        }
        let taken = self.playbook.take(from);
        let Some(place) = taken.and_then(|entry| self.playbook.insert(to, entry).ok()) else {
            return;
        };
        let after = self.state(&place);
        let name = before.name().to_owned();
        self.record(name, Some(before), after, ChangeKind::Move);
    }

    fn record_difference(
        &mut self,
        before: Option<PointState>,
        place: &PointPlace,
        kind: ChangeKind,
    ) {
        let after = self.state(place);
        if before != after
            && let Some(state) = before.as_ref().or(after.as_ref())
        {
            self.record(state.name().to_owned(), before, after, kind);
        }
    }

    fn record(
        &mut self,
        id: String,
        before: Option<PointState>,
        after: Option<PointState>,
        kind: ChangeKind,
    ) {
        self.done.changes.push(PointChange {
            kind,
            id,
            before,
            after,
            into: None,
            reason: self.reason.clone(),
        });
    }
}
