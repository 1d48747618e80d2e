//! Merges the key points: their fields, counters and places.

use std::collections::{BTreeMap, BTreeSet};

use super::{Later, pick, pick_each};
use crate::playbook::change::PointState;
use crate::playbook::entry::{self, counts, set_counts};
use crate::playbook::job_votes::{Moves, renamed};
use crate::playbook::meta::{Meta, Note};
use crate::playbook::model::Playbook;

/// Under this key a point remembers the text that it lost to a later edit of the other side.
const OTHER_TEXT: &str = "other_text";

/// The named entries of a playbook; of two with one name the last (REQ-REFL-007).
pub(super) type Points = BTreeMap<String, PointState>;
/// New names by old ones.
pub(super) type Names = BTreeMap<String, String>;

/// One of the playbooks of a merge, whose points can get other names.
#[derive(Debug, Default)]
pub(super) struct Side {
    pub(super) points: Points,
    pub(super) meta: Meta,
    /// Names that were renamed, and may be those of other points as well.
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

    /// Gives points other names. An old name stays as an alias.
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

    /// Returns the point that took another in, by however many steps.
    fn taken_in(&self, name: &str) -> Option<&str> {
        let aliases = &self.meta.aliases;
        let steps = std::iter::successors(aliases.get(name), |name| aliases.get(*name));
        let mut steps = steps.take(aliases.len());
        let found = steps.find(|name| self.points.contains_key(*name));
        found.map(String::as_str)
    }
}

/// Two sides that grew from a base, with names that mean the same in all three.
pub(super) struct PointsMerge<'a> {
    /// Without a base, what both have in common is found by the jobs that they know.
    base: Option<&'a Side>,
    sides: &'a [Side; 2],
    /// The votes of the jobs of one side alone.
    own: [Moves; 2],
    /// The votes of the jobs that both sides have and the base has not.
    common: Moves,
    later: Later,
}

impl<'a> PointsMerge<'a> {
    pub(super) fn new(base: Option<&'a Side>, sides: &'a [Side; 2], later: Later) -> Self {
        let known = base.map_or(&[][..], |base| &base.meta.applied);
        let [ours, theirs] = sides.each_ref().map(|side| {
            let jobs = side.meta.applied.iter();
            jobs.filter(|job| !known.contains(job))
                .collect::<BTreeSet<_>>()
        });
        let [one, other] = sides.each_ref().map(|side| &side.meta);
        Self {
            base,
            sides,
            own: [
                one.moves_of(ours.difference(&theirs).copied()),
                other.moves_of(theirs.difference(&ours).copied()),
            ],
            common: one.moves_of(ours.intersection(&theirs).copied()),
            later,
        }
    }

    /// Returns the merged points; `decided` gets a sentence for each decision.
    pub(super) fn points(&self, decided: &mut Vec<String>) -> Points {
        let mut merged = Points::new();
        let mut carried: Vec<(&str, [i64; 2])> = Vec::new();
        let names: BTreeSet<&String> = self.sides.iter().flat_map(|s| s.points.keys()).collect();
        for name in names {
            let base = self.base.and_then(|base| base.points.get(name));
            let [ours, theirs] = self.sides.each_ref().map(|side| side.points.get(name));
            let state = match (ours, theirs, base) {
                (Some(ours), Some(theirs), _) => self.both(name, base, [ours, theirs], decided),
                (Some(one), None, Some(base)) | (None, Some(one), Some(base)) => {
                    if one.entry == base.entry && one.note.pinned == base.note.pinned {
                        continue;
                    }
                    let [now, was] = [counts(&one.entry), counts(&base.entry)];
                    let by = [now[0] - was[0], now[1] - was[1]];
                    let taken_in = self.sides[usize::from(ours.is_some())].taken_in(name);
                    let is_only_voted_on =
                        one.text() == base.text() && one.note.pinned == base.note.pinned;
                    let mut kept = one.clone();
                    match taken_in {
                        Some(into) if is_only_voted_on => {
                            carried.push((into, by));
                            continue;
                        }
                        // What it had before moved to another point.
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

    /// Returns what is counted twice: votes of points of the base that both sides merged away.
    /// They are taken out of the point that took them in on the earlier side.
    fn moved_twice(&self) -> impl Iterator<Item = (&str, [i64; 2])> {
        let base = self.base.into_iter().flat_map(|base| &base.points);
        base.filter_map(|(name, state)| {
            let [ours, theirs] = self.sides;
            if ours.points.contains_key(name) || theirs.points.contains_key(name) {
                return None;
            }
            let into = [ours.taken_in(name)?, theirs.taken_in(name)?];
            let [_, earlier] = self.later.first(into);
            Some((earlier, counts(&state.entry).map(|count| -count)))
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
        let mut entry = pick_each(&was.entry, sides.map(|side| &side.entry), self.later);
        set_counts(&mut entry, self.counts(name, base, sides));
        let section = base.map(|base| &base.section);
        let section = pick(section, sides.map(|side| Some(&side.section)), self.later);
        let is_in_place = base.is_some_and(|base| Some(&base.section) == section);
        let [ours, theirs] = sides.map(|side| &side.note);
        let pinned = [Some(&ours.pinned), Some(&theirs.pinned)];
        let pinned = pick(Some(&was.note.pinned), pinned, self.later);
        let mut note = Note {
            added: [ours.added, theirs.added].into_iter().flatten().min(),
            used: ours.used.max(theirs.used),
            pinned: pinned.copied().unwrap_or_default(),
            rest: pick_each(&was.note.rest, [&ours.rest, &theirs.rest], self.later),
        };
        let texts = sides.map(PointState::text);
        let is_edited = |text: &&str| Some(*text) != base.map(PointState::text);
        if texts[0] != texts[1] && texts.iter().all(is_edited) {
            let [kept, other] = self.later.first(texts);
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

    /// Returns what the base had and what each side added; a job that both have counts once.
    fn counts(&self, name: &str, base: Option<&PointState>, sides: [&PointState; 2]) -> [i64; 2] {
        let moved = |moves: &Moves| moves.get(name).copied().unwrap_or_default();
        let [ours, theirs] = sides.map(|side| counts(&side.entry));
        let own = self.own.each_ref().map(moved);
        let common = moved(&self.common);
        let before = base.map_or([0; 2], |base| counts(&base.entry));
        std::array::from_fn(|at| {
            if self.base.is_some() {
                return ours[at] + theirs[at] - before[at] - common[at];
            }
            let shared = (ours[at] - own[0][at]).max(theirs[at] - own[1][at]);
            shared + own[0][at] + own[1][at]
        })
    }
}
