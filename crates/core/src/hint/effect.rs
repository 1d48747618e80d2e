//! How well something helps: a moving average of what followed when it was shown.

use serde::{Deserialize, Serialize};

/// Effectiveness of what has not been tried yet (spec/4).
pub const BIRTH: f64 = 0.5;
/// From this effectiveness on something is shown; two failures in a row from birth go below.
pub const SHOWN_FROM: f64 = 0.3;
/// How much one outcome moves the average.
const RATE: f64 = 0.3;

/// What followed on a lesson that was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The same call succeeded.
    Helped,
    /// The same call failed again.
    Failed,
    /// Neither was seen.
    Unknown,
}

/// What something did after it was shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectWhenShown {
    /// Id of a lesson or a strategy.
    pub id: String,
    pub effect: Effect,
}

/// Moves an effectiveness by one outcome: `e + 0.3 · (outcome − e)`, with 1 for success
/// and 0 for failure (spec/4 `record_lesson_outcome`).
pub fn moved(effectiveness: f64, effect: Effect) -> f64 {
    let outcome = match effect {
        Effect::Helped => 1.0,
        Effect::Failed => 0.0,
        Effect::Unknown => return effectiveness,
    };
    (effectiveness + RATE * (outcome - effectiveness)).clamp(0.0, 1.0)
}
