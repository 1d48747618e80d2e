//! Reads from a command's output whether tests or a build passed.
//!
//! Only the end of the output is looked at, where runners put their summary. A cheap
//! search for a telling word comes first; a table says what each runner writes.

use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

use super::cut;
use super::event::{Call, Check};
use super::keep::without_controls;
use super::text::Str;
use crate::redact;

/// How much of the output's end is looked at, in bytes.
const LOOKED_AT: usize = 8_000;
/// How long the line that is kept may be, in bytes.
const MAX_LINE: usize = 200;

/// What one runner writes.
struct Runner {
    name: &'static str,
    /// One must occur in the output, as it stands in JSON, before the pattern is tried.
    needles: &'static [&'static str],
    /// Finds the lines that tell.
    pattern: &'static str,
    /// Of a line that tells: it failed when one of these occurs. With none, every
    /// line that tells is a failure.
    failed_when: &'static [&'static str],
}

/// Failures stand before successes of the same tool: the first runner that tells wins.
const RUNNERS: &[Runner] = &[
    Runner {
        name: "cargo test",
        needles: &["test result: "],
        pattern: r"(?m)^test result: .*$",
        failed_when: &["FAILED"],
    },
    Runner {
        name: "cargo build",
        needles: &["could not compile"],
        pattern: r"(?m)^error: could not compile .*$",
        failed_when: &[],
    },
    Runner {
        name: "cargo build",
        needles: &["Finished"],
        pattern: r"(?m)^\s*Finished [`\w].*(?:profile|target\(s\)).*$",
        failed_when: &["error"],
    },
    Runner {
        name: "pytest",
        needles: &[" passed", " failed", " error"],
        pattern: r"(?m)^=*\s*(?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?)(?:, )?)+ in [\d.:]+ ?s.*$",
        failed_when: &["failed", "error"],
    },
    Runner {
        name: "unittest",
        needles: &["Ran "],
        pattern: r"(?m)^(?:OK(?: \(.*\))?|FAILED \((?:failures|errors)=.*\))$",
        failed_when: &["FAILED"],
    },
    Runner {
        name: "jest",
        needles: &["Tests: "],
        pattern: r"(?m)^Tests:\s.*\btotal$",
        failed_when: &["failed"],
    },
    Runner {
        name: "vitest",
        needles: &["Tests "],
        pattern: r"(?m)^\s*Tests\s+.*\(\d+\)$",
        failed_when: &["failed"],
    },
    Runner {
        name: "mocha",
        needles: &[" failing"],
        pattern: r"(?m)^\s*[1-9]\d* failing$",
        failed_when: &[],
    },
    Runner {
        name: "mocha",
        needles: &[" passing"],
        pattern: r"(?m)^\s*\d+ passing \(.*\)$",
        failed_when: &["failing"],
    },
    Runner {
        name: "go test",
        needles: &["FAIL"],
        pattern: r"(?m)^(?:FAIL(?:\s.*)?|--- FAIL: .*)$",
        failed_when: &[],
    },
    Runner {
        name: "go test",
        needles: &[r"ok  \t", r"(cached)"],
        pattern: r"(?m)^ok\s+\S+\s+(?:[\d.]+s|\(cached\)).*$",
        failed_when: &["FAIL"],
    },
    Runner {
        name: "tsc",
        needles: &["error TS"],
        pattern: r"(?m)^.*\berror TS\d+: .*$",
        failed_when: &[],
    },
    Runner {
        name: "eslint",
        needles: &[" problem"],
        pattern: r"(?m)^✖ \d+ problems? \(.*$",
        failed_when: &["errors,", "error,"],
    },
    Runner {
        name: "npm",
        needles: &["npm "],
        pattern: r"(?m)^npm (?:ERR!|error) (?:code|Test failed|Lifecycle|command failed).*$",
        failed_when: &[],
    },
    Runner {
        name: "gradle",
        needles: &["BUILD "],
        pattern: r"(?m)^(?:\[\w+\] )?BUILD (?:SUCCESS|FAIL)\w*.*$",
        failed_when: &["FAIL"],
    },
    Runner {
        name: "make",
        needles: &["*** ["],
        pattern: r"(?m)^\S*make\S*: \*\*\* \[.*$",
        failed_when: &[],
    },
];

