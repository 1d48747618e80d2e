//! Ids for life: the numbers of a section only grow, and none is given twice.
//!
//! The next number stands in the file. Where the file is older than what was given, as
//! after a checkout, whoever remembers the highest number says so with
//! [`Playbook::never_below`]; the larger one wins.

use std::collections::BTreeMap;

use super::entry;
use super::id::Id;
use super::model::Playbook;
use super::section::Section;

/// Numbers above this were typed by someone; they do not move the next one.
const MAX_COUNTED: u64 = 1 << 40;

impl Playbook {
    /// Returns the id the next new point of a section gets.
    pub fn next_id(&self, section: Section) -> Id {
        let highest = self.highest().get(&section).copied().unwrap_or(0);
        Id::new(section, highest + 1)
    }

    /// Returns the highest number ever given in each section, as far as this file knows:
    /// points, points that were merged away, and the file's own record.
    pub fn highest(&self) -> BTreeMap<Section, u64> {
        let mut highest = BTreeMap::new();
        let mut see = |section: Section, number: u64| {
            let known: &mut u64 = highest.entry(section).or_default();
            *known = number.max(*known);
        };
        for (slug, &next) in &self.meta.next {
            if let Some(section) = Section::from_slug(slug) {
                see(section, next.saturating_sub(1).min(MAX_COUNTED));
            }
        }
        let lists = self.sections().into_iter().flatten();
        let entries = lists.flat_map(|(_, list)| list.as_array().into_iter().flatten());
        let names = entries.filter_map(entry::name);
        for name in names.chain(self.meta.aliases.keys().map(String::as_str)) {
            if let Some((section, number)) = counted(name) {
                see(section, number);
            }
        }
        highest
    }

    /// Never gives a number up to `highest` in `section` again.
    pub fn never_below(&mut self, section: Section, highest: u64) {
        let next = self.meta.next.entry(section.slug().to_owned()).or_default();
        *next = (*next).max(highest.min(MAX_COUNTED) + 1);
    }

    /// Remembers that `name` was given, before it may vanish.
    pub(super) fn note_given(&mut self, name: &str) {
        if let Some((section, number)) = counted(name) {
            self.never_below(section, number);
        }
    }
}

fn counted(name: &str) -> Option<(Section, u64)> {
    let id = Id::parse(name)?;
    let number = id.number().filter(|&number| number <= MAX_COUNTED)?;
    Some((id.section()?, number))
}
