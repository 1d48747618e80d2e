//! The five sections of a playbook, and the names of its key points: `pat-001`, or the older
//! `kpt_001`; `my-001` in the user's own playbook.
//!
//! Ids are permanent: the numbers of a section only grow, and none is reused. After a checkout the
//! file may be older than the last number; [`Playbook::never_below`] brings the highest one from
//! the database.

use std::collections::BTreeMap;
use std::fmt;

use playbook_core::worded;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::model::Playbook;

pub(super) const LEGACY_PREFIX: &str = "kpt_";
/// The prefix of ids in the user's own playbook, before the `-`.
const OWN_SERIES: &str = "my";
const WIDTH: usize = 3;
/// The largest number that counts: larger ones were typed by hand and do not affect the next one.
pub(super) const MAX_COUNTED: u64 = 1 << 40;

worded! {
    /// The order of the variants is that of the file.
    pub enum Section {
        Patterns = "PATTERNS & APPROACHES",
        Mistakes = "MISTAKES TO AVOID",
        Preferences = "USER PREFERENCES",
        Context = "PROJECT CONTEXT",
        /// Anything else; also holds points of the earlier format.
        Others = "OTHERS",
    }
}

impl Section {
    pub const fn title(self) -> &'static str {
        self.word()
    }

    pub const fn slug(self) -> &'static str {
        match self {
            Self::Patterns => "pat",
            Self::Mistakes => "mis",
            Self::Preferences => "pref",
            Self::Context => "ctx",
            Self::Others => "oth",
        }
    }

    /// Accepts any case and surrounding white space, as a model or user may write it.
    pub fn from_title(title: &str) -> Option<Self> {
        let title = title.trim();
        Self::ALL
            .into_iter()
            .find(|s| s.title().eq_ignore_ascii_case(title))
    }

    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.slug() == slug)
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

/// A citable id of a key point: a section's slug, `-` and ASCII digits, or `kpt_` and digits
/// (REQ-REFL-001); or `my-` and digits in the user's own playbook.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Id(String);

impl Id {
    /// Parses an id; `None` for anything else, including other case or white space.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix(LEGACY_PREFIX).or_else(|| {
            let (series, digits) = text.split_once('-')?;
            series_named(series).map(|_| digits)
        })?;
        (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .then(|| Self(text.to_owned()))
    }

    pub(super) fn new(series: &str, number: u64) -> Self {
        Self(format!("{series}-{number:0WIDTH$}"))
    }

    pub fn is_own(&self) -> bool {
        self.series() == Some(OWN_SERIES)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the series of its number: its section's slug, or `my`; `None` for `kpt_…`.
    pub(super) fn series(&self) -> Option<&'static str> {
        series_named(self.0.split_once('-')?.0)
    }

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

/// Returns `true` if a name, as a model may have written it, is one of the user's own points.
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

    /// Includes merged points and the stored next numbers, as far as this file has them.
    pub fn highest_numbers(&self) -> BTreeMap<String, u64> {
        let mut highest = BTreeMap::new();
        for (series, next) in &self.meta.next {
            if let Some(series) = series_named(series) {
                let last = next.saturating_sub(1).min(MAX_COUNTED);
                raise(&mut highest, series, last);
            }
        }
        let aliases = self.meta.aliases.keys().map(String::as_str);
        for (series, number) in self.names().chain(aliases).filter_map(counted) {
            raise(&mut highest, series, number);
        }
        highest
    }

    /// Reserves all numbers up to those of `highest`, by series.
    pub fn never_below(&mut self, highest: &BTreeMap<String, u64>) {
        for (series, &number) in highest {
            if let Some(series) = series_named(series) {
                raise(&mut self.meta.next, series, number.min(MAX_COUNTED) + 1);
            }
        }
    }

    pub(super) fn note_given(&mut self, name: &str) {
        if let Some((series, number)) = counted(name) {
            raise(&mut self.meta.next, series, number + 1);
        }
    }
}

pub(super) fn raise(numbers: &mut BTreeMap<String, u64>, series: &str, number: u64) {
    let known = numbers.entry(series.to_owned()).or_default();
    *known = number.max(*known);
}

fn counted(name: &str) -> Option<(&'static str, u64)> {
    let id = Id::parse(name)?;
    let number = id.number().filter(|&number| number <= MAX_COUNTED)?;
    Some((id.series()?, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_someone_typed_does_not_move_the_next_one() {
        let file = r#"{"sections": {"OTHERS": [{"name": "pat-99999999999999999999"},
            {"name": "pat-18446744073709551615"}, {"name": "pat-007"}]}}"#;
        let playbook = Playbook::parse(file.as_bytes()).unwrap();
        assert_eq!(playbook.next_id(Section::Patterns).as_str(), "pat-008");
    }
}