/// Commands that only show a text, which may be an old log.
const SHOWS: &[&str] = &[
    "cat", "head", "tail", "less", "more", "grep", "rg", "sed", "awk", "jq", "echo", "printf",
    "git", "gh", "find", "ls", "diff", "curl",
];

static PATTERNS: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| RUNNERS.iter().map(|r| Regex::new(r.pattern).ok()).collect());

/// Finds any needle in one pass; most outputs have none.
static ANY_NEEDLE: LazyLock<Option<regex::bytes::Regex>> = LazyLock::new(|| {
    let needles = RUNNERS.iter().flat_map(|r| r.needles);
    let needles: Vec<String> = needles.map(|n| regex::escape(n)).collect();
    regex::bytes::Regex::new(&needles.join("|")).ok()
});

/// Reads what a tool's answer, as it stands in the record, says of a test run or build.
pub(crate) fn find(call: &Call, output: Str<'_>) -> Option<Check> {
    if !is_shell(&call.tool) || only_shows(&call.input) {
        return None;
    }
    let raw = output.tail(LOOKED_AT);
    if !ANY_NEEDLE.as_ref()?.is_match(raw.raw()) {
        return None;
    }
    let text = raw.decode().ok()?;
    let text = without_controls(&text);
    let has = |needle: &&str| memmem::find(raw.raw(), needle.as_bytes()).is_some();
    let tried = RUNNERS.iter().zip(PATTERNS.iter());
    tried
        .filter(|(runner, _)| runner.needles.iter().any(has))
        .find_map(|(runner, pattern)| tells(runner, pattern.as_ref()?, &text))
}

fn tells(runner: &Runner, pattern: &Regex, text: &str) -> Option<Check> {
    let failed = |line: &str| {
        runner.failed_when.is_empty() || runner.failed_when.iter().any(|word| line.contains(word))
    };
    let mut telling: Option<&str> = None;
    for found in pattern.find_iter(text) {
        telling = Some(found.as_str());
        if failed(found.as_str()) {
            break;
        }
    }
    let line = telling?;
    let shown = line.trim_matches(|c: char| c == '=' || c.is_whitespace());
    Some(Check {
        runner: runner.name,
        passed: !failed(line),
        line: cut::one_line(&redact::mask(shown), MAX_LINE),
    })
}

fn is_shell(tool: &str) -> bool {
    tool.starts_with("Bash")
        || ["bash", "shell", "terminal"]
            .iter()
            .any(|word| tool.contains(word))
}

