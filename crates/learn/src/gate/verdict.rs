//! The gate's verdict on a stop: findings, a score, and guidance for the agent.

use serde::Serialize;

use super::finding::{Contradiction, GateFault, is_output};
use super::judgement::Judgement;
use crate::clip::units;
use crate::playbook::clean::clean_text;
use crate::reflect::reply::Score;

/// The quality score, from 0 to 1, below which a turn does not pass (spec/4).
pub const QUALITY_THRESHOLD: f64 = 0.5;

/// The longest guidance, in UTF-16 units, as the client counts.
const LONGEST: usize = 1_500;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateVerdict {
    /// The problems; empty if none is certain.
    pub findings: Vec<Contradiction>,
    /// The quality of the stop: 1 minus the weight of each finding, or a model's score.
    pub quality_score: Score,
    pub guidance: String,
}

impl Default for GateVerdict {
    fn default() -> Self {
        Self::of(Vec::new())
    }
}

impl GateVerdict {
    pub(super) fn of(findings: Vec<Contradiction>) -> Self {
        let lost: f64 = findings.iter().map(|found| found.fault.weight()).sum();
        Self {
            quality_score: Score::clamped(1.0 - lost),
            guidance: guidance(&findings, None),
            findings,
        }
    }

    /// Builds the verdict from a model's judgement of a turn in which the rules found nothing.
    pub fn judged(judgement: Judgement) -> Self {
        let finding = |issue: String| Contradiction {
            fault: GateFault::Judged,
            issue: clean_text(&issue),
            evidence: Vec::new(),
        };
        let findings: Vec<_> = judgement.issues.into_iter().map(finding).collect();
        let fix = judgement.suggested_fix.map(|fix| clean_text(&fix));
        Self {
            quality_score: judgement.quality_score,
            guidance: guidance(&findings, fix.as_deref()),
            findings,
        }
    }

    /// Removes attack-like text: a tool's output line, or all of a model's verdict. Quotes of the
    /// agent's own words and commands stay.
    pub fn screen(&mut self, is_attack: impl Fn(&str) -> bool) {
        let by_model = self.findings.iter().any(|it| it.fault == GateFault::Judged);
        if by_model && is_attack(&self.guidance) {
            *self = Self::default();
        } else if !by_model {
            for found in &mut self.findings {
                let is_fit = |line: &String| !is_output(line) || !is_attack(line);
                found.evidence.retain(is_fit);
            }
            self.guidance = guidance(&self.findings, None);
        }
    }

    pub fn passes(&self) -> bool {
        self.quality_score.get() >= QUALITY_THRESHOLD
    }
}

/// Formats the issues with their evidence, and the next step once per fault.
fn guidance(findings: &[Contradiction], fix: Option<&str>) -> String {
    let mut lines = Vec::new();
    for (at, found) in findings.iter().enumerate() {
        lines.push(found.issue.clone());
        lines.extend(found.evidence.iter().map(|line| format!("- {line}")));
        let remedy = match (found.fault, fix) {
            (GateFault::Judged, Some(fix)) => fix,
            (fault, _) => fault.remedy(),
        };
        let next = findings.get(at + 1);
        if next.is_none_or(|next| next.fault != found.fault) {
            lines.push(remedy.to_owned());
        }
    }
    fitting(lines.iter().map(String::as_str))
}

/// Joins the lines up to the first that does not fit.
fn fitting<'l>(lines: impl Iterator<Item = &'l str>) -> String {
    let mut room = LONGEST;
    let fitting = lines.take_while(|line| {
        room = room.saturating_sub(units(line) + 1);
        room > 0
    });
    fitting.collect::<Vec<_>>().join("\n")
}
