//! Merges two playbooks with a common ancestor, as if one had learned both sides' changes.
//!
//! Points are matched by name and text, and their counters, texts, places and unknown fields are
//! merged one by one. `docs/branches.md` lists the outcomes, and what the files cannot decide.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use jiff::Timestamp;
use playbook_core::worded;
use serde_json::{Map, Value};

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

worded! {
    pub enum MergeFile {
        Base = "the base",
        Ours = "our side",
        Theirs = "their side",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unmergeable {
    #[error("{}: {flaw}", file.word())]
    Unreadable { file: MergeFile, flaw: Defect },
    /// A newer version wrote one of the files.
    #[error("its format is version {0}, and this program knows {VERSION}")]
    Newer(String),
}

/// A base may be missing or empty. One with conflict markers is git's combination of several bases:
/// it counts as their merge.
pub fn merge_files(base: Option<&[u8]>, ours: &[u8], theirs: &[u8]) -> Result<Merged, Unmergeable> {
    let read = |file, bytes: &[u8]| match migrate(bytes) {
        Ok(migrated) => Ok(migrated.playbook),
        Err(flaw) => Err(Unmergeable::Unreadable { file, flaw }),
    };
    let read_base = |bytes: &[u8]| match sides(bytes) {
        None => read(MergeFile::Base, bytes),
        Some(Sides { ours, theirs, .. }) => {
            let [ours, theirs] = [ours, theirs].map(|side| read(MergeFile::Base, &side));
            Ok(merge(None, [&ours?, &theirs?])?.playbook)
        }
    };
    let base = base.filter(|bytes| !bytes.is_empty());
    let base = base.map(read_base).transpose()?;
    let ours = read(MergeFile::Ours, ours)?;
    let theirs = read(MergeFile::Theirs, theirs)?;
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
    let mut highest: BTreeMap<String, u64> = BTreeMap::new();
    for playbook in [before, sides[0], sides[1]] {
        for (series, number) in playbook.highest_numbers() {
            raise(&mut highest, &series, number);
        }
    }
    let mut old = base.map_or_else(Side::default, Side::of);
    let mut new = sides.map(Side::of);
    follow_renumbered(&mut old, &mut new, &mut highest);
    let names = new_names(&old.points, &new, &mut highest);
    for (side, names) in new.iter_mut().zip(&names) {
        side.rename(names);
    }
    let mut decided = Vec::new();
    let points = PointsMerge::new(base.map(|_| &old), &new).points(&mut decided);
    for (old, new) in names.iter().flatten() {
        decided.push(if points.contains_key(old) {
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
        sections: sections(before, sides, &points),
        meta: merged_meta(&before.meta, &new, points),
        ..sides[0].clone()
    };
    Merged { playbook, decided }
}

/// Keeps the sections of the base in its order, then adds new ones by age.
fn sections(base: &Playbook, sides: [&Playbook; 2], points: &Points) -> Map<String, Value> {
    let mut merged = pick_each(&base.sections, sides.map(|side| &side.sections));
    for state in points.values() {
        let section = merged.entry(&state.section);
        section.or_insert(Value::Array(Vec::new()));
    }
    let known: HashSet<&str> = base.names().collect();
    for (title, value) in &mut merged {
        let is_list = |side: &Playbook| side.sections.get(title).is_none_or(Value::is_array);
        if !value.is_array() || !sides.into_iter().all(is_list) {
            continue;
        }
        let here = points.iter().filter(|(_, state)| state.section == *title);
        let mut here: Vec<(&String, &PointState)> = here.collect();
        here.sort_by_key(|(name, state)| {
            let is_old = known.contains(name.as_str());
            let place = if is_old { state.index } else { usize::MAX };
            (!is_old, place, state.note.added, *name)
        });
        let entries = here
            .into_iter()
            .map(|(_, state)| Value::Object(state.entry.clone()));
        *value = entries.chain(odd_entries(title, base, sides)).collect();
    }
    merged
}

/// Returns the common entries, and those either side added.
fn odd_entries(title: &str, base: &Playbook, sides: [&Playbook; 2]) -> Vec<Value> {
    let lists = [base, sides[0], sides[1]].map(|playbook| {
        let places = playbook.places().into_values();
        let named = places.filter(|place| place.title == title);
        let named: HashSet<usize> = named.map(|place| place.index).collect();
        let list = playbook.list(title).iter().enumerate();
        let odd = list.filter(|(index, _)| !named.contains(index));
        odd.map(|(_, value)| value).collect::<Vec<&Value>>()
    });
    let count = |list: &[&Value], value: &Value| list.iter().filter(|v| **v == value).count();
    let mut merged: Vec<&Value> = Vec::new();
    let mut all: Vec<&Value> = lists.concat();
    all[lists[0].len()..].sort_by_key(ToString::to_string);
    for value in all {
        let [was, one, other] = lists.each_ref().map(|list| count(list, value));
        let wanted = if one == other {
            one
        } else {
            (one + other).saturating_sub(was)
        };
        while count(&merged, value) < wanted {
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

/// The named entries of a playbook; of two with one name, the last (REQ-REFL-007).
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
        let states = playbook.places().into_iter();
        let states = states.filter_map(|(name, at)| Some((name, PointState::of(playbook, &at)?)));
        let points: Points = states.collect();
        let aliases = playbook.meta.aliases.keys().cloned();
        Self {
            shared: aliases.filter(|name| points.contains_key(name)).collect(),
            meta: playbook.meta.clone(),
            points,
        }
    }

    /// Keeps old names as aliases.
    fn rename(&mut self, names: &Names) {
        if names.is_empty() {
            return;
        }
        let new = |name: String| names.get(&name).cloned().unwrap_or(name);
        let points = std::mem::take(&mut self.points).into_iter();
        let points = points.map(|(name, mut state)| {
            let name = new(name);
            state
                .entry
                .insert(entry::NAME.to_owned(), name.as_str().into());
            (name, state)
        });
        self.points = points.collect();
        for votes in self.meta.votes.values_mut() {
            *votes = renamed(votes, names);
        }
        for target in self.meta.aliases.values_mut() {
            *target = new(std::mem::take(target));
        }
        self.meta.aliases.extend(names.clone());
        self.shared.extend(names.keys().cloned());
    }

    /// Returns the point that another was merged into, directly or in several steps.
    fn taken_in(&self, name: &str) -> Option<&str> {
        let aliases = &self.meta.aliases;
        let steps = std::iter::successors(aliases.get(name), |name| aliases.get(*name));
        let mut steps = steps.take(aliases.len());
        let found = steps.find(|name| self.points.contains_key(*name));
        found.map(String::as_str)
    }
}

/// Gives points that an earlier merge renumbered the same name in all three playbooks, although the
/// other branch still uses the old one. A point that has the new name already gets a number above
/// `highest`.
///
/// Example: main and a branch both created `pat-002`, and a merge into main renamed the branch's to
/// `pat-003`. The branch still calls it `pat-002`. Its changes there apply to `pat-003`.
fn follow_renumbered(base: &mut Side, sides: &mut [Side; 2], highest: &mut BTreeMap<String, u64>) {
    let mut base_names = Names::new();
    let mut names: [Names; 2] = Default::default();
    for (name, state) in &base.points {
        let text = said(state);
        let found = sides.each_ref().map(|side| {
            if said(side.points.get(name)?) == text {
                return None;
            }
            let is_new =
                |new: &&String| !base.points.contains_key(*new) && side.points.contains_key(*new);
            let by_text = side.points.iter().filter(|(_, other)| said(other) == text);
            let by_text = by_text.map(|(new, _)| new).find(is_new);
            by_text.or_else(|| side.meta.aliases.get(name).filter(is_new))
        });
        let Some(new) = found.into_iter().flatten().min() else {
            continue;
        };
        base_names.insert(name.clone(), new.clone());
        for (at, side) in sides.iter().enumerate() {
            let now = found[at].unwrap_or(name);
            if now == new || !side.points.contains_key(now) {
                continue;
            }
            if let Some(other) = side.points.get(new) {
                names[at].insert(new.clone(), next_name(highest, new, &other.section));
            }
            names[at].insert(now.clone(), new.clone());
        }
    }
    base.rename(&base_names);
    for (side, names) in sides.iter_mut().zip(&names) {
        side.rename(names);
    }
}

/// The time, name and text of a new point: an order that is the same for both sides.
type Born<'a> = (Option<Timestamp>, &'a String, &'a str);

struct NewText<'a> {
    names: [Option<&'a String>; 2],
    said: String,
    first: Born<'a>,
    /// The section of the first.
    section: &'a str,
}

/// Returns new names for points of each side: one name for a text that both have, and two names for
/// two texts added under one. The one that was added first keeps its name, the other gets a number
/// above `highest`.
fn new_names(base: &Points, sides: &[Side; 2], highest: &mut BTreeMap<String, u64>) -> [Names; 2] {
    let mut names: [Names; 2] = Default::default();
    let mut all: Vec<NewText<'_>> = Vec::new();
    for (at, Side { points, .. }) in sides.iter().enumerate() {
        let known = sides[1 - at].points.iter();
        let known = known.filter(|(name, _)| base.contains_key(*name));
        let known: BTreeMap<String, &String> =
            known.map(|(name, state)| (said(state), name)).collect();
        for (name, state) in points.iter().filter(|(name, _)| !base.contains_key(*name)) {
            let said = said(state);
            // The other side has it under a name of the base.
            if let Some(same) = known.get(&said).filter(|same| !points.contains_key(**same)) {
                names[at].insert(name.clone(), (*same).clone());
                continue;
            }
            let born: Born<'_> = (state.note.added, name, state.text());
            let of_other = |new: &&mut NewText<'_>| new.names[at].is_none() && new.said == said;
            if let Some(same) = all.iter_mut().find(of_other) {
                same.names[at] = Some(name);
                if born < same.first {
                    (same.first, same.section) = (born, &state.section);
                }
                continue;
            }
            let mut names = [None; 2];
            names[at] = Some(name);
            all.push(NewText {
                names,
                said,
                first: born,
                section: &state.section,
            });
        }
    }
    all.sort_by_key(|new| new.first);
    let mut taken: BTreeSet<String> = base.keys().cloned().collect();
    for new in all {
        let (_, first, _) = new.first;
        let mut wanted = std::iter::once(first).chain(new.names.into_iter().flatten());
        let name = match wanted.find(|name| !taken.contains(*name)) {
            Some(free) => free.clone(),
            None => next_name(highest, first, new.section),
        };
        for (names, old) in names.iter_mut().zip(new.names) {
            if let Some(old) = old.filter(|old| **old != name) {
                names.insert(old.clone(), name.clone());
            }
        }
        taken.insert(name);
    }
    names
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

/// The later and the earlier side of a merge, with names that are the same in all three playbooks.
struct PointsMerge<'a> {
    /// `None` without a base; the jobs then show what both sides share.
    base: Option<&'a Side>,
    sides: &'a [Side; 2],
    /// The votes of jobs that only one side has.
    own: [Moves; 2],
    /// The votes of jobs that both sides have and the base lacks.
    common: Moves,
}

impl<'a> PointsMerge<'a> {
    fn new(base: Option<&'a Side>, sides: &'a [Side; 2]) -> Self {
        let known = base.map_or(&[][..], |base| &base.meta.applied);
        let jobs = sides.each_ref().map(|side| {
            let jobs = side.meta.applied.iter().filter(|job| !known.contains(job));
            jobs.collect::<BTreeSet<_>>()
        });
        let own = |at: usize| {
            sides[at]
                .meta
                .moves_of(jobs[at].difference(&jobs[1 - at]).copied())
        };
        Self {
            base,
            sides,
            own: [own(0), own(1)],
            common: sides[0]
                .meta
                .moves_of(jobs[0].intersection(&jobs[1]).copied()),
        }
    }

    fn points(&self, decided: &mut Vec<String>) -> Points {
        let mut merged = Points::new();
        let mut carried: Vec<(&str, Counts)> = Vec::new();
        let names: BTreeSet<&String> = self.sides.iter().flat_map(|s| s.points.keys()).collect();
        for name in names {
            let base = self.base.and_then(|base| base.points.get(name));
            let [later, earlier] = self.sides.each_ref().map(|side| side.points.get(name));
            let state = match (later, earlier, base) {
                (Some(later), Some(earlier), _) => self.both(name, base, [later, earlier], decided),
                (Some(one), None, Some(base)) | (None, Some(one), Some(base)) => {
                    let is_same_note =
                        one.note.pinned == base.note.pinned && one.note.due == base.note.due;
                    if one.entry == base.entry && is_same_note {
                        continue;
                    }
                    let by = minus(counts(&one.entry), counts(&base.entry));
                    let mut kept = one.clone();
                    match self.sides[usize::from(later.is_some())].taken_in(name) {
                        Some(into) if one.text() == base.text() && is_same_note => {
                            carried.push((into, by));
                            continue;
                        }
                        // Its earlier votes moved to another point.
                        Some(_) => set_counts(&mut kept.entry, by),
                        None => {}
                    }
                    let why = "one side took it away, the other changed it or voted on it";
                    decided.push(format!("kept {name}: {why}"));
                    kept
                }
                (Some(one), None, None) | (None, Some(one), None) => one.clone(),
                (None, None, _) => continue,
            };
            merged.insert(name.clone(), state);
        }
        carried.extend(self.moved_twice());
        for (into, by) in carried {
            if let Some(PointState { entry, .. }) = merged.get_mut(into) {
                set_counts(entry, plus(counts(entry), by));
            }
        }
        merged
    }

    /// Returns double-counted votes: those of base points that both sides merged away. They are
    /// subtracted from the point that received them on the earlier side.
    fn moved_twice(&self) -> impl Iterator<Item = (&str, Counts)> {
        let base = self.base.into_iter().flat_map(|base| &base.points);
        base.filter_map(|(name, state)| {
            let [later, earlier] = self.sides;
            if later.points.contains_key(name) || earlier.points.contains_key(name) {
                return None;
            }
            later.taken_in(name)?;
            let into = earlier.taken_in(name)?;
            Some((into, minus([0, 0], counts(&state.entry))))
        })
    }

    fn both(
        &self,
        name: &str,
        base: Option<&PointState>,
        sides: [&PointState; 2],
        decided: &mut Vec<String>,
    ) -> PointState {
        let blank = PointState::default();
        let mut merged = merge_states(base.unwrap_or(&blank), sides);
        set_counts(&mut merged.entry, self.counts(name, base, sides));
        let [kept, other] = sides.map(PointState::text);
        let is_edited = |text: &str| Some(text) != base.map(PointState::text);
        if kept != other && is_edited(kept) && is_edited(other) {
            merged.note.rest.insert(OTHER_TEXT.to_owned(), other.into());
            decided.push(format!(
                "{name} was edited on both sides: kept {kept:?}, not {other:?}"
            ));
        }
        merged
    }

    /// Counts a job that both sides have once.
    fn counts(&self, name: &str, base: Option<&PointState>, sides: [&PointState; 2]) -> Counts {
        let moved = |moves: &Moves| moves.get(name).copied().unwrap_or_default();
        let [later, earlier] = sides.map(|side| counts(&side.entry));
        let twice = if self.base.is_some() {
            let before = base.map_or([0; 2], |base| counts(&base.entry));
            plus(before, moved(&self.common))
        } else {
            let [one, other] = self.own.each_ref().map(moved);
            let [one, other] = [minus(later, one), minus(earlier, other)];
            [0, 1].map(|at| one[at].min(other[at]))
        };
        minus(plus(later, earlier), twice)
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
