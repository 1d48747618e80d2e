//! The names of key points: `pat-001`, or the older `kpt_001`; `my-001` in the user's own playbook.
//!
//! Ids are for life: the numbers of a section only grow, and none is given twice. The next number
//! is in the file. A file may be older than the last number given, as after a checkout. Then
//! [`Playbook::never_below`] brings the highest number from the database; the larger one wins.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::model::Playbook;
use super::section::Section;

const LEGACY_PREFIX: &str = "kpt_";
/// The first part of the ids in the user's own playbook, before the `-`.
const OWN_SERIES: &str = "my";
/// The least number of digits in an id that we give.
const WIDTH: usize = 3;
/// Numbers above this were typed by someone; they do not move the next one.
const MAX_COUNTED: u64 = 1 << 40;

/// A key point's id as it can be cited: a section's slug, `-` and ASCII digits, or
/// `kpt_` and digits (REQ-REFL-001); or `my-` and digits, which are the user's own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Id(String);

impl Id {
    /// Reads an id; `None` for anything else, also for other case or white space.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = if let Some(digits) = text.strip_prefix(LEGACY_PREFIX) {
            digits
        } else {
            let (series, digits) = text.split_once('-')?;
            series_named(series)?;
            digits
        };
        (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .then(|| Self(text.to_owned()))
    }

    /// Returns the id with `number` in a series, which is a section's slug or `my`: `pat-007`.
    pub(super) fn new(series: &str, number: u64) -> Self {
        Self(format!("{series}-{number:0WIDTH$}"))
    }

    /// Returns true for the id of a point in the user's own playbook.
    pub fn is_own(&self) -> bool {
        self.series() == Some(OWN_SERIES)
    }

    /// Returns the id as it is written, without brackets.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns what its number counts in: its section's slug, or `my`; `None` for `kpt_…`.
    pub(super) fn series(&self) -> Option<&'static str> {
        series_named(self.0.split_once('-')?.0)
    }

    /// Returns its number; `None` when it is too large to count with.
    fn number(&self) -> Option<u64> {
        self.0.rsplit(['-', '_']).next()?.parse().ok()
    }
}

fn series_named(name: &str) -> Option<&'static str> {
    match name {
        OWN_SERIES => Some(OWN_SERIES),
        slug => Section::from_slug(slug).map(Section::slug),
    }
}

/// Returns true if a name, as a model may have written it, is one of the user's own points.
pub fn is_own_name(name: &str) -> bool {
    let plain = name.trim().trim_matches(['[', ']']).trim().to_lowercase();
    Id::parse(&plain).is_some_and(|id| id.is_own())
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| {
            de::Error::invalid_value(de::Unexpected::Str(&text), &"an id such as pat-001")
        })
    }
}

impl Playbook {
    pub(crate) fn next_id(&self, section: Section) -> Id {
        let series = if self.is_own {
            OWN_SERIES
        } else {
            section.slug()
        };
        let highest = self.highest_numbers();
        Id::new(series, highest.get(series).map_or(1, |n| n + 1))
    }

    /// Returns by series the highest number ever given, as far as this file knows: points,
    /// points that were merged away, and the file's own record.
    pub fn highest_numbers(&self) -> BTreeMap<String, u64> {
        let next = self.meta.next.iter().filter_map(|(series, next)| {
            let highest = next.saturating_sub(1).min(MAX_COUNTED);
            Some((series_named(series)?, highest))
        });
        let aliases = self.meta.aliases.keys().map(String::as_str);
        let given = self.names().chain(aliases).filter_map(counted);
        let mut highest = BTreeMap::new();
        raise(&mut highest, next.chain(given));
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

/// Raises the numbers of some series to at least these.
pub(super) fn raise<'a>(
    numbers: &mut BTreeMap<String, u64>,
    more: impl IntoIterator<Item = (&'a str, u64)>,
) {
    for (series, number) in more {
        let known = numbers.entry(series.to_owned()).or_default();
        *known = number.max(*known);
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
    use serde_json::{Value, json};

    fn playbook(value: &Value) -> Playbook {
        Playbook::parse(value.to_string().as_bytes()).unwrap()
    }

    #[rstest]
    #[case::none(json!([]), json!({}), "pat-001")]
    #[case::after_the_highest(json!([{"name": "pat-007"}, {"name": "pat-002"}]), json!({}), "pat-008")]
    #[case::merged_away(json!([]), json!({"aliases": {"pat-011": "oth-001"}}), "pat-012")]
    #[case::the_files_own_record(json!([]), json!({"next": {"pat": 31}}), "pat-031")]
    #[case::a_number_nobody_gave(
        json!([{"name": "pat-99999999999999999999"}, {"name": "pat-18446744073709551615"}]),
        json!({}),
        "pat-001"
    )]
    #[case::other_names(json!([{"name": "kpt_050"}, {"name": "pat-x"}]), json!({}), "pat-001")]
    fn the_next_id_is_above_all_that_were_given(
        #[case] points: Value,
        #[case] known: Value,
        #[case] next: &str,
    ) {
        let file = json!({"sections": {"OTHERS": points}, "playbook": known});
        assert_eq!(playbook(&file).next_id(Section::Patterns).as_str(), next);
    }

    #[test]
    fn after_a_checkout_of_an_older_file_the_larger_memory_wins() {
        let mut old = playbook(&json!({"playbook": {"next": {"pat": 3, "ctx": 9}}}));
        let memory = [("pat", 7), ("ctx", 2)];
        old.never_below(&memory.map(|(series, n)| (series.to_owned(), n)).into());
        assert_eq!(old.next_id(Section::Patterns).as_str(), "pat-008");
        assert_eq!(old.next_id(Section::Context).as_str(), "ctx-009");
        assert_eq!(old.highest_numbers()["pat"], 7);
    }
}
