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

use super::change::{Applied, ChangeKind, PointChange, PointState};
use super::edit::{ChangeCause, Editor};
use super::entry::{self, COUNTERS, Counter};
use super::model::{Playbook, PointPlace};

/// Takes back the `changes` of one job; `reason` stands in the record of it.
///
/// Whether a job was undone already is for the caller to know: counters would go back
/// twice.
pub fn undo<'a>(
    playbook: &'a mut Playbook,
    changes: &[PointChange],
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
    fn cause(&self, kind: ChangeKind) -> ChangeCause<'a> {
        ChangeCause::new(kind, self.reason)
    }

    fn tell(&mut self, change: &PointChange, why: impl Into<String>) {
        self.editor.skip(format!("undo of {}", change.id), why);
    }

    /// Where a point is now, under its own name.
    fn place(&self, name: &str) -> Option<PointPlace> {
        self.editor.playbook.places().remove(name)
    }

    fn fields(&self, place: &PointPlace) -> Map<String, Value> {
        let fields = self.editor.playbook.entry(place);
        fields.cloned().unwrap_or_default()
    }

    /// A point that the job took away comes back where it was.
    fn bring_back(&mut self, change: &PointChange, before: &PointState) {
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

    fn take_away(&mut self, change: &PointChange, after: &PointState) {
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
        let now = self.fields(&place);
        if entry::text(&now) != entry::text(&after.entry) {
            return self.tell(change, "its text was changed since");
        }
        if change.kind == ChangeKind::Absorb && has_more_votes(&now, &after.entry) {
            self.take_votes(change, &change.id, None, after);
            return self.tell(change, "it stays with the votes it got since");
        }
        let cause = self.cause(ChangeKind::Delete);
        self.editor.remove(&place, None, &cause);
    }

    /// A point that the job changed goes back to what it was, as far as it is still what
    /// the job made of it.
    fn turn_back(&mut self, change: &PointChange, before: &PointState, after: &PointState) {
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
        change: &PointChange,
        place: &PointPlace,
        before: &PointState,
        after: &PointState,
    ) {
        if place.title != after.section {
            return self.tell(change, "it was moved since");
        }
        let cause = self.cause(ChangeKind::Move);
        self.editor.relocate(place, before.place(), &cause);
    }

    fn rewrite_back(&mut self, change: &PointChange, before: &PointState, after: &PointState) {
        let Some(place) = self.place(&change.id) else {
            return;
        };
        let now = self.fields(&place);
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
        change: &PointChange,
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

#[cfg(test)]
mod tests {
    use super::super::manual_edit;
    use super::super::ops::apply_operations;
    use super::super::section::Section;
    use super::super::tags::{BulletTag, Tag, apply_bullet_tags};
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    type Edit = Box<dyn Fn(&mut Playbook) -> Vec<PointChange>>;

    fn now() -> Timestamp {
        "2026-11-21T10:00:00Z".parse().unwrap()
    }

    fn playbook() -> Playbook {
        let file = json!({"sections": {"OTHERS": [
            {"name": "oth-001", "text": "use tabs", "helpful": 1, "harmful": 0},
            {"name": "oth-002", "text": "ask first", "helpful": 2, "harmful": 1}]}});
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    }

    fn vote(name: &'static str, times: usize) -> Edit {
        let tag = BulletTag {
            name: name.to_owned(),
            tag: Tag::Helpful,
            rationale: String::new(),
        };
        Box::new(move |p| apply_bullet_tags(p, &vec![tag.clone(); times]).changes)
    }

    fn operate(operation: Value) -> Edit {
        Box::new(move |p| apply_operations(p, std::slice::from_ref(&operation), "", now()).changes)
    }

    fn update(text: &str) -> Edit {
        operate(json!({"type": "UPDATE", "target_id": "oth-001", "text": text}))
    }

    fn add(text: &str) -> Edit {
        operate(json!({"type": "ADD", "text": text}))
    }

    fn merge() -> Edit {
        operate(json!({"type": "MERGE", "source_ids": ["oth-001", "oth-002"], "merged_text": "m"}))
    }

    /// Joins a third point into the first, as jobs in older histories did.
    fn join() -> Edit {
        Box::new(|p| {
            add("Use the tabs")(p);
            vote("oth-003", 5)(p);
            let places = p.places();
            let mut editor = Editor::new(p, now());
            let cause = |kind| ChangeCause::new(kind, "");
            editor.remove(
                &places["oth-003"],
                Some("oth-001"),
                &cause(ChangeKind::Duplicate),
            );
            editor.rewrite(&places["oth-001"], &cause(ChangeKind::Absorb), |fields| {
                entry::raise(fields, Counter::Helpful, 5);
            });
            editor.done.changes
        })
    }

    fn to_section(section: Section) -> Edit {
        Box::new(move |p| {
            manual_edit::by_hand(p, now(), |e| {
                manual_edit::edit_section(e, "oth-002", section)
            })
            .unwrap()
        })
    }

    fn remove() -> Edit {
        Box::new(|p| {
            manual_edit::by_hand(p, now(), |e| {
                manual_edit::pin(e, "oth-001", manual_edit::PinEdit::Set)
            })
            .unwrap();
            manual_edit::by_hand(p, now(), |e| manual_edit::remove(e, "oth-001", None)).unwrap()
        })
    }

    /// As an editor would, of which no job knows.
    fn recount() -> Edit {
        Box::new(|p| {
            let place = p.places().remove("oth-002").unwrap();
            let fields = p.entry_mut(&place).unwrap();
            fields.insert("helpful".to_owned(), 3.into());
            Vec::new()
        })
    }

    #[rstest]
    #[case::counters_by_the_difference(vote("oth-001", 2), vec![vote("oth-001", 3)],
        "oth-001 use tabs 4/0, oth-002 ask first 2/1", "")]
    #[case::counters_never_below_zero(vote("oth-002", 5), vec![recount()],
        "oth-001 use tabs 1/0, oth-002 ask first 0/1", "")]
    #[case::a_text_that_is_still_the_jobs(update("use spaces"), vec![vote("oth-001", 1)],
        "oth-001 use tabs 2/0, oth-002 ask first 2/1", "")]
    #[case::an_added_point_leaves_with_its_later_votes(add("new"), vec![vote("oth-003", 4)],
        "oth-001 use tabs 1/0, oth-002 ask first 2/1", "")]
    #[case::an_added_point_stays_with_a_text_of_someone_else(
        add("new"),
        vec![operate(json!({"type": "UPDATE", "target_id": "oth-003", "text": "mine"}))],
        "oth-001 use tabs 1/0, oth-002 ask first 2/1, oth-003 mine 0/0",
        "undo of oth-003: its text was changed since")]
    #[case::later_votes_stay_with_the_joined_point(join(), vec![vote("oth-003", 1)],
        "oth-001 use tabs 2/0, oth-002 ask first 2/1, oth-003 Use the tabs 5/0", "")]
    #[case::a_vote_on_what_was_merged_since(vote("oth-001", 3), vec![merge()], "oth-003 m 3/1", "")]
    #[case::what_is_gone(vote("oth-001", 1), vec![remove()],
        "oth-002 ask first 2/1", "undo of oth-001: it is gone")]
    #[case::what_is_elsewhere(to_section(Section::Context), vec![to_section(Section::Patterns)],
        "oth-002 ask first 2/1, oth-001 use tabs 1/0", "undo of oth-002: it was moved since")]
    #[case::what_is_there_already(remove(), vec![operate(json!({"type": "ADD", "text": "x"})), Box::new(|p| {
        let job = remove()(&mut playbook());
        undo(p, &job, "before", now()).changes
    })], "oth-001 use tabs 1/0 pinned, oth-002 ask first 2/1, oth-003 x 0/0",
        "undo of oth-001: it is there already")]
    fn what_a_job_did_goes_back_as_far_as_it_is_still_its_own(
        #[case] job: impl Fn(&mut Playbook) -> Vec<PointChange>,
        #[case] since: Vec<Edit>,
        #[case] points: &str,
        #[case] told: &str,
    ) {
        let mut playbook = playbook();
        let changes = job(&mut playbook);
        for edit in since {
            edit(&mut playbook);
        }
        let applied = undo(&mut playbook, &changes, "undo of job", now());
        assert!(applied.changes.iter().all(|c| c.reason == "undo of job"));
        let shown = playbook.points().map(|p| {
            let pin = if p.is_pinned() { " pinned" } else { "" };
            format!("{} {} {}/{}{pin}", p.name, p.text, p.helpful, p.harmful)
        });
        assert_eq!(shown.collect::<Vec<_>>().join(", "), points);
        let skipped = applied.skipped.into_iter();
        let skipped: Vec<_> = skipped
            .map(|s| format!("{}: {}", s.what, s.reason))
            .collect();
        assert_eq!(skipped.join(", "), told);
    }
}
