//! Merges the key points: their fields, counters and places.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::Later;
use super::keys;
use crate::playbook::change::PointState;
use crate::playbook::entry::{self, COUNTERS};
use crate::playbook::job_votes::{Moves, counted};
use crate::playbook::meta::Note;
use crate::playbook::model::Playbook;

/// The named entries of a playbook; of two with one name the last (REQ-REFL-007).
#[derive(Debug, Clone, Default)]
pub(super) struct Points(pub(super) BTreeMap<String, PointState>);

/// Tells whether a side did more to a point than to move it or to use it.
fn is_changed(point: &PointState, base: &PointState) -> bool {
    point.entry != base.entry || point.note.pinned != base.note.pinned
}

fn is_only_voted_on(point: &PointState, base: &PointState) -> bool {
    point.text() == base.text() && point.note.pinned == base.note.pinned
}

fn counts(point: &PointState) -> [i64; 2] {
    COUNTERS.map(|counter| counted(&point.entry, counter))
}

impl Points {
    pub(super) fn of(playbook: &Playbook) -> Self {
        let named = playbook
            .places()
            .into_iter()
            .filter_map(|(name, place)| Some((name, PointState::of(playbook, &place)?)));
        Self(named.collect())
    }

    /// The same under other names. Two that get one name become one, with the sum of their counts.
    pub(super) fn renamed(&self, names: &BTreeMap<String, String>) -> Self {
        let mut renamed = Self::default();
        for (name, entry) in &self.0 {
            let mut entry = entry.clone();
            if let Some(new) = names.get(name) {
                entry
                    .entry
                    .insert(entry::NAME.to_owned(), new.as_str().into());
            }
            let name = names.get(name).unwrap_or(name);
            renamed.0.insert(name.clone(), entry);
        }
        renamed
    }
}

