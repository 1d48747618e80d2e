//! What is found: two faults, each certain by the record itself, and what a model says.

use serde::Serialize;

use super::claim::{AgentClaim, Subject};
use super::languages::looks_at;
use super::turn::{Run, TurnStep};
use crate::clip;
use crate::shown::one_line;

/// How much of a command, a file's name or a sentence is quoted, in bytes.
const QUOTED: usize = 200;
const SAID: &str = "You said: ";

/// A contradiction between what the agent says and what happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    pub fault: GateFault,
    /// The fault in one sentence.
    pub issue: String,
    /// What shows it: the words, the command, the line of its output, the file.
    pub evidence: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateFault {
    /// The last run of a check failed, and the message says otherwise.
    FailedCheck,
    /// A file was changed after the check passed that the message relies on.
    UncheckedChange,
    /// A model says that the user would be misled.
    Judged,
}

impl GateFault {
    /// How much it takes off the score; a model gives a score of its own.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::FailedCheck => 0.7,
            Self::UncheckedChange => 0.6,
            Self::Judged => 0.0,
        }
    }

    /// What is to be done next.
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

/// Compares a turn with what is claimed of it; a failure hides what else there is.
pub(super) fn find(steps: &[TurnStep], claim: &AgentClaim) -> Vec<Contradiction> {
    let found = failed_check(steps, claim).or_else(|| unchecked_change(steps, claim));
    found.into_iter().collect()
}

/// The last run of all, what came before it, and what after. Nothing where it says nothing of
/// what is claimed, or where a later step may have been a run that is not seen.
fn last_run<'s>(
    steps: &'s [TurnStep],
    claim: &AgentClaim,
) -> Option<(&'s [TurnStep], &'s Run, &'s [TurnStep])> {
    let at = steps
        .iter()
        .rposition(|step| matches!(step, TurnStep::Run(_)))?;
    let (before, after) = (&steps[..at], &steps[at + 1..]);
    let is_hidden = after.iter().any(|step| matches!(step, TurnStep::Unseen(_)));
    match &steps[at] {
        TurnStep::Run(run) if !is_hidden && claim.subject.covers(&run.check) => {
            Some((before, run, after))
        }
        _ => None,
    }
}

fn failed_check(steps: &[TurnStep], claim: &AgentClaim) -> Option<Contradiction> {
    let (before, run, after) = last_run(steps, claim)?;
    // Work can be done that was mended after the run; a check passes only when it ran.
    let may_be_mended = claim.subject == Subject::Work && changed(after).next().is_some();
    let fails = run.check.result.is_err() && !may_be_mended && !passed_as_well(before, run);
    fails.then(|| Contradiction {
        fault: GateFault::FailedCheck,
        issue: format!("The last check failed ({}).", run.check.runner),
        evidence: vec![
            said(claim),
            ran(run),
            format!("Its output: {}", quote(&run.check.line)),
        ],
    })
}

/// Returns `true` where the same files passed another check: this one may be another matter.
fn passed_as_well(before: &[TurnStep], run: &Run) -> bool {
    let mut unchanged = before.iter().rev().map_while(|step| match step {
        TurnStep::Run(earlier) => Some(earlier),
        TurnStep::Edit(_) | TurnStep::Unseen(_) => None,
    });
    unchanged.any(|earlier| earlier.check.result.is_ok() && earlier.command != run.command)
}

fn unchecked_change(steps: &[TurnStep], claim: &AgentClaim) -> Option<Contradiction> {
    let (_, run, after) = last_run(steps, claim)?;
    let file = changed(after).find(|file| looks_at(&run.check.runner, file))?;
    let is_claimed = claim.subject != Subject::Work && run.check.result.is_ok();
    is_claimed.then(|| Contradiction {
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

fn changed(steps: &[TurnStep]) -> impl Iterator<Item = &str> {
    steps.iter().filter_map(|step| match step {
        TurnStep::Edit(file) => Some(file.as_str()),
        TurnStep::Run(_) | TurnStep::Unseen(_) => None,
    })
}

fn said(claim: &AgentClaim) -> String {
    format!("{SAID}\"{}\"", quote(&claim.sentence))
}

/// Returns `true` if evidence is what the agent said.
pub(super) fn is_said(evidence: &str) -> bool {
    evidence.starts_with(SAID)
}

fn ran(run: &Run) -> String {
    format!("The last run: {}", quote(&run.command))
}

fn quote(text: &str) -> String {
    clip::head(&one_line(text), QUOTED).to_owned()
}
