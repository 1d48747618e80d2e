//! What test runners and builds write when they are done.

use super::category::ErrorCategory::{self, TestFailure, TypeCompile};

/// What one runner writes.
pub(crate) struct Runner {
    pub(crate) name: &'static str,
    /// One of these must be in the output, as it stands in JSON, before a line is looked for.
    pub(crate) words: &'static [&'static str],
    /// Finds a line that tells of a failure; empty where none does.
    pub(crate) bad: &'static str,
    /// Finds a line that tells of a success, unless another tells of a failure.
    pub(crate) good: &'static str,
    /// What kind of error a failure is.
    pub(crate) category: ErrorCategory,
}

const fn runner(
    name: &'static str,
    category: ErrorCategory,
    words: &'static [&'static str],
    bad: &'static str,
    good: &'static str,
) -> Runner {
    Runner {
        name,
        words,
        bad,
        good,
        category,
    }
}

/// At most 64. Of two that fail the first is named: what runs others comes last.
#[rustfmt::skip]
pub(crate) const RUNNERS: &[Runner] = &[
    runner("cargo test", TestFailure, &["test result: "],
        r"^test result: FAILED.*$",
        r"^test result: ok.*$"),
    runner("cargo nextest", TestFailure, &[" run: ", "test run failed"],
        r"^\s*Summary \[.*\] .*tests? run: .*[1-9]\d* (?:failed|timed out).*$|^error: test run failed$",
        r"^\s*Summary \[.*\] .*tests? run: \d+ passed.*$"),
    runner("cargo build", TypeCompile,
        &["could not compile", "Finished", "failed to parse manifest", "failed to load manifest",
          "could not find `Cargo.toml`"],
        r"^error: (?:could not compile|failed to (?:parse|load) manifest|could not find `Cargo.toml`).*$",
        r"^\s*Finished [`\w].*(?:profile|target\(s\)).*$"),
    runner("pytest", TestFailure, &[" passed", " failed", " error in ", " errors in ", " skipped in ", " ran in ", "FAILED ",
          "ERROR "],
        r"^=*\s*(?:\d+ [a-z]+(?: [a-z]+)?, )*[1-9]\d* (?:failed|errors?)(?:, .*)? in [\d.:]+ ?s\b.*$|^=*\s*no tests ran in .*$|^(?:FAILED|ERROR) \S+\.py(?:::\S.*)?(?: - .*)?$",
        r"^=*\s*(?:\d+ (?:subtests )?(?:passed|skipped|deselected|xfailed|xpassed|warnings?|rerun)(?:, )?)+ in [\d.:]+ ?s\b.*$"),
    runner("unittest", TestFailure, &["Ran ", "FAILED ("],
        r"^FAILED \((?:failures|errors|unexpected)=?.*\)$",
        r"^OK(?: \(.*\))?$"),
    runner("jest", TestFailure, &["Tests: ", "Test Suites: ", "No tests found"],
        r"^(?:Tests|Test Suites):\s.*\b[1-9]\d* failed\b.*$|^No tests found, exiting with code 1.*$",
        r"^Tests:\s.*\btotal$"),
    runner("vitest", TestFailure, &["Tests ", "Test Files ", "No test files"],
        r"^\s*(?:Tests|Test Files)\s.*\b[1-9]\d* failed\b.*$|^\s*Tests\s+no tests$|^\s*No test files found.*$",
        r"^\s*Tests\s+.*\(\d+\)$"),
    runner("mocha", TestFailure, &[" failing", " passing"],
        r"^\s*[1-9]\d* failing$",
        r"^\s*\d+ passing \(.*\)$"),
    runner("node test", TestFailure, &[" fail "],
        r"^(?:#|ℹ|i) fail [1-9]\d*$",
        r"^(?:#|ℹ|i) fail 0$"),
    runner("bun test", TestFailure, &[r" pass\n", r" fail\n"],
        r"^\s*[1-9]\d* fail$",
        r"^\s*[1-9]\d* pass$"),
    runner("playwright", TestFailure, &[" passed (", r" failed\n"],
        r"^\s*[1-9]\d* failed$",
        r"^\s*[1-9]\d* passed \([\d.]+m?s\)$"),
    runner("go test", TestFailure, &["FAIL", r"ok  \t", "(cached)", "PASS", r#""Action\":\""#],
        r#"^FAIL(?:[ \t].*)?$|^--- FAIL: .*$|^\{.*"Action":"fail".*\}$"#,
        r#"^ok\s+\S+\s+(?:[\d.]+s|\(cached\)).*$|^PASS$|^\{.*"Action":"pass".*\}$"#),
    runner("rspec", TestFailure, &[" example, ", " examples, "],
        r"^\d+ examples?, [1-9]\d* failures?.*$",
        r"^\d+ examples?, 0 failures.*$"),
    runner("phpunit", TestFailure, &["FAILURES!", "ERRORS!", "OK ("],
        r"^(?:FAILURES|ERRORS)!$",
        r"^OK \(\d+ tests?, .*\)$"),
    runner("junit", TestFailure, &["Tests run: "],
        r"^(?:\[\w+\]\s*)?Tests run: \d+, Failures: (?:[1-9]\d*|0, Errors: [1-9]\d*),.*$",
        r"^(?:\[\w+\]\s*)?Tests run: \d+, Failures: 0, Errors: 0,.*$"),
    runner("dotnet test", TestFailure, &["Failed!", "Passed!"],
        r"^\s*Failed!\s+- Failed:.*$",
        r"^\s*Passed!\s+- Failed:.*$"),
    runner("tsc", TypeCompile, &["error TS"],
        r"^.*\berror TS\d+: .*$",
        ""),
    runner("eslint", TypeCompile, &[" problem"],
        r"^✖ \d+ problems? \([1-9]\d* errors?,.*$",
        r"^✖ \d+ problems? \(0 errors,.*$"),
    runner("mypy", TypeCompile, &["Found ", "no issues found"],
        r"^Found [1-9]\d* errors? in \d+ files?.*$",
        r"^Success: no issues found in .*$"),
    runner("ruff", TypeCompile, &["Found ", "All checks passed"],
        r"^Found [1-9]\d* errors?\.?$",
        r"^All checks passed!$"),
    runner("go", TypeCompile, &[".go:"],
        r"^\S+\.go:\d+:\d+: .+$",
        ""),
    runner("gradle", TypeCompile, &["BUILD "],
        r"^(?:\[\w+\] )?BUILD FAIL\w*.*$",
        r"^(?:\[\w+\] )?BUILD SUCCESS\w*.*$"),
    runner("make", TypeCompile, &["*** ", "is up to date", "Nothing to be done"],
        r"^\S*make\S*: \*\*\* .*$|^\S+:\d+: \*\*\* .*$",
        r"^\S*make\S*: (?:['`]\S+' is up to date|Nothing to be done for .*)\.$"),
];
