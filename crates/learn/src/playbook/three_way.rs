//! Merges two playbooks with a common ancestor, as if one had learned both sides' changes.
//!
//! Points are matched by name and text, and their counters, texts, places and unknown fields are
//! merged one by one. `docs/branches.md` lists the outcomes, and what the files cannot decide.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::change::PointState;
use super::clean::clean_text;
use super::entry::{self, Counts, counts, minus, plus, set_counts};
use super::id::{Id, Section, raise};
use super::model::{APPLIED_KEPT, LAST_UPDATED, Meta, Note, Playbook, VERSION, VERSION_KEY};
use super::read::{Defect, migrate};
use super::votes::{Moves, renamed};

/// The key for the text that a point lost to a later edit of the other side.
const OTHER_TEXT: &str = "other_text";
/// The least length of a conflict marker; nested merges use longer ones outside.
const MIN_MARKER: usize = 7;

#[derive(Debug, Clone)]
pub struct Merged {
    pub playbook: Playbook,
    pub decided: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmergeable {
    #[error("{file}: {flaw}")]
    Unreadable { file: String, flaw: Defect },
    /// A newer version wrote one of the files.
    #[error("its format is version {0}, and this program knows {VERSION}")]
    Newer(String),
}

/// Errors name the files by `names`: the base, ours, theirs.
///
/// A base may be missing or empty. One with conflict markers is git's combination of several bases:
/// it counts as their merge.
pub fn merge_files(files: &Sides, names: [&str; 3]) -> Result<Merged, Unmergeable> {
    let read = |file: &str, bytes: &[u8]| match migrate(bytes) {
        Ok(migrated) => Ok(migrated.playbook),
        Err(flaw) => Err(Unmergeable::Unreadable {
            file: file.to_owned(),
            flaw,
        }),
    };
    let [base, ours, theirs] = names;
    let read_base = |bytes: &Vec<u8>| match sides(bytes) {
        None => read(base, bytes),
        Some(Sides { ours, theirs, .. }) => {
            Ok(merge(None, [&read(base, &ours)?, &read(base, &theirs)?])?.playbook)
        }
    };
    let base = files.base.as_ref().filter(|bytes| !bytes.is_empty());
    let base = base.map(read_base).transpose()?;
    let (ours, theirs) = (read(ours, &files.ours)?, read(theirs, &files.theirs)?);
    merge(base.as_ref(), [&ours, &theirs])
}

/// Merges two sides; without a base, their common content counts as one.
pub(super) fn merge(
    base: Option<&Playbook>,
    mut sides: [&Playbook; 2],
) -> Result<Merged, Unmergeable> {
    for side in sides.into_iter().chain(base) {
        match side.root.get(VERSION_KEY).and_then(Value::as_str) {
            Some(VERSION) | None => {}
            Some(other) => return Err(Unmergeable::Newer(other.to_owned())),
        }
    }
    let [ours, theirs] = sides.map(Playbook::to_bytes);
    let before = base.map(Playbook::to_bytes);
    let unchanged = if ours == theirs || before.as_ref() == Some(&theirs) {
        sides[0]
    } else if before.as_ref() == Some(&ours) {
        sides[1]
    } else {
        // Between changes in the same second the bytes decide, so that both sides get the same
        // result.
        if (updated(sides[0]), ours) < (updated(sides[1]), theirs) {
            sides.reverse();
        }
        return Ok(both(base, sides));
    };
    Ok(Merged {
        playbook: unchanged.clone(),
        decided: Vec::new(),
    })
}

fn updated(playbook: &Playbook) -> Option<Timestamp> {
    playbook.root.get(LAST_UPDATED)?.as_str()?.parse().ok()
}

/// Returns the changed value; of two changes, the later side's.
fn pick<T: PartialEq + Copy>(base: T, [later, earlier]: [T; 2]) -> T {
    if later == base { earlier } else { later }
}

/// Keeps the keys' order of the later side. Between a change and a removal the change wins.
fn pick_each(
    base: &Map<String, Value>,
    [later, earlier]: [&Map<String, Value>; 2],
) -> Map<String, Value> {
    if later == base {
        return earlier.clone();
    }
    let more = earlier.keys().filter(|key| !later.contains_key(*key));
    let picked = later.keys().chain(more).filter_map(|key| {
        let (was, other) = (base.get(key), earlier.get(key));
        let picked = pick(was, [later.get(key), other]);
        let picked = picked.or_else(|| other.filter(|_| other != was))?;
        Some((key.clone(), picked.clone()))
    });
    picked.collect()
}

/// Leaves out the counters.
pub(super) fn merge_states(base: &PointState, [later, earlier]: [&PointState; 2]) -> PointState {
    let section = pick(&base.section, [&later.section, &earlier.section]);
    let [was, new, old] = [&base.note, &later.note, &earlier.note];
    PointState {
        section: section.clone(),
        index: if base.section == *section {
            base.index
        } else {
            usize::MAX
        },
        entry: pick_each(&base.entry, [&later.entry, &earlier.entry]),
        note: Note {
            added: [new.added, old.added].into_iter().flatten().min(),
            used: new.used.max(old.used),
            pinned: pick(was.pinned, [new.pinned, old.pinned]),
            due: pick(&was.due, [&new.due, &old.due]).clone(),
            rest: pick_each(&was.rest, [&new.rest, &old.rest]),
        },
    }
}

/// The first side is the later one.
fn both(base: Option<&Playbook>, sides: [&Playbook; 2]) -> Merged {
    let empty = Playbook::empty();
    let before = base.unwrap_or(&empty);
    let mut highest = before.highest_numbers();
    for (series, number) in sides.iter().flat_map(|side| side.highest_numbers()) {
        raise(&mut highest, &series, number);
    }
    let mut old = base.map_or_else(Side::default, Side::of);
    let mut new = sides.map(Side::of);
    let renamed = align(&mut old, &mut new, &mut highest);
    let mut decided = Vec::new();
    let mut points = merged_points(&old, &new, &mut decided);
    count(&mut points, base.map(|_| &old), &new);
    for (_, old, new) in renamed {
        decided.push(if points.contains_key(&old) {
            format!("{old} of one side is {new} now: both sides had given that number")
        } else {
            format!("{old} and {new} said the same: they are {new} now")
        });
    }
    let mut root = pick_each(&before.root, sides.map(|side| &side.root));
    if let Some(last) = sides.map(updated).into_iter().max().flatten() {
        root.insert(LAST_UPDATED.to_owned(), last.to_string().into());
    }
    let playbook = Playbook {
        root,
        sections: sections(before, &old.points, sides, &points),
        meta: merged_meta(&before.meta, &new, points),
        ..sides[0].clone()
    };
    Merged { playbook, decided }
}

/// Keeps the sections of the base in its order, then adds new ones by age.
fn sections(
    base: &Playbook,
    known: &Points,
    sides: [&Playbook; 2],
    points: &Points,
) -> Map<String, Value> {
    let mut merged = pick_each(&base.sections, sides.map(|side| &side.sections));
    for state in points.values() {
        merged.entry(&state.section).or_insert(json!([]));
    }
    let mut points: Vec<(&String, &PointState)> = points.iter().collect();
    points.sort_by_key(|(name, state)| {
        let is_old = known.contains_key(*name);
        let place = if is_old { state.index } else { usize::MAX };
        (!is_old, place, state.note.added, *name)
    });
    for (title, value) in &mut merged {
        let is_list = |side: &Playbook| side.sections.get(title).is_none_or(Value::is_array);
        if value.is_array() && sides.into_iter().all(is_list) {
            let here = points.iter().filter(|(_, state)| state.section == *title);
            let entries = here.map(|(_, state)| Value::Object(state.entry.clone()));
            *value = entries.chain(odd_entries(title, base, sides)).collect();
        }
    }
    merged
}

/// Returns the common entries that are no points, and those either side added.
fn odd_entries(title: &str, base: &Playbook, sides: [&Playbook; 2]) -> Vec<Value> {
    let lists = [base, sides[0], sides[1]].map(|playbook| playbook.odd(title));
    let mut merged: Vec<&Value> = Vec::new();
    for value in lists.concat() {
        let count = |list: &Vec<&Value>| list.iter().filter(|other| **other == value).count();
        let [was, one, other] = lists.each_ref().map(count);
        let wanted = if one == other {
            one
        } else {
            (one + other).saturating_sub(was)
        };
        if count(&merged) < wanted {
            merged.push(value);
        }
    }
    merged.into_iter().cloned().collect()
}

fn merged_meta(base: &Meta, sides: &[Side; 2], points: Points) -> Meta {
    let [later, earlier] = sides.each_ref().map(|side| &side.meta);
    let mut next = later.next.clone();
    for (series, number) in &earlier.next {
        raise(&mut next, series, *number);
    }
    let mut aliases = earlier.aliases.clone();
    aliases.extend(later.aliases.clone());
    // The new names of one branch become aliases for the other, which still uses the old ones.
    let is_shared = |name: &String| sides.iter().any(|side| side.shared.contains(name));
    aliases
        .retain(|name, target| name != target && (!points.contains_key(name) || is_shared(name)));
    // A job of the base that one side lacks was reverted there, or that side cherry-picked a later
    // one without it. Its votes are missing there.
    let of_both = |job: &String| later.applied.contains(job) && earlier.applied.contains(job);
    // Job ids begin with their times.
    let applied: BTreeSet<&String> = later.applied.iter().chain(&earlier.applied).collect();
    let mut applied: Vec<String> = applied.into_iter().cloned().collect();
    applied.retain(|job| of_both(job) || !base.applied.contains(job));
    applied.drain(..applied.len().saturating_sub(APPLIED_KEPT));
    let mut votes = later.votes.clone();
    votes.extend(earlier.votes.clone());
    votes.retain(|job, _| applied.contains(job));
    let notes = points.into_iter().map(|(name, state)| (name, state.note));
    Meta {
        next,
        aliases,
        points: notes.filter(|(_, note)| !note.is_blank()).collect(),
        applied,
        votes,
        rest: pick_each(&base.rest, [&later.rest, &earlier.rest]),
    }
}

type Points = BTreeMap<String, PointState>;
type Names = BTreeMap<String, String>;

#[derive(Debug, Default)]
struct Side {
    points: Points,
    meta: Meta,
    /// Names that were renamed, and may also belong to other points.
    shared: BTreeSet<String>,
}

impl Side {
    fn of(playbook: &Playbook) -> Self {
        let states = playbook.states();
        let points: Points = states.map(|it| (it.name().to_owned(), it)).collect();
        let aliases = playbook.meta.aliases.keys().cloned();
        Self {
            shared: aliases.filter(|name| points.contains_key(name)).collect(),
            meta: playbook.meta.clone(),
            points,
        }
    }

