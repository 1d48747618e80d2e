//! Lists the changes that a user made to the file by hand.
//!
//! Between two jobs the file belongs to the user and their editor. Their changes are kept, appear
//! in the history like those of a job, and can be undone.

use std::collections::HashSet;

use jiff::Timestamp;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::change::Editor;
use super::change::{ChangeKind, PointChange, PointState};
use super::entry;
use super::model::{Playbook, PointPlace};

/// Lists the changes from `before` to `after`: removed, moved, changed and added points.
///
/// A point whose index only shifted because of its neighbours did not move.
pub fn diff(before: &Playbook, after: &Playbook, reason: &str, now: Timestamp) -> Vec<PointChange> {
    let (old, new) = (in_order(before), in_order(after));
    let (was, is) = (before.places(), after.places());
    let mut work = before.clone();
    let mut editor = Editor::new(&mut work, reason, now);

    // In reverse order, so that earlier indexes stay valid.
    for (_, place) in old.iter().rev().filter(|(name, _)| !is.contains_key(*name)) {
        editor.remove(place, None, ChangeKind::Delete);
    }
    let kept = new.iter().filter(|(name, _)| was.contains_key(*name));
    move_points(&mut editor, before, &kept.collect::<Vec<_>>());

    let here = editor.playbook.places();
    let mut came = Vec::new();
    for (name, place) in new {
        let state = PointState::of(after, &place).unwrap_or_default();
        match here.get(name) {
            Some(place) => {
                editor.set_pinned(place, state.note.pinned);
                editor.set_due(place, state.note.due);
                editor.rewrite(place, |now| *now = state.entry);
            }
            None => came.push((place, state)),
        }
    }
    for (place, state) in came {
        editor.put(place, state.entry, state.note, ChangeKind::Add);
    }
    editor.done.changes
}

/// Returns the named entries in the order of the file; of two with one name, the last.
fn in_order(playbook: &Playbook) -> Vec<(&str, PointPlace)> {
    let places = playbook.places();
    let named = playbook.entries();
    let named = named.filter_map(|(place, fields)| Some((entry::name(fields)?, place)));
    named
        .filter(|(name, place)| places.get(*name) == Some(place))
        .collect()
}

/// Moves each point with a new position or section behind its predecessor among those `kept`.
fn move_points(editor: &mut Editor<'_>, before: &Playbook, kept: &[&(&str, PointPlace)]) {
    let staying = staying(before, kept);
    let mut previous: Option<&(&str, PointPlace)> = None;
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
            // The index does not count the point itself.
            Some(place) if from.title == place.title && from.index < place.index => place.index,
            Some(place) => place.index + 1,
        };
        let title = target.title.clone();
        editor.relocate(from, PointPlace { title, index });
    }
}

/// Returns the points that need not move: in each section the longest run in the old order.
fn staying<'a>(before: &Playbook, kept: &[&(&'a str, PointPlace)]) -> HashSet<&'a str> {
    let was = before.places();
    let mut staying = HashSet::new();
    for section in kept.chunk_by(|a, b| a.1.title == b.1.title) {
        let stayed = section.iter().filter(|(name, place)| {
            let old = was.get(*name);
            old.is_some_and(|old| old.title == place.title)
        });
        let new: Vec<&str> = stayed.map(|(name, _)| *name).collect();
        let mut old = new.clone();
        old.sort_by_key(|name| was.get(*name).map(|place| place.index));
        for part in capture_diff_slices(Algorithm::Myers, &old, &new) {
            if let DiffOp::Equal { new_index, len, .. } = part {
                staying.extend(&new[new_index..new_index + len]);
            }
        }
    }
    staying
}

#[cfg(test)]
mod tests {
    use super::super::undo::undo;
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn now() -> Timestamp {
        "2026-11-21T00:00:00Z".parse().unwrap()
    }

    /// Parses `"a b | c"`: points a and b in the first section, c in the second.
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

    fn told(changes: &[PointChange]) -> String {
        let one = |c: &PointChange| format!("{:?} {}", c.kind, c.id);
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
            json!(after.sections).to_string(),
            json!(before.sections).to_string()
        );
    }
    #[test]
    fn a_cue_that_was_set_in_the_file_is_a_change_and_undone_like_one() {
        let before = playbook("a |");
        let with = |due: Value| {
            let mut file: Value = serde_json::from_slice(&before.to_bytes()).unwrap();
            file["playbook"] = json!({"points": {"a": due}});
            Playbook::parse(file.to_string().as_bytes()).unwrap()
        };
        let mut after = with(json!({"when": {"words": "release notes"}}));
        let changes = diff(&before, &after, "edited by hand", now());
        assert_eq!(told(&changes), "Cue a");
        assert_eq!(undo(&mut after, &changes, "undo", now()).skipped, []);
        assert_eq!(after.named("a").unwrap().due(), None);
        let mut later = with(json!({"when": {"words": "changelog"}}));
        undo(&mut later, &changes, "undo", now());
        assert!(later.named("a").unwrap().due().is_some(), "set since");
    }
}
