//! Finds the points that are the same on two sides, and names those that are not.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::points::{Names, Points, Side};
use crate::playbook::change::PointState;
use crate::playbook::clean::clean_text;
use crate::playbook::id::Id;
use crate::playbook::section::Section;

/// Gives the points that an earlier merge renumbered one name in all three playbooks, while the
/// other branch went on under the old one. A point that has that name for itself gets a number
/// above `highest`.
///
/// Main and a branch both gave `pat-002`, and a merge into main made `pat-003` of the branch's.
/// On the branch it is `pat-002` still. Its changes there are made to `pat-003`.
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

/// A text that is new on one side or on both, with the name that it has on each.
struct NewText<'a> {
    names: [Option<&'a String>; 2],
    said: String,
    state: &'a PointState,
    born: Born<'a>,
}

/// The time, name and text of a new point: an order that is the same for both sides.
type Born<'a> = (Option<Timestamp>, &'a String, &'a str);

/// Returns new names for points of each side: one name for a text that both have, and two names
/// for two texts that both added under one. The one that was added first keeps its name, the
/// other gets a number above `highest`.
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