    /// Keeps old names as aliases.
    fn rename(&mut self, mut names: Names) {
        names.retain(|old, new| old != new);
        let new = |name: String| names.get(&name).cloned().unwrap_or(name);
        let points = std::mem::take(&mut self.points).into_iter();
        let points = points.map(|(name, mut state)| {
            let name = new(name);
            let field = state.entry.entry(entry::NAME);
            field.and_modify(|old| *old = name.as_str().into());
            (name, state)
        });
        self.points = points.collect();
        for votes in self.meta.votes.values_mut() {
            *votes = renamed(votes, &names);
        }
        for target in self.meta.aliases.values_mut() {
            *target = new(std::mem::take(target));
        }
        self.shared.extend(names.keys().cloned());
        self.meta.aliases.extend(names);
    }

    fn heir(&self, name: &str) -> Option<&str> {
        let is_there = |name: &str| self.points.contains_key(name);
        self.meta.heir(name, is_there)
    }

    /// Returns the new name of a point of the base that an earlier merge renumbered here.
    fn renumbered(&self, name: &str, state: &PointState, base: &Points) -> Option<&String> {
        let text = said(state);
        if said(self.points.get(name)?) == text {
            return None;
        }
        let is_new = |new: &&String| !base.contains_key(*new) && self.points.contains_key(*new);
        let by_text = self.points.iter().filter(|(_, other)| said(other) == text);
        let mut by_text = by_text.map(|(new, _)| new);
        let by_alias = self.meta.aliases.get(name);
        by_text.find(is_new).or(by_alias.filter(is_new))
    }
}

/// The time, name, text and section of a new point: an order that is the same for both sides.
type Born<'a> = (Option<Timestamp>, &'a String, &'a str, &'a str);

