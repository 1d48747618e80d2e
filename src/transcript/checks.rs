//! Reads from a command's output whether tests or a build passed.
//!
//! Only the end of the output is looked at, where runners put their summary. One search for
//! telling words comes first; [`super::runners`] says what each runner writes. What none of
//! them writes says nothing.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::category::ErrorCategory;
use super::cut;
use super::english::pattern;
use super::event::{Call, Check};
use super::keep::without_controls;
use super::runners::{RUNNERS, Runner};
use super::shell::{self, Command};
use super::text::Str;
use crate::redact;

/// How much of the output's end is looked at, in bytes.
const LOOKED_AT: usize = 4_000;
/// How long the line that is kept may be, in bytes.
const MAX_LINE: usize = 200;
/// Tools that show what a command wrote that was started before.
const READ_OUTPUT: &[&str] = &["BashOutput", "TaskOutput"];
/// Programs that may show the output of an old run, whatever else they do.
const REPORTERS: &[&str] = &["git", "gh", "glab", "curl", "wget"];

/// What lines of one runner tell, made ready when they are first looked for.
struct Lines {
    bad: Option<Regex>,
    good: Option<Regex>,
}

static LINES: [OnceLock<Lines>; RUNNERS.len()] = [const { OnceLock::new() }; RUNNERS.len()];

/// Finds the words of all runners in one pass, with the runner of each; most outputs have none.
static WORDS: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let all = RUNNERS.iter().enumerate();
    let words = all.flat_map(|(at, runner)| runner.words.iter().map(move |word| (*word, at)));
    let (words, runners): (Vec<&str>, Vec<_>) = words.unzip();
    Some((AhoCorasick::new(words).ok()?, runners))
});

/// Reads what a tool's answer, as it stands in the record, says of a test run or build.
///
/// What fails outweighs what passes; of a call that `failed` nothing passed.
pub(crate) fn find(call: &Call, output: Str<'_>, failed: bool) -> Option<Check> {
    let may_run = shell::runs_commands(&call.tool) || READ_OUTPUT.contains(&call.tool.as_str());
    if !may_run {
        return None;
    }
    let raw = output.tail(LOOKED_AT);
    let candidates = candidates(raw.raw());
    if candidates == 0 || only_shows(&call.input) {
        return None;
    }
    let text = raw.decode().ok()?;
    let text = without_controls(&text);
    let mut passed = None;
    for (at, runner) in RUNNERS.iter().enumerate() {
        if candidates >> at & 1 == 0 {
            continue;
        }
        let lines = LINES[at].get_or_init(|| Lines::of(runner));
        let bad = lines.bad.as_ref().map(|bad| bad.find_iter(&text));
        // The first line that says more than `FAIL`.
        if let Some(line) = bad.and_then(|lines| lines.min_by_key(|line| line.len() <= 4)) {
            return Some(check(runner, Err(runner.category), line.as_str()));
        }
        if passed.is_none() {
            let good = lines.good.as_ref();
            let last = good.and_then(|good| good.find_iter(&text).last());
            passed = last.map(|line| check(runner, Ok(()), line.as_str()));
        }
    }
    passed.filter(|_| !failed)
}

/// The runners that may have written an output, as bits.
fn candidates(raw: &[u8]) -> u64 {
    WORDS.as_ref().map_or(0, |(words, runners)| {
        let found = words.find_overlapping_iter(raw);
        found.fold(0, |all, word| all | 1 << runners[word.pattern().as_usize()])
    })
}

impl Lines {
    fn of(runner: &Runner) -> Self {
        let lines = |lines: &str| {
            let lines = (!lines.is_empty()).then(|| format!("(?m){lines}"));
            lines.and_then(|lines| pattern(&lines))
        };
        Self {
            bad: lines(runner.bad),
            good: lines(runner.good),
        }
    }
}

