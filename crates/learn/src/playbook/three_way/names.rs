//! Which points of two sides are the same, and what those are called that are not.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::points::Points;
use crate::playbook::change::PointState;
use crate::playbook::clean::clean_text;
use crate::playbook::id::Id;
use crate::playbook::section::Section;

/// New names for points of each side, by their old ones.
#[derive(Debug, Default)]
pub(super) struct Renames(pub(super) [BTreeMap<String, String>; 2]);

/// What the renames rest on.
pub(super) struct Naming<'a> {
    pub(super) base: &'a Points,
    pub(super) sides: [&'a Points; 2],
    /// By slug: the highest number that any side gave.
    pub(super) highest: BTreeMap<String, u64>,
}

/// A text that is new on one side or on both, with the name that it has on each.
struct New<'a> {
    names: [Option<&'a String>; 2],
    entry: &'a PointState,
    born: Born<'a>,
}

/// When a point was added, then what it is called and says: the order is the same whichever
/// side asks.
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
pub(super) fn next_name(
    highest: &mut BTreeMap<String, u64>,
    name: &str,
    entry: &PointState,
) -> String {
    let of_id = Id::parse(name).and_then(|id| id.series());
    let series = of_id.unwrap_or_else(|| {
        let section = Section::from_title(&entry.section);
        section.unwrap_or(Section::Others).slug()
    });
    let highest = highest.entry(series.to_owned()).or_default();
    *highest += 1;
    Id::new(series, *highest).to_string()
}

pub(super) fn said(entry: &PointState) -> String {
    clean_text(entry.text())
}
