//! What an agent claims at its stop: that checks pass, or that all is done.

use crate::transcript::english::{EnglishPattern, patterns};
use crate::transcript::{CheckResult, ErrorCategory, check_category};

patterns! {
    TESTS_PASS CHECKS_PASS ALL_DONE NO_CLAIM ADMITS TROUBLE SPEAKS_OF_CHECKS NO_FAULT NO_CHECKS SETS_ASIDE
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct AgentClaim {
    pub subject: Subject,
    pub sentence: String,
}

/// Of what it is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Tests,
    Checks,
    Work,
}

impl Subject {
    pub(super) fn covers(self, check: &CheckResult) -> bool {
        let is_test = || check_category(&check.runner) == ErrorCategory::TestFailure;
        self != Self::Tests || is_test()
    }
}

impl AgentClaim {
    /// Reads a message; nothing when it owns up to a failure, asks, or leaves something open.
    pub(super) fn of(message: &str) -> Option<Self> {
        let message = message.replace('’', "'");
        let said: Vec<&str> = sentences(&message).collect();
        let asks = said.last().is_some_and(|last| last.ends_with('?'));
        if asks || said.iter().any(|sentence| admits(sentence)) {
            return None;
        }
        let first = |pattern: &EnglishPattern| {
            let says = |sentence: &&&str| pattern.is(sentence) && !NO_CLAIM.is(sentence);
            said.iter().find(says).map(|found| (*found).to_owned())
        };
        let subjects = [
            (Subject::Checks, &CHECKS_PASS),
            (Subject::Tests, &TESTS_PASS),
            (Subject::Work, &ALL_DONE),
        ];
        subjects.into_iter().find_map(|(subject, pattern)| {
            let sentence = first(pattern)?;
            Some(Self { subject, sentence })
        })
    }
}

/// Returns `true` if a sentence may own up to a failure.
fn admits(sentence: &str) -> bool {
    let rest = NO_FAULT.without(sentence);
    ADMITS.is(&rest) || (TROUBLE.is(&rest) && SPEAKS_OF_CHECKS.is(&rest))
}

/// Returns `true` if a prompt asks for work that no check is to follow.
pub(super) fn excuses(prompt: &str) -> bool {
    NO_CHECKS.is(prompt)
}

/// Returns `true` if the agent says in the middle of its work that a failure is to be left alone.
pub(super) fn sets_aside(text: &str) -> bool {
    SETS_ASIDE.is(text)
}

/// The sentences of a message, without blocks of code.
fn sentences(message: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let lines = message.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        !fence && !is_code
    });
    let parts = lines.flat_map(|line| line.split_inclusive(". "));
    parts.map(str::trim).filter(|part| !part.is_empty())
}
