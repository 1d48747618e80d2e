//! The quality gate: is done what the agent says is done?
//!
//! What is found is certain, or nothing is. A turn begins with a score of 1, and each finding
//! lowers it by its weight.

mod claim;
mod turn;

use crate::clip::head;
use crate::redact::Masker;
use crate::transcript::{self, Options};

pub(crate) use turn::Turn;

/// How much a check whose last run failed lowers the score of a turn that is said to be done.
const FAILED_CHECK: f64 = 0.8;
/// How much of a command or of a line of output is told, in bytes.
const MAX_LINE: usize = 200;
/// How many findings are told: the guidance has at most 1,500 UTF-16 units.
const MAX_TOLD: usize = 2;

/// What a turn is worth, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// How good it is, from 0 to 1.
    pub quality_score: f64,
    /// What lowers that, in the order in which it happened.
    pub findings: Vec<Finding>,
}

/// A check whose last run failed, though the agent says that all is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The number of the run among the turn's events: the same finding has the same.
    run: u64,
    /// Which check it is: `cargo test`.
    runner: String,
    /// The command that ran it.
    command: String,
    /// The line of its output that says that it failed.
    line: String,
}

impl Finding {
    /// Tells this finding from all others of the session, where `step` is its prompt's id.
    pub fn key(&self, step: &str) -> String {
        format!("{step}/{}", self.run)
    }

    /// The finding with its evidence, as the user and the agent are told it.
    pub fn told(&self) -> String {
        let Self {
            runner,
            command,
            line,
            ..
        } = self;
        format!("the last run of {runner} failed (`{command}`): {line}")
    }
}

impl Judgement {
    fn of(findings: Vec<Finding>) -> Self {
        let lost: f64 = findings.iter().map(|_| FAILED_CHECK).sum();
        Self {
            quality_score: (1.0 - lost).max(0.0),
            findings,
        }
    }

    /// The findings, a line each.
    pub fn told(&self) -> String {
        let told = self.findings.iter().take(MAX_TOLD).map(Finding::told);
        told.collect::<Vec<_>>().join("\n")
    }

    /// What the agent is told to go on with.
    pub fn guidance(&self) -> String {
        let told = self.told().replace('\n', "\n- ");
        format!(
            "Playbook: you say that this is done, and:\n- {told}\nRun that check again and mend \
             what fails. If it cannot be mended now, say plainly what still fails and why."
        )
    }
}

/// Judges the turn that ends `step`, the records since a prompt and that prompt's own, with
/// `message` as the agent's last word, which may not be among them yet.
///
/// `None` where nothing can be certain: the prompt is not there, a tool's result is missing, the
/// user stopped the turn, or the model could not be reached.
pub fn judge(step: &[u8], message: &str, options: &Options) -> Option<Judgement> {
    let digest = transcript::scan_reader(step, 0, options, &mut |_, _| false).ok()?;
    let mut failed = digest.turn.failed_checks()?.peekable();
    if failed.peek().is_none() || !claim::says_done(message) {
        return Some(Judgement::of(Vec::new()));
    }
    let masker = &options.secrecy.masker;
    let findings = failed.map(|(run, command, check)| Finding {
        run,
        runner: check.runner.clone(),
        command: one_line(command, masker),
        line: one_line(&check.line, masker),
    });
    Some(Judgement::of(findings.collect()))
}

/// The beginning of a text on one line, masked.
fn one_line(text: &str, masker: &Masker) -> String {
    let clean = masker.mask(text);
    let words: Vec<&str> = clean.split_whitespace().collect();
    head(&words.join(" "), MAX_LINE).replace('`', "'")
}

#[cfg(test)]
mod tests;
