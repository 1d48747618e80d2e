//! The claims of an agent at its stop: that checks pass, or that all is done.

use crate::transcript::CheckResult;
use crate::transcript::english::{patterns, sentences};
use crate::transcript::shell::CheckKind;

patterns! {
    PASSES TESTS LINT TYPES BUILD ALL_CHECKS ALL_DONE NO_CLAIM PART COUNT ADMITS TROUBLE SPEAKS_OF_CHECKS
    NO_FAULT NO_CHECKS SETS_ASIDE
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct AgentClaim {
    pub subject: Subject,
    pub sentence: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Checks of these kinds, and those that the sentence names.
    Kinds(Vec<CheckKind>),
    Checks,
    Work,
}

impl AgentClaim {
    /// Returns nothing if the message admits a failure, asks, or leaves something open.
    pub(super) fn all_of(message: &str) -> Vec<Self> {
        let message = message.replace('’', "'");
        let said: Vec<&str> = lines(&message).flat_map(sentences).map(str::trim).collect();
        let asks = said.last().is_some_and(|last| last.ends_with('?'));
        if asks || said.iter().any(|sentence| admits(sentence)) {
            return Vec::new();
        }
        let claims = said.iter().filter_map(|sentence| {
            let subject = subject(sentence)?;
            Some(Self {
                subject,
                sentence: (*sentence).to_owned(),
            })
        });
        claims.collect()
    }

    /// Returns `true` if a failure of this check contradicts the claim.
    pub(super) fn covers(&self, check: &CheckResult) -> bool {
        let Subject::Kinds(kinds) = &self.subject else {
            return true;
        };
        let is_claimed = |kind: &CheckKind| {
            kinds.contains(kind)
                || (*kind == CheckKind::Other && kinds.iter().any(|it| *it != CheckKind::Test))
        };
        check.kinds.iter().all(is_claimed) || self.names(check)
    }

    /// Returns `true` if the claim may rely on this check.
    pub(super) fn touches(&self, check: &CheckResult) -> bool {
        match &self.subject {
            Subject::Kinds(kinds) => {
                check.kinds.iter().any(|kind| kinds.contains(kind)) || self.names(check)
            }
            Subject::Checks | Subject::Work => true,
        }
    }

    pub(super) fn is_of_part(&self) -> bool {
        PART.is(&self.sentence)
    }

    fn names(&self, check: &CheckResult) -> bool {
        let sentence = self.sentence.to_lowercase();
        let mut words = sentence.split(|c: char| !(c.is_alphanumeric() || "._-".contains(c)));
        words.any(|word| word.len() > 2 && check.runner.split(' ').any(|name| name == word))
    }
}

fn subject(sentence: &str) -> Option<Subject> {
    if NO_CLAIM.is(&NO_FAULT.without(sentence)) {
        return None;
    }
    if !PASSES.is(sentence) {
        return ALL_DONE.is(sentence).then_some(Subject::Work);
    }
    let kinds = [
        (&TESTS, CheckKind::Test),
        (&TYPES, CheckKind::Type),
        (&LINT, CheckKind::Lint),
        (&BUILD, CheckKind::Build),
    ];
    let kinds = kinds
        .into_iter()
        .filter(|(pattern, _)| pattern.is(sentence));
    let kinds: Vec<CheckKind> = kinds.map(|(_, kind)| kind).collect();
    Some(match kinds[..] {
        [] if ALL_CHECKS.is(sentence) => Subject::Checks,
        [] if ALL_DONE.is(sentence) => Subject::Work,
        _ => Subject::Kinds(kinds),
    })
}

fn admits(sentence: &str) -> bool {
    let is_part = |pattern: &regex::Regex| {
        pattern
            .captures_iter(sentence)
            .any(|count| count[1] != count[2])
    };
    let rest = NO_FAULT.without(sentence);
    ADMITS.is(&rest)
        || (TROUBLE.is(&rest) && SPEAKS_OF_CHECKS.is(&rest))
        || COUNT.0.as_ref().is_some_and(is_part)
}

pub(super) fn excuses(prompt: &str) -> bool {
    NO_CHECKS.is(prompt)
}

/// Returns `true` if the agent says during its work that a failure is left alone.
pub(super) fn sets_aside(text: &str) -> bool {
    SETS_ASIDE.is(text)
}

fn lines(message: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    message.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        is_code ^= fence;
        !fence && !is_code
    })
}
