//! What the gate says of a stop: findings, a score, and what to tell the agent.

use serde::Serialize;

use super::finding::Finding;
use crate::reflect::score::Score;

/// Below this score a stop does not pass, unless the settings say otherwise.
pub const THRESHOLD: f64 = 0.5;
/// The longest guidance, in UTF-16 units, as the client counts.
const LONGEST: usize = 1_500;
/// How many lessons are told.
const LESSONS: usize = 2;

/// What the gate says of a stop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// What is wrong; empty when nothing certain is.
    pub findings: Vec<Finding>,
    /// How good the stop is: 1 less the weight of each finding.
    pub quality_score: Score,
    /// What the agent is to be told; empty without findings.
    pub guidance: String,
}

impl Default for Verdict {
    fn default() -> Self {
        Self::of(Vec::new(), &[])
    }
}

impl Verdict {
    pub(super) fn of(findings: Vec<Finding>, lessons: &[&str]) -> Self {
        let lost: f64 = findings.iter().map(|found| found.fault.weight()).sum();
        Self {
            quality_score: Score::clamped(1.0 - lost),
            guidance: guidance(&findings, lessons),
            findings,
        }
    }

    /// Tells whether the stop passes at this threshold.
    pub fn passes(&self, threshold: f64) -> bool {
        self.quality_score.get() >= threshold
    }
}

fn guidance(findings: &[Finding], lessons: &[&str]) -> String {
    let mut lines = Vec::new();
    for found in findings {
        lines.push(found.issue.clone());
        lines.extend(found.evidence.iter().map(|line| format!("- {line}")));
        lines.push(found.fault.remedy().to_owned());
    }
    if !findings.is_empty() {
        let lessons = lessons.iter().take(LESSONS);
        lines.extend(lessons.map(|lesson| format!("Learned before: {lesson}")));
    }
    let mut room = LONGEST;
    // A line that does not fit is left out whole, and so is what follows it.
    lines.retain(|line| {
        let length = line.encode_utf16().count() + 1;
        room = room.saturating_sub(length);
        room > 0
    });
    lines.join("\n")
}
