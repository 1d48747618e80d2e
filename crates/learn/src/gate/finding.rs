//! What is found: two faults, each certain by the record itself.

use serde::Serialize;

use super::claim::{Claim, Subject};
use super::turn::{Run, Step};
use crate::clip;
use crate::shown::one_line;

/// How much of a command, a file's name or a sentence is quoted, in bytes.
const QUOTED: usize = 200;

/// A contradiction between what the agent says and what happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Which of the faults it is.
    pub fault: Fault,
    /// The fault in one sentence.
    pub issue: String,
    /// What shows it: the words, the command, the line of its output, the file.
    pub evidence: Vec<String>,
}

/// The faults that are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The last run of a check failed, and the message says otherwise.
    FailedCheck,
    /// A file was changed after the check passed that the message relies on.
    UncheckedChange,
}

impl Fault {
    /// How much it takes off the score.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::FailedCheck => 0.7,
            Self::UncheckedChange => 0.6,
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
        }
    }
}

/// Compares a turn with what is claimed of it; a failure hides what else there is.
pub(super) fn find(steps: &[Step], claim: &Claim) -> Vec<Finding> {
    let found = failed_check(steps, claim).or_else(|| unchecked_change(steps, claim));
    found.into_iter().collect()
}

/// The last run of the kind that is spoken of, and what came after it. Nothing where a later
/// step may have been a run that is not seen.
fn last_run<'s>(steps: &'s [Step], claim: &Claim) -> Option<(&'s Run, &'s [Step])> {
    let at = steps.iter().rposition(|step| match step {
        Step::Run(run) => claim.subject.covers(&run.check),
        Step::Edit(_) | Step::Unseen => false,
    })?;
    let after = &steps[at + 1..];
    let is_hidden = after.iter().any(|step| matches!(step, Step::Unseen));
    match &steps[at] {
        Step::Run(run) if !is_hidden => Some((run, after)),
        _ => None,
    }
}

fn failed_check(steps: &[Step], claim: &Claim) -> Option<Finding> {
    let (run, _) = last_run(steps, claim)?;
    run.check.result.is_err().then(|| Finding {
        fault: Fault::FailedCheck,
        issue: format!("The last run of {} failed.", run.check.runner),
        evidence: vec![
            said(claim),
            ran(run),
            format!("Its output: {}", quote(&run.check.line)),
        ],
    })
}

fn unchecked_change(steps: &[Step], claim: &Claim) -> Option<Finding> {
    if claim.subject == Subject::Work {
        return None;
    }
    let (run, after) = last_run(steps, claim)?;
    let file = after.iter().find_map(|step| match step {
        Step::Edit(file) => Some(file),
        Step::Run(_) | Step::Unseen => None,
    })?;
    run.check.result.is_ok().then(|| Finding {
        fault: Fault::UncheckedChange,
        issue: format!(
            "Files were changed after {} passed for the last time.",
            run.check.runner
        ),
        evidence: vec![
            said(claim),
            ran(run),
            format!("Changed after it: {}", quote(file)),
        ],
    })
}

fn said(claim: &Claim) -> String {
    format!("You said: \"{}\"", quote(&claim.sentence))
}

fn ran(run: &Run) -> String {
    format!("The last run: {}", quote(&run.command))
}

fn quote(text: &str) -> String {
    clip::head(&one_line(text), QUOTED).to_owned()
}
