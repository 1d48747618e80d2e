//! The names of key points: `pat-001`, or the older `kpt_001`; `my-001` in the user's own playbook.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::section::Section;

const LEGACY_PREFIX: &str = "kpt_";
/// What the ids in the user's own playbook begin with, before the `-`.
pub(super) const OWN_SERIES: &str = "my";
/// The least number of digits in an id that we give.
const WIDTH: usize = 3;

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

    /// Tells whether it is the id of a point in the user's own playbook.
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
    pub(crate) fn number(&self) -> Option<u64> {
        self.0.rsplit(['-', '_']).next()?.parse().ok()
    }
}

pub(super) fn series_named(name: &str) -> Option<&'static str> {
    match name {
        OWN_SERIES => Some(OWN_SERIES),
        slug => Section::from_slug(slug).map(Section::slug),
    }
}

/// Tells whether a name, as a model may have written it, is one of the user's own points.
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
