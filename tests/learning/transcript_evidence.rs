//! The texts that the evidence of a session shows.

use super::records::{
    answer, assistant, call, call_with, error, failed, ran, read, read_with, user,
};
use crate::common::prelude::*;
use playbook::redact::{NeverRead, Secrecy};
use playbook::transcript::ReadOptions;

/// Returns the evidence of a session that begins with this request.
fn shown(request: &str, lines: &[Vec<Value>]) -> String {
    let lines = [vec![user(request)], lines.concat()].concat();
    read(&lines).evidence.finish(24_000).text
}

const REFUSAL: &str =
    "The user doesn't want to proceed with this tool use. The tool use was rejected.";

fn refused(words: &str) -> Value {
    error(&format!(
        "{REFUSAL} To tell you how to proceed, the user said:\n{words}"
    ))
}

#[test]
fn a_failed_call_is_shown_once_with_its_count() {
    let missing = failed("python run.py", "Exit code 127\nsh: 1: python: not found");
    let lines = [vec![missing; 5].concat(), ran("python3 run.py", "ok")].concat();
    insta::assert_snapshot!(shown("run it", &[lines]), @r"
    #1 USER: run it
    #2 CLAUDE calls: Bash `python run.py`
    #3 ERROR in Bash `python run.py` (exit 127, 5 times): sh: 1: python: not found
    #4 CLAUDE calls: Bash `python3 run.py`
    ");
}

/// A different target, or another call in between, makes it another error.
#[test]
fn errors_are_told_as_one_only_when_the_same_call_was_made_again_at_once() {
    let calls = ["./a", "./a", "./b", "./a"];
    let calls = calls.map(|call| failed(call, "Exit code 1\nerror: no such host"));
    insta::assert_snapshot!(shown("run it", &calls), @r"
    #1 USER: run it
    #2 CLAUDE calls: Bash `./a`
    #3 ERROR in Bash `./a` (exit 1, 2 times): error: no such host
    #4 CLAUDE calls: Bash `./b`
    #5 ERROR in Bash `./b` (exit 1): error: no such host
    #6 CLAUDE calls: Bash `./a`
    #7 ERROR in Bash `./a` (exit 1): error: no such host
    ");
}

/// A plan that is carried out in a new context appears as a refused call and an interrupted turn.
/// It counts as refused only with a reason.
#[test]
fn a_plan_that_was_left_without_a_word_is_not_refused() {
    let plan = || call_with("ExitPlanMode", &json!({"plan": "Write it anew."}));
    let interrupted = || user("[Request interrupted by user for tool use]");
    let lines = vec![
        plan(),
        refused("smaller, please"),
        plan(),
        error(REFUSAL),
        interrupted(),
        user("Implement the following plan:\n\nWrite it anew."),
        call_with("Edit", &json!({"file_path": "a.rs"})),
        error(REFUSAL),
        interrupted(),
    ];
    let text = shown("mend it", &[lines]);
    let of_user = text.lines().filter(|line| line.contains(" USER "));
    let want = [
        "#3 USER refused ExitPlanMode: smaller, please",
        "#7 USER refused Edit `a.rs`",
        "#8 USER interrupted",
    ];
    assert_eq!(of_user.collect::<Vec<_>>(), want, "{text}");
}

#[test]
fn a_refused_edit_is_shown_by_the_lines_it_would_have_changed() {
    let input = json!({"file_path": "a.rs", "old_string": "fn a() {\n    x();\n}", "new_string": "fn a() {\n    y();\n}"});
    let lines = vec![call_with("Edit", &input), refused("use z")];
    insta::assert_snapshot!(shown("mend it", &[lines]), @r"
    #1 USER: mend it
    #2 CLAUDE calls: Edit `a.rs`
    #3 USER refused Edit `a.rs`: use z
      → it would have changed:
        -     x();
        +     y();
    ");
}

#[test]
fn secrets_and_the_home_folder_are_not_in_the_evidence_nor_in_the_facts() {
    let secret = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
    let curl = |file| format!("curl -H 'Authorization: Bearer {secret}' /home/someone/{file}");
    let refused = format!("Exit code 1\nerror: {secret} refused in /home/someone/x");
    let always = format!("Always use the token {secret} from /home/someone/.netrc");
    let lines = [
        vec![user(always)],
        vec![assistant(&format!("By [pat-001] I use {secret}."))],
        failed(&curl("x"), &refused),
        ran(&curl("y/x"), "ok"),
        vec![user(format!("No, {secret} is the wrong one"))],
    ];
    let options = ReadOptions {
        home: Some("/home/someone".to_owned()),
        ..ReadOptions::default()
    };
    let digest = read_with(&options, &lines.concat());
    let kept = serde_json::to_string(&digest.facts).unwrap() + &digest.evidence.finish(24_000).text;
    lacks!(kept, "0123456789abc", "/home/someone");
}

/// Lookups share one line in any order, a folder is entered once, and a failed check is shown once
/// and never also as an error.
#[test]
fn what_repeats_is_folded_and_no_failed_check_is_lost() {
    let mut lines = Vec::new();
    for i in 0..7 {
        let tool = if i == 3 { "Grep" } else { "Read" };
        lines.push(vec![call(tool, &format!("f{i}.rs")), answer("x")]);
    }
    lines.extend(["cd /w && ls", "cd /w && make", "cd /v && make"].map(|line| ran(line, "ok")));
    for (i, test) in [(20, "one"), (21, "two")] {
        let red = format!("Exit code 101\ntest {test} ... FAILED\ntest result: FAILED. {i} passed");
        lines.push(failed("cargo test", &red));
    }
    insta::assert_snapshot!(shown("mend it", &lines));
}

#[test]
fn the_error_of_a_file_that_is_never_read_is_told_and_its_content_is_not() {
    let secrecy = Secrecy {
        never_read: NeverRead::new(&[".env".to_owned()]),
        ..Secrecy::default()
    };
    let options = ReadOptions {
        secrecy,
        ..ReadOptions::default()
    };
    let error = "Exit code 14\nPLAIN=content\nno such service:\tweb";
    let lines = [
        failed("docker compose --env-file .env up", error),
        ran("cat .env", "PLAIN=content"),
    ];
    let digest = read_with(&options, &lines.concat());
    let text = digest.evidence.finish(24_000).text;
    has!(text, "no such service:\tweb");
    lacks!(text, "content");
}

#[test]
fn what_is_shown_names_its_message() {
    let shown = read(&[user("go"), json!({"type": "assistant", "message": {"role": "assistant", "id": "msg_1", "content": "Done."}})]).evidence.finish(1_000).shown;
    let ids = shown.iter().map(|shown| shown.place.message_id.as_deref());
    assert_eq!(ids.collect::<Vec<_>>(), [None, Some("msg_1")]);
}

/// An older client writes a subagent's calls into the session as progress.
#[test]
fn what_the_user_refused_to_a_subagent_is_shown() {
    let progress = |mut record: Value| {
        record["message"]["content"][0]["id"] = "s".into();
        record["message"]["content"][0]["tool_use_id"] = "s".into();
        json!({"type": "progress", "parentToolUseID": "t",
            "data": {"type": "agent_progress", "message": record}})
    };
    let write = json!({"file_path": "package-lock.json", "content": "{}"});
    let digest = read(&[
        user("update it"),
        call("Task", "Update the packages"),
        progress(call("Bash", "npm update")),
        progress(error("Exit code 1\nerror: offline")),
        progress(call_with("Write", &write)),
        progress(refused("leave the lockfile alone")),
        json!({"type": "progress", "data": {"type": "bash_progress", "output": "The user doesn't want to"}}),
    ]);
    assert_eq!((digest.facts.rejections, digest.facts.tool_calls), (1, 1));
    insta::assert_snapshot!(digest.evidence.finish(24_000).text, @r"
    #1 USER: update it
    #2 CLAUDE calls: Task `Update the packages`
    #3 USER refused Write `package-lock.json`: leave the lockfile alone
      → it would have changed:
        + {}
    ");
}

/// Esc kills what runs: neither the check nor the command failed.
#[test]
fn what_the_user_stopped_has_not_failed() {
    let interrupted = || vec![user("[Request interrupted by user for tool use]")];
    let killed = "Exit code 137\n[Request interrupted by user for tool use]";
    let lines = [
        vec![user("test it")],
        failed("cargo test", killed),
        interrupted(),
        vec![user("only the unit tests")],
        failed("cargo test --lib", "Exit code 130\nrunning 5 tests"),
        interrupted(),
    ];
    let digest = read(&lines.concat());
    let facts = &digest.facts;
    assert_eq!((facts.checks_failed, facts.interrupts), (0, 2));
    insta::assert_snapshot!(digest.evidence.finish(24_000).text, @r"
    #1 USER: test it
    #2 CLAUDE calls: Bash `cargo test`
    #3 USER interrupted
    #4 USER: only the unit tests
    #5 CLAUDE calls: Bash `cargo test --lib`
    #6 ERROR in Bash `cargo test --lib` (exit 130): running 5 tests
    #7 USER interrupted
    ");
}

/// An announcement repeats the call below it, and thoughts are not shown.
#[test]
fn announcements_and_thoughts_are_left_out() {
    let words = "<thinking>\nThe user wants it mended.\n</thinking>\n\nThe depth is never reset. I'll set it to 0:";
    let lines = vec![
        assistant("Now let me read the parser:"),
        call("Read", "parser.rs"),
        assistant(words),
        call("Edit", "parser.rs"),
        assistant("I left the limit at 64. Let me know if you want more."),
    ];
    insta::assert_snapshot!(shown("mend it", &[lines]), @r"
    #1 USER: mend it
    #2 CLAUDE calls: Read `parser.rs`
    #3 CLAUDE: The depth is never reset.
    #4 CLAUDE calls: Edit `parser.rs`
    #5 CLAUDE: I left the limit at 64. Let me know if you want more.
    ");
}

/// A red run is shown by its failures, and a failed edit by its reason.
#[test]
fn what_says_nothing_of_a_failure_is_left_out() {
    let red = "Exit code 1\n=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n    b_test.go:3: want 2\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)";
    let unread = "File has not been read yet. Read it first before writing to it.";
    let lines = [
        vec![user("mend it"), call("Edit", "b.go"), error(unread)],
        vec![call("Read", "b.go"), answer("x")],
        failed("go test ./...", red),
        vec![call("Edit", "b.go"), answer("ok")],
    ];
    let evidence = read(&lines.concat()).evidence.finish(24_000);
    assert_eq!(evidence.left_out, 0);
    insta::assert_snapshot!(evidence.text, @r"
    #1 USER: mend it
    #2 CLAUDE calls: Edit `b.go`
    #3 ERROR in Edit `b.go`: File has not been read yet. Read it first before writing to it.
    #4 CLAUDE calls: Read `b.go`; Bash `go test ./...`
    #5 ERROR in Bash `go test ./...` (exit 1):
      b_test.go:3: want 2
      --- FAIL: TestB (0.01s)
    #6 CLAUDE calls: Edit `b.go`
    ");
}
