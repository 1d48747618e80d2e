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
    pub(super) now: Timestamp,
    pub(super) done: Applied,
}

pub(super) struct ChangeCause<'a> {
    pub(super) kind: ChangeKind,
    pub(super) reason: &'a str,
}

impl<'a> ChangeCause<'a> {
    pub(super) fn new(kind: ChangeKind, reason: &'a str) -> Self {
        Self { kind, reason }
    }
}

impl<'a> Editor<'a> {
    pub(super) fn new(playbook: &'a mut Playbook, now: Timestamp) -> Self {
        Self {
            playbook,
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
        cause: &ChangeCause<'_>,
    ) {
        let name = entry::name(&fields).unwrap_or_default().to_owned();
        if let Err(reason) = self.playbook.open(&place.title) {
            return self.skip(format!("put {name} into {}", place.title), reason);
        }
        let Some(place) = self.playbook.insert(place, Value::Object(fields)) else {
            return;
        };
        self.playbook.note_given(&name);
        if !note.is_blank() && !name.is_empty() {
            self.playbook.meta.points.insert(name.clone(), note);
        }
        let after = self.state(&place);
        self.record(name, None, after, None, cause);
    }

    /// Takes an entry out; `into` is the point that stands for it from now on.
    pub(super) fn remove(
        &mut self,
        place: &PointPlace,
        into: Option<&str>,
        cause: &ChangeCause<'_>,
    ) {
        let Some(before) = self.state(place) else {
            return;
        };
        let name = before.name().to_owned();
        self.playbook.take(place);
        self.playbook.note_given(&name);
        self.playbook.meta.points.remove(&name);
        if let Some(into) = into {
            self.playbook
                .meta
                .aliases
                .insert(name.clone(), into.to_owned());
        }
        self.record(name, Some(before), None, into, cause);
    }

    /// Changes an entry where it stands; nothing is recorded when it stays the same.
    pub(super) fn rewrite(
        &mut self,
        place: &PointPlace,
        cause: &ChangeCause<'_>,
        change: impl FnOnce(&mut Map<String, Value>),
    ) {
        let before = self.state(place);
        if let Some(fields) = self.playbook.entry_mut(place) {
            change(fields);
        }
        self.record_difference(before, place, cause);
    }

    /// Changes what is known of a point beyond its entry.
    pub(super) fn annotate(
        &mut self,
        place: &PointPlace,
        cause: &ChangeCause<'_>,
        change: impl FnOnce(&mut Note),
    ) {
        let Some(before) = self.state(place) else {
            return;
        };
        let mut note = before.note.clone();
        change(&mut note);
        let points = &mut self.playbook.meta.points;
        let name = before.name().to_owned();
        if note.is_blank() {
            points.remove(&name);
        } else {
            points.insert(name, note);
        }
        self.record_difference(Some(before), place, cause);
    }

    /// Moves an entry to another place, counted without itself.
    pub(super) fn relocate(&mut self, from: &PointPlace, to: PointPlace, cause: &ChangeCause<'_>) {
        let Some(before) = self.state(from) else {
            return;
        };
        if let Err(reason) = self.playbook.open(&to.title) {
            return self.skip(format!("move {}", before.name()), reason);
        }
        let Some(entry) = self.playbook.take(from) else {
            return;
        };
        let Some(place) = self.playbook.insert(to, entry) else {
            return;
        };
        let after = self.state(&place);
        self.record(before.name().to_owned(), Some(before), after, None, cause);
    }

    fn record_difference(
        &mut self,
        before: Option<PointState>,
        place: &PointPlace,
        cause: &ChangeCause<'_>,
    ) {
        let after = self.state(place);
        if before != after
            && let Some(state) = before.as_ref().or(after.as_ref())
        {
            let name = state.name().to_owned();
            self.record(name, before, after, None, cause);
        }
    }

    fn record(
        &mut self,
        id: String,
        before: Option<PointState>,
        after: Option<PointState>,
        into: Option<&str>,
        cause: &ChangeCause<'_>,
    ) {
        self.done.changes.push(PointChange {
            kind: cause.kind,
            id,
            before,
            after,
            into: into.map(str::to_owned),
            reason: cause.reason.to_owned(),
        });
    }
}
