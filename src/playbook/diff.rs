//! What someone changed in the file by hand, as a list of changes.
//!
//! Between two jobs the file belongs to the user and their editor. What they did is kept
//! and shows in the history like the work of a job, and can be undone like it.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use serde_json::Value;

use super::change::{Change, ChangeKind};
use super::edit::{Cause, Editor};
use super::entry;
use super::meta::Note;
use super::model::Playbook;
use super::tree::Place;

/// Lists what leads from the points of `before` to those of `after`: what is gone, what
/// moved, what came, what changed.
///
/// Both are left as they are. Entries are told apart by name, several of one name by
/// their order. A point that only slid because its neighbours went or came did not move.
pub(crate) fn diff(
    before: &Playbook,
    after: &Playbook,
    reason: &str,
    now: Timestamp,
) -> Vec<Change> {
    let (old, new) = (places(before), places(after));
    let mut work = before.clone();
    let mut editor = Editor::new(&mut work, now);

    let gone = old.iter().filter(|(key, _)| !new.contains(key));
    for (_, place) in gone.rev() {
        editor.remove(place, None, &Cause::new(ChangeKind::Delete, reason));
    }
    move_points(&mut editor, &old, &new, reason);
    for (key, place) in &new.list {
        let Some(fields) = after.entry(place) else {
            continue;
        };
        if !old.contains(key) {
            let note = note(after, key);
            let cause = Cause::new(ChangeKind::Add, reason);
            editor.put(place.clone(), fields.clone(), note, &cause);
            continue;
        }
        let pinned = note(after, key).pinned;
        let cause = Cause::new(ChangeKind::Pin, reason);
        editor.annotate(place, &cause, |note| note.pinned = pinned);
        let text = |fields: Option<&serde_json::Map<String, Value>>| {
            fields.and_then(entry::text).map(str::to_owned)
        };
        let same_text = text(editor.playbook.entry(place)) == text(Some(fields));
        let kind = if same_text {
            ChangeKind::Recount
        } else {
            ChangeKind::Update
        };
        let cause = Cause::new(kind, reason);
        editor.rewrite(place, &cause, |now| now.clone_from(fields));
    }
    editor.done.changes
}

/// What tells an entry apart: its name, and how many of that name came before it.
type Key = (String, usize);

/// The named entries of a playbook, in the order of the file.
struct Places {
    list: Vec<(Key, Place)>,
    index: HashMap<Key, usize>,
}

impl Places {
    fn contains(&self, key: &Key) -> bool {
        self.index.contains_key(key)
    }

    fn iter(&self) -> impl DoubleEndedIterator<Item = &(Key, Place)> {
        self.list.iter()
    }

    fn place(&self, key: &Key) -> Option<&Place> {
        self.index.get(key).map(|&at| &self.list[at].1)
    }
}

fn places(playbook: &Playbook) -> Places {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    let mut list = Vec::new();
    for title in playbook.titles() {
        for (index, value) in playbook.list(title).iter().enumerate() {
            let Some(name) = entry::name(value) else {
                continue;
            };
            let count = seen.entry(name).or_default();
            let key = (name.to_owned(), *count);
            *count += 1;
            let title = title.to_owned();
            list.push((key, Place { title, index }));
        }
    }
    let index = list
        .iter()
        .enumerate()
        .map(|(at, (key, _))| (key.clone(), at))
        .collect();
    Places { list, index }
}

fn note(playbook: &Playbook, (name, _): &Key) -> Note {
    playbook.meta.points.get(name).cloned().unwrap_or_default()
}

/// Moves each point that stands in another order or section behind the one that it
/// follows in `new`, so that only those that come are still missing.
fn move_points(editor: &mut Editor<'_>, old: &Places, new: &Places, reason: &str) {
    let kept: Vec<(&Key, &Place)> = new
        .iter()
        .filter(|(key, _)| old.contains(key))
        .map(|(key, place)| (key, place))
        .collect();
    let staying = staying(&kept, old);
    if staying.len() == kept.len() {
        return;
    }
    // The order of each section as it is now, kept beside the playbook.
    let mut order: HashMap<&str, Vec<&Key>> = HashMap::new();
    for (key, place) in old.iter().filter(|(key, _)| new.contains(key)) {
        order.entry(&place.title).or_default().push(key);
    }
    let mut previous: Option<(&Key, &Place)> = None;
    for (key, target) in kept {
        let follows = previous
            .filter(|(_, place)| place.title == target.title)
            .map(|(key, _)| key);
        previous = Some((key, target));
        if staying.contains(key) {
            continue;
        }
        let Some(from) = old.place(key) else {
            continue;
        };
        let source = order.entry(&from.title).or_default();
        let Some(index) = source.iter().position(|other| *other == key) else {
            continue;
        };
        source.remove(index);
        let destination = order.entry(&target.title).or_default();
        let at = follows
            .and_then(|before| destination.iter().position(|other| *other == before))
            .map_or(0, |at| at + 1);
        destination.insert(at, key);
        let title = from.title.clone();
        let to = Place {
            title: target.title.clone(),
            index: at,
        };
        let cause = Cause::new(ChangeKind::Move, reason);
        editor.relocate(&Place { title, index }, to, &cause);
    }
}

/// The points that need not move: in each section the longest run that stands in the old
/// order.
fn staying<'a>(kept: &[(&'a Key, &Place)], old: &Places) -> HashSet<&'a Key> {
    let mut staying = HashSet::new();
    for section in kept.chunk_by(|a, b| a.1.title == b.1.title) {
        let old_indexes: Vec<(usize, &Key)> = section
            .iter()
            .filter_map(|(key, place)| {
                let old = old.place(key)?;
                (old.title == place.title).then_some((old.index, *key))
            })
            .collect();
        staying.extend(longest_increasing(&old_indexes));
    }
    staying
}

fn longest_increasing<T: Copy>(items: &[(usize, T)]) -> Vec<T> {
    // `ends[n]` ends the best run of length n + 1; `before` links each item to the one in
    // front of it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; items.len()];
    for (at, (number, _)) in items.iter().enumerate() {
        let length = ends.partition_point(|&end| items[end].0 < *number);
        before[at] = length.checked_sub(1).map(|shorter| ends[shorter]);
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(index) = at {
        run.push(items[index].1);
        at = before[index];
    }
    run
}

#[cfg(test)]
mod tests {
    use super::super::undo::undo;
    use super::*;
    use rstest::rstest;
    use serde_json::json;

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
        "Delete d, Move c, Move b, Add x, Update c, Add y"
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
