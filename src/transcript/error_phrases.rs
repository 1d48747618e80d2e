//! What the texts of errors say, as phrases by category: the first row that is in a text wins.

use std::ops::ControlFlow;

use super::category::ErrorCategory;
use crate::phrases::{LazyPhrases, Phrases};

/// Where a phrase must stand to be meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    /// Anywhere, as in `TimeoutError`.
    Anywhere,
    /// As a whole word: `ENOTFOUND` is also in `ModuleNotFoundError`.
    Alone,
}
use Stands::{Alone, Anywhere};

/// How much a phrase decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sureness {
    /// It says plainly what went wrong.
    Plain,
    /// An HTTP status in the same text says more.
    BelowStatus,
}

/// How many rows of [`PHRASES`] are plain.
const PLAIN: u16 = 6;

/// Phrases in lower case; the first row of which one is in a text decides, so the special
/// ones stand before the general ones.
#[rustfmt::skip]
const PHRASES: &[(ErrorCategory, Stands, &[&str])] = &[
    (ErrorCategory::Validation, Anywhere, &[
        "inputvalidationerror", "has not been read yet", "matches of the string to replace",
        "old_string and new_string are exactly the same", "is not a prompt-based skill",
    ]),
    (ErrorCategory::Resource, Anywhere, &[
        "prompt is too long", "credit balance is too low", "usage limit reached",
        "exceed context limit",
    ]),
    (ErrorCategory::NotFound, Anywhere, &["modulenotfounderror", "no module named"]),
    (ErrorCategory::TypeCompile, Anywhere, &["could not compile", "[build failed]"]),
    (ErrorCategory::TestFailure, Anywhere, &[
        "test result: failed", "test failed", "tests failed", "failing tests", "failed tests",
        "test run failed", "assertionerror", "assertion failed", "assertion `", "--- fail:",
        "\nfail\t", "short test summary", "test suites:", "tests run: ", "expected to equal",
        "expect(received)", ".py::", "\nnot ok ",
    ]),
    (ErrorCategory::Validation, Anywhere, &[
        "required parameter", "unexpected argument", "unrecognized argument",
        "unrecognized option", "invalid option", "unknown option", "illegal option",
        "no such option", "unknown flag", "unknown shorthand flag", "unknown argument",
        "missing required", "arguments were not provided", "a value is required",
    ]),
    (ErrorCategory::Resource, Anywhere, &[
        "no space left on device", "out of memory", "outofmemory", "memoryerror",
        "cannot allocate memory", "heap limit", "disk quota exceeded", "too many open files",
        "exceeds maximum allowed", "argument list too long", "memory limit", "oomkilled",
        "stack overflow", "overflowed its stack", "call stack size exceeded", "recursionerror",
        "segmentation fault", "core dumped", "fork: retry",
    ]),
    (ErrorCategory::Resource, Alone, &["enospc", "emfile", "enfile", "enomem"]),
    (ErrorCategory::Conflict, Anywhere, &[
        "has been modified since read", "has been unexpectedly modified", "merge conflict",
        "conflict (", "non-fast-forward", "fetch first", "failed to push some refs",
        "index.lock", "address already in use", "already exists", "needs merge",
        "rebase in progress", "would be overwritten", "unmerged files",
        "resource temporarily unavailable", "database is locked", "waiting for file lock",
        "diverged",
    ]),
    (ErrorCategory::Conflict, Alone, &["eaddrinuse", "eexist", "eresolve", "ebusy"]),
    (ErrorCategory::Network, Anywhere, &[
        "could not resolve host", "connection refused", "connection reset",
        "network is unreachable", "network is down", "no route to host", "getaddrinfo",
        "name resolution", "temporary failure in name", "tls handshake", "ssl certificate",
        "certificate verify failed", "bad gateway", "gateway timeout", "gateway time-out",
        "service unavailable", "server error", "rate limit", "too many requests",
        "overloaded", "fetch failed", "connection timed out", "dial tcp", "i/o timeout",
        "max retries exceeded", "failed to connect", "connection error", "connectionerror",
        "unable to access 'http", "socket hang up", "network error",
    ]),
    (ErrorCategory::Network, Alone, &[
        "econnrefused", "econnreset", "enotfound", "eai_again", "ehostunreach", "enetunreach",
    ]),
    (ErrorCategory::Timeout, Anywhere, &[
        "timed out", "timeout", "deadline exceeded", "time limit exceeded",
    ]),
    (ErrorCategory::Timeout, Alone, &["etimedout"]),
    (ErrorCategory::Permission, Anywhere, &[
        "permission denied", "operation not permitted", "requested permissions",
        "haven't granted", "permission to use", "access denied", "access is denied",
        "forbidden", "unauthorized", "not authorized", "authentication failed",
        "authentication_error", "invalid api key", "not logged in", "must be root",
        "a password is required", "read-only file system", "denied by", "blocked by",
        "not in the sudoers",
    ]),
    (ErrorCategory::Permission, Alone, &["eacces", "eperm"]),
    (ErrorCategory::TestFailure, Anywhere, &[
        "panicked at", " failed, ", " failed in ", " failing", "failures:",
    ]),
    (ErrorCategory::TypeCompile, Anywhere, &[
        "error[e", "error ts", "mismatched types", "typeerror", "type mismatch",
        "is not assignable to", "undefined reference", "undefined symbol", "undeclared",
        "was not declared in this scope", "linking with `", "linker command failed",
        "cannot find symbol", "compilation failed", "compile error", "compilation error",
        "build failed", "failed to compile", "undefined: ", "attributeerror", "nameerror",
        "referenceerror", "has no attribute", "has no member", "unresolved import",
        "incompatible type", "declared and not used", "cannot find value",
        "golangci-lint", "error: linting",
    ]),
    (ErrorCategory::Syntax, Anywhere, &[
        "syntaxerror", "syntax error", "unexpected token", "parse error", "parsing error",
        "unexpected eof", "unexpected end of", "indentationerror", "unterminated",
        "invalid syntax", "jsondecodeerror", "unmatched", "unclosed", "closing delimiter",
        "expected `;`", "expected one of `", "scannererror", "parsererror", "malformed",
        "missing separator",
    ]),
    (ErrorCategory::NotFound, Anywhere, &[
        "no such file or directory", "command not found", "does not exist", "not found",
        "doesn't exist", "cannot find", "could not find", "cannot access", "no such",
        "missing script", "no rule to make target", "keyerror", "unknown skill",
        "unknown command", "unknown tool", "no matching", "no files found",
        "unknown revision", "did not match any",
    ]),
    (ErrorCategory::NotFound, Alone, &["enoent"]),
    (ErrorCategory::Validation, Anywhere, &[
        "invalid", "validation", "bad request", "usage:", "must be", "not allowed", "unsupported",
        "is required", "expected ", "illegal", "out of range", "not a valid",
    ]),
    (ErrorCategory::Resource, Alone, &["killed"]),
];

/// Returns the category of the first row of which a phrase is in a text.
pub(crate) fn best_in(text: &str) -> Option<(ErrorCategory, Sureness)> {
    let mut first: Option<u16> = None;
    let _: Option<()> = READY.search(text.as_bytes(), |row, at, end| {
        let stands = PHRASES.get(usize::from(row)).map(|(_, stands, _)| *stands);
        if stands != Some(Alone) || is_alone(text, at, end) {
            first = Some(first.map_or(row, |first| first.min(row)));
        }
        ControlFlow::Continue(0)
    });
    let row = first?;
    let sureness = if row < PLAIN {
        Sureness::Plain
    } else {
        Sureness::BelowStatus
    };
    let (category, _, _) = PHRASES.get(usize::from(row))?;
    Some((*category, sureness))
}

fn is_alone(text: &str, at: usize, end: usize) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !text[..at].ends_with(is_word) && !text[end..].starts_with(is_word)
}

/// All phrases, each with the number of its row in the table.
static READY: LazyPhrases = LazyPhrases::new(|| {
    let numbered = (0..)
        .zip(PHRASES)
        .flat_map(|(row, (_, _, phrases))| phrases.iter().map(move |phrase| (*phrase, row)));
    Phrases::numbered(numbered)
});
