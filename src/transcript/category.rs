//! What kind of failure an error is: by its exit code, one table of phrases, first match wins,
//! and an HTTP status.

use serde::{Deserialize, Serialize};

use super::error_phrases::{self, Sureness};
use super::http_status;

/// The kinds of errors, as the prompt, the log and the memory name them (spec/3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCategory {
    /// It took too long.
    Timeout,
    /// A host, a connection or a remote service failed.
    Network,
    /// It was not allowed.
    Permission,
    /// A file, command, symbol or page is not there.
    NotFound,
    /// A text breaks its grammar.
    Syntax,
    /// It does not compile or type-check.
    TypeCompile,
    /// A test failed.
    TestFailure,
    /// An input has the wrong form or value.
    Validation,
    /// Memory, disk, file handles or size limits ran out.
    Resource,
    /// Something else changed or holds the thing.
    Conflict,
    /// None of these.
    Unknown,
}

impl ErrorCategory {
    /// Returns the category's name: `not_found`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Network => "network",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::Syntax => "syntax",
            Self::TypeCompile => "type_compile",
            Self::TestFailure => "test_failure",
            Self::Validation => "validation",
            Self::Resource => "resource",
            Self::Conflict => "conflict",
            Self::Unknown => "unknown",
        }
    }

    /// All categories.
    pub const ALL: [Self; 11] = [
        Self::Timeout,
        Self::Network,
        Self::Permission,
        Self::NotFound,
        Self::Syntax,
        Self::TypeCompile,
        Self::TestFailure,
        Self::Validation,
        Self::Resource,
        Self::Conflict,
        Self::Unknown,
    ];

    /// Reads a name of ours or of spec/3 (`timeout_error`); any other is unknown.
    pub fn from_name(name: &str) -> Self {
        let name = name.trim().to_ascii_lowercase();
        let name = name.strip_suffix("_error").unwrap_or(&name);
        let found = Self::ALL
            .into_iter()
            .find(|category| category.name() == name);
        found.unwrap_or(Self::Unknown)
    }
}

/// Exit codes that say what happened, whatever was printed.
const EXIT_CODES: &[(i32, ErrorCategory)] = &[
    (124, ErrorCategory::Timeout),
    (126, ErrorCategory::Permission),
    (127, ErrorCategory::NotFound),
    (137, ErrorCategory::Resource),
    (139, ErrorCategory::Resource),
    (143, ErrorCategory::Timeout),
];

/// Returns the category of an error from its text and the exit code, if one is known.
pub fn categorize(text: &str, exit_code: Option<i32>) -> ErrorCategory {
    if let Some(&(_, category)) = EXIT_CODES.iter().find(|(code, _)| Some(*code) == exit_code) {
        return category;
    }
    match error_phrases::best_in(text) {
        Some((category, Sureness::Plain)) => category,
        spoken_of => http_status::category_in(text)
            .or(spoken_of.map(|(category, _)| category))
            .unwrap_or(ErrorCategory::Unknown),
    }
}

