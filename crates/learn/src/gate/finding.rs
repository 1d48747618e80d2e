//! The findings: two faults that the record itself proves, and a model's judgement.

use serde::Serialize;

use super::claim::{AgentClaim, Subject};
use super::languages::looks_at;
use super::turn::{Run, TurnStep};
use crate::clip;
use crate::shown::one_line;
use crate::transcript::shell::CheckKind;

/// The longest quote of a command, a file name or a sentence, in bytes.
const QUOTED: usize = 200;
const SAID: &str = "You said: ";
const OUTPUT: &str = "Its output: ";

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    pub fault: GateFault,
    /// The fault in one sentence.
    pub issue: String,
    /// The evidence: the words, the command, the line of its output, the file.
    pub evidence: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateFault {
    /// The last run of a check failed, and the message says otherwise.
    FailedCheck,
    /// A file was changed after the passed check that the message relies on.
    UncheckedChange,
    /// A model judges that the user would be misled.
    Judged,
}

impl GateFault {
    /// A model gives its own score.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::FailedCheck => 0.7,
            Self::UncheckedChange => 0.6,
            Self::Judged => 0.0,
        }
    }

    pub(super) fn remedy(self) -> &'static str {
        match self {
            Self::FailedCheck => {
                "Run that check again. If it fails, mend what it names, or say plainly that it fails and why."
            }
            Self::UncheckedChange => {
                "Run that check again on the files as they are now, and say what it shows."
            }
            Self::Judged => "Mend it, or say plainly what is open.",
        }
    }
}

/// A failed check hides any unchecked change.
pub(super) fn find(steps: &[TurnStep], claims: &[AgentClaim]) -> Option<Contradiction> {
    let mut failed = claims.iter().filter_map(|claim| failed_check(steps, claim));
    let mut unchecked = claims
        .iter()
        .filter_map(|claim| unchecked_change(steps, claim));
    failed.next().or_else(|| unchecked.next())
}

/// Finds the last failed run that nothing later may have fixed.
fn failed_check(steps: &[TurnStep], claim: &AgentClaim) -> Option<Contradiction> {
    let is_work = claim.subject == Subject::Work;
    let is_open = |after: &[TurnStep], failed: &Run| {
        !after.iter().any(|step| match step {
            TurnStep::Unseen(_) => true,
            TurnStep::Run(run) => is_work || (run.check.result.is_ok() && makes_good(run, failed)),
            // Work can be done after a fix without another run; a check passes only by running.
            TurnStep::Edit(_) => is_work,
        })
    };
    let run = runs(steps).rev().find_map(|(at, run)| {
        let is_failed = run.check.result.is_err() && claim.covers(&run.check);
        let is_certain = is_failed
            && is_open(&steps[at + 1..], run)
            && !passed_as_well(&steps[..at], run, claim.is_of_part());
        is_certain.then_some(run)
    })?;
    Some(Contradiction {
        fault: GateFault::FailedCheck,
        issue: format!("The last check failed ({}).", run.check.runner),
        evidence: vec![
            said(claim),
            ran(run),
            format!("{OUTPUT}{}", quote(&run.check.line)),
        ],
    })
}

fn runs(steps: &[TurnStep]) -> impl DoubleEndedIterator<Item = (usize, &Run)> {
    steps
        .iter()
        .enumerate()
        .filter_map(|(at, step)| match step {
            TurnStep::Run(run) => Some((at, run)),
            TurnStep::Edit(_) | TurnStep::Unseen(_) => None,
        })
}

fn makes_good(passed: &Run, failed: &Run) -> bool {
    use CheckKind::{Build, Other, Test, Type};
    let (new, old) = (&passed.check.kinds, &failed.check.kinds);
    let has = |kind| new.contains(&kind);
    let is_covered = |kind: &CheckKind| match kind {
        Build => has(Build) || has(Test),
        Type => has(Type) || has(Build),
        kind => has(*kind),
    };
    passed.command == failed.command
        || has(Other)
        || old.contains(&Other)
        || old.iter().any(is_covered)
}

/// Returns `true` if another check of the kind passed on the same files, so that this one may be a
/// separate matter. For a claim about a part of the tests, that pass may be older.
fn passed_as_well(before: &[TurnStep], run: &Run, is_of_part: bool) -> bool {
    let near = before
        .iter()
        .rev()
        .take_while(|step| is_of_part || matches!(step, TurnStep::Run(_)));
    near.filter_map(|step| match step {
        TurnStep::Run(earlier) => Some(earlier),
        TurnStep::Edit(_) | TurnStep::Unseen(_) => None,
    })
    .any(|earlier| {
        let is_kin = earlier
            .check
            .kinds
            .iter()
            .any(|kind| run.check.kinds.contains(kind));
        is_kin && earlier.check.result.is_ok() && earlier.command != run.command
    })
}

fn unchecked_change(steps: &[TurnStep], claim: &AgentClaim) -> Option<Contradiction> {
    let (at, run) = runs(steps)
        .rev()
        .find(|(_, run)| claim.touches(&run.check))?;
    let after = &steps[at + 1..];
    let is_hidden = after.iter().any(|step| match step {
        TurnStep::Unseen(_) => true,
        TurnStep::Run(later) => makes_good(later, run),
        TurnStep::Edit(_) => false,
    });
    let is_claimed = claim.subject != Subject::Work && run.check.result.is_ok() && !is_hidden;
    let file = after.iter().find_map(|step| match step {
        TurnStep::Edit(Some(file)) if looks_at(&run.check.runner, file) => Some(file),
        _ => None,
    });
    let file = file.filter(|_| is_claimed)?;
    Some(Contradiction {
        fault: GateFault::UncheckedChange,
        issue: format!(
            "Code was changed after the last check passed ({}).",
            run.check.runner
        ),
        evidence: vec![
            said(claim),
            ran(run),
            format!("Changed after it: {}", quote(file)),
        ],
    })
}

fn said(claim: &AgentClaim) -> String {
    format!("{SAID}\"{}\"", quote(&claim.sentence))
}

pub(super) fn is_output(evidence: &str) -> bool {
    evidence.starts_with(OUTPUT)
}

fn ran(run: &Run) -> String {
    format!("The last run: {}", quote(&run.command))
}

fn quote(text: &str) -> String {
    clip::head(&one_line(text), QUOTED).to_owned()
}
