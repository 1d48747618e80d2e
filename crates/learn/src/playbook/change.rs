//! The ways in which a playbook changes. Each leaves a record that explains it and can be undone;
//! changes that a user made to the file are found by comparison.
//!
//! Each change is inverted, last first, by a three-way merge of the current point and the point
//! before the job, with the point after the job as the base. Counters change back by the job's
//! difference, never below zero. A text changes back only if it is still the job's. An added point
//! is removed with its later votes. Merged points return with their own counters; later votes stay
//! with the point that replaced them. Without later changes, the sections are byte for byte as
//! before.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use playbook_core::worded;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::entry::{self, Counts, counts, minus, set_counts};
use super::id::Section;
use super::model::{Due, Note, Playbook, to_second};
use super::three_way::merge_states;

/// A job's changes are a list in the order they were made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PointChange {
    pub kind: ChangeKind,
    /// The name of the changed point: usually an [`Id`](super::Id), in older files any text.
    #[serde(rename = "point", alias = "id")]
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

const CHANGED: &str = "its text was changed since";

/// The caller must prevent a second undo of a job: counters would change twice.
pub fn undo(
    playbook: &mut Playbook,
    changes: &[PointChange],
    reason: &str,
    now: Timestamp,
) -> Applied {
    let mut editor = Editor::new(playbook, reason, now);
    for change in changes.iter().rev() {
        if let Err(why) = take_back(&mut editor, change) {
            editor.skip(format!("undo of {}", change.id), why);
        }
    }
    editor.done
}

fn take_back(editor: &mut Editor<'_>, change: &PointChange) -> Result<(), String> {
    let id = &change.id;
    let votes = |state: &Option<PointState>| state.as_ref().map_or([0, 0], |s| counts(&s.entry));
    let by = minus(votes(&change.after), votes(&change.before));
    let is_absorbed = change.kind == ChangeKind::Absorb;
    match (&change.before, &change.after, editor.playbook.state(id)) {
        (Some(_), None, Some(_)) if !id.is_empty() => return Err("it is there already".to_owned()),
        (Some(before), None, _) => {
            let aliases = &mut editor.playbook.meta.aliases;
            if change.into.is_some() && aliases.get(id) == change.into.as_ref() {
                aliases.remove(id);
            }
            editor.put(before.clone(), ChangeKind::Add);
        }
        (None, Some(_), None) => match editor.playbook.meta.aliases.get(id).cloned() {
            Some(into) if is_absorbed => return take_votes(editor, &into, by),
            Some(into) => return Err(format!("it was joined into {into} since")),
            None => return Err("it is gone already".to_owned()),
        },
        (None, Some(after), Some(now)) => {
            let votes = counts(&now.entry);
            if now.text() != after.text() {
                return Err(CHANGED.to_owned());
            } else if is_absorbed && (votes[0] > by[0] || votes[1] > by[1]) {
                take_votes(editor, id, by)?;
                return Err("it stays with the votes it got since".to_owned());
            }
            editor.remove(now, None, ChangeKind::Delete);
        }
        (Some(_), Some(_), None) => return take_votes(editor, id, by),
        (Some(before), Some(after), Some(mut now)) => {
            if before.section != after.section || change.kind == ChangeKind::Move {
                if now.section != after.section {
                    return Err("it was moved since".to_owned());
                }
                now = editor.relocate(now, (&before.section, before.index));
            }
            let mut merged = merge_states(after, [&now, before]);
            set_counts(&mut merged.entry, minus(counts(&now.entry), by));
            let is_undone = before.text() == after.text() || merged.text() == before.text();
            editor.adopt(now, merged);
            if !is_undone {
                return Err(CHANGED.to_owned());
            }
        }
        (None, None, _) => {}
    }
    Ok(())
}

fn take_votes(editor: &mut Editor<'_>, name: &str, by: Counts) -> Result<(), String> {
    let now = editor.playbook.find(name).ok_or("it is gone")?;
    editor.alter(now, ChangeKind::Recount, |now| {
        let left = minus(counts(&now.entry), by);
        set_counts(&mut now.entry, left);
    });
    Ok(())
}

