//! The names of key points: `pat-001`, or the older `kpt_001`.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

use super::section::Section;

const LEGACY_PREFIX: &str = "kpt_";
/// The least number of digits in an id that we give.
const WIDTH: usize = 3;

/// A key point's id as it can be cited: a section's slug, `-` and ASCII digits, or
/// `kpt_` and digits (REQ-REFL-001).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Id(String);

impl Id {
    /// Reads an id; `None` for anything else, also for other case or white space.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = if let Some(digits) = text.strip_prefix(LEGACY_PREFIX) {
            digits
        } else {
            let (slug, digits) = text.split_once('-')?;
            Section::from_slug(slug)?;
            digits
        };
        (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
            .then(|| Self(text.to_owned()))
    }

    /// Returns the id with `number` in `section`: `pat-007`.
    pub(crate) fn new(section: Section, number: u64) -> Self {
        Self(format!("{}-{number:0WIDTH$}", section.slug()))
    }

    /// Returns the id as it is written, without brackets.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the section its slug names; `None` for `kpt_…`.
    pub(crate) fn section(&self) -> Option<Section> {
        Section::from_slug(self.0.split_once('-')?.0)
    }

    /// Returns its number; `None` when it is too large to count with.
    pub(crate) fn number(&self) -> Option<u64> {
        self.0.rsplit(['-', '_']).next()?.parse().ok()
    }
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
