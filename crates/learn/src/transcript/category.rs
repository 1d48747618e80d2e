//! What kind of failure an error is, as far as it is certain: by its exit code, or by what it
//! says plainly.

use playbook_core::worded;

use super::words::List;

worded! {
    /// The kinds of errors, as the prompt, the log and the memory name them (spec/3).
    pub enum ErrorCategory {
        /// It took too long.
        Timeout = "timeout",
        /// A host, a connection or a remote service failed.
        Network = "network",
        Permission = "permission",
        /// A file, command, symbol or page is not there.
        NotFound = "not_found",
        /// A text breaks its grammar.
        Syntax = "syntax",
        TypeCompile = "type_compile",
        TestFailure = "test_failure",
        /// An input has the wrong form or value.
        Validation = "validation",
        /// Memory, disk, file handles or size limits ran out.
        Resource = "resource",
        /// Something else changed or holds the thing.
        Conflict = "conflict",
        Unknown = "unknown",
    }
}

impl ErrorCategory {
    /// Reads a word of ours or of spec/3 (`timeout_error`); any other is unknown.
    pub(crate) fn named(word: &str) -> Self {
        let word = word.trim().to_ascii_lowercase();
        Self::from_word(word.strip_suffix("_error").unwrap_or(&word)).unwrap_or(Self::Unknown)
    }
}

use ErrorCategory::{
    Conflict, Network, NotFound, Permission, Resource, Syntax, TestFailure, Timeout, TypeCompile,
    Unknown, Validation,
};

/// Exit codes that say what happened, whatever was printed.
const EXIT_CODES: &[(i32, ErrorCategory)] = &[
    (124, Timeout),
    (126, Permission),
    (127, NotFound),
    (137, Resource),
    (139, Resource),
    (143, Timeout),
];
/// What a text says plainly, in lower case; the first row of which a phrase is in it decides.
static PHRASES: [(ErrorCategory, List); 13] = [
    (Validation, List::named("says: edit is not valid")),
    (Resource, List::named("says: limit of the api")),
    (NotFound, List::named("says: no module")),
    (TypeCompile, List::named("says: does not compile")),
    (TestFailure, List::named("says: test failed")),
    (Validation, List::named("says: told wrongly")),
    (Resource, List::named("says: ran out")),
    (Conflict, List::named("says: in conflict")),
    (Network, List::named("says: no network")),
    (Timeout, List::named("says: took too long")),
    (Permission, List::named("says: not allowed")),
    (Syntax, List::named("says: bad syntax")),
    (NotFound, List::named("says: not there")),
];

/// Returns the category of an error from its text and the exit code, if one is known; what
/// is not said plainly is unknown.
pub(crate) fn categorize(text: &str, exit_code: Option<i32>) -> ErrorCategory {
    let by_code = EXIT_CODES.iter().find(|(code, _)| Some(*code) == exit_code);
    if let Some((_, category)) = by_code {
        return *category;
    }
    let text = text.to_ascii_lowercase();
    let is_said = |phrases: &List| phrases.words().iter().any(|phrase| text.contains(phrase));
    let row = PHRASES.iter().find(|(_, phrases)| is_said(phrases));
    row.map_or(Unknown, |(category, _)| *category)
}

/// Returns the category of an error of the API: what says nothing else never came through.
pub(crate) fn of_api_error(text: &str) -> ErrorCategory {
    match categorize(text, None) {
        Unknown => Network,
        category => category,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Command timed out after 2m 0.0s", None, Timeout)]
    #[case("Prompt is too long", None, Resource)]
    #[case("not found", Some(139), Resource)]
    #[case("curl: (6) Could not resolve host: example.org", Some(6), Network)]
    #[case("ModuleNotFoundError: No module named 'yaml'", None, NotFound)]
    #[case("error[E0308]: mismatched types", Some(101), TypeCompile)]
    #[case(
        "test net::timed_out ... ok\ntest result: FAILED.",
        Some(101),
        TestFailure
    )]
    #[case("Error: unknown flag: --timeout", Some(1), Validation)]
    #[case("this may be invalid, or not found", Some(1), Unknown)]
    fn an_error_has_the_category_that_it_names(
        #[case] text: &str,
        #[case] code: Option<i32>,
        #[case] want: ErrorCategory,
    ) {
        assert_eq!(categorize(text, code), want);
    }
}
