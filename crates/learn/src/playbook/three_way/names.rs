//! Finds the points that are the same on two sides, and names those that are not.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::points::Points;
use crate::playbook::change::PointState;
use crate::playbook::clean::clean_text;
use crate::playbook::id::Id;
use crate::playbook::section::Section;

/// Finds points that an earlier merge gave a new number, while the other branch went on under
/// the old one: all three playbooks get to call them by one name before they are compared.
///
/// Main and a branch both gave `pat-002`, and a merge into main made `pat-003` of the branch's.
/// On the branch it is `pat-002` still. Its changes there are made to `pat-003`.
#[derive(Debug, Default)]
pub(super) struct Renumbered {
    pub(super) base: BTreeMap<String, String>,
    pub(super) sides: [BTreeMap<String, String>; 2],
}

impl Renumbered {
    /// Returns the new names by the old ones; a point that has one of their names for itself gets a number above `highest`.
    pub(super) fn of(
        base: &Points,
        sides: [&Points; 2],
        aliases: [&BTreeMap<String, String>; 2],
        highest: &mut BTreeMap<String, u64>,
    ) -> Self {
        let mut renumbered = Self::default();
        for (name, entry) in &base.0 {
            let found: [Option<&String>; 2] = std::array::from_fn(|at| {
                let here = sides[at].0.get(name)?;
                if said(here) == said(entry) {
                    return None;
                }
                let is_new =
                    |new: &&String| !base.0.contains_key(*new) && sides[at].0.contains_key(*new);
                let text = said(entry);
                let by_text = sides[at].0.iter().filter(|(_, other)| said(other) == text);
                let by_text = by_text.map(|(new, _)| new).find(is_new);
                by_text.or_else(|| aliases[at].get(name).filter(is_new))
            });
            let Some(new) = found.iter().flatten().min().copied() else {
                continue;
            };
            renumbered.base.insert(name.clone(), new.clone());
            for (at, side) in sides.iter().enumerate() {
                let now = found[at].unwrap_or(name);
                if now == new || !side.0.contains_key(now) {
                    continue;
                }
                if let Some(other) = side.0.get(new) {
                    let next = next_name(highest, new, other);
                    renumbered.sides[at].insert(new.clone(), next);
                }
                renumbered.sides[at].insert(now.clone(), new.clone());
            }
        }
        renumbered
    }
}

/// New names for points of each side, by their old ones.
#[derive(Debug, Default)]
pub(super) struct Renames(pub(super) [BTreeMap<String, String>; 2]);

/// The points that the renames rest on.
pub(super) struct Naming<'a> {
    pub(super) base: &'a Points,
    pub(super) sides: [&'a Points; 2],
    /// The highest number that any side gave, by slug.
    pub(super) highest: BTreeMap<String, u64>,
}

/// A text that is new on one side or on both, with the name that it has on each.
struct New<'a> {
    names: [Option<&'a String>; 2],
    entry: &'a PointState,
    born: Born<'a>,
}

/// The time, name and text of a new point: an order that is the same for both sides.
type Born<'a> = (Option<Timestamp>, &'a String, &'a str);

fn born<'a>(name: &'a String, entry: &'a PointState) -> Born<'a> {
    (entry.note.added, name, entry.text())
}

impl<'a> Naming<'a> {
    /// Gives one name to a text that both sides have, and two names to two texts that both added
    /// under one: the one that was added first keeps it, the other gets a new number.
    pub(super) fn renames(mut self) -> Renames {
        let mut renames = Renames::default();
        let mut taken: BTreeSet<String> = self.base.0.keys().cloned().collect();
        let mut all = self.new_texts(&mut renames);
        all.sort_by(|a, b| a.born.cmp(&b.born));
        for new in all {
            let mut names: Vec<&String> = new.names.into_iter().flatten().collect();
            names.sort_by_key(|name| *name != new.born.1);
            let free = names.into_iter().find(|name| !taken.contains(*name));
            let name = match free {
                Some(name) => name.clone(),
                None => next_name(&mut self.highest, new.born.1, new.entry),
            };
            for (side, old) in new.names.into_iter().enumerate() {
                if let Some(old) = old.filter(|old| **old != name) {
                    renames.0[side].insert(old.clone(), name.clone());
                }
            }
            taken.insert(name);
        }
        renames
    }

    /// The texts that are new. One that the other side has under a name of the base gets that
    /// name at once.
    fn new_texts(&self, renames: &mut Renames) -> Vec<New<'a>> {
        let mut by_text: BTreeMap<String, New<'a>> = BTreeMap::new();
        let mut twice = Vec::new();
        for (side, points) in self.sides.into_iter().enumerate() {
            let other = self.sides[1 - side];
            let is_new = |name: &str| !self.base.0.contains_key(name);
            let known = other.0.iter().filter(|(name, _)| !is_new(name));
            let known: BTreeMap<String, &String> =
                known.map(|(name, entry)| (said(entry), name)).collect();
            for (name, entry) in points.0.iter().filter(|(name, _)| is_new(name)) {
                let text = said(entry);
                if let Some(same) = known
                    .get(&text)
                    .filter(|same| !points.0.contains_key(**same))
                {
                    renames.0[side].insert(name.clone(), (*same).clone());
                    continue;
                }
                let mut names = [None; 2];
                names[side] = Some(name);
                let born = born(name, entry);
                let new = New { names, entry, born };
                match by_text.get_mut(&text) {
                    None => {
                        by_text.insert(text, new);
                    }
                    Some(same) if same.names[side].is_none() => {
                        same.names[side] = Some(name);
                        if new.born < same.born {
                            (same.entry, same.born) = (new.entry, new.born);
                        }
                    }
                    Some(_) => twice.push(new),
                }
            }
        }
        by_text.into_values().chain(twice).collect()
    }
}

/// A name above `highest` for a point that cannot keep `name`.
fn next_name(highest: &mut BTreeMap<String, u64>, name: &str, entry: &PointState) -> String {
    let of_id = Id::parse(name).and_then(|id| id.series());
    let series = of_id.unwrap_or_else(|| {
        let section = Section::from_title(&entry.section);
        section.unwrap_or(Section::Others).slug()
    });
    let highest = highest.entry(series.to_owned()).or_default();
    *highest += 1;
    Id::new(series, *highest).to_string()
}

fn said(entry: &PointState) -> String {
    clean_text(entry.text())
}
