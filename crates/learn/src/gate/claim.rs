//! What an agent claims at its stop: that checks pass, or that all is done.

use crate::transcript::english::patterns;
use crate::transcript::{Check, ErrorCategory, check_category};

patterns! {
    TESTS_PASS CHECKS_PASS ALL_DONE ADMITS NO_FAULT NO_CHECKS
}

/// What is claimed, in which words.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub subject: Subject,
    pub sentence: String,
}

/// Of what it is claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// That the tests pass.
    Tests,
    /// That all checks pass.
    Checks,
    /// That the work is done.
    Work,
}

impl Subject {
    /// Tells whether a check says something of it.
    pub(super) fn covers(self, check: &Check) -> bool {
        let is_test = || check_category(&check.runner) == ErrorCategory::TestFailure;
        self != Self::Tests || is_test()
    }
}

impl Claim {
    /// Reads a message; nothing when it admits that something is wrong, open or not known.
    pub(super) fn of(message: &str) -> Option<Self> {
        let lines: Vec<&str> = prose(message).collect();
        let admits = |line: &&str| ADMITS.is(&NO_FAULT.without(line)) || line.ends_with('?');
        if lines.iter().any(admits) {
            return None;
        }
        let said = |subject, pattern: &crate::transcript::english::Pattern| {
            let line = lines.iter().find(|line| pattern.is(line))?;
            Some(Self {
                subject,
                sentence: (*line).to_owned(),
            })
        };
        said(Subject::Checks, &CHECKS_PASS)
            .or_else(|| said(Subject::Tests, &TESTS_PASS))
            .or_else(|| said(Subject::Work, &ALL_DONE))
    }
}

/// Tells whether a prompt asks for work that no check is to follow.
pub(super) fn excuses(prompt: &str) -> bool {
    NO_CHECKS.is(prompt)
}

/// The lines of a message, without code.
fn prose(message: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let lines = message.lines().map(str::trim);
    lines.filter(move |line| {
        let fence = line.starts_with("```");
        is_code ^= fence;
        !line.is_empty() && !fence && !is_code
    })
}
