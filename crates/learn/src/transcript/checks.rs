//! Reads from a command's answer whether tests, a build, a linter or a type checker passed.
//!
//! Where a line's exit status is its check's, that decides. Where a pipe or a later command hides
//! it, the summary at the end of the output does: `data/checks.toml` says what the runners write.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::Regex;
use serde::Deserialize;

use super::calls::{last_lines, last_text};
use super::english::pattern;
use super::event::{Call, CheckResult, ErrorCategory};
use super::json::Raw;
use super::shell::{self, Check, CheckKind, LineChecks};
use super::text::one_line;
use crate::redact;
use crate::shown::without_controls;

/// The part of the output's end that is looked at, in bytes.
const LOOKED_AT: usize = 4_000;
/// The part of the line that is kept, in bytes.
const MAX_LINE: usize = 200;
/// Tools that show what a command wrote that was started before.
const READ_OUTPUT: &[&str] = &["BashOutput", "TaskOutput"];
#[derive(Deserialize)]
struct CheckRunner {
    name: String,
    kind: CheckKind,
    words: Vec<String>,
    bad: String,
    good: Option<String>,
    #[serde(skip)]
    lines: OnceLock<[Option<Regex>; 2]>,
}

#[derive(Deserialize)]
struct Table {
    /// For a check that is in no row: a line of a failure, of a success, a problem at a place, and
    /// the exit status, where the command prints it.
    any: [String; 4],
    runner: Vec<CheckRunner>,
}

/// All runners, and what finds their words in one pass; most outputs have none.
static RUNNERS: LazyLock<Option<(Vec<CheckRunner>, AhoCorasick)>> = LazyLock::new(|| {
    let runners = table()?.runner;
    let words = runners.iter().flat_map(|runner| &runner.words);
    // The form for few words, which is the quick one, though they are many.
    let mut builder = AhoCorasick::builder();
    let words = builder.kind(Some(AhoCorasickKind::DFA)).build(words).ok()?;
    Some((runners, words))
});

static ANY: LazyLock<Option<[Regex; 4]>> = LazyLock::new(|| {
    let [bad, good, place, status] = table()?.any.map(|lines| pattern(&lines));
    Some([bad?, good?, place?, status?])
});

fn table() -> Option<Table> {
    toml::from_str(include_str!("../../data/checks.toml")).ok()
}

impl CheckRunner {
    fn may_have_written(&self, text: &str) -> bool {
        let mut words = self.words.iter();
        words.any(|word| text.contains(word))
    }

    fn compile(&self) -> [Option<Regex>; 2] {
        let compile = |lines: &String| pattern(&format!("(?m){lines}"));
        [Some(&self.bad), self.good.as_ref()].map(|lines| lines.and_then(compile))
    }
}

struct Summary<'t> {
    runner: &'t str,
    kind: CheckKind,
    passed: bool,
    line: &'t str,
}

/// Reads what a tool's answer says of a check; of a call that `failed` the exit status is not 0.
pub(crate) fn find(call: &Call, answer: Raw<'_>, failed: bool) -> Option<CheckResult> {
    let reads_output = READ_OUTPUT.contains(&call.tool.as_str());
    let read = reads_output.then(|| Call::new("Bash", call.input.clone()));
    let runs = read.as_ref().unwrap_or(call);
    let line = runs.checks();
    if line.is_none() && !shell::may_check(runs.shell_commands()) {
        return None;
    }
    let text = last_text(answer)?;
    let text = last_lines(&text, LOOKED_AT);
    let (code, said) = text.split_once('\n').unwrap_or((text, ""));
    let is_code = code.starts_with("Exit code ");
    let text = without_controls(if is_code { said } else { text });
    let Some(line) = line else {
        let summary = summary(&text).filter(|it| !it.passed || !failed)?;
        return Some(result(
            summary.runner,
            vec![summary.kind],
            summary.passed,
            summary.line,
        ));
    };
    let last = line.checks.last()?;
    let of = |summary: &Summary<'_>| {
        let named = call
            .input
            .contains(summary.runner.split(' ').next().unwrap_or_default());
        let name = if named { summary.runner } else { &last.name };
        result(
            name,
            vec![kind_of(summary, line)],
            summary.passed,
            summary.line,
        )
    };
    let summary = summary(&text);
    let by_exit = |said: &str| {
        let mut kinds: Vec<CheckKind> = line.checks.iter().map(|check| check.kind).collect();
        if let (Some(summary), [_]) = (&summary, &kinds[..]) {
            kinds = vec![kind_of(summary, line)];
        }
        let bad = summary
            .as_ref()
            .filter(|it| it.passed != failed)
            .map(|it| it.line);
        result(&last.name, kinds, !failed, bad.unwrap_or(said))
    };
    let has_status = call.input.contains("$?") || call.input.contains("PIPESTATUS");
    let any = || any_summary(&text, last, has_status);
    match &summary {
        _ if line.is_alone && failed => {
            let said = text.lines().rfind(|said| !said.trim().is_empty());
            (!is_of_another(&text, last)).then(|| by_exit(said.unwrap_or("it failed")))
        }
        // A linter that ends well may remark something; tests that fail may end well.
        Some(summary)
            if !summary.passed && (!line.is_heard || failed || summary.kind == CheckKind::Test) =>
        {
            Some(of(summary))
        }
        _ if line.is_heard && !failed => Some(by_exit("it worked")),
        Some(summary) if summary.passed && !has_status => Some(of(summary)),
        _ => any().as_ref().map(of),
    }
}

