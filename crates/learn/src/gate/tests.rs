//! Promise: the gate finds claims that the record proves false, and is silent if in doubt.

use rstest::rstest;
use serde_json::{Value, json};

use super::{GateFault, GateVerdict, Judgement, Stops, TurnEnd};
use crate::reflect::reply::Score;
use crate::transcript::{ReadOptions, each_event};

const RED: &str = "test result: FAILED. 2 passed; 1 failed";
const GREEN: &str = "test result: ok. 3 passed; 0 failed";

/// A session's records in order.
#[derive(Default)]
struct Record(Vec<Value>);

impl Record {
    fn asked(prompt: &str) -> Self {
        Self::default().user(&json!(prompt))
    }

    fn user(mut self, content: &Value) -> Self {
        self.0
            .push(json!({"type": "user", "message": {"role": "user", "content": content}}));
        self
    }

    fn assistant(mut self, block: &Value) -> Self {
        let id = format!("m{}", self.0.len());
        self.0
            .push(json!({"type": "assistant", "message": {"id": id, "content": [block]}}));
        self
    }

    fn says(self, text: &str) -> Self {
        self.assistant(&json!({"type": "text", "text": text}))
    }

    fn calls(self, tool: &str, input: &Value) -> Self {
        let id = format!("t{}", self.0.len());
        self.assistant(&json!({"type": "tool_use", "id": id, "name": tool, "input": input}))
    }

    fn answers(self, output: &str) -> Self {
        let id = format!("t{}", self.0.len() - 1);
        self.user(&json!([{"type": "tool_result", "tool_use_id": id, "content": output}]))
    }

    fn runs(self, command: &str, output: &str) -> Self {
        self.calls("Bash", &json!({"command": command}))
            .answers(output)
    }

    fn fails(self, command: &str, output: &str) -> Self {
        self.errs(command, &format!("Exit code 101\n{output}"))
    }

    fn errs(self, command: &str, text: &str) -> Self {
        let id = format!("t{}", self.0.len());
        let failed = json!({"type": "tool_result", "tool_use_id": id, "is_error": true,
            "content": text});
        self.calls("Bash", &json!({"command": command}))
            .user(&json!([failed]))
    }

    fn edits(self, file: &str) -> Self {
        let change = json!({"file_path": file, "old_string": "a", "new_string": "b"});
        self.calls("Edit", &change).answers("The file was updated")
    }

    fn stops(&self) -> Vec<TurnEnd> {
        let lines: Vec<String> = self.0.iter().map(|line| format!("{line}\n")).collect();
        let mut stops = Stops::default();
        let file = lines.concat();
        each_event(file.as_bytes(), &ReadOptions::default(), &mut |event| {
            stops.see(event);
        })
        .unwrap();
        stops.finish()
    }

    fn verdict(&self) -> GateVerdict {
        self.stops().pop().unwrap().verdict
    }

    fn faults(&self) -> Vec<GateFault> {
        let findings = self.verdict().findings;
        findings.into_iter().map(|found| found.fault).collect()
    }
}

#[rstest]
#[case::tests("All 3 tests pass.")]
#[case::summary("I added the parser.\n\n- Tests: 3 passed\n- The docs are new")]
#[case::all_checks("All checks pass now.")]
#[case::no_fault("All tests pass with 0 failures.")]
#[case::done("Done. The parser reads both forms.")]
#[case::complete("The implementation is complete.")]
fn a_check_that_failed_contradicts_what_is_said(#[case] said: &str) {
    let record = Record::asked("add a parser")
        .fails("cargo test", RED)
        .says(said);
    assert_eq!(record.faults(), [GateFault::FailedCheck]);
}

#[test]
fn code_that_was_changed_after_the_check_is_not_checked() {
    let record = Record::asked("add a parser")
        .runs("cargo test", GREEN)
        .edits("/p/src/a.rs")
        .says("All tests pass.");
    assert_eq!(record.faults(), [GateFault::UncheckedChange]);
}

#[rstest]
#[case::failure("Done, but one test still fails.")]
#[case::old("All tests pass except a pre-existing failure in `b`.")]
#[case::not_run("Done. I could not run the tests here.")]
#[case::question("All tests pass. Shall I commit it?")]
#[case::apostrophe("All tests pass. The linter couldn’t run.")]
#[case::skipped("All tests pass; the slow ones are skipped.")]
#[case::plan("The next change will make all tests pass.")]
#[case::condition("Commit it once all tests pass.")]
#[case::some(r"All the new tests pass.")]
#[case::list("- [ ] all tests pass")]
#[case::quoted("It prints:\n```\nAll tests pass.\n```")]
#[case::other("The parser reads both forms.")]
fn a_message_that_owns_up_or_claims_nothing_passes(#[case] said: &str) {
    let record = Record::asked("add a parser")
        .runs("cargo test", RED)
        .says(said);
    assert_eq!(record.faults(), []);
}

