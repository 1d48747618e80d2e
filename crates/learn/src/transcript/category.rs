//! The kind of an error, where an exit code or an identifier in its text names it.

use std::collections::HashSet;

use playbook_core::worded;

use super::words::ERROR_NAMES;

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

use ErrorCategory::{Network, NotFound, Permission, Resource, Timeout, Unknown};

/// Exit codes that say what happened, whatever was printed.
const EXIT_CODES: &[(i32, ErrorCategory)] = &[
    (124, Timeout),
    (126, Permission),
    (127, NotFound),
    (137, Resource),
    (139, Resource),
    (143, Timeout),
];
/// How the client reports a command that took too long.
const TIMED_OUT: &str = "Command timed out after";

/// Returns the category of an error from its exit code, or from the name of an exception, of an
/// error of the system or of the API in its text.
pub(crate) fn categorize(text: &str, exit_code: Option<i32>) -> ErrorCategory {
    let by_code = EXIT_CODES.iter().find(|(code, _)| Some(*code) == exit_code);
    if let Some((_, category)) = by_code {
        return *category;
    }
    if text.contains(TIMED_OUT) {
        return Timeout;
    }
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let names: HashSet<String> = words.map(str::to_ascii_lowercase).collect();
    let rows = ERROR_NAMES.words().iter();
    let mut rows = rows.filter_map(|row| row.split_once(':'));
    let row = rows.find(|(_, row)| row.split_whitespace().any(|name| names.contains(name)));
    row.map_or(Unknown, |(category, _)| ErrorCategory::named(category))
}

/// Returns the category of an error of the API, from its type or its HTTP status.
pub(crate) fn of_api_error(text: &str) -> ErrorCategory {
    let category = categorize(text, None);
    let numbers = text.split(|c: char| !c.is_ascii_digit());
    let mut statuses = numbers.filter_map(|number| number.parse::<u16>().ok());
    match statuses.find(|status| (400..600).contains(status)) {
        Some(401 | 403) if category == Unknown => Permission,
        Some(429 | 500..) if category == Unknown => Network,
        _ => category,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("Command timed out after 2m 0.0s", None, Timeout)]
    #[case("not found", Some(139), Resource)]
    #[case("{\"type\":\"overloaded_error\"}", None, Network)]
    #[case("ModuleNotFoundError: No module named 'yaml'", None, NotFound)]
    #[case("Error: EACCES: permission denied, open '/a'", Some(1), Permission)]
    #[case("this may be invalid, or not found", Some(1), Unknown)]
    fn an_error_has_the_category_that_it_names(
        #[case] text: &str,
        #[case] code: Option<i32>,
        #[case] want: ErrorCategory,
    ) {
        assert_eq!(categorize(text, code), want);
    }
}