/// Returns the name of a check of a call that worked and does not say how the check ended.
pub(crate) fn unheard(call: &Call) -> Option<String> {
    call.checks()?.checks.last().map(|check| check.name.clone())
}

/// Returns the kind of a check by its command; one that may be anything is what its summary is of.
fn kind_of(summary: &Summary<'_>, line: &LineChecks) -> CheckKind {
    let is_named = |kind| line.checks.iter().any(|check| check.kind == kind);
    match &line.checks[..] {
        [
            Check {
                kind: kind @ (CheckKind::Test | CheckKind::Lint | CheckKind::Type),
                ..
            },
        ] => *kind,
        _ if is_named(summary.kind) || summary.kind == CheckKind::Test => summary.kind,
        [only] => only.kind,
        _ => CheckKind::Other,
    }
}

/// Returns `true` where the shell says that another command of the line failed, or is not there.
fn is_of_another(text: &str, check: &Check) -> bool {
    let program = check.name.split(' ').next().unwrap_or_default();
    let first = text.trim_start().lines().next().unwrap_or_default();
    let is_shell = [
        "/bin/bash: ",
        "bash: ",
        "/bin/sh: ",
        "sh: ",
        "zsh:",
        "(eval):",
    ];
    is_shell.iter().any(|shell| first.starts_with(shell)) && !first.contains(program)
}

/// A failure outweighs a success.
fn summary(text: &str) -> Option<Summary<'_>> {
    let (runners, words) = RUNNERS.as_ref()?;
    if !words.is_match(text) {
        return None;
    }
    let mut passed = None;
    for runner in runners.iter().filter(|it| it.may_have_written(text)) {
        let [bad, good] = runner.lines.get_or_init(|| runner.compile());
        // The first line that says more than `FAIL`.
        let bad = bad.as_ref().map(|bad| bad.find_iter(text));
        let bad = bad.and_then(|lines| lines.min_by_key(|line| line.len() <= 4));
        let good = || good.as_ref().and_then(|good| good.find_iter(text).last());
        let has_failed = bad.is_some();
        let summary = bad.or_else(good).map(|line| Summary {
            runner: &runner.name,
            kind: runner.kind,
            passed: !has_failed,
            line: line.as_str(),
        });
        if has_failed {
            return summary;
        }
        passed = passed.or(summary);
    }
    passed
}

/// Reads the last line that says how a check ended whose runner is not known.
fn any_summary<'t>(text: &'t str, check: &'t Check, has_status: bool) -> Option<Summary<'t>> {
    let [bad, good, place, status] = ANY.as_ref()?;
    let is_status = |line: &str| has_status && status.is_match(line);
    let is_bad = |line: &str| {
        let is_problem = || check.kind != CheckKind::Test && place.is_match(line);
        is_status(line) || bad.is_match(line) || is_problem()
    };
    text.lines().rev().find_map(|line| {
        let passed = match () {
            () if is_bad(line) => false,
            () if good.is_match(line) => true,
            () => return None,
        };
        Some(Summary {
            runner: &check.name,
            kind: check.kind,
            passed,
            line,
        })
    })
}