/// What two sides made of the points of a base.
pub(super) struct PointsMerge<'a> {
    /// Without a base, what both have in common is found by the jobs that they know.
    pub(super) base: Option<&'a Points>,
    pub(super) sides: [&'a Points; 2],
    /// What the jobs of one side alone did to the counters, and those that both have and the
    /// base has not.
    pub(super) own: [&'a Moves; 2],
    pub(super) common: &'a Moves,
    /// The names that each side merged away.
    pub(super) aliases: [&'a BTreeMap<String, String>; 2],
    pub(super) later: Later,
}

#[derive(Debug, Default)]
pub(super) struct MergedPoints {
    pub(super) points: Points,
    pub(super) decided: Vec<String>,
}

impl PointsMerge<'_> {
    pub(super) fn points(&self) -> MergedPoints {
        let mut merged = MergedPoints::default();
        let mut carried: Vec<(String, [i64; 2])> = Vec::new();
        let names = self.sides.iter().flat_map(|side| side.0.keys());
        let mut names: Vec<&String> = names.collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let base = self.base.and_then(|base| base.0.get(name));
            let entry = match (self.sides.map(|side| side.0.get(name)), base) {
                ([Some(ours), Some(theirs)], base) => {
                    self.both(name, base, [ours, theirs], &mut merged.decided)
                }
                ([Some(one), None] | [None, Some(one)], None) => one.clone(),
                ([Some(one), None] | [None, Some(one)], Some(base)) => {
                    if !is_changed(one, base) {
                        continue;
                    }
                    let other = usize::from(self.sides[0].0.contains_key(name));
                    let taken_in = self.taken_in(name, other);
                    if let Some(into) = taken_in.filter(|_| is_only_voted_on(one, base)) {
                        let [now, was] = [counts(one), counts(base)];
                        carried.push((into.to_owned(), less(now, was)));
                        continue;
                    }
                    let mut kept = one.clone();
                    if taken_in.is_some() {
                        // What it had before the other side moved to another point.
                        let [now, was] = [counts(one), counts(base)];
                        set_counts(&mut kept.entry, less(now, was));
                    }
                    let why = "one side took it away, the other changed it or voted on it";
                    merged.decided.push(format!("kept {name}: {why}"));
                    kept
                }
                ([None, None], _) => continue,
            };
            merged.points.0.insert(name.clone(), entry);
        }
        carried.extend(self.moved_twice());
        for (into, by) in carried {
            if let Some(entry) = merged.points.0.get_mut(&into) {
                let counts = counts(entry);
                let sum = [counts[0] + by[0], counts[1] + by[1]];
                set_counts(&mut entry.entry, sum.map(|count| count.max(0)));
            }
        }
        merged
    }

    /// What points of the base had that both sides merged away: it is in both of the points that
    /// took them in, or twice in one, and is taken out of that of the earlier side.
    fn moved_twice(&self) -> impl Iterator<Item = (String, [i64; 2])> {
        let base = self.base.into_iter().flat_map(|base| &base.0);
        base.filter_map(|(name, entry)| {
            if self.sides.iter().any(|side| side.0.contains_key(name)) {
                return None;
            }
            let into = [self.taken_in(name, 0)?, self.taken_in(name, 1)?];
            let [_, earlier] = self.later.first(into);
            Some((earlier.to_owned(), less([0, 0], counts(entry))))
        })
    }

    /// The point of a side that took another in, by however many steps.
    fn taken_in(&self, name: &str, side: usize) -> Option<&str> {
        let aliases = self.aliases[side];
        let steps = std::iter::successors(aliases.get(name), |name| aliases.get(*name));
        let mut steps = steps.take(aliases.len());
        steps
            .find(|name| self.sides[side].0.contains_key(*name))
            .map(String::as_str)
    }

    fn both(
        &self,
        name: &str,
        base: Option<&PointState>,
        sides: [&PointState; 2],
        decided: &mut Vec<String>,
    ) -> PointState {
        let nothing = Map::new();
        let fields_of = |entry: Option<&PointState>| entry.map(|entry| entry.entry.clone());
        let base_fields = fields_of(base).unwrap_or(nothing);
        let fields = sides.map(|side| &side.entry);
        let mut fields = keys::map(&base_fields, fields, self.later);
        let merged = self.counts(name, base, sides);
        if sides.iter().any(|side| counts(side) != merged) {
            set_counts(&mut fields, merged);
        }
        let title = sides.map(|side| Some(&side.section));
        let title = keys::value(base.map(|base| &base.section), title, self.later);
        let mut note = self.note(base, sides);
        let texts = sides.map(PointState::text);
        let is_edited = |text: &&str| Some(*text) != base.map(PointState::text);
        if texts[0] != texts[1] && texts.iter().all(is_edited) {
            let [kept, other] = self.later.first(texts);
            note.rest.insert(OTHER_TEXT.to_owned(), other.into());
            decided.push(format!(
                "{name} was edited on both sides: kept {kept:?}, not {other:?}"
            ));
        }
        let place = if base.is_some_and(|base| Some(&base.section) == title) {
            base.map_or(usize::MAX, |base| base.index)
        } else {
            usize::MAX
        };
        PointState {
            section: title.cloned().unwrap_or_default(),
            index: place,
            entry: fields,
            note,
        }
    }

    /// What stood in the base and what each side added; a job that both have counts once.
    fn counts(&self, name: &str, base: Option<&PointState>, sides: [&PointState; 2]) -> [i64; 2] {
        let moved = |moves: &Moves| moves.get(name).copied().unwrap_or_default();
        let [ours, theirs] = sides.map(counts);
        let own = self.own.map(moved);
        let common = moved(self.common);
        std::array::from_fn(|at| {
            let sum = if self.base.is_some() {
                let before = base.map_or(0, |base| counts(base)[at]);
                ours[at] + theirs[at] - before - common[at]
            } else {
                let shared = (ours[at] - own[0][at]).max(theirs[at] - own[1][at]);
                shared + own[0][at] + own[1][at]
            };
            sum.max(0)
        })
    }

    fn note(&self, base: Option<&PointState>, sides: [&PointState; 2]) -> Note {
        let [ours, theirs] = sides.map(|side| &side.note);
        let blank = Note::default();
        let base = base.map_or(&blank, |base| &base.note);
        let added = [ours.added, theirs.added].into_iter().flatten().min();
        let is_pinned = keys::value(
            Some(&base.pinned),
            [Some(&ours.pinned), Some(&theirs.pinned)],
            self.later,
        );
        Note {
            added,
            used: ours.used.max(theirs.used),
            pinned: is_pinned.copied().unwrap_or_default(),
            rest: keys::map(&base.rest, [&ours.rest, &theirs.rest], self.later),
        }
    }
}

/// Under this key a point remembers the text that it lost to a later edit of the other side.
const OTHER_TEXT: &str = "other_text";

fn less(now: [i64; 2], was: [i64; 2]) -> [i64; 2] {
    [now[0] - was[0], now[1] - was[1]]
}

fn set_counts(fields: &mut Map<String, Value>, counts: [i64; 2]) {
    for (counter, count) in COUNTERS.into_iter().zip(counts) {
        if counted(fields, counter) != count || !fields.contains_key(counter.key()) {
            let count = u64::try_from(count).unwrap_or_default();
            fields.insert(counter.key().to_owned(), count.into());
        }
    }
}