/// Returns the category of an error of the API: what says nothing else never came through.
pub(crate) fn of_api_error(text: &str) -> ErrorCategory {
    match categorize(text, None) {
        ErrorCategory::Unknown => ErrorCategory::Network,
        category => category,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::timeout("Command timed out after 2m 0.0s", None, ErrorCategory::Timeout)]
    #[case::exit_124("Exit code 124", Some(124), ErrorCategory::Timeout)]
    #[case::network(
        "curl: (6) Could not resolve host: example.org",
        Some(6),
        ErrorCategory::Network
    )]
    #[case::permission("bash: ./x: Permission denied", Some(1), ErrorCategory::Permission)]
    #[case::not_granted(
        "Claude requested permissions to write to /etc/x, but you haven't granted it yet.",
        None,
        ErrorCategory::Permission
    )]
    #[case::not_found(
        "lsd: 3: No such file or directory (os error 2).",
        None,
        ErrorCategory::NotFound
    )]
    #[case::command(
        "Exit code 127\nzsh: command not found: foo",
        Some(127),
        ErrorCategory::NotFound
    )]
    #[case::edit_target(
        "<tool_use_error>String to replace not found in file.</tool_use_error>",
        None,
        ErrorCategory::NotFound
    )]
    #[case::skill(
        "<tool_use_error>Unknown skill: rename-swarm</tool_use_error>",
        None,
        ErrorCategory::NotFound
    )]
    #[case::syntax("SyntaxError: Unexpected token '}'", Some(1), ErrorCategory::Syntax)]
    #[case::rustc(
        "error[E0308]: mismatched types\nerror: could not compile `x`",
        Some(101),
        ErrorCategory::TypeCompile
    )]
    #[case::tsc(
        "src/a.ts(1,2): error TS2322: Type 'x' is not assignable to type 'y'.",
        Some(2),
        ErrorCategory::TypeCompile
    )]
    #[case::cargo_test(
        "test result: FAILED. 3 passed; 1 failed",
        Some(101),
        ErrorCategory::TestFailure
    )]
    #[case::pytest(
        "FAILED tests/a.py::b - assert 1 == 2\n1 failed, 3 passed in 0.1s",
        Some(1),
        ErrorCategory::TestFailure
    )]
    #[case::input(
        "<tool_use_error>InputValidationError: Task failed due to the following issue:\nThe required parameter `prompt` is missing</tool_use_error>",
        None,
        ErrorCategory::Validation
    )]
    #[case::unread(
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>",
        None,
        ErrorCategory::Validation
    )]
    #[case::ambiguous_edit(
        "<tool_use_error>Found 2 matches of the string to replace, but replace_all is false.",
        None,
        ErrorCategory::Validation
    )]
    #[case::disk(
        "write error: No space left on device",
        Some(1),
        ErrorCategory::Resource
    )]
    #[case::too_large(
        "File content (31000 tokens) exceeds maximum allowed tokens (25000)",
        None,
        ErrorCategory::Resource
    )]
    #[case::changed(
        "File has been modified since read, either by the user or by a linter.",
        None,
        ErrorCategory::Conflict
    )]
    #[case::merge(
        "CONFLICT (content): Merge conflict in a.rs",
        Some(1),
        ErrorCategory::Conflict
    )]
    #[case::silent("Exit code 1", Some(1), ErrorCategory::Unknown)]
    #[case::empty("", None, ErrorCategory::Unknown)]
    fn an_error_has_one_category(
        #[case] text: &str,
        #[case] code: Option<i32>,
        #[case] want: ErrorCategory,
    ) {
        assert_eq!(categorize(text, code), want);
    }

    const RED_TEST: &str = "test net::connection_timeout ... ok\ntest parse ... FAILED\n\ntest result: FAILED. 2 passed; 1 failed";

    #[rstest]
    #[case(RED_TEST, ErrorCategory::TestFailure)]
    #[case(
        "--- FAIL: TestRateLimit (0.00s)\n x_test.go:5: too many requests",
        ErrorCategory::TestFailure
    )]
    #[case(
        "E  AssertionError: assert 'invalid option' in ''\n1 failed in 0.1s",
        ErrorCategory::TestFailure
    )]
    #[case(
        "● login › returns forbidden\n expect(received).toBe(expected)",
        ErrorCategory::TestFailure
    )]
    #[case("ModuleNotFoundError: No module named 'yaml'", ErrorCategory::NotFound)]
    #[case(
        "FileNotFoundError: [Errno 2] No such file or directory: 'x'",
        ErrorCategory::NotFound
    )]
    #[case("KeyError: 'foo'", ErrorCategory::NotFound)]
    #[case("npm ERR! Missing script: \"build\"", ErrorCategory::NotFound)]
    #[case(
        "make: *** No rule to make target 'foo'.  Stop.",
        ErrorCategory::NotFound
    )]
    #[case(
        "Error: getaddrinfo ENOTFOUND registry.npmjs.org",
        ErrorCategory::Network
    )]
    #[case("dial tcp 10.0.0.1:443: i/o timeout", ErrorCategory::Network)]
    #[case("Error: EPERM: x", ErrorCategory::Permission)]
    #[case("typeperm: hyperm", ErrorCategory::Unknown)]
    #[case("HTTP 403", ErrorCategory::Permission)]
    #[case("HTTP/1.1 502", ErrorCategory::Network)]
    #[case("HTTP 409 Conflict", ErrorCategory::Conflict)]
    #[case("HTTP 422 Unprocessable Entity", ErrorCategory::Validation)]
    #[case("HTTP Error 404: x", ErrorCategory::NotFound)]
    #[case("Request failed with status code 500", ErrorCategory::Network)]
    #[case("npm error code E404", ErrorCategory::NotFound)]
    #[case(
        "curl: (22) The requested URL returned error: 503",
        ErrorCategory::Network
    )]
    #[case(
        "fatal: unable to access 'https://github.com/x.git/': The requested URL returned error: 403",
        ErrorCategory::Permission
    )]
    #[case(
        "exit status: 101 of http://localhost:4000/404",
        ErrorCategory::Unknown
    )]
    #[case("Killed", ErrorCategory::Resource)]
    #[case("MemoryError", ErrorCategory::Resource)]
    #[case("java.lang.OutOfMemoryError: Java heap space", ErrorCategory::Resource)]
    #[case("Segmentation fault (core dumped)", ErrorCategory::Resource)]
    #[case("thread 'main' has overflowed its stack", ErrorCategory::Resource)]
    #[case("error: expected one of `!` or `::`, found `x`", ErrorCategory::Syntax)]
    #[case(
        "yaml.scanner.ScannerError: mapping values are not allowed here",
        ErrorCategory::Syntax
    )]
    #[case("error: unexpected closing delimiter: `}`", ErrorCategory::Syntax)]
    #[case(
        "a.c:3:5: error: 'foo' undeclared (first use in this function)",
        ErrorCategory::TypeCompile
    )]
    #[case(
        "error: linking with `cc` failed: exit status: 1",
        ErrorCategory::TypeCompile
    )]
    #[case(
        "error: the following required arguments were not provided:",
        ErrorCategory::Validation
    )]
    #[case("Error: unknown flag: --timeout", ErrorCategory::Validation)]
    #[case("Error: No such option: --bar", ErrorCategory::Validation)]
    #[case(
        "npm error ERESOLVE unable to resolve dependency tree",
        ErrorCategory::Conflict
    )]
    #[case("error: failed to push some refs to 'x'", ErrorCategory::Conflict)]
    fn what_is_surer_decides(#[case] text: &str, #[case] want: ErrorCategory) {
        assert_eq!(categorize(&format!("Exit code 1\n{text}"), Some(1)), want);
    }

    #[rstest]
    #[case(139, ErrorCategory::Resource)]
    #[case(143, ErrorCategory::Timeout)]
    fn an_exit_code_decides(#[case] code: i32, #[case] want: ErrorCategory) {
        assert_eq!(categorize("not found", Some(code)), want);
    }

    #[rstest]
    #[case("API Error: 529 overloaded", ErrorCategory::Network)]
    #[case(
        "API Error: 401 {\"type\":\"error\"} Please run /login",
        ErrorCategory::Permission
    )]
    #[case("Invalid API key · Please run /login", ErrorCategory::Permission)]
    #[case("Prompt is too long", ErrorCategory::Resource)]
    #[case(
        "API Error: 400 prompt is too long: 210000 tokens",
        ErrorCategory::Resource
    )]
    #[case("Credit balance is too low", ErrorCategory::Resource)]
    #[case("Claude AI usage limit reached|1234", ErrorCategory::Resource)]
    #[case("Request timed out.", ErrorCategory::Timeout)]
    #[case("API Error", ErrorCategory::Network)]
    fn an_error_of_the_api_has_a_category(#[case] text: &str, #[case] want: ErrorCategory) {
        assert_eq!(of_api_error(text), want);
    }
}
