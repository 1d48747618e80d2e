//! What kind of failure an error is: one table of phrases, first match wins.

use serde::{Deserialize, Serialize};

use crate::phrases::{LazyPhrases, Phrases};

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
];

/// Phrases in lower case; the special ones stand before the general ones.
#[rustfmt::skip]
const PHRASES: &[(ErrorCategory, &[&str])] = &[
    (ErrorCategory::Validation, &[
        "inputvalidationerror", "has not been read yet", "matches of the string to replace",
        "old_string and new_string are exactly the same", "is not a prompt-based skill",
        "required parameter", "unexpected argument", "unrecognized argument",
        "unrecognized option", "invalid option", "unknown option", "illegal option",
        "missing required",
    ]),
    (ErrorCategory::Conflict, &[
        "has been modified since read", "has been unexpectedly modified", "merge conflict",
        "conflict (", "non-fast-forward", "fetch first", "index.lock", "address already in use",
        "eaddrinuse", "already exists", "eexist", "needs merge", "rebase in progress",
        "would be overwritten", "unmerged files", "resource temporarily unavailable",
        "database is locked", "diverged",
    ]),
    (ErrorCategory::Resource, &[
        "no space left on device", "enospc", "out of memory", "cannot allocate memory",
        "heap limit", "disk quota exceeded", "too many open files", "emfile",
        "exceeds maximum allowed", "argument list too long", "memory limit", "oomkilled",
    ]),
    (ErrorCategory::Network, &[
        "could not resolve host", "connection refused", "econnrefused", "connection reset",
        "econnreset", "enotfound", "network is unreachable", "no route to host", "getaddrinfo",
        "name resolution", "temporary failure in name", "tls handshake", "ssl certificate",
        "certificate verify failed", "bad gateway", "service unavailable", "rate limit",
        "too many requests", "fetch failed", "connection timed out", "unable to access 'http",
        "socket hang up", "network error",
    ]),
    (ErrorCategory::Timeout, &[
        "timed out", "timeout", "deadline exceeded", "etimedout", "time limit exceeded",
    ]),
    (ErrorCategory::Permission, &[
        "permission denied", "eacces", "eperm", "operation not permitted",
        "requested permissions", "haven't granted", "permission to use", "access denied",
        "access is denied", "forbidden", "unauthorized", "not authorized",
        "authentication failed", "read-only file system", "denied by", "blocked by",
        "not in the sudoers",
    ]),
    (ErrorCategory::TestFailure, &[
        "test result: failed", "test failed", "tests failed", "failing tests", "assertionerror",
        "assertion failed", "assertion `", "--- fail:", "\nfail\t", "panicked at",
        "short test summary", " failed, ", " failed in ", "failed tests", " failing",
        "test suites:", "expected to equal", "failures:",
    ]),
    (ErrorCategory::TypeCompile, &[
        "could not compile", "error[e", "error ts", "mismatched types", "typeerror",
        "type mismatch", "is not assignable to", "undefined reference", "undefined symbol",
        "cannot find symbol", "compilation failed", "compile error", "compilation error",
        "build failed", "failed to compile", "undefined: ", "attributeerror", "nameerror",
        "referenceerror", "has no attribute", "has no member", "unresolved import",
        "incompatible type", "declared and not used", "cannot find value", "[build failed]",
        "golangci-lint", "error: linting",
    ]),
    (ErrorCategory::Syntax, &[
        "syntaxerror", "syntax error", "unexpected token", "parse error", "parsing error",
        "unexpected eof", "unexpected end of", "indentationerror", "unterminated",
        "invalid syntax", "jsondecodeerror", "unmatched", "unclosed", "expected `;`", "malformed",
    ]),
    (ErrorCategory::NotFound, &[
        "no such file or directory", "enoent", "command not found", "does not exist", "not found",
        "doesn't exist", "cannot find", "could not find", "no module named", "cannot access",
        "no such", "unknown skill", "unknown command", "unknown tool", "no matching",
        "no files found", "unknown revision", "did not match any",
    ]),
    (ErrorCategory::Validation, &[
        "invalid", "validation", "bad request", "usage:", "must be", "not allowed", "unsupported",
        "is required", "expected ", "illegal", "out of range", "not a valid",
    ]),
];

/// Returns the category of an error from its text and the exit code, if one is known.
pub fn categorize(text: &str, exit_code: Option<i32>) -> ErrorCategory {
    if let Some(&(_, category)) = EXIT_CODES.iter().find(|(code, _)| Some(*code) == exit_code) {
        return category;
    }
    let mut first: Option<u16> = None;
    READY.each(text, |number| {
        first = Some(first.map_or(number, |first| first.min(number)));
    });
    first
        .and_then(|number| PHRASES.get(usize::from(number)))
        .map_or(ErrorCategory::Unknown, |(category, _)| *category)
}

/// All phrases, each with the number of its category in the table.
static READY: LazyPhrases = LazyPhrases::new(|| {
    let numbered = (0..)
        .zip(PHRASES)
        .flat_map(|(number, (_, phrases))| phrases.iter().map(move |phrase| (*phrase, number)));
    Phrases::numbered(numbered)
});

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
}
