//! Matches the points of two sides, names those that differ, and merges their fields, counters and
//! places.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::{pick, pick_each};
use crate::playbook::change::PointState;
use crate::playbook::clean::clean_text;
use crate::playbook::entry::{self, counts, set_counts};
use crate::playbook::id::{Id, Section};
use crate::playbook::model::{Meta, Note, Playbook};
use crate::playbook::votes::{Moves, renamed};

/// The key for the text that a point lost to a later edit of the other side.
const OTHER_TEXT: &str = "other_text";

/// The named entries of a playbook; of two with one name, the last (REQ-REFL-007).
pub(super) type Points = BTreeMap<String, PointState>;
/// New names by old ones.
pub(super) type Names = BTreeMap<String, String>;

/// One of the playbooks of a merge, whose points can be renamed.
#[derive(Debug, Default)]
pub(super) struct Side {
    pub(super) points: Points,
    pub(super) meta: Meta,
    /// Names that were renamed, and may also belong to other points.
    pub(super) shared: BTreeSet<String>,
}

impl Side {
    pub(super) fn of(playbook: &Playbook) -> Self {
        let places = playbook.places().into_iter();
        let states =
            places.filter_map(|(name, place)| Some((name, PointState::of(playbook, &place)?)));
        let points: Points = states.collect();
        let aliases = playbook.meta.aliases.keys();
        let shared = aliases.filter(|name| points.contains_key(*name));
        Self {
            shared: shared.cloned().collect(),
            meta: playbook.meta.clone(),
            points,
        }
    }

    /// Renames points. Old names stay as aliases.
    pub(super) fn rename(&mut self, names: &Names) {
        if names.is_empty() {
            return;
        }
        let mut points = Points::new();
        for (mut name, mut state) in std::mem::take(&mut self.points) {
            if let Some(new) = names.get(&name) {
                name.clone_from(new);
                let new = new.as_str().into();
                state.entry.insert(entry::NAME.to_owned(), new);
            }
            points.insert(name, state);
        }
        self.points = points;
        for votes in self.meta.votes.values_mut() {
            *votes = renamed(votes, names);
        }
        for target in self.meta.aliases.values_mut() {
            if let Some(new) = names.get(target) {
                target.clone_from(new);
            }
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
pub(super) fn follow_renumbered(
    base: &mut Side,
    sides: &mut [Side; 2],
    highest: &mut BTreeMap<String, u64>,
) {
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
                names[at].insert(new.clone(), next_name(highest, new, other));
            }
            names[at].insert(now.clone(), new.clone());
        }
    }
    base.rename(&base_names);
    for (side, names) in sides.iter_mut().zip(&names) {
        side.rename(names);
    }
}

/// A text that is new on one side or on both, with its name on each.
struct NewText<'a> {
    names: [Option<&'a String>; 2],
    said: String,
    state: &'a PointState,
    born: Born<'a>,
}

/// The time, name and text of a new point: an order that is the same for both sides.
type Born<'a> = (Option<Timestamp>, &'a String, &'a str);

