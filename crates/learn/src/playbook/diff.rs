//! What someone changed in the file by hand, as a list of changes.
//!
//! Between two jobs the file belongs to the user and their editor. What they did is kept
//! and shows in the history like the work of a job, and can be undone like it.

use std::collections::HashSet;

use jiff::Timestamp;

use super::change::{Change, ChangeKind};
use super::edit::{Cause, Editor};
use super::entry;
use super::model::Playbook;
use super::tree::Place;

/// Lists what leads from the points of `before` to those of `after`: what is gone, what
/// moved, what changed, what came.
///
/// Both are left as they are. A point that only slid because its neighbours went or came did
/// not move.
pub fn diff(before: &Playbook, after: &Playbook, reason: &str, now: Timestamp) -> Vec<Change> {
    let (old, new) = (in_order(before), in_order(after));
    let (was, is) = (before.places(), after.places());
    let mut work = before.clone();
    let mut editor = Editor::new(&mut work, now);
    let cause = |kind| Cause::new(kind, reason);

    // From the end, so that the indexes in front stay right.
    for (_, place) in old.iter().rev().filter(|(name, _)| !is.contains_key(*name)) {
        editor.remove(place, None, &cause(ChangeKind::Delete));
    }
    let kept: Vec<_> = new
        .iter()
        .filter(|(name, _)| was.contains_key(*name))
        .collect();
    move_points(&mut editor, before, &kept, &cause(ChangeKind::Move));

    let here = editor.playbook.places();
    let note = |name: &str| after.meta.points.get(name).cloned().unwrap_or_default();
    for (name, place) in &new {
        let Some(fields) = after.entry(place) else {
            continue;
        };
        let Some(place) = here.get(*name) else {
            continue;
        };
        let pinned = note(name).pinned;
        editor.annotate(place, &cause(ChangeKind::Pin), |note| note.pinned = pinned);
        let old_text = editor.playbook.entry(place).and_then(entry::text);
        let kind = if old_text == entry::text(fields) {
            ChangeKind::Recount
        } else {
            ChangeKind::Update
        };
        editor.rewrite(place, &cause(kind), |now| now.clone_from(fields));
    }
    for (name, place) in new {
        if let Some(fields) = after.entry(&place).filter(|_| !here.contains_key(name)) {
            editor.put(place, fields.clone(), note(name), &cause(ChangeKind::Add));
        }
    }
    editor.done.changes
}

/// The named entries in the order of the file; of two with one name the last.
fn in_order(playbook: &Playbook) -> Vec<(&str, Place)> {
    let places = playbook.places();
    let named = playbook.entries().filter_map(|(title, index, fields)| {
        let name = entry::name(fields)?;
        let title = title.to_owned();
        Some((name, Place { title, index }))
    });
    named
        .filter(|(name, place)| places.get(*name) == Some(place))
        .collect()
}

/// Moves each point that stands in another order or section behind the one that it
/// follows among those `kept`.
fn move_points(
    editor: &mut Editor<'_>,
    before: &Playbook,
    kept: &[&(&str, Place)],
    cause: &Cause<'_>,
) {
    let staying = staying(before, kept);
    let mut previous: Option<&(&str, Place)> = None;
    for &point in kept {
        let (name, target) = point;
        let follows = previous.filter(|(_, place)| place.title == target.title);
        previous = Some(point);
        if staying.contains(name) {
            continue;
        }
        let places = editor.playbook.places();
        let Some(from) = places.get(*name) else {
            continue;
        };
        let index = match follows.and_then(|(name, _)| places.get(*name)) {
            None => 0,
            // The index is counted without the point itself.
            Some(place) if from.title == place.title && from.index < place.index => place.index,
            Some(place) => place.index + 1,
        };
        let title = target.title.clone();
        editor.relocate(from, Place { title, index }, cause);
    }
}

/// The points that need not move: in each section those of a long run in the old order, as
/// found from its front or from its end.
fn staying<'a>(before: &Playbook, kept: &[&(&'a str, Place)]) -> HashSet<&'a str> {
    let was = before.places();
    let mut staying = HashSet::new();
    for section in kept.chunk_by(|a, b| a.1.title == b.1.title) {
        let in_section = section.iter().filter_map(|(name, place)| {
            let old = was.get(*name)?;
            (old.title == place.title).then_some((old.index, *name))
        });
        let points: Vec<(usize, &str)> = in_section.collect();
        let run = |points: &mut dyn Iterator<Item = &(usize, &'a str)>, is_next: IsNext| {
            let mut run: Vec<(usize, &'a str)> = Vec::new();
            for &(index, name) in points {
                if run.last().is_none_or(|&(last, _)| is_next(last, index)) {
                    run.push((index, name));
                }
            }
            run
        };
        let from_front = run(&mut points.iter(), |last, index| last < index);
        let from_end = run(&mut points.iter().rev(), |last, index| last > index);
        let longest = if from_front.len() > from_end.len() {
            from_front
        } else {
            from_end
        };
        staying.extend(longest.into_iter().map(|(_, name)| name));
    }
    staying
}

/// Whether an old index may follow another in a run.
type IsNext = fn(usize, usize) -> bool;

#[cfg(test)]
mod tests {
    use super::super::undo::undo;
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn now() -> Timestamp {
        "2026-11-21T00:00:00Z".parse().unwrap()
    }

    /// `"a b | c"`: points a and b in the first section, c in the second.
    fn playbook(points: &str) -> Playbook {
        let mut sections = serde_json::Map::new();
        for (n, names) in points.split('|').enumerate() {
            let list = names
                .split_whitespace()
                .map(|name| json!({"name": name.trim_end_matches('!'), "text": name, "helpful": 1}))
                .collect();
            let title = super::super::Section::ALL[n].title().to_owned();
            sections.insert(title, Value::Array(list));
        }
        Playbook::parse(json!({"sections": sections}).to_string().as_bytes()).unwrap()
    }

    fn told(changes: &[Change]) -> String {
        let one = |c: &Change| format!("{:?} {}", c.kind, c.id);
        changes.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    #[rstest]
    #[case::nothing("a b | c", "a b | c", "")]
    #[case::added("a b |", "x a y b z |", "Add x, Add y, Add z")]
    #[case::removed("a b c d | e", "b d |", "Delete e, Delete c, Delete a")]
    #[case::text("a b |", "a b! |", "Update b")]
    #[case::to_another_section("a b | c", "a | b c", "Move b")]
    #[case::to_the_end("a b c d |", "b c d a |", "Move a")]
    #[case::to_the_front("a b c d |", "d a b c |", "Move d")]
    #[case::swapped("a b c d |", "a d c b |", "Move d, Move c")]
    #[case::all_at_once(
        "a b c | d e",
        "x c! a | b e y",
        "Delete d, Move c, Move b, Update c, Add x, Add y"
    )]
    fn a_hand_edit_is_told_point_by_point_and_undoing_it_restores_the_file(
        #[case] before: &str,
        #[case] after: &str,
        #[case] expected: &str,
    ) {
        let (before, mut after) = (playbook(before), playbook(after));
        let changes = diff(&before, &after, "edited by hand", now());
        assert_eq!(told(&changes), expected);
        let undone = undo(&mut after, &changes, "undo", now());
        assert_eq!(undone.skipped, []);
        assert_eq!(
            json!(after.sections()).to_string(),
            json!(before.sections()).to_string()
        );
    }
}
