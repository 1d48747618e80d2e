//! Undoes a job on the current playbook.
//!
//! Each change is inverted, last first, by a three-way merge of the current point and the point
//! before the job. The point after the job is the base. Counters therefore change back by the job's
//! difference, never below zero. A text changes back only if it is still the job's. An added point
//! is removed with its later votes. Merged points return with their own counters; later votes stay
//! with the point that replaced them. What cannot be undone is skipped with its reason. Without
//! later changes, the sections are byte for byte as before.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::change::{Applied, ChangeKind, Editor, PointChange, PointState};
use super::entry::{counts, set_counts};
use super::model::Playbook;
use super::three_way::pick_each;

/// Undoes the `changes` of one job; `reason` is recorded with it.
///
/// The caller must prevent a second undo of a job: counters would change twice.
pub fn undo(
    playbook: &mut Playbook,
    changes: &[PointChange],
    reason: &str,
    now: Timestamp,
) -> Applied {
    let mut editor = Editor::new(playbook, reason, now);
    for change in changes.iter().rev() {
        let done = match (&change.before, &change.after) {
            (Some(before), None) => bring_back(&mut editor, change, before),
            (None, Some(after)) => take_away(&mut editor, change, after),
            (Some(before), Some(after)) => turn_back(&mut editor, change, before, after),
            (None, None) => Ok(()),
        };
        if let Err(why) = done {
            editor.skip(format!("undo of {}", change.id), why);
        }
    }
    editor.done
}

const CHANGED: &str = "its text was changed since";

/// Reinserts a point that the job removed.
fn bring_back(
    editor: &mut Editor<'_>,
    change: &PointChange,
    before: &PointState,
) -> Result<(), String> {
    if !change.id.is_empty() && editor.playbook.place(&change.id).is_some() {
        return Err("it is there already".to_owned());
    }
    let aliases = &mut editor.playbook.meta.aliases;
    if change.into.is_some() && aliases.get(&change.id) == change.into.as_ref() {
        aliases.remove(&change.id);
    }
    let (fields, note) = (before.entry.clone(), before.note.clone());
    editor.put(before.place(), fields, note, ChangeKind::Add);
    Ok(())
}

fn take_away(
    editor: &mut Editor<'_>,
    change: &PointChange,
    after: &PointState,
) -> Result<(), String> {
    let nothing = PointState::default();
    let is_absorbed = change.kind == ChangeKind::Absorb;
    let Some(place) = editor.playbook.place(&change.id) else {
        return match editor.playbook.meta.aliases.get(&change.id).cloned() {
            Some(into) if is_absorbed => take_votes(editor, &into, &nothing, after),
            Some(into) => Err(format!("it was joined into {into} since")),
            None => Err("it is gone already".to_owned()),
        };
    };
    let now = editor.state(&place).unwrap_or_default();
    if now.text() != after.text() {
        return Err(CHANGED.to_owned());
    }
    let [now, then] = [&now, after].map(|state| counts(&state.entry));
    if is_absorbed && (now[0] > then[0] || now[1] > then[1]) {
        take_votes(editor, &change.id, &nothing, after)?;
        return Err("it stays with the votes it got since".to_owned());
    }
    editor.remove(&place, None, ChangeKind::Delete);
    Ok(())
}

/// Reverts a point that the job changed, as far as it is still as the job left it.
fn turn_back(
    editor: &mut Editor<'_>,
    change: &PointChange,
    before: &PointState,
    after: &PointState,
) -> Result<(), String> {
    let Some(mut at) = editor.playbook.place(&change.id) else {
        let into = editor.playbook.meta.resolve(&change.id).to_owned();
        return take_votes(editor, &into, before, after);
    };
    if before.section != after.section || change.kind == ChangeKind::Move {
        if at.title != after.section {
            return Err("it was moved since".to_owned());
        }
        editor.relocate(&at, before.place());
        at = editor.playbook.place(&change.id).unwrap_or(at);
    }
    if before.note.pinned != after.note.pinned {
        editor.set_pinned(&at, before.note.pinned);
    }
    let now = editor.state(&at).unwrap_or_default();
    if before.note.due != after.note.due && now.note.due == after.note.due {
        editor.set_due(&at, before.note.due.clone());
    }
    let mut is_changed = false;
    if before.entry != after.entry {
        editor.rewrite(&at, |now| {
            let mut merged = pick_each(&after.entry, [&*now, &before.entry]);
            set_counts(&mut merged, less(counts(now), before, after));
            is_changed =
                before.text() != after.text() && merged.get("text") != before.entry.get("text");
            *now = merged;
        });
    }
    if is_changed {
        Err(CHANGED.to_owned())
    } else {
        Ok(())
    }
}

