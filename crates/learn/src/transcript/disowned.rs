//! Citations by which the assistant says that a key point failed it.
//!
//! "[pat-001] does not work here" names the point and does not follow it: such a citation
//! never speaks for the point. It need not speak against it either.

use super::english::patterns;
use super::facts::{Facts, Stance};
use crate::playbook::Id;

patterns! {
    AFTER_ID LATER BEFORE_ID
}

/// How a sentence begins that goes on about the one before it.
const GOES_ON: &[&str] = &[
    "it ",
    "that ",
    "this ",
    "but ",
    "however",
    "unfortunately",
    "sadly",
];

/// Tells whether a session disowns a key point anywhere it cites it.
pub fn is_disowned(facts: &Facts, id: &Id) -> bool {
    let mut uses = facts.uses.iter().filter(|cited| cited.id == *id);
    uses.any(|cited| cited.stance == Stance::Disowns)
}

pub(crate) fn stance(quote: &str, id: &Id) -> Stance {
    if disowns(quote, id) {
        Stance::Disowns
    } else {
        Stance::Takes
    }
}

/// Tells whether a text says of the key point it cites that it failed, is outdated or did
/// not help.
fn disowns(text: &str, id: &Id) -> bool {
    let text = text.replace('’', "'");
    let Some((left, right)) = text.split_once(&format!("[{id}]")) else {
        return false;
    };
    let left = left.rfind(is_end).map_or(left, |end| &left[end + 1..]);
    let (right, rest) = right.split_at(right.find(is_end).unwrap_or(right.len()));
    let next = rest.trim_start_matches(is_end).trim_start();
    let next = &next[..next.find(is_end).unwrap_or(next.len())];
    let lower = next.to_lowercase();
    let goes_on = GOES_ON.iter().any(|start| lower.starts_with(start));
    AFTER_ID.is(right)
        || LATER.is(right)
        || BEFORE_ID.is(left)
        || (goes_on && LATER.is(&format!("but {next}")))
}

fn is_end(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("[pat-001] does not work here, so I use the other way.")]
    #[case("[pat-001] doesn’t apply to this crate.")]
    #[case("[pat-001] is outdated: the script is gone.")]
    #[case("Contrary to [pat-001], the tests need a database.")]
    #[case("I tried [pat-001], but it did not help with the timeout.")]
    #[case("I followed [pat-001]. It did not work.")]
    #[case("This goes against [pat-001], which is no longer true.")]
    #[case("I am ignoring [pat-001] here.")]
    #[case("Skipping [pat-001]: that script is gone.")]
    fn a_point_that_failed_is_disowned(#[case] text: &str) {
        assert!(disowns(text, &Id::parse("pat-001").unwrap()), "{text}");
    }

    #[rstest]
    #[case("By [pat-001], the tests first.")]
    #[case("The build failed as [pat-001] warned, so I install the tool first.")]
    #[case("The old lock file was wrong. By [pat-001] I make a new one.")]
    #[case("[pat-001] helped: the tests that failed pass now.")]
    #[case("Per [pat-001] I use pnpm; npm does not work here.")]
    #[case("[pat-002] is outdated.")]
    #[case("")]
    fn a_point_that_is_followed_is_not(#[case] text: &str) {
        assert!(!disowns(text, &Id::parse("pat-001").unwrap()), "{text}");
    }
}