fn result(runner: &str, kinds: Vec<CheckKind>, passed: bool, line: &str) -> CheckResult {
    let shown = line.trim_matches(|c: char| c == '=' || c.is_whitespace());
    let category = if kinds.contains(&CheckKind::Test) {
        ErrorCategory::TestFailure
    } else {
        ErrorCategory::TypeCompile
    };
    CheckResult {
        runner: runner.to_owned(),
        kinds,
        result: if passed { Ok(()) } else { Err(category) },
        line: one_line(&redact::mask(shown), MAX_LINE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(tool: &str, command: &str, output: &str, failed: bool) -> Option<CheckResult> {
        let call = Call::new(tool, command.to_owned());
        let json = serde_json::value::to_raw_value(output).unwrap();
        find(&call, Some(&json), failed)
    }

    fn outcome(command: &str, output: &str) -> Option<(String, bool)> {
        let check = read("Bash", command, output, false);
        check.map(|c| (c.runner, c.result.is_ok()))
    }

    #[rstest]
    #[case::cargo_ok("running 3 tests\n\ntest result: ok. 3 passed; 0 failed; 0 ignored\n", ("cargo test", true))]
    #[case::cargo_red("test result: FAILED. 2 passed; 1 failed\n\n   Doc-tests x\ntest result: ok. 0 passed; 0 failed\n", ("cargo test", false))]
    #[case::cargo_built("   Compiling x v0.1.0\n    Finished `dev` profile [unoptimized] target(s) in 0.31s\n", ("cargo build", true))]
    #[case::pytest_red("FAILED tests/a.py::b - assert 1\n=== 1 failed, 11 passed in 3.10s ===", ("pytest", false))]
    #[case::unittest("Ran 5 tests in 0.001s\n\nFAILED (failures=1)", ("unittest", false))]
    #[case::jest_ok("Test Suites: 2 passed, 2 total\nTests:       9 passed, 9 total\nTime: 1 s", ("jest", true))]
    #[case::vitest_red("      Tests  1 failed | 13 passed (14)\n", ("vitest", false))]
    #[case::mocha_ok("  4 passing (20ms)\n", ("mocha", true))]
    #[case::go_ok("?   \tx/cmd\t[no test files]\nok  \tx/cli\t0.412s\n", ("go test", true))]
    #[case::go_red("--- FAIL: TestA (0.00s)\nFAIL\tx/cli\t0.4s\nok  \tx/b\t0.1s\nFAIL\n", ("go test", false))]
    #[case::eslint("✖ 3 problems (3 errors, 0 warnings)", ("eslint", false))]
    #[case::make("cc: fatal\nmake: *** [Makefile:3: all] Error 1", ("make", false))]
    #[case::golangci_red("5 issues:\n* exhaustive: 2\n* nilerr: 3\n[lint] ERROR task failed", ("golangci-lint", false))]
    #[case::golangci_line("cli/resume.go:279:2: error is not nil (line 271) but it returns nil (nilerr)\n1 issues:", ("golangci-lint", false))]
    #[case::go_types("./a.go:3:1: cannot use x (variable of type int) as string value", ("go", false))]
    #[case::go_build("# x/cmd\n./main.go:5:2: undefined: foo", ("go", false))]
    #[case::ruff("All checks passed!", ("ruff", true))]
    fn the_summary_of_a_runner_is_read(#[case] output: &str, #[case] want: (&str, bool)) {
        let (runner, passed) = outcome("./run.sh", output).unwrap();
        assert_eq!((runner.as_str(), passed), want);
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
    #[case::run_and_show("cargo test 2>&1 | tail -3", Some(false))]
    fn a_shown_log_is_no_run(#[case] command: &str, #[case] passed: Option<bool>) {
        let found = outcome(command, "test result: FAILED. 1 failed\n");
        assert_eq!(found.map(|(_, passed)| passed), passed);
    }

    /// A check whose summary is not known has a result all the same: its exit.
    #[rstest]
    #[case::type_check("npx pyright src", "0 errors", false, Some(("pyright", true)))]
    #[case::build("cd web && npm run build", "boom", true, Some(("npm build", false)))]
    #[case::task("mise run lint", "", false, Some(("mise lint", true)))]
    #[case::half("cargo test && cargo clippy", "test result: ok. 3 passed\nerror: x", true, Some(("cargo clippy", false)))]
    #[case::may_have_failed("acme test | head -3", "a", false, None)]
    #[case::no_check("npm install", "boom", true, None)]
    #[case::of_another_kind("acme pr check", "ok", false, None)]
    #[case::only_named("echo test > a.txt && cat a.txt", "test", false, None)]
    fn the_exit_of_a_check_is_its_result(
        #[case] command: &str,
        #[case] output: &str,
        #[case] failed: bool,
        #[case] want: Option<(&str, bool)>,
    ) {
        let check = read("Bash", command, output, failed);
        let found = check
            .as_ref()
            .map(|check| (check.runner.as_str(), check.result.is_ok()));
        assert_eq!(found, want);
    }

    #[test]
    fn a_long_output_is_read_at_its_end() {
        let output = format!("{}\n5 passed in 1.2s", "line\n".repeat(100_000));
        assert_eq!(
            outcome("pytest", &output),
            Some(("pytest".to_owned(), true))
        );
    }

    #[rstest]
    #[case::failed_call("Bash", "5 passed in 1.2s", true, Some(false))]
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
        let (runners, _) = RUNNERS.as_ref().unwrap();
        for runner in runners {
            let [bad, good] = runner.compile();
            assert!(bad.is_some(), "{}", runner.name);
            assert_eq!(good.is_some(), runner.good.is_some(), "{}", runner.name);
        }
    }
}