fn check(runner: &Runner, result: Result<(), ErrorCategory>, line: &str) -> Check {
    let shown = line.trim_matches(|c: char| c == '=' || c.is_whitespace());
    Check {
        runner: runner.name,
        result,
        line: cut::one_line(&redact::mask(shown), MAX_LINE),
    }
}

/// Tells whether a command only shows a text, which may be an old log.
fn only_shows(command: &str) -> bool {
    let command = Command::read(command);
    let mut steps = command.steps().peekable();
    steps.peek().is_some()
        && steps.all(|step| {
            let program = step.program().map(|(name, _)| name);
            step.only_looks() || program.is_some_and(|name| REPORTERS.contains(&name))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(tool: &str, command: &str, output: &str, failed: bool) -> Option<Check> {
        let call = Call {
            tool: tool.to_owned(),
            input: command.to_owned(),
        };
        // What serde_json writes stands between two quotes.
        let json = serde_json::to_string(output).unwrap();
        let raw = Str::new(&json.as_bytes()[1..json.len() - 1]);
        find(&call, raw, failed)
    }

    fn outcome(command: &str, output: &str) -> Option<(&'static str, bool)> {
        let check = read("Bash", command, output, false);
        check.map(|c| (c.runner, c.result.is_ok()))
    }

    #[rstest]
    #[case::cargo_ok("running 3 tests\n\ntest result: ok. 3 passed; 0 failed; 0 ignored\n", ("cargo test", true))]
    #[case::cargo_red("test result: FAILED. 2 passed; 1 failed\n\n   Doc-tests x\ntest result: ok. 0 passed; 0 failed\n", ("cargo test", false))]
    #[case::cargo_compile("error[E0308]: mismatched types\nerror: could not compile `x` (lib) due to 1 previous error", ("cargo build", false))]
    #[case::cargo_built("   Compiling x v0.1.0\n    Finished `dev` profile [unoptimized] target(s) in 0.31s\n", ("cargo build", true))]
    #[case::pytest_ok("tests/test_a.py ..   [100%]\n\n====== 12 passed, 1 warning in 0.42s ======", ("pytest", true))]
    #[case::pytest_red("FAILED tests/a.py::b - assert 1\n=== 1 failed, 11 passed in 3.10s ===", ("pytest", false))]
    #[case::unittest("Ran 5 tests in 0.001s\n\nFAILED (failures=1)", ("unittest", false))]
    #[case::jest_ok("Test Suites: 2 passed, 2 total\nTests:       9 passed, 9 total\nTime: 1 s", ("jest", true))]
    #[case::vitest_ok(" Test Files  2 passed (2)\n      Tests  14 passed (14)\n", ("vitest", true))]
    #[case::vitest_red("      Tests  1 failed | 13 passed (14)\n", ("vitest", false))]
    #[case::mocha_ok("  4 passing (20ms)\n", ("mocha", true))]
    #[case::go_ok("?   \tx/cmd\t[no test files]\nok  \tx/cli\t0.412s\n", ("go test", true))]
    #[case::go_red("--- FAIL: TestA (0.00s)\nFAIL\tx/cli\t0.4s\nok  \tx/b\t0.1s\nFAIL\n", ("go test", false))]
    #[case::tsc("src/a.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.", ("tsc", false))]
    #[case::eslint("✖ 3 problems (3 errors, 0 warnings)", ("eslint", false))]
    #[case::gradle("BUILD SUCCESSFUL in 3s", ("gradle", true))]
    #[case::maven("[INFO] BUILD FAILURE", ("gradle", false))]
    #[case::make("cc: fatal\nmake: *** [Makefile:3: all] Error 1", ("make", false))]
    #[case::nextest_red("     Summary [   0.512s] 10 tests run: 9 passed, 1 failed, 0 skipped\nerror: test run failed", ("cargo nextest", false))]
    #[case::eslint_warnings("✖ 3 problems (0 errors, 3 warnings)", ("eslint", true))]
    #[case::golangci_red("5 issues:\n* exhaustive: 2\n* nilerr: 3\n[lint] ERROR task failed", ("golangci-lint", false))]
    #[case::golangci_ok("[lint] $ golangci-lint run ./...\n0 issues.\n", ("golangci-lint", true))]
    #[case::go_filtered("ok  \tx/a\t0.412s\nok  \tx/b\t(cached) [no tests to run]\n", ("go test", true))]
    #[case::go_alone("PASS\n", ("go test", true))]
    #[case::go_build("# x/cmd\n./main.go:5:2: undefined: foo", ("go", false))]
    #[case::pytest_none("no tests ran in 0.01s", ("pytest", false))]
    #[case::node_red("# tests 3\n# pass 2\n# fail 1", ("node test", false))]
    #[case::bun_red(" 5 pass\n 1 fail\nRan 6 tests across 1 files. [20.00ms]", ("bun test", false))]
    #[case::dotnet("Failed!  - Failed:     1, Passed:     5, Skipped:     0, Total:     6", ("dotnet test", false))]
    #[case::surefire("[INFO] Tests run: 5, Failures: 1, Errors: 0, Skipped: 0", ("junit", false))]
    #[case::rspec("5 examples, 0 failures", ("rspec", true))]
    #[case::mypy("Found 2 errors in 1 file (checked 3 source files)", ("mypy", false))]
    #[case::ruff("All checks passed!", ("ruff", true))]
    fn the_summary_of_a_runner_is_read(#[case] output: &str, #[case] want: (&'static str, bool)) {
        assert_eq!(outcome("make check", output), Some(want));
    }

    #[rstest]
    #[case::listing("a.rs\nb.rs\n")]
    #[case::prose("the tests passed in the end, ok")]
    #[case::empty("")]
    #[case::nothing_was_tested("ok  \tx/b\t(cached) [no tests to run]\n")]
    #[case::a_compilers_line_of_another("see main.go:12: it failed")]
    fn other_output_says_nothing(#[case] output: &str) {
        assert_eq!(outcome("./run.sh", output), None);
    }

    #[rstest]
    #[case::cat("cat log.txt", None)]
    #[case::in_a_folder("cd x && cat log | tail -3", None)]
    #[case::of_the_ci("gh run view 1 --log-failed", None)]
    #[case::run_and_show("cargo test 2>&1 | tail -3", Some(("cargo test", false)))]
    fn a_shown_log_is_no_run(#[case] command: &str, #[case] want: Option<(&'static str, bool)>) {
        assert_eq!(outcome(command, "test result: FAILED. 1 failed\n"), want);
    }

    #[test]
    fn a_long_output_is_read_at_its_end() {
        let output = format!("{}\n5 passed in 1.2s", "line\n".repeat(100_000));
        assert_eq!(outcome("pytest", &output), Some(("pytest", true)));
    }

    #[rstest]
    #[case::failed_call("Bash", "5 passed in 1.2s", true, None)]
    #[case::other_shell("PowerShell", "1 failed in 1.2s", false, Some(false))]
    #[case::started_before("BashOutput", "5 passed in 1.2s", false, Some(true))]
    #[case::no_shell("Read", "5 passed in 1.2s", false, None)]
    fn runs_are_read_of_tools_that_run_commands(
        #[case] tool: &str,
        #[case] output: &str,
        #[case] failed: bool,
        #[case] passed: Option<bool>,
    ) {
        let check = read(tool, "pytest", output, failed);
        assert_eq!(check.map(|check| check.result.is_ok()), passed);
    }

    #[test]
    fn every_pattern_compiles() {
        for runner in RUNNERS {
            let lines = Lines::of(runner);
            assert!(lines.bad.is_some(), "{}", runner.name);
            let has_good = lines.good.is_some();
            assert_ne!(has_good, runner.good.is_empty(), "{}", runner.name);
        }
    }
}
