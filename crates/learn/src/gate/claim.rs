//! What the agent's last word claims.

use crate::transcript::english::patterns;

patterns! {
    SAYS_DONE NAMES_NO_FAILURE ADMITS
}

/// Tells whether a message says that all is done or that the checks pass, and nowhere says of
/// anything that it is not so.
pub(super) fn says_done(message: &str) -> bool {
    SAYS_DONE.is(message) && !ADMITS.is(&NAMES_NO_FAILURE.without(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::pass("All done: the tests pass.", true)]
    #[case::green("Everything is green now. All 12 tests pass, 0 failed.", true)]
    #[case::complete("The implementation is complete and works as you asked.", true)]
    #[case::no_errors("The build succeeds with no errors.", true)]
    #[case::plain("I have changed the parser.", false)]
    #[case::admits("All done, but two tests still fail.", false)]
    #[case::cannot("The tests pass here; I couldn't run the others.", false)]
    #[case::asks("Should I mark it as done?", false)]
    fn a_claim_is_told_from_what_admits_anything(#[case] message: &str, #[case] claims: bool) {
        assert_eq!(says_done(message), claims);
    }
}
