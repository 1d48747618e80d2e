//! Ids for life: the numbers of a section only grow, and none is given twice.
//!
//! The next number stands in the file. Where the file is older than what was given, as
//! after a checkout, whoever remembers the highest number says so with
//! [`Playbook::never_below`]; the larger one wins.

use std::collections::BTreeMap;

use super::id::{Id, OWN_SERIES, series_named};
use super::model::Playbook;
use super::section::Section;

/// Numbers above this were typed by someone; they do not move the next one.
const MAX_COUNTED: u64 = 1 << 40;

/// What the ids of a playbook are called after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Numbering {
    /// A project's: after the section, `pat-001`.
    #[default]
    BySection,
    /// The user's own, which goes along into every project: `my-001` in each section.
    Own,
}

impl Numbering {
    /// The series in which a new point of `section` gets its number.
    pub(super) fn series(self, section: Section) -> &'static str {
        match self {
            Self::BySection => section.slug(),
            Self::Own => OWN_SERIES,
        }
    }
}

impl Playbook {
    pub(crate) fn next_id(&self, section: Section) -> Id {
        let series = self.numbering.series(section);
        let highest = self.highest_numbers();
        Id::new(series, highest.get(series).map_or(1, |n| n + 1))
    }

    /// Returns by series the highest number ever given, as far as this file knows: points,
    /// points that were merged away, and the file's own record.
    pub fn highest_numbers(&self) -> BTreeMap<String, u64> {
        let mut highest = BTreeMap::new();
        let mut see = |series: &str, number: u64| {
            let known: &mut u64 = highest.entry(series.to_owned()).or_default();
            *known = number.max(*known);
        };
        for (series, &next) in &self.meta.next {
            if let Some(series) = series_named(series) {
                see(series, next.saturating_sub(1).min(MAX_COUNTED));
            }
        }
        let aliases = self.meta.aliases.keys().map(String::as_str);
        for name in self.names().chain(aliases) {
            if let Some((series, number)) = counted(name) {
                see(series, number);
            }
        }
        highest
    }

    /// Never gives a number up to those of `highest`, by series, again.
    pub fn never_below(&mut self, highest: &BTreeMap<String, u64>) {
        for (series, &number) in highest {
            if let Some(series) = series_named(series) {
                self.raise_next(series, number);
            }
        }
    }

    fn raise_next(&mut self, series: &str, highest: u64) {
        let next = self.meta.next.entry(series.to_owned()).or_default();
        *next = (*next).max(highest.min(MAX_COUNTED) + 1);
    }

    pub(super) fn note_given(&mut self, name: &str) {
        if let Some((series, number)) = counted(name) {
            self.raise_next(series, number);
        }
    }
}

fn counted(name: &str) -> Option<(&'static str, u64)> {
    let id = Id::parse(name)?;
    let number = id.number().filter(|&number| number <= MAX_COUNTED)?;
    Some((id.series()?, number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn playbook(value: &serde_json::Value) -> Playbook {
        Playbook::parse(value.to_string().as_bytes()).unwrap()
    }

    #[rstest]
    #[case::empty(json!({}), "pat-001")]
    #[case::after_the_highest(
        json!({"sections": {"PATTERNS & APPROACHES": [{"name": "pat-007"}, {"name": "pat-002"}]}}),
        "pat-008"
    )]
    #[case::in_another_section(json!({"sections": {"OTHERS": [{"name": "pat-007"}]}}), "pat-008")]
    #[case::merged_away(json!({"playbook": {"aliases": {"pat-011": "oth-001"}}}), "pat-012")]
    #[case::the_files_own_record(json!({"playbook": {"next": {"pat": 31}}}), "pat-031")]
    #[case::a_number_nobody_gave(
        json!({"sections": {"OTHERS": [{"name": "pat-99999999999999999999"}, {"name": "pat-18446744073709551615"}]}}),
        "pat-001"
    )]
    #[case::other_names(json!({"sections": {"OTHERS": [{"name": "kpt_050"}, {"name": "pat-x"}]}}), "pat-001")]
    fn the_next_id_is_above_all_that_were_given(
        #[case] file: serde_json::Value,
        #[case] next: &str,
    ) {
        assert_eq!(playbook(&file).next_id(Section::Patterns).as_str(), next);
    }

    #[test]
    fn after_a_checkout_of_an_older_file_the_larger_memory_wins() {
        let mut old = playbook(&json!({"playbook": {"next": {"pat": 3, "ctx": 9}}}));
        old.never_below(&BTreeMap::from([
            ("pat".to_owned(), 7),
            ("ctx".to_owned(), 2),
        ]));
        assert_eq!(old.next_id(Section::Patterns).as_str(), "pat-008");
        assert_eq!(old.next_id(Section::Context).as_str(), "ctx-009");
        assert_eq!(old.highest_numbers()["pat"], 7);
    }
}
