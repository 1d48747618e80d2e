//! Whether a job is worth a reflection, asked before anything is claimed: one table.
//!
//! | trigger (spec/4) | our signal | threshold |
//! |---|---|---|
//! | tool failure | tool calls that failed, refusals not among them | ≥ `triggers.tool_failures` |
//! | low confidence | the confidence of the session's last reflection | < `triggers.confidence` |
//! | high risk | destructive commands that ran | ≥ `triggers.risk` |
//! | goal drift | share of the last prompt's words that no prompt before it has | > `triggers.drift` |
//! | final step | commits and passed test runs or builds | ≥ `triggers.final_steps` |
//! | user critical | prompts that set a rule for every session | ≥ `triggers.critical` |
//! | periodic | tool calls | ≥ `triggers.periodic` |
//! | citations | key points cited | ≥ `triggers.citations` |
//! | rejections | calls refused or stopped | ≥ 1 |
//! | activity | prompts of the user | ≥ `triggers.user_turns` |
//!
//! A count of which the threshold is 0 never triggers. None of them means: too little
//! happened, and no model is asked.

use super::budget::Hold;
use super::context::WorkerContext;
use super::job::JobEvent;
use super::outcome::Stop;
use super::progress::JobInProgress;
use crate::config::{Config, Triggers};
use crate::transcript::Facts;

const TOO_LITTLE: &str = "too little happened";
const ASKED: &str = "asked";

pub(super) fn enabled(config: &Config) -> Result<(), Stop> {
    if config.reflection.enabled {
        Ok(())
    } else {
        Err(Stop::Skips(Hold::SwitchedOff.to_string()))
    }
}

/// Returns why the job's part of the session is worth a reflection, or ends the job.
///
/// The caller holds the project and has saved no claim yet: the next job of the transcript
/// covers the part of a job that ends here.
pub(super) fn worth(
    context: &WorkerContext,
    job: &JobInProgress,
    facts: &Facts,
    config: &Config,
) -> Result<&'static str, Stop> {
    if job.ticket.event == JobEvent::Reflect {
        return Ok(ASKED);
    }
    let transcript = job.ticket.transcript.to_string_lossy();
    let confidence = context.memory().confidence_of(&transcript)?;
    should_reflect(facts, confidence, &config.triggers)
        .ok_or_else(|| Stop::Skips(TOO_LITTLE.to_owned()))
}

/// Returns why a session is worth a reflection, if it is, by the trigger's word for logs;
/// `last_confidence` is that of the session's last one.
pub(crate) fn should_reflect(
    facts: &Facts,
    last_confidence: Option<f64>,
    at: &Triggers,
) -> Option<&'static str> {
    let stakes = &facts.stakes;
    let failures = facts.tool_errors.saturating_sub(facts.rejections);
    let finished = stakes.commits + facts.checks_passed;
    let cited = facts.citations.len() as u64;
    let objected = facts.rejections + facts.interrupts;
    let spoken = facts.user_turns + facts.commands;
    let is_unsure = last_confidence.is_some_and(|confidence| confidence < at.confidence);
    let table = [
        ("tool_failure", reaches(failures, at.tool_failures)),
        ("low_confidence", is_unsure),
        ("high_risk", reaches(stakes.destructive, at.risk)),
        ("goal_drift", stakes.drift > at.drift),
        ("final_step", reaches(finished, at.final_steps)),
        ("user_critical", reaches(stakes.critical, at.critical)),
        ("periodic", reaches(facts.tool_calls, at.periodic)),
        ("citations", reaches(cited, at.citations)),
        ("rejections", objected > 0),
        ("activity", reaches(spoken, at.user_turns)),
    ];
    table
        .iter()
        .find_map(|&(word, fires)| fires.then_some(word))
}

fn reaches(count: u64, threshold: u64) -> bool {
    threshold > 0 && count >= threshold
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::Id;
    use crate::transcript::Stakes;
    use rstest::rstest;

    /// One prompt, a glance or two, one answer.
    fn little() -> Facts {
        Facts {
            user_turns: 1,
            assistant_texts: 1,
            tool_calls: 4,
            tool_results: 4,
            ..Facts::default()
        }
    }

    fn at_stake(stakes: Stakes) -> Facts {
        Facts { stakes, ..little() }
    }

    #[rstest]
    #[case::tool_failure(Facts { tool_errors: 1, ..little() }, "tool_failure")]
    #[case::high_risk(at_stake(Stakes { destructive: 1, ..Stakes::default() }), "high_risk")]
    #[case::goal_drift(at_stake(Stakes { drift: 0.91, ..Stakes::default() }), "goal_drift")]
    #[case::commit(at_stake(Stakes { commits: 1, ..Stakes::default() }), "final_step")]
    #[case::critical(at_stake(Stakes { critical: 1, ..Stakes::default() }), "user_critical")]
    #[case::periodic(Facts { tool_calls: 5, ..little() }, "periodic")]
    #[case::citation(Facts { citations: vec![Id::parse("pat-001").unwrap()], ..little() }, "citations")]
    #[case::rejection(Facts { rejections: 1, tool_errors: 1, ..little() }, "rejections")]
    #[case::prompt_and_command(Facts { commands: 1, ..little() }, "activity")]
    fn one_reason_is_enough(#[case] facts: Facts, #[case] trigger: &str) {
        let thresholds = Triggers::default();
        assert_eq!(should_reflect(&facts, None, &thresholds), Some(trigger));
        let off = Triggers {
            tool_failures: 0,
            confidence: 0.0,
            risk: 0,
            drift: 1.0,
            final_steps: 0,
            critical: 0,
            periodic: 0,
            citations: 0,
            user_turns: 0,
        };
        let word = should_reflect(&facts, Some(0.0), &off);
        assert_eq!(word, (trigger == "rejections").then_some(trigger));
    }

    #[test]
    fn a_session_that_was_judged_without_confidence_is_judged_again() {
        let thresholds = Triggers::default();
        let judged = |confidence| should_reflect(&little(), confidence, &thresholds);
        assert_eq!(judged(Some(0.49)), Some("low_confidence"));
        assert_eq!((judged(Some(0.5)), judged(None)), (None, None));
    }
}