/// Subtracts the votes of a change from the counters of the point `name`.
fn take_votes(
    editor: &mut Editor<'_>,
    name: &str,
    before: &PointState,
    after: &PointState,
) -> Result<(), String> {
    let place = editor.playbook.place(name).ok_or("it is gone")?;
    editor.rewrite(&place, |now: &mut Map<String, Value>| {
        set_counts(now, less(counts(now), before, after));
    });
    Ok(())
}

/// Subtracts a change's difference from the current counters.
fn less(now: [i64; 2], before: &PointState, after: &PointState) -> [i64; 2] {
    let [before, after] = [before, after].map(|state| counts(&state.entry));
    [now[0] + before[0] - after[0], now[1] + before[1] - after[1]]
}

#[cfg(test)]
mod tests {
    use super::super::manual_edit::PlaybookEdit;
    use super::super::ops::apply_operations;
    use super::super::votes::{apply_bullet_tags, read_bullet_tags};
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
        let tag = json!({"name": name, "tag": "helpful"});
        let (tags, _) = read_bullet_tags(&vec![tag; times].into());
        Box::new(move |p| apply_bullet_tags(p, &tags).changes)
    }

    fn operate(operation: Value) -> Edit {
        Box::new(move |p| apply_operations(p, std::slice::from_ref(&operation), "", now()).changes)
    }

    fn update(name: &str, text: &str) -> Edit {
        operate(json!({"type": "UPDATE", "target_id": name, "text": text}))
    }

    fn add(text: &str) -> Edit {
        operate(json!({"type": "ADD", "text": text}))
    }

    fn merge() -> Edit {
        operate(json!({"type": "MERGE", "source_ids": ["oth-001", "oth-002"], "merged_text": "m"}))
    }

    fn by_hand(edit: Value) -> Edit {
        let edit: PlaybookEdit = serde_json::from_value(edit).unwrap();
        Box::new(move |p| edit.by_hand(p, now()).unwrap())
    }

    fn move_to(section: &str) -> Edit {
        by_hand(json!({"do": "change", "point": "oth-002", "section": section}))
    }

    fn remove() -> Edit {
        Box::new(|p| {
            by_hand(json!({"do": "pin", "point": "oth-001"}))(p);
            by_hand(json!({"do": "remove", "point": "oth-001"}))(p)
        })
    }

    /// Merges a third point into the first, as jobs in older histories did.
    fn join() -> Edit {
        Box::new(|p| {
            add("Use the tabs")(p);
            vote("oth-003", 5)(p);
            let places = p.places();
            let mut editor = Editor::new(p, "", now());
            editor.remove(&places["oth-003"], Some("oth-001"), ChangeKind::Duplicate);
            editor.rewrite(&places["oth-001"], |fields| set_counts(fields, [6, 0]));
            let mut changes = editor.done.changes;
            changes[1].kind = ChangeKind::Absorb;
            changes
        })
    }

    fn recount() -> Edit {
        Box::new(|p| {
            let place = p.place("oth-002").unwrap();
            set_counts(p.entry_mut(&place).unwrap(), [3, 1]);
            Vec::new()
        })
    }

    #[rstest]
    #[case::counters_by_the_difference(vote("oth-001", 2), vec![vote("oth-001", 3)],
        "oth-001 use tabs 4/0, oth-002 ask first 2/1", "")]
    #[case::counters_never_below_zero(vote("oth-002", 5), vec![recount()],
        "oth-001 use tabs 1/0, oth-002 ask first 0/1", "")]
    #[case::a_text_that_is_still_the_jobs(update("oth-001", "use spaces"), vec![vote("oth-001", 1)],
        "oth-001 use tabs 2/0, oth-002 ask first 2/1", "")]
    #[case::an_added_point_leaves_with_its_later_votes(add("new"), vec![vote("oth-003", 4)],
        "oth-001 use tabs 1/0, oth-002 ask first 2/1", "")]
    #[case::an_added_point_stays_with_a_text_of_someone_else(
        add("new"),
        vec![update("oth-003", "mine")],
        "oth-001 use tabs 1/0, oth-002 ask first 2/1, oth-003 mine 0/0",
        "undo of oth-003: its text was changed since")]
    #[case::later_votes_stay_with_the_joined_point(join(), vec![vote("oth-003", 1)],
        "oth-001 use tabs 2/0, oth-002 ask first 2/1, oth-003 Use the tabs 5/0", "")]
    #[case::a_vote_on_what_was_merged_since(vote("oth-001", 3), vec![merge()], "oth-003 m 3/1", "")]
    #[case::what_is_gone(vote("oth-001", 1), vec![remove()],
        "oth-002 ask first 2/1", "undo of oth-001: it is gone")]
    #[case::what_is_elsewhere(
        move_to("PROJECT CONTEXT"), vec![move_to("PATTERNS & APPROACHES")],
        "oth-002 ask first 2/1, oth-001 use tabs 1/0", "undo of oth-002: it was moved since")]
    #[case::what_is_there_already(remove(), vec![add("x"), Box::new(|p| {
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