/// Returns new names for points of each side: one name for a text that both have, and two names for
/// two texts added under one. The one that was added first keeps its name, the other gets a number
/// above `highest`.
pub(super) fn new_names(
    base: &Points,
    sides: [&Points; 2],
    highest: &mut BTreeMap<String, u64>,
) -> [Names; 2] {
    let mut names: [Names; 2] = Default::default();
    let mut all = new_texts(base, sides, &mut names);
    all.sort_by(|a, b| a.born.cmp(&b.born));
    let mut taken: BTreeSet<String> = base.keys().cloned().collect();
    for new in all {
        let (_, first, _) = new.born;
        let mut wanted: Vec<&String> = new.names.into_iter().flatten().collect();
        wanted.sort_by_key(|name| *name != first);
        let name = match wanted.into_iter().find(|name| !taken.contains(*name)) {
            Some(free) => free.clone(),
            None => next_name(highest, first, new.state),
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

/// Returns the new texts. One that the other side has under a name of the base gets that name at
/// once.
fn new_texts<'a>(
    base: &Points,
    sides: [&'a Points; 2],
    names: &mut [Names; 2],
) -> Vec<NewText<'a>> {
    let mut all: Vec<NewText<'a>> = Vec::new();
    for (side, points) in sides.into_iter().enumerate() {
        let known = sides[1 - side].iter();
        let known = known.filter(|(name, _)| base.contains_key(*name));
        let known: BTreeMap<String, &String> =
            known.map(|(name, state)| (said(state), name)).collect();
        for (name, state) in points.iter().filter(|(name, _)| !base.contains_key(*name)) {
            let said = said(state);
            if let Some(same) = known.get(&said).filter(|same| !points.contains_key(**same)) {
                names[side].insert(name.clone(), (*same).clone());
                continue;
            }
            let born = (state.note.added, name, state.text());
            let of_other = |new: &&mut NewText<'_>| new.names[side].is_none() && new.said == said;
            if let Some(same) = all.iter_mut().find(of_other) {
                same.names[side] = Some(name);
                if born < same.born {
                    (same.state, same.born) = (state, born);
                }
                continue;
            }
            let mut names = [None; 2];
            names[side] = Some(name);
            all.push(NewText {
                names,
                said,
                state,
                born,
            });
        }
    }
    all
}

/// Returns a name above `highest` for a point that cannot keep `name`.
fn next_name(highest: &mut BTreeMap<String, u64>, name: &str, state: &PointState) -> String {
    let series = Id::parse(name).and_then(|id| id.series());
    let series = series.unwrap_or_else(|| {
        let section = Section::from_title(&state.section);
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
pub(super) struct PointsMerge<'a> {
    /// `None` without a base; the jobs then show what both sides share.
    base: Option<&'a Side>,
    sides: &'a [Side; 2],
    /// The votes of jobs that only one side has.
    own: [Moves; 2],
    /// The votes of jobs that both sides have and the base lacks.
    common: Moves,
}

impl<'a> PointsMerge<'a> {
    pub(super) fn new(base: Option<&'a Side>, sides: &'a [Side; 2]) -> Self {
        let known = base.map_or(&[][..], |base| &base.meta.applied);
        let [later, earlier] = sides.each_ref().map(|side| {
            let jobs = side.meta.applied.iter();
            jobs.filter(|job| !known.contains(job))
                .collect::<BTreeSet<_>>()
        });
        let [one, other] = sides.each_ref().map(|side| &side.meta);
        Self {
            base,
            sides,
            own: [
                one.moves_of(later.difference(&earlier).copied()),
                other.moves_of(earlier.difference(&later).copied()),
            ],
            common: one.moves_of(later.intersection(&earlier).copied()),
        }
    }

    /// Returns the merged points; `decided` receives a sentence for each decision.
    pub(super) fn points(&self, decided: &mut Vec<String>) -> Points {
        let mut merged = Points::new();
        let mut carried: Vec<(&str, [i64; 2])> = Vec::new();
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
                    let [now, was] = [counts(&one.entry), counts(&base.entry)];
                    let by = [now[0] - was[0], now[1] - was[1]];
                    let taken_in = self.sides[usize::from(later.is_some())].taken_in(name);
                    let is_only_voted_on = one.text() == base.text() && is_same_note;
                    let mut kept = one.clone();
                    match taken_in {
                        Some(into) if is_only_voted_on => {
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
            if let Some(state) = merged.get_mut(into) {
                let counts = counts(&state.entry);
                set_counts(&mut state.entry, [counts[0] + by[0], counts[1] + by[1]]);
            }
        }
        merged
    }

    /// Returns double-counted votes: those of base points that both sides merged away. They are
    /// subtracted from the point that received them on the earlier side.
    fn moved_twice(&self) -> impl Iterator<Item = (&str, [i64; 2])> {
        let base = self.base.into_iter().flat_map(|base| &base.points);
        base.filter_map(|(name, state)| {
            let [later, earlier] = self.sides;
            if later.points.contains_key(name) || earlier.points.contains_key(name) {
                return None;
            }
            later.taken_in(name)?;
            Some((
                earlier.taken_in(name)?,
                counts(&state.entry).map(|count| -count),
            ))
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
        let was = base.unwrap_or(&blank);
        let mut entry = pick_each(&was.entry, sides.map(|side| &side.entry));
        set_counts(&mut entry, self.counts(name, base, sides));
        let section = base.map(|base| &base.section);
        let section = pick(section, sides.map(|side| Some(&side.section)));
        let is_in_place = base.is_some_and(|base| Some(&base.section) == section);
        let [later, earlier] = sides.map(|side| &side.note);
        let pinned = [Some(&later.pinned), Some(&earlier.pinned)];
        let pinned = pick(Some(&was.note.pinned), pinned);
        let due = [Some(&later.due), Some(&earlier.due)];
        let due = pick(Some(&was.note.due), due);
        let mut note = Note {
            due: due.cloned().unwrap_or_default(),
            added: [later.added, earlier.added].into_iter().flatten().min(),
            used: later.used.max(earlier.used),
            pinned: pinned.copied().unwrap_or_default(),
            rest: pick_each(&was.note.rest, [&later.rest, &earlier.rest]),
        };
        let texts = sides.map(PointState::text);
        let is_edited = |text: &&str| Some(*text) != base.map(PointState::text);
        if texts[0] != texts[1] && texts.iter().all(is_edited) {
            let [kept, other] = texts;
            note.rest.insert(OTHER_TEXT.to_owned(), other.into());
            decided.push(format!(
                "{name} was edited on both sides: kept {kept:?}, not {other:?}"
            ));
        }
        PointState {
            section: section.cloned().unwrap_or_default(),
            index: if is_in_place { was.index } else { usize::MAX },
            entry,
            note,
        }
    }

    /// Returns the base's counters plus each side's changes; a job that both sides have counts
    /// once.
    fn counts(&self, name: &str, base: Option<&PointState>, sides: [&PointState; 2]) -> [i64; 2] {
        let moved = |moves: &Moves| moves.get(name).copied().unwrap_or_default();
        let [later, earlier] = sides.map(|side| counts(&side.entry));
        let own = self.own.each_ref().map(moved);
        let common = moved(&self.common);
        let before = base.map_or([0; 2], |base| counts(&base.entry));
        std::array::from_fn(|at| {
            if self.base.is_some() {
                return later[at] + earlier[at] - before[at] - common[at];
            }
            let shared = (later[at] - own[0][at]).max(earlier[at] - own[1][at]);
            shared + own[0][at] + own[1][at]
        })
    }
}
