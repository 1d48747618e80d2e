//! A number from 0 to 1, as replies rate things.

use serde::{Deserialize, Serialize};

/// A number from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Score(f64);

impl Score {
    /// The score; `None` outside 0 to 1.
    pub(crate) fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The score nearest to a number; of none at all the lowest.
    pub(crate) fn clamped(value: f64) -> Self {
        let value = if value.is_nan() { 0.0 } else { value };
        Self(value.clamp(0.0, 1.0))
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Score {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        Self::new(value).ok_or_else(|| format!("{value} is not between 0 and 1"))
    }
}

impl From<Score> for f64 {
    fn from(score: Score) -> Self {
        score.0
    }
}