/// A point whose index only shifted because of its neighbours did not move.
pub fn diff(before: &Playbook, after: &Playbook, reason: &str, now: Timestamp) -> Vec<PointChange> {
    let [was, is] = [before, after].map(|playbook| playbook.states().collect::<Vec<_>>());
    let [old, new] =
        [&was, &is].map(|list| list.iter().map(PointState::name).collect::<HashSet<_>>());
    let mut work = before.clone();
    let mut editor = Editor::new(&mut work, reason, now);
    // In reverse order, so that earlier indexes stay valid.
    for state in was.iter().rev().filter(|state| !new.contains(state.name())) {
        editor.remove(state.clone(), None, ChangeKind::Delete);
    }
    let (kept, came): (Vec<&PointState>, Vec<_>) =
        is.iter().partition(|state| old.contains(state.name()));
    move_points(&mut editor, &was, &kept);
    let here: Vec<PointState> = editor.playbook.states().collect();
    let here: HashMap<&str, &PointState> = here.iter().map(|now| (now.name(), now)).collect();
    for state in kept {
        if let Some(now) = here.get(state.name()) {
            editor.adopt((*now).clone(), state.clone());
        }
    }
    for state in came {
        editor.put(state.clone(), ChangeKind::Add);
    }
    editor.done.changes
}

