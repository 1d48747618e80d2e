use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::rfc3339;

/// The name of a job and of its file: `20261121T221951-3f9a2c1b`, the creation time in UTC and 32
/// random bits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct JobId(String);

impl JobId {
    /// Makes a new id; ids sort by time, which has four digits for the year.
    pub fn new(now: Timestamp, random: u32) -> Self {
        let now = now.max(Timestamp::UNIX_EPOCH);
        let time = rfc3339::seconds(now).replace(['-', ':'], "");
        Self(format!("{time}-{random:08x}"))
    }

    /// Parses an id; `None` for anything else, so an id is always a safe file name.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shape = bytes.len() == 24
            && bytes.iter().enumerate().all(|(i, b)| match i {
                8 => *b == b'T',
                15 => *b == b'-',
                16.. => b.is_ascii_digit() || (b'a'..=b'f').contains(b),
                _ => b.is_ascii_digit(),
            });
        shape.then(|| Self(text.to_owned()))
    }

    /// Returns the time to the second; `None` for an id without one.
    pub fn time(&self) -> Option<Timestamp> {
        rfc3339::at(self.0.get(..15)?, 0)
    }

    /// Returns the position among the ids of one second, for ids that were created in sequence.
    pub fn turn(&self) -> u16 {
        let turn = self.0.get(16..20).unwrap_or_default();
        u16::from_str_radix(turn, 16).unwrap_or_default()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for JobId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("not a job id: {text:?}"))
    }
}

impl From<JobId> for String {
    fn from(id: JobId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_by_time_and_are_safe_file_names() {
        let at = |s: &str| s.parse::<Timestamp>().unwrap();
        let a = JobId::new(at("2026-11-21T22:19:51Z"), u32::MAX);
        let b = JobId::new(at("2026-11-21T22:19:52Z"), 0);
        assert_eq!(a.as_str(), "20261121T221951-ffffffff");
        assert!(a < b);
        assert_eq!(a.time(), Some(at("2026-11-21T22:19:51Z")));
        assert_eq!(
            JobId::parse("20269921T221951-00000000").unwrap().time(),
            None
        );
        assert_eq!(JobId::parse(b.as_str()), Some(b));
        for text in [
            "",
            "../../../../../../etc/pw",
            "20261121T221951-FFFFFFFF",
            "20261121T221951-ffffffff.json",
        ] {
            assert_eq!(JobId::parse(text), None, "{text}");
        }
    }
}
