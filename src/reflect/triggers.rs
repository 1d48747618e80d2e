//! When a session is worth a reflection: one table, no clock, no file.
//!
//! | trigger (spec/4) | our signal | threshold |
//! |---|---|---|
//! | tool failure | tool calls that failed, refusals not among them | ≥ `triggers.tool_failures` |
//! | low confidence | the confidence of the session's last reflection | < `triggers.confidence` |
//! | high risk | destructive commands that ran | ≥ `triggers.risk` |
//! | goal drift | share of the last 3 prompts' words unseen in the first 3 | > `triggers.drift` |
//! | final step | commits and passed test runs or builds | ≥ `triggers.final_steps` |
//! | user critical | prompts that call something critical or set a rule | ≥ `triggers.critical` |
//! | periodic | tool calls | ≥ `triggers.periodic` |
//! | citations | key points cited | ≥ `triggers.citations` |
//! | rejections | calls refused or stopped | ≥ `triggers.rejections` |
//! | activity | prompts of the user | ≥ `triggers.user_turns` |
//!
//! A count of which the threshold is 0 never triggers. None of them means: too little
//! happened, and no model is asked.

use crate::config::Triggers;
use crate::transcript::Facts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    ToolFailure,
    LowConfidence,
    HighRisk,
    GoalDrift,
    FinalStep,
    UserCritical,
    Periodic,
    Citations,
    Rejections,
    Activity,
}

impl Trigger {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::ToolFailure => "tool_failure",
            Self::LowConfidence => "low_confidence",
            Self::HighRisk => "high_risk",
            Self::GoalDrift => "goal_drift",
            Self::FinalStep => "final_step",
            Self::UserCritical => "user_critical",
            Self::Periodic => "periodic",
            Self::Citations => "citations",
            Self::Rejections => "rejections",
            Self::Activity => "activity",
        }
    }
}

/// Tells whether a session is worth a reflection, and why; `last_confidence` is that of the
/// session's last one.
pub(crate) fn should_reflect(
    facts: &Facts,
    last_confidence: Option<f64>,
    thresholds: &Triggers,
) -> Option<Trigger> {
    let stakes = &facts.stakes;
    let failures = facts.tool_errors.saturating_sub(facts.rejections);
    let finished = stakes.commits + facts.checks_passed;
    let table = [
        (
            Trigger::ToolFailure,
            reaches(failures, thresholds.tool_failures),
        ),
        (
            Trigger::LowConfidence,
            last_confidence.is_some_and(|confidence| confidence < thresholds.confidence),
        ),
        (
            Trigger::HighRisk,
            reaches(stakes.destructive, thresholds.risk),
        ),
        (Trigger::GoalDrift, stakes.drift > thresholds.drift),
        (
            Trigger::FinalStep,
            reaches(finished, thresholds.final_steps),
        ),
        (
            Trigger::UserCritical,
            reaches(stakes.critical, thresholds.critical),
        ),
        (
            Trigger::Periodic,
            reaches(facts.tool_calls, thresholds.periodic),
        ),
        (
            Trigger::Citations,
            reaches(facts.citations.len() as u64, thresholds.citations),
        ),
        (
            Trigger::Rejections,
            reaches(facts.rejections + facts.interrupts, thresholds.rejections),
        ),
        (
            Trigger::Activity,
            reaches(facts.user_turns + facts.commands, thresholds.user_turns),
        ),
    ];
    table
        .into_iter()
        .find_map(|(trigger, fires)| fires.then_some(trigger))
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

    #[test]
    fn too_little_is_no_reason() {
        let thresholds = Triggers::default();
        assert_eq!(should_reflect(&little(), None, &thresholds), None);
        assert_eq!(
            should_reflect(&Facts::default(), Some(0.5), &thresholds),
            None
        );
    }

    #[rstest]
    #[case::tool_failure(Facts { tool_errors: 1, ..little() }, Trigger::ToolFailure)]
    #[case::high_risk(at_stake(Stakes { destructive: 1, ..Stakes::default() }), Trigger::HighRisk)]
    #[case::goal_drift(at_stake(Stakes { drift: 0.91, ..Stakes::default() }), Trigger::GoalDrift)]
    #[case::commit(at_stake(Stakes { commits: 1, ..Stakes::default() }), Trigger::FinalStep)]
    #[case::passed_tests(Facts { checks_passed: 1, ..little() }, Trigger::FinalStep)]
    #[case::critical(at_stake(Stakes { critical: 1, ..Stakes::default() }), Trigger::UserCritical)]
    #[case::periodic(Facts { tool_calls: 5, ..little() }, Trigger::Periodic)]
    #[case::citation(Facts { citations: vec![Id::parse("pat-001").unwrap()], ..little() }, Trigger::Citations)]
    #[case::rejection(Facts { rejections: 1, tool_errors: 1, ..little() }, Trigger::Rejections)]
    #[case::interrupt(Facts { interrupts: 1, ..little() }, Trigger::Rejections)]
    #[case::two_prompts(Facts { user_turns: 2, ..little() }, Trigger::Activity)]
    #[case::prompt_and_command(Facts { commands: 1, ..little() }, Trigger::Activity)]
    fn one_reason_is_enough(#[case] facts: Facts, #[case] trigger: Trigger) {
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
            rejections: 0,
            corrections: 0,
            user_turns: 0,
        };
        assert_eq!(should_reflect(&facts, Some(0.0), &off), None);
    }

    #[test]
    fn a_session_that_was_judged_without_confidence_is_judged_again() {
        let thresholds = Triggers::default();
        let judged = |confidence| should_reflect(&little(), Some(confidence), &thresholds);
        assert_eq!(judged(0.49), Some(Trigger::LowConfidence));
        assert_eq!(judged(0.5), None);
    }
}