fn only_shows(command: &str) -> bool {
    command
        .split([';', '|', '&', '\n'])
        .filter_map(|part| part.split_whitespace().find(|word| !word.contains('=')))
        .filter(|word| *word != "cd")
        .all(|word| SHOWS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn outcome(command: &str, output: &str) -> Option<(&'static str, bool)> {
        let call = Call {
            tool: "Bash".to_owned(),
            input: command.to_owned(),
        };
        // What serde_json writes stands between two quotes.
        let json = serde_json::to_string(output).unwrap();
        let raw = Str::new(&json.as_bytes()[1..json.len() - 1]);
        find(&call, raw).map(|c| (c.runner, c.passed))
    }

    #[rstest]
    #[case::cargo_ok("running 3 tests\n\ntest result: ok. 3 passed; 0 failed; 0 ignored\n", ("cargo test", true))]
    #[case::cargo_red("test result: FAILED. 2 passed; 1 failed\n\n   Doc-tests x\ntest result: ok. 0 passed; 0 failed\n", ("cargo test", false))]
    #[case::cargo_compile("error[E0308]: mismatched types\nerror: could not compile `x` (lib) due to 1 previous error", ("cargo build", false))]
    #[case::cargo_built("   Compiling x v0.1.0\n    Finished `dev` profile [unoptimized] target(s) in 0.31s\n", ("cargo build", true))]
    #[case::cargo_coloured("\u{1b}[1m\u{1b}[32m    Finished\u{1b}[0m `release` profile [optimized] target(s) in 1m 02s", ("cargo build", true))]
    #[case::pytest_ok("tests/test_a.py ..   [100%]\n\n====== 12 passed, 1 warning in 0.42s ======", ("pytest", true))]
    #[case::pytest_red("FAILED tests/a.py::b - assert 1\n=== 1 failed, 11 passed in 3.10s ===", ("pytest", false))]
    #[case::pytest_quiet("3 passed in 0.01s", ("pytest", true))]
    #[case::pytest_collect("==== 2 errors in 0.20s ====", ("pytest", false))]
    #[case::unittest("Ran 5 tests in 0.001s\n\nFAILED (failures=1)", ("unittest", false))]
    #[case::jest_ok("Test Suites: 2 passed, 2 total\nTests:       9 passed, 9 total\nTime: 1 s", ("jest", true))]
    #[case::jest_red("Tests:       1 failed, 8 passed, 9 total", ("jest", false))]
    #[case::vitest_ok(" Test Files  2 passed (2)\n      Tests  14 passed (14)\n", ("vitest", true))]
    #[case::vitest_red("      Tests  1 failed | 13 passed (14)\n", ("vitest", false))]
    #[case::mocha_red("  4 passing (20ms)\n  1 failing\n", ("mocha", false))]
    #[case::mocha_ok("  4 passing (20ms)\n", ("mocha", true))]
    #[case::go_ok("?   \tx/cmd\t[no test files]\nok  \tx/cli\t0.412s\n", ("go test", true))]
    #[case::go_red("--- FAIL: TestA (0.00s)\nFAIL\tx/cli\t0.4s\nok  \tx/b\t0.1s\nFAIL\n", ("go test", false))]
    #[case::tsc("src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.", ("tsc", false))]
    #[case::eslint("✖ 3 problems (3 errors, 0 warnings)", ("eslint", false))]
    #[case::npm("npm ERR! code ELIFECYCLE\nnpm ERR! errno 1", ("npm", false))]
    #[case::gradle("BUILD SUCCESSFUL in 3s", ("gradle", true))]
    #[case::maven("[INFO] BUILD FAILURE", ("gradle", false))]
    #[case::make("cc: error\nmake: *** [Makefile:3: all] Error 1", ("make", false))]
    fn the_summary_of_a_runner_is_read(#[case] output: &str, #[case] want: (&'static str, bool)) {
        assert_eq!(outcome("make check", output), Some(want));
    }

    #[rstest]
    #[case::listing("a.rs\nb.rs\n")]
    #[case::prose("the tests passed in the end, ok")]
    #[case::empty("")]
    #[case::words_in_a_line("echo test result: unknown")]
    fn other_output_says_nothing(#[case] output: &str) {
        assert_eq!(outcome("./run.sh", output), None);
    }

    #[rstest]
    #[case::cat("cat log.txt", None)]
    #[case::in_a_folder("cd x && cat log | tail -3", None)]
    #[case::run_and_show("cargo test 2>&1 | tail -3", Some(("cargo test", false)))]
    #[case::with_environment("RUST_LOG=x cargo test", Some(("cargo test", false)))]
    fn a_shown_log_is_no_run(#[case] command: &str, #[case] want: Option<(&'static str, bool)>) {
        assert_eq!(outcome(command, "test result: FAILED. 1 failed\n"), want);
    }

    #[test]
    fn a_long_output_is_read_at_its_end() {
        let output = format!("{}\n5 passed in 1.2s", "line\n".repeat(100_000));
        assert_eq!(outcome("pytest", &output), Some(("pytest", true)));
    }

    #[test]
    fn every_pattern_compiles() {
        assert!(PATTERNS.iter().all(Option::is_some) && ANY_NEEDLE.is_some());
    }
}
