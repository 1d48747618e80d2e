//! Takes back what a job did, on the playbook as it is now.
//!
//! The inverse of each change, last first. Counters go back by the difference the job
//! made, never below zero. A text goes back only if it is still what the job wrote. A
//! point that was added leaves with the votes it got since. Points that were merged or
//! joined come back with their own counters; votes given since stay with the point that
//! took them in. What cannot go back is told and left. When nothing happened since, the
//! sections are byte for byte what they were.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::change::{Applied, Change, ChangeKind, PointState};
use super::edit::{Cause, Editor};
use super::entry::{self, Counter};
use super::model::{Place, Playbook};

const COUNTERS: [Counter; 2] = [Counter::Helpful, Counter::Harmful];

/// Takes back the `changes` of one job; `reason` stands in the record of it.
///
/// Whether a job was undone already is for the caller to know: counters would go back
/// twice.
pub fn undo<'a>(
    playbook: &'a mut Playbook,
    changes: &[Change],
    reason: &'a str,
    now: Timestamp,
) -> Applied {
    let mut undo = Undo {
        editor: Editor::new(playbook, now),
        reason,
    };
    for change in changes.iter().rev() {
        match (&change.before, &change.after) {
            (Some(before), None) => undo.bring_back(change, before),
            (None, Some(after)) => undo.take_away(change, after),
            (Some(before), Some(after)) => undo.turn_back(change, before, after),
            (None, None) => {}
        }
    }
    undo.editor.done
}

struct Undo<'a> {
    editor: Editor<'a>,
    reason: &'a str,
}

impl<'a> Undo<'a> {
    fn cause(&self, kind: ChangeKind) -> Cause<'a> {
        Cause::new(kind, self.reason)
    }

    fn tell(&mut self, change: &Change, why: impl Into<String>) {
        self.editor.skip(format!("undo of {}", change.id), why);
    }

    /// Where a point is now, under its own name.
    fn place(&self, name: &str) -> Option<Place> {
        self.editor.playbook.places().remove(name)
    }

    /// A point that the job took away comes back where it was.
    fn bring_back(&mut self, change: &Change, before: &PointState) {
        if !change.id.is_empty() && self.place(&change.id).is_some() {
            return self.tell(change, "it is there already");
        }
        let aliases = &mut self.editor.playbook.meta.aliases;
        if change.into.is_some() && aliases.get(&change.id) == change.into.as_ref() {
            aliases.remove(&change.id);
        }
        let cause = self.cause(ChangeKind::Add);
        let (fields, note) = (before.entry.clone(), before.note.clone());
        self.editor.put(before.place(), fields, note, &cause);
    }

    /// A point that the job brought leaves.
    fn take_away(&mut self, change: &Change, after: &PointState) {
        let Some(place) = self.place(&change.id) else {
            let known = self.editor.playbook.meta.aliases.get(&change.id).cloned();
            return match known {
                Some(into) if change.kind == ChangeKind::Absorb => {
                    self.take_votes(change, &into, None, after);
                }
                Some(into) => self.tell(change, format!("it was joined into {into} since")),
                None => self.tell(change, "it is gone already"),
            };
        };
        let now = self
            .editor
            .playbook
            .entry(&place)
            .cloned()
            .unwrap_or_default();
        if entry::text(&now) != entry::text(&after.entry) {
            return self.tell(change, "its text was changed since");
        }
        if change.kind == ChangeKind::Absorb && has_more_votes(&now, &after.entry) {
            self.take_votes(change, &change.id, None, after);
            return self.tell(change, "it stays with the votes it got since");
        }
        let cause = self.cause(ChangeKind::Delete);
        self.editor.remove(&place, None, &cause);
        if let Some(opened) = after.opened {
            self.editor.playbook.close(&after.section, opened);
        }
    }

    /// A point that the job changed goes back to what it was, as far as it is still what
    /// the job made of it.
    fn turn_back(&mut self, change: &Change, before: &PointState, after: &PointState) {
        let Some(place) = self.place(&change.id) else {
            let into = self.editor.playbook.meta.resolve(&change.id).to_owned();
            if self.place(&into).is_some() {
                return self.take_votes(change, &into, Some(before), after);
            }
            return self.tell(change, "it is gone");
        };
        if before.section != after.section || change.kind == ChangeKind::Move {
            self.move_back(change, &place, before, after);
        }
        if before.note.pinned != after.note.pinned {
            let pinned = before.note.pinned;
            let cause = self.cause(ChangeKind::Pin);
            self.editor
                .annotate(&place, &cause, |note| note.pinned = pinned);
        }
        if before.entry != after.entry {
            self.rewrite_back(change, before, after);
        }
    }

    fn move_back(
        &mut self,
        change: &Change,
        place: &Place,
        before: &PointState,
        after: &PointState,
    ) {
        if place.title != after.section {
            return self.tell(change, "it was moved since");
        }
        let cause = self.cause(ChangeKind::Move);
        self.editor.relocate(place, before.place(), &cause);
        if let Some(opened) = after.opened {
            self.editor.playbook.close(&after.section, opened);
        }
    }

    fn rewrite_back(&mut self, change: &Change, before: &PointState, after: &PointState) {
        let Some(place) = self.place(&change.id) else {
            return;
        };
        let now = self
            .editor
            .playbook
            .entry(&place)
            .cloned()
            .unwrap_or_default();
        let kind = if entry::text(&before.entry) == entry::text(&after.entry) {
            ChangeKind::Recount
        } else {
            ChangeKind::Update
        };
        if now == after.entry {
            let fields = before.entry.clone();
            let cause = self.cause(kind);
            return self.editor.rewrite(&place, &cause, |now| *now = fields);
        }
        let is_ours = now.get(entry::TEXT) == after.entry.get(entry::TEXT);
        if kind == ChangeKind::Update && !is_ours {
            self.tell(change, "its text was changed since");
        }
        let cause = self.cause(kind);
        self.editor.rewrite(&place, &cause, |now| {
            if is_ours && let Some(text) = before.entry.get(entry::TEXT) {
                now.insert(entry::TEXT.to_owned(), text.clone());
            }
            for counter in COUNTERS {
                count_back(now, counter, Some(before), after);
            }
        });
    }

    /// Takes what a change brought out of the counters of the point `name`.
    fn take_votes(
        &mut self,
        change: &Change,
        name: &str,
        before: Option<&PointState>,
        after: &PointState,
    ) {
        let Some(place) = self.place(name) else {
            return self.tell(change, "it is gone");
        };
        let cause = self.cause(ChangeKind::Recount);
        self.editor.rewrite(&place, &cause, |now| {
            for counter in COUNTERS {
                count_back(now, counter, before, after);
            }
        });
    }
}

/// Takes the difference that a change made to a counter out of it, never below zero.
fn count_back(
    now: &mut Map<String, Value>,
    counter: Counter,
    before: Option<&PointState>,
    after: &PointState,
) {
    let was = before.map_or(0, |state| entry::count(&state.entry, counter));
    let made = entry::count(&after.entry, counter);
    if was == made {
        return;
    }
    let count = entry::count(now, counter);
    let back = count.saturating_sub(made.saturating_sub(was));
    let back = back.saturating_add(was.saturating_sub(made));
    now.insert(counter.key().to_owned(), back.into());
}

fn has_more_votes(now: &Map<String, Value>, then: &Map<String, Value>) -> bool {
    COUNTERS
        .iter()
        .any(|&counter| entry::count(now, counter) > entry::count(then, counter))
}
