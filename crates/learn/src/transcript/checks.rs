//! Reads from a command's answer whether tests, a build, a linter or a type checker passed.
//!
//! Only the end of the output is looked at, where they put their summary. One search for
//! telling words comes first; `data/checks.toml` says what each of them writes. Of a command
//! that is known to check, and writes nothing of that, its exit says it.

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::{Match, Regex};
use serde::Deserialize;

use super::category::ErrorCategory;
use super::cut;
use super::english::pattern;
use super::event::{Call, CheckResult, KnownBy};
use super::json::Raw;
use super::{shell, tool_answer};
use crate::redact;
use crate::shown::without_controls;

/// The part of the output's end that is looked at, in bytes.
const LOOKED_AT: usize = 4_000;
/// How long the line that is kept may be, in bytes.
const MAX_LINE: usize = 200;
/// Tools that show what a command wrote that was started before.
const READ_OUTPUT: &[&str] = &["BashOutput", "TaskOutput"];
/// Programs that may show the output of an old run, whatever else they do.
const REPORTERS: &[&str] = &["git", "gh", "glab", "curl", "wget"];

/// What one runner writes.
#[derive(Deserialize)]
struct CheckRunner {
    name: String,
    category: ErrorCategory,
    words: Vec<String>,
    bad: String,
    good: Option<String>,
    /// The two patterns, made ready when they are first looked for.
    #[serde(skip)]
    lines: OnceLock<[Option<Regex>; 2]>,
}

#[derive(Deserialize)]
struct Table {
    runner: Vec<CheckRunner>,
}

/// All runners, and what finds their words in one pass; most outputs have none.
static RUNNERS: LazyLock<Option<(Vec<CheckRunner>, AhoCorasick)>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("../../data/checks.toml")).ok()?;
    let words = table.runner.iter().flat_map(|runner| &runner.words);
    // The form for few words, which is the quick one, though they are many.
    let mut builder = AhoCorasick::builder();
    let words = builder.kind(Some(AhoCorasickKind::DFA)).build(words).ok()?;
    Some((table.runner, words))
});

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

/// Reads what a tool's answer says of a check.
///
/// What fails outweighs what passes; of a call that `failed` nothing passed.
pub(crate) fn find(call: &Call, answer: Raw<'_>, failed: bool) -> Option<CheckResult> {
    let may_run = shell::runs_commands(&call.tool) || READ_OUTPUT.contains(&call.tool.as_str());
    if !may_run {
        return None;
    }
    let (runners, words) = RUNNERS.as_ref()?;
    let text = tool_answer::last_text(answer)?;
    let text = tool_answer::last_lines(&text, LOOKED_AT);
    let runs = || shell::check(&call.input, failed);
    if !words.is_match(text) {
        return Some(by_exit(&runs()?, text, failed));
    }
    if shell::only_reads(&call.input, REPORTERS) {
        return None;
    }
    let shown = without_controls(text);
    let mut passed = None;
    for runner in runners.iter().filter(|it| it.may_have_written(text)) {
        let [bad, good] = runner.lines.get_or_init(|| runner.compile());
        let bad = bad.as_ref().map(|bad| bad.find_iter(&shown));
        // The first line that says more than `FAIL`.
        if let Some(line) = bad.and_then(|lines| lines.min_by_key(|line| line.len() <= 4)) {
            return Some(check(
                &named(call, &runner.name),
                Err(runner.category),
                line.as_str(),
                KnownBy::Summary,
            ));
        }
        if passed.is_none() && !failed {
            let last = good.as_ref().and_then(|good| good.find_iter(&shown).last());
            let of = |line: Match<'_>| {
                let name = named(call, &runner.name);
                check(&name, Ok(()), line.as_str(), KnownBy::Summary)
            };
            passed = last.map(of);
        }
    }
    passed.or_else(|| Some(by_exit(&runs()?, text, failed)))
}

/// Returns the check of a call that worked, where its exit status is another command's.
pub(crate) fn unheard(call: &Call) -> Option<String> {
    shell::runs_commands(&call.tool)
        .then(|| shell::check(&call.input, true))
        .flatten()
}

/// Returns the name of the check that wrote a summary of `runner`: the command's, where the line
/// names that runner nowhere.
fn named(call: &Call, runner: &str) -> String {
    let program = runner.split(' ').next().unwrap_or_default();
    let is_named = call.input.contains(program);
    let by_command = shell::check(&call.input, true).filter(|_| !is_named);
    by_command.unwrap_or_else(|| runner.to_owned())
}

/// Returns the result of a check whose summary is not known, by its exit. Its output may come from
/// another command of the same line.
fn by_exit(name: &str, output: &str, failed: bool) -> CheckResult {
    if !failed {
        return check(name, Ok(()), "it worked", KnownBy::Exit);
    }
    let text = without_controls(output);
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    check(
        name,
        Err(category_of(name)),
        last.unwrap_or("it failed"),
        KnownBy::Exit,
    )
}

/// What kind of failure it is when a runner's check fails.
pub(crate) fn category_of(runner: &str) -> ErrorCategory {
    let runners = RUNNERS.as_ref().map_or(&[][..], |(runners, _)| runners);
    match runners.iter().find(|known| known.name == runner) {
        Some(known) => known.category,
        None if runner.contains("test") => ErrorCategory::TestFailure,
        None => ErrorCategory::TypeCompile,
    }
}

fn check(
    runner: &str,
    result: Result<(), ErrorCategory>,
    line: &str,
    known_by: KnownBy,
) -> CheckResult {
    let shown = line.trim_matches(|c: char| c == '=' || c.is_whitespace());
    CheckResult {
        runner: runner.to_owned(),
        result,
        line: cut::one_line(&redact::mask(shown), MAX_LINE),
        known_by,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn read(tool: &str, command: &str, output: &str, failed: bool) -> Option<CheckResult> {
        let call = Call {
            tool: tool.to_owned(),
            input: command.to_owned(),
            ..Call::default()
        };
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