/// Gives each point one name in all three versions. Returns the side, old and new name of each
/// added point that is renamed.
///
/// A point that an earlier merge renumbered keeps its new name. Example: main and a branch both
/// created `pat-002`, and a merge into main renamed the branch's to `pat-003`. The branch still
/// calls it `pat-002`. Its changes there apply to `pat-003`.
///
/// A text that both sides added has one name. Of two texts added under one name the first keeps
/// it, the other gets a number above `highest`.
fn align(
    base: &mut Side,
    sides: &mut [Side; 2],
    highest: &mut BTreeMap<String, u64>,
) -> BTreeSet<(usize, String, String)> {
    let mut names: [Names; 2] = Default::default();
    let mut base_names = Names::new();
    for (name, state) in &base.points {
        let found = sides.each_ref();
        let found = found.map(|side| side.renumbered(name, state, &base.points));
        let new = found.into_iter().flatten().min().unwrap_or(name);
        for (at, side) in sides.iter().enumerate() {
            let now = found[at].unwrap_or(name);
            if side.points.contains_key(now) {
                names[at].insert(now.clone(), new.clone());
            }
        }
        base_names.insert(name.clone(), new.clone());
    }
    let mut changed = BTreeSet::new();
    let mut added: Vec<(Born<'_>, String, [Option<&String>; 2])> = Vec::new();
    for at in [0, 1] {
        let of_other = names[1 - at].iter();
        let known = of_other.filter_map(|(old, new)| Some((sides[1 - at].points.get(old)?, new)));
        let known = known.map(|(state, new)| (said(state), new.clone()));
        let known: BTreeMap<String, String> = known.collect();
        for (name, state) in &sides[at].points {
            if names[at].contains_key(name) {
                continue;
            }
            let said = said(state);
            let is_free = |same: &&String| !names[at].values().any(|used| used == *same);
            // The other side has it under a name of the base.
            if let Some(same) = known.get(&said).filter(is_free) {
                changed.insert((at, name.clone(), same.clone()));
                names[at].insert(name.clone(), same.clone());
                continue;
            }
            let born: Born<'_> = (state.note.added, name, state.text(), &state.section);
            let mut others = added.iter_mut();
            if let Some(same) = others.find(|(_, text, of)| of[at].is_none() && *text == said) {
                same.0 = same.0.min(born);
                same.2[at] = Some(name);
            } else {
                let mut names = [None; 2];
                names[at] = Some(name);
                added.push((born, said, names));
            }
        }
    }
    added.sort_by_key(|(born, ..)| *born);
    let mut taken: BTreeSet<String> = base_names.values().cloned().collect();
    for ((_, first, _, section), _, of) in added {
        let mut wanted = std::iter::once(first).chain(of.into_iter().flatten());
        let name = match wanted.find(|name| !taken.contains(*name)) {
            Some(free) => free.clone(),
            None => next_name(highest, first, section),
        };
        for (at, old) in of.into_iter().enumerate() {
            if let Some(old) = old.filter(|old| **old != name) {
                changed.insert((at, old.clone(), name.clone()));
                names[at].insert(old.clone(), name.clone());
            }
        }
        taken.insert(name);
    }
    base.rename(base_names);
    for (side, names) in sides.iter_mut().zip(names) {
        side.rename(names);
    }
    changed
}

fn next_name(highest: &mut BTreeMap<String, u64>, name: &str, section: &str) -> String {
    let series = Id::parse(name).and_then(|id| id.series());
    let series = series.unwrap_or_else(|| {
        let section = Section::from_title(section);
        section.unwrap_or(Section::Others).slug()
    });
    let highest = highest.entry(series.to_owned()).or_default();
    *highest += 1;
    Id::new(series, *highest).to_string()
}

fn said(state: &PointState) -> String {
    clean_text(state.text())
}

/// Leaves the counters to [`count`].
fn merged_points(base: &Side, sides: &[Side; 2], decided: &mut Vec<String>) -> Points {
    let blank = PointState::default();
    let mut merged = Points::new();
    let names: BTreeSet<&String> = sides.iter().flat_map(|side| side.points.keys()).collect();
    for name in names {
        let was = base.points.get(name);
        let here = sides.each_ref().map(|side| side.points.get(name));
        let state = match (here, was) {
            ([Some(later), Some(earlier)], _) => {
                let mut both = merge_states(was.unwrap_or(&blank), [later, earlier]);
                let [kept, other] = [later.text(), earlier.text()];
                let is_edited = |text: &str| Some(text) != was.map(PointState::text);
                if kept != other && is_edited(kept) && is_edited(other) {
                    both.note.rest.insert(OTHER_TEXT.to_owned(), other.into());
                    decided.push(format!(
                        "{name} was edited on both sides: kept {kept:?}, not {other:?}"
                    ));
                }
                both
            }
            ([Some(one), None] | [None, Some(one)], Some(was)) => {
                let is_same = one.text() == was.text()
                    && one.note.pinned == was.note.pinned
                    && one.note.due == was.note.due;
                let without = &sides[usize::from(here[0].is_some())];
                if is_same && (one.entry == was.entry || without.heir(name).is_some()) {
                    continue;
                }
                let why = "one side took it away, the other changed it or voted on it";
                decided.push(format!("kept {name}: {why}"));
                one.clone()
            }
            ([Some(one), None] | [None, Some(one)], None) => one.clone(),
            ([None, None], _) => continue,
        };
        merged.insert(name.clone(), state);
    }
    merged
}

/// Sets each counter to the sum of both sides less what both count: the base and common jobs.
/// What one side merged away counts for its replacement there.
fn count(merged: &mut Points, base: Option<&Side>, sides: &[Side; 2]) {
    let known = base.map_or(&[][..], |base| &base.meta.applied);
    let moves = |at: usize, is_common: bool| {
        let [here, other] = [at, 1 - at].map(|at| &sides[at].meta);
        let jobs = here.applied.iter().filter(|job| !known.contains(job));
        here.moves_of(jobs.filter(|job| other.applied.contains(job) == is_common))
    };
    let counts_of = |side: &Side, name: &str| {
        let state = side.points.get(name);
        state.map_or([0, 0], |state| counts(&state.entry))
    };
    let mut sums = Moves::new();
    let mut add = |name: &str, by: Counts| {
        let sum = sums.entry(name.to_owned()).or_default();
        *sum = plus(*sum, by);
    };
    for (at, side) in sides.iter().enumerate() {
        for name in side.points.keys() {
            let kept = merged.contains_key(name).then_some(name.as_str());
            if let Some(now) = kept.or_else(|| sides[1 - at].heir(name)) {
                add(now, counts_of(side, name));
            }
        }
    }
    if let Some(base) = base {
        let common = moves(0, true);
        let names: BTreeSet<&String> = base.points.keys().chain(common.keys()).collect();
        for name in names {
            let here = sides.each_ref().map(|side| {
                let is_there = side.points.contains_key(name);
                let here = is_there.then_some(name.as_str());
                here.or_else(|| side.heir(name))
            });
            // A side without it and without a replacement deleted it; then it counts whole.
            if let [Some(later), Some(earlier)] = here {
                let heir = if earlier == name { later } else { earlier };
                let kept = merged.contains_key(name).then_some(name.as_str());
                let now = kept.unwrap_or(heir);
                let by = common.get(name).copied().unwrap_or_default();
                add(now, minus([0, 0], plus(counts_of(base, name), by)));
            }
        }
    } else {
        let own = [0, 1].map(|at| moves(at, false));
        let both = sides[0].points.keys();
        for name in both.filter(|name| sides[1].points.contains_key(*name)) {
            let [one, other] = [0, 1].map(|at| {
                let own = own[at].get(name).copied().unwrap_or_default();
                minus(counts_of(&sides[at], name), own)
            });
            add(name, [0, 1].map(|at| -one[at].min(other[at])));
        }
    }
    for (name, sum) in sums {
        if let Some(state) = merged.get_mut(&name) {
            set_counts(&mut state.entry, sum);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    pub ours: Vec<u8>,
    pub theirs: Vec<u8>,
    /// The common ancestor, if every conflict includes it.
    pub base: Option<Vec<u8>>,
}

/// Finds even incomplete markers. No line of a playbook begins like one.
pub fn has_markers(file: &[u8]) -> bool {
    let has = |wanted: u8| {
        let mut lines = file.split(|byte| *byte == b'\n');
        lines.any(|line| marker(line).is_some_and(|(first, _)| first == wanted))
    };
    has(b'<') && has(b'>')
}

/// Separates the sides of a file; `None` without complete conflict markers.
///
/// A marker is the same character seven times or more at the beginning of a line, followed by a
/// space or the end of the line. No line within a JSON string begins like that, since a string has
/// no line break.
pub fn sides(file: &[u8]) -> Option<Sides> {
    const COMMON: u8 = b'>';
    let [mut ours, mut base, mut theirs] = [const { Vec::new() }; 3];
    // The marker that began the part, and its length.
    let (mut part, mut length) = (COMMON, 0);
    let (mut conflicts, mut bases) = (0, 0);
    for line in file.split_inclusive(|byte| *byte == b'\n') {
        let marker = marker(line).filter(|(_, found)| part == COMMON || *found == length);
        let Some((marker, found)) = marker else {
            for (file, own) in [(&mut ours, b'<'), (&mut base, b'|'), (&mut theirs, b'=')] {
                if part == COMMON || part == own {
                    file.extend_from_slice(line);
                }
            }
            continue;
        };
        match (part, marker) {
            (COMMON, b'<') => {
                conflicts += 1;
                length = found;
            }
            (b'<', b'|') => bases += 1,
            (b'<' | b'|', b'=') | (b'=', COMMON) => {}
            _ => return None,
        }
        part = marker;
    }
    (part == COMMON && conflicts > 0).then(|| Sides {
        ours,
        theirs,
        base: (bases == conflicts).then_some(base),
    })
}

fn marker(line: &[u8]) -> Option<(u8, usize)> {
    let first = *line.first()?;
    let length = line.iter().take_while(|byte| **byte == first).count();
    let is_marker = b"<|=>".contains(&first)
        && length >= MIN_MARKER
        && line[length..].first().is_none_or(u8::is_ascii_whitespace);
    is_marker.then_some((first, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_markers_of_a_nested_conflict_are_not_taken_for_its_own() {
        let inner = "<<<<<<<<< one\na\n=========\nb\n>>>>>>>>> two\n";
        let file = format!("<<<<<<< HEAD\nours\n||||||| merged\n{inner}=======\ntheirs\n>>>>>>> t");
        let parted = Sides {
            ours: "ours\n".into(),
            base: Some(inner.into()),
            theirs: "theirs\n".into(),
        };
        assert_eq!(sides(file.as_bytes()), Some(parted));
        assert_eq!(sides(b"<<<<<<< HEAD\nours\n=======\n"), None);
        assert_eq!(sides(br#"{"a": "<<<<<<< HEAD ======= >>>>>>> t"}"#), None);
    }
}