/// Moves each point with a new position or section behind its predecessor among those `kept`.
/// In each section the longest run in the old order stays.
fn move_points(editor: &mut Editor<'_>, before: &[PointState], kept: &[&PointState]) {
    for section in kept.chunk_by(|one, next| one.section == next.section) {
        let title = &section[0].section;
        let was = before.iter().filter(|state| state.section == *title);
        let was: HashMap<&str, usize> = was.map(|state| (state.name(), state.index)).collect();
        let stayed = section.iter().map(|state| state.name());
        let new: Vec<&str> = stayed.filter(|name| was.contains_key(name)).collect();
        let mut old = new.clone();
        old.sort_by_key(|name| was.get(name));
        let mut staying: HashSet<&str> = HashSet::new();
        for part in capture_diff_slices(Algorithm::Myers, &old, &new) {
            if let DiffOp::Equal { new_index, len, .. } = part {
                staying.extend(&new[new_index..new_index + len]);
            }
        }
        let mut previous: Option<&str> = None;
        for name in section.iter().map(|state| state.name()) {
            let follows = previous.replace(name);
            if staying.contains(name) {
                continue;
            }
            let Some(from) = editor.playbook.state(name) else {
                continue;
            };
            let follows = follows.and_then(|name| editor.playbook.state(name));
            let index = match follows {
                None => 0,
                // The index does not count the point itself.
                Some(it) if from.section == it.section && from.index < it.index => it.index,
                Some(it) => it.index + 1,
            };
            editor.relocate(from, (title, index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ops::PlaybookEdit;
    use super::super::votes::{apply_bullet_tags, read_bullet_tags};
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn now() -> Timestamp {
        "2026-11-21T10:00:00Z".parse().unwrap()
    }

    /// Parses `"a b | c"`: points a and b in the first section, c in the second, each with a vote;
    /// `b!` has another text.
    fn playbook(points: &str) -> Playbook {
        let mut sections = serde_json::Map::new();
        for (section, names) in Section::ALL.into_iter().zip(points.split('|')) {
            let point = |name: &str| json!({"name": name.trim_end_matches('!'), "text": name, "helpful": 1});
            let list = names.split_whitespace().map(point).collect();
            sections.insert(section.title().to_owned(), list);
        }
        Playbook::parse(json!({"sections": sections}).to_string().as_bytes()).unwrap()
    }

    /// Does `^^a`: two votes, `+x`: a new point, `-a`, `a~x`: another text, `a&b~x`: a merge,
    /// `a>OTHERS`: a move, or `=a`: a is there again with the text x and a vote.
    fn run(playbook: &mut Playbook, step: &str) -> Vec<PointChange> {
        let edit = if let Some((names, text)) = step.split_once('~') {
            match names.split_once('&') {
                None => json!({"do": "change", "point": names, "text": text}),
                Some(names) => {
                    json!({"do": "merge", "points": names, "text": text, "section": "OTHERS"})
                }
            }
        } else if let Some((name, section)) = step.split_once('>') {
            json!({"do": "change", "point": name, "section": section})
        } else if let Some(name) = step.strip_prefix('=') {
            let entry = json!({"name": name, "text": "x", "helpful": 1});
            let mut state = PointState {
                section: Section::Patterns.title().to_owned(),
                entry: entry.as_object().unwrap().clone(),
                ..PointState::default()
            };
            playbook.insert(&mut state).unwrap();
            return Vec::new();
        } else {
            let (sign, name) = step.split_at(1);
            match sign {
                "+" => json!({"do": "add", "text": name, "section": "OTHERS"}),
                "-" => json!({"do": "remove", "point": name}),
                _ => {
                    let tag = json!({"name": step.trim_start_matches('^'), "tag": "helpful"});
                    let tags = vec![tag; step.matches('^').count()];
                    return apply_bullet_tags(playbook, &read_bullet_tags(&tags.into()).0).changes;
                }
            }
        };
        let edit: PlaybookEdit = serde_json::from_value(edit).unwrap();
        edit.by_hand(playbook, now()).unwrap()
    }

    #[rstest]
    #[case::counters_by_the_difference("^^a", "^^^a", "a a 4, b b 1", "")]
    #[case::a_text_that_is_still_the_jobs("a~x", "^a", "a a 2, b b 1", "")]
    #[case::an_added_point_with_its_later_votes("+new", "^^^^oth-001", "a a 1, b b 1", "")]
    #[case::an_added_point_with_a_later_text(
        "+new",
        "oth-001~x",
        "a a 1, b b 1, oth-001 x 0",
        "undo of oth-001: its text was changed since"
    )]
    #[case::later_votes_on_what_was_merged(
        "a&b~m",
        "^oth-001",
        "a a 1, b b 1, oth-001 m 1",
        "undo of oth-001: it stays with the votes it got since"
    )]
    #[case::a_vote_on_what_was_merged_since("^^^a", "a&b~m", "oth-001 m 2", "")]
    #[case::counters_never_below_zero("^^^^^a", "-a; =a", "a x 0, b b 1", "")]
    #[case::what_is_there_already("-a", "=a", "a x 1, b b 1", "undo of a: it is there already")]
    #[case::what_is_gone("^a", "-a", "b b 1", "undo of a: it is gone")]
    #[case::what_is_elsewhere(
        "b>OTHERS",
        "b>PROJECT CONTEXT",
        "a a 1, b b 1",
        "undo of b: it was moved since"
    )]
    fn what_a_job_did_is_undone_as_far_as_it_is_still_its_own(
        #[case] job: &str,
        #[case] since: &str,
        #[case] points: &str,
        #[case] left: &str,
    ) {
        let mut playbook = playbook("a b");
        let changes = run(&mut playbook, job);
        for step in since.split("; ") {
            run(&mut playbook, step);
        }
        let applied = undo(&mut playbook, &changes, "undo of job", now());
        assert!(applied.changes.iter().all(|c| c.reason == "undo of job"));
        let shown = playbook.points();
        let shown = shown.map(|p| format!("{} {} {}", p.name, p.text, p.helpful));
        assert_eq!(shown.collect::<Vec<_>>().join(", "), points);
        let skipped = applied.skipped.into_iter();
        let skipped = skipped.map(|skipped| format!("{}: {}", skipped.what, skipped.reason));
        assert_eq!(skipped.collect::<Vec<_>>().join(", "), left);
    }

    #[rstest]
    #[case::nothing("a b | c", "a b | c", "")]
    #[case::added("a b |", "x a y b z |", "Add x, Add y, Add z")]
    #[case::removed("a b c d | e", "b d |", "Delete e, Delete c, Delete a")]
    #[case::to_another_section("a b | c", "a | b c", "Move b")]
    #[case::to_the_end("a b c d |", "b c d a |", "Move a")]
    #[case::swapped("a b c d |", "a d c b |", "Move d, Move c")]
    #[case::all_at_once(
        "a b c | d e",
        "x c! a | b e y",
        "Delete d, Move c, Move b, Update c, Add x, Add y"
    )]
    fn a_hand_edit_is_listed_point_by_point(
        #[case] before: &str,
        #[case] after: &str,
        #[case] expected: &str,
    ) {
        let changes = diff(&playbook(before), &playbook(after), "edited by hand", now());
        let listed = changes.iter().map(|c| format!("{:?} {}", c.kind, c.id));
        assert_eq!(listed.collect::<Vec<_>>().join(", "), expected);
    }
}