#[rstest]
#[case::passes(Record::asked("fix it").runs("cargo test", RED).edits("/p/a.rs").runs("cargo test", GREEN))]
#[case::nothing_ran(Record::asked("fix it").edits("/p/a.rs"))]
#[case::prose(Record::asked("fix it").runs("cargo test", GREEN).edits("/p/README.md"))]
#[case::other_language(Record::asked("fix it").runs("cargo test", GREEN).edits("/p/web/a.ts"))]
#[case::scratch(Record::asked("fix it").runs("cargo test", GREEN).edits("/tmp/a.rs"))]
#[case::no_check(Record::asked("fix it").runs("./demo.sh", RED))]
#[case::set_aside(Record::asked("fix it").runs("cargo test", RED).says("That failure is pre-existing."))]
#[case::unseen_run(Record::asked("fix it").runs("cargo test", RED).runs("./ci.sh", "fine"))]
#[case::another_check(Record::asked("fix it").runs("cargo test", GREEN).fails("cargo test -- --ignored", RED))]
#[case::taken_back(Record::asked("fix it").runs("cargo test", RED).runs("git checkout -- .", ""))]
#[case::put_aside(Record::asked("fix it").runs("git stash && cargo test", RED))]
#[case::of_another_command(Record::asked("fix it").fails("cargo build && ./a.sh", "no such host"))]
#[case::subagent(Record::asked("fix it").runs("cargo test", RED).calls("Task", &json!({"prompt": "fix"})).answers("All green"))]
#[case::remark(Record::asked("fix it").runs("go build ./...", "a.go:3:1: a remark of the linter"))]
#[case::background(Record::asked("fix it").runs("cargo test", RED).runs("npm start", "Command running in background with ID: b1"))]
#[case::no_answer(Record::asked("fix it").runs("cargo test", RED).calls("Bash", &json!({"command": "cargo test"})))]
#[case::no_tests_wanted(Record::asked("don't run the tests").runs("cargo test", RED))]
#[case::test_first(Record::asked("write a failing test").runs("cargo test", RED))]
fn what_is_not_certain_is_not_said(#[case] record: Record) {
    assert_eq!(record.says("All tests pass.").faults(), []);
}

#[test]
fn a_call_that_a_hook_turned_back_hides_no_failed_check() {
    let record = Record::asked("add a parser")
        .errs("make proto", "PreToolUse:Bash hook error: run it again")
        .fails("cargo test", RED)
        .says("All 3 tests pass.");
    assert_eq!(record.faults(), [GateFault::FailedCheck]);
}

#[test]
fn a_failure_that_the_line_hides_is_found() {
    let record = Record::asked("fix it").runs("go build ./... | tail -3", "a.go:3:1: undefined: x");
    let faults = record.says("All checks pass.").faults();
    assert_eq!(faults, [GateFault::FailedCheck]);
}

#[test]
fn work_that_was_mended_after_the_failure_may_be_done() {
    let record = Record::asked("fix it")
        .runs("cargo test", RED)
        .edits("/p/a.rs");
    assert_eq!(record.says("Done. The parser is right now.").faults(), []);
}

#[test]
fn each_turn_is_judged_by_itself() {
    let record = Record::asked("fix it")
        .runs("cargo test", RED)
        .says("All tests pass.")
        .user(&json!("they do not"))
        .runs("cargo test", RED)
        .says("Right, they fail.")
        .user(&json!("and now"))
        .user(&json!("[Request interrupted by user]"));
    let stops = record.stops();
    let passed: Vec<bool> = stops.iter().map(|stop| stop.verdict.passes()).collect();
    assert_eq!(passed, [false, true]);
}

#[test]
fn the_guidance_shows_the_evidence_and_keeps_its_bound() {
    let said = format!("All tests pass {}", "é".repeat(2_000));
    let record = Record::asked("fix it").runs("cargo test", RED).says(&said);
    let verdict = record.verdict();
    assert!(verdict.guidance.contains(RED), "{}", verdict.guidance);
    assert!(verdict.guidance.contains("Run that check again"));
    assert!(verdict.guidance.encode_utf16().count() <= 1_500);
}

#[test]
fn what_a_model_says_is_told_with_its_fix_once() {
    let judgement = Judgement {
        quality_score: Score::new(0.2).unwrap(),
        issues: vec!["No test ran.".into(), "The README\nis missing.".into()],
        suggested_fix: Some("Run the tests.".into()),
    };
    let verdict = GateVerdict::judged(judgement.clone());
    assert!(!verdict.passes());
    assert_eq!(
        verdict.guidance,
        "No test ran.\nThe README is missing.\nRun the tests."
    );
    let no_fix = GateVerdict::judged(Judgement {
        suggested_fix: None,
        ..judgement
    });
    assert!(no_fix.guidance.ends_with("or say plainly what is open."));
}
