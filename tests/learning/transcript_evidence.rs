//! What the evidence of a session shows, and how.

use super::records::{answer, assistant, call, call_with, read, read_with, user};
use playbook::redact::{NeverRead, Secrecy};
use playbook::transcript::ReadOptions;
use serde_json::{Value, json};

#[test]
fn a_failed_call_is_shown_once_with_its_count_and_its_fix() {
    let mut lines = vec![user("run it")];
    for i in 0..5 {
        lines.push(call(i, "Bash", "python run.py"));
        lines.push(answer(i, "Exit code 127\nsh: 1: python: not found", true));
    }
    lines.push(call(9, "Bash", "python3 run.py"));
    lines.push(answer(9, "ok", false));
    let digest = read(&lines);
    let ways = digest.facts.errors[0].ways.iter().map(ToString::to_string);
    let ways: Vec<String> = ways.collect();
    assert_eq!(ways, ["`python3 <file>` instead of `python <file>`"]);
    insta::assert_snapshot!(digest.evidence.finish(24_000).text, @r"
    #1 USER: run it
    #2 CLAUDE calls: Bash `python run.py`
    #3 ERROR in Bash `python run.py` (exit 127, 5 times): sh: 1: python: not found
      → then this worked: `python3 <file>` instead of `python <file>`
    #4 CLAUDE calls: Bash `python3 run.py`
    ");
}

/// Another target, or another call between them, makes it another error.
#[test]
fn errors_are_told_as_one_only_when_the_same_call_was_made_again_at_once() {
    let mut lines = vec![user("run it")];
    for (i, command) in ["./a", "./a", "./b", "./a"].into_iter().enumerate() {
        lines.push(call(i, "Bash", command));
        lines.push(answer(i, "Exit code 1\nerror: no such host", true));
    }
    insta::assert_snapshot!(read(&lines).evidence.finish(24_000).text, @r"
    #1 USER: run it
    #2 CLAUDE calls: Bash `./a`
    #3 ERROR in Bash `./a` (exit 1, 2 times): error: no such host
    #4 CLAUDE calls: Bash `./b`
    #5 ERROR in Bash `./b` (exit 1): error: no such host
    #6 CLAUDE calls: Bash `./a`
    #7 ERROR in Bash `./a` (exit 1): error: no such host
    ");
}

/// A plan that is carried out in a new context stands there as a call that was refused and a turn
/// that was interrupted; only words make a refusal of it.
#[test]
fn a_plan_that_was_left_without_a_word_is_not_refused() {
    let plan = |id| call_with(id, "ExitPlanMode", &json!({"plan": "Write it anew."}));
    let refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    let words = format!("{refusal} To tell you how to proceed, the user said:\nsmaller, please");
    let interrupted = || user("[Request interrupted by user for tool use]");
    let lines = [
        user("mend it"),
        plan(1),
        answer(1, &words, true),
        plan(2),
        answer(2, refusal, true),
        interrupted(),
        user("Implement the following plan:\n\nWrite it anew."),
        call_with(3, "Edit", &json!({"file_path": "a.rs"})),
        answer(3, refusal, true),
        interrupted(),
    ];
    let text = read(&lines).evidence.finish(24_000).text;
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
    let edit = json!({"type": "assistant", "message": {"role": "assistant", "content":
        [{"type": "tool_use", "id": "t1", "name": "Edit", "input": input}]}});
    let refusal = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse z";
    let lines = [user("mend it"), edit, answer(1, refusal, true)];
    insta::assert_snapshot!(read(&lines).evidence.finish(24_000).text, @r"
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
    let lines = [
        user(format!(
            "Always use the token {secret} from /home/someone/.netrc"
        )),
        assistant(&format!("By [pat-001] I use {secret}.")),
        call(1, "Bash", &curl("x")),
        answer(1, &refused, true),
        call(2, "Bash", &curl("y/x")),
        answer(2, "ok", false),
        user(format!("No, {secret} is the wrong one")),
    ];
    let options = ReadOptions {
        home: Some("/home/someone".to_owned()),
        ..ReadOptions::default()
    };
    let digest = read_with(&options, &lines);
    let facts = serde_json::to_string(&digest.facts).unwrap();
    let evidence = digest.evidence.finish(24_000).text;
    for kept in [facts, evidence] {
        lacks!(kept, "0123456789abc", "/home/someone");
    }
}

/// One line for what was looked at, whatever the order; a folder is gone to once; a failed
/// check is told once, and never as another error.
#[test]
fn what_repeats_is_folded_and_no_failed_check_is_lost() {
    let mut lines = vec![user("mend it")];
    for i in 0..7 {
        let tool = if i == 3 { "Grep" } else { "Read" };
        lines.extend([call(i, tool, &format!("f{i}.rs")), answer(i, "x", false)]);
    }
    for (i, command) in [
        (10, "cd /w && ls"),
        (11, "cd /w && make"),
        (12, "cd /v && make"),
    ] {
        lines.extend([call(i, "Bash", command), answer(i, "ok", false)]);
    }
    for (i, test) in [(20, "one"), (21, "two")] {
        let red = format!("Exit code 101\ntest {test} ... FAILED\ntest result: FAILED. {i} passed");
        lines.extend([call(i, "Bash", "cargo test"), answer(i, &red, true)]);
    }
    insta::assert_snapshot!(read(&lines).evidence.finish(24_000).text);
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
    let lines = [
        user("go"),
        call(1, "Bash", "docker compose --env-file .env up"),
        answer(
            1,
            "Exit code 14\nPLAIN=content\nno such service:\tweb",
            true,
        ),
        call(2, "Bash", "cat .env"),
        answer(2, "PLAIN=content", false),
    ];
    let digest = read_with(&options, &lines);
    let text = digest.evidence.finish(24_000).text;
    has!(text, "no such service:\tweb");
    lacks!(text, "content");
}

#[test]
fn what_is_shown_names_its_message() {
    let line = json!({"type": "assistant", "message": {"role": "assistant", "id": "msg_1", "content": "Done."}});
    let evidence = read(&[user("go"), line]).evidence.finish(1_000);
    let ids = evidence
        .shown
        .iter()
        .map(|shown| shown.message_id.as_deref());
    assert_eq!(ids.collect::<Vec<_>>(), [None, Some("msg_1")]);
}

/// An older client writes a subagent's calls among the session's, as progress.
#[test]
fn what_the_user_refused_to_a_subagent_is_shown() {
    let progress = |kind: &str, content: Value| {
        json!({"type": "progress", "parentToolUseID": "t1", "data": {"type": "agent_progress",
            "message": {"type": kind, "message": {"role": kind, "content": content}}}})
    };
    let refusal = "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nleave the lockfile alone";
    let lines = [
        user("update it"),
        call(1, "Task", "Update the packages"),
        progress(
            "assistant",
            json!([{"type": "tool_use", "id": "s1", "name": "Bash", "input": {"command": "npm update"}}]),
        ),
        progress(
            "user",
            json!([{"type": "tool_result", "tool_use_id": "s1", "is_error": true, "content": "Exit code 1\nerror: offline"}]),
        ),
        progress(
            "assistant",
            json!([{"type": "tool_use", "id": "s2", "name": "Write", "input": {"file_path": "package-lock.json", "content": "{}"}}]),
        ),
        progress(
            "user",
            json!([{"type": "tool_result", "tool_use_id": "s2", "is_error": true, "content": refusal}]),
        ),
        json!({"type": "progress", "data": {"type": "bash_progress", "output": "The user doesn't want to"}}),
    ];
    let digest = read(&lines);
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
    let lines = [
        user("test it"),
        call(1, "Bash", "cargo test"),
        answer(
            1,
            "Exit code 137\n[Request interrupted by user for tool use]",
            true,
        ),
        user("[Request interrupted by user for tool use]"),
        user("only the unit tests"),
        call(2, "Bash", "cargo test --lib"),
        answer(2, "Exit code 130\nrunning 5 tests", true),
        user("[Request interrupted by user for tool use]"),
    ];
    let digest = read(&lines);
    assert_eq!(
        (digest.facts.checks_failed, digest.facts.interrupts),
        (0, 2)
    );
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

/// A command that only names a plan leaves no task but in the plan.
#[rstest::rstest]
#[case::command(
    user("<command-name>/work:do</command-name>\n<command-args>41</command-args>"),
    call(1, "Read", "/w/.work/plan.md"),
    true
)]
#[case::issue(
    user("<command-name>/fix</command-name>\n<command-args>41</command-args>"),
    call(1, "Bash", "gh issue view 41"),
    true
)]
#[case::named(
    user("start with docs/TASK-hooks.md"),
    call(1, "Read", "/w/docs/TASK-hooks.md"),
    true
)]
#[case::said_in_words(user("rename the flag"), call(1, "Read", "/w/docs/plan.md"), false)]
#[case::code(
    user("<command-name>/fix</command-name>\n<command-args>41</command-args>"),
    call(1, "Read", "/w/src/plan.rs"),
    false
)]
fn the_task_is_shown_where_it_stands_in_a_file(
    #[case] request: Value,
    #[case] reads: Value,
    #[case] is_shown: bool,
) {
    let plan = "     1→# Keep the flag\n     2→\n     3→The old flag must go on working.";
    let again = [
        call(2, "Read", "/w/.work/plan.md"),
        answer(2, "     1→# Another", false),
    ];
    let mut lines = vec![request, reads, answer(1, plan, false)];
    lines.extend(again);
    let text = read(&lines).evidence.finish(24_000).text;
    assert_eq!(
        text.contains("  # Keep the flag\n  The old flag must go on working."),
        is_shown,
        "{text}"
    );
    assert!(!is_shown || !text.contains("Another"), "{text}");
}

#[test]
fn what_failed_and_works_now_says_so() {
    let lines = [
        user("deploy"),
        call(1, "Bash", "./deploy.sh"),
        answer(1, "Exit code 1\nno space", true),
        call(2, "Bash", "./clean.sh"),
        answer(2, "ok", false),
        call(3, "Bash", "./deploy.sh --fast"),
        answer(3, "ok", false),
    ];
    insta::assert_snapshot!(read(&lines).evidence.finish(24_000).text, @r"
    #1 USER: deploy
    #2 CLAUDE calls: Bash `./deploy.sh`
    #3 ERROR in Bash `./deploy.sh` (exit 1): no space
      → later it worked: `./deploy.sh --fast`
    #4 CLAUDE calls: Bash × 2: `./clean.sh`, `./deploy.sh --fast`
    ");
}

/// What is announced stands below as the call, and thoughts are none of the words.
#[test]
fn announcements_and_thoughts_are_left_out() {
    let lines = [
        user("mend it"),
        assistant("Good. Now let me read the parser:"),
        call(1, "Read", "parser.rs"),
        assistant(
            "<thinking>\nThe user wants it mended.\n</thinking>\n\nThe depth is never reset. I'll set it to 0.",
        ),
        call(2, "Edit", "parser.rs"),
        assistant("I left the limit at 64. Let me know if you want more."),
    ];
    insta::assert_snapshot!(read(&lines).evidence.finish(24_000).text, @r"
    #1 USER: mend it
    #2 CLAUDE calls: Read `parser.rs`
    #3 CLAUDE: The depth is never reset.
    #4 CLAUDE calls: Edit `parser.rs`
    #5 CLAUDE: I left the limit at 64. Let me know if you want more.
    ");
}

/// Of a red run its failures count, and an edit that was soon made again is no news.
#[test]
fn what_says_nothing_of_a_failure_is_left_out() {
    let red = "Exit code 1\n=== RUN   TestA\n=== PAUSE TestA\n=== RUN   TestB\n    b_test.go:3: want 2\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.01s)";
    let lines = [
        user("mend it"),
        call(1, "Edit", "b.go"),
        answer(
            1,
            "File has not been read yet. Read it first before writing to it.",
            true,
        ),
        call(2, "Read", "b.go"),
        answer(2, "x", false),
        call(3, "Bash", "go test ./..."),
        answer(3, red, true),
        call(4, "Edit", "b.go"),
        answer(4, "ok", false),
    ];
    let evidence = read(&lines).evidence.finish(24_000);
    assert_eq!(evidence.left_out, 0);
    insta::assert_snapshot!(evidence.text, @r"
    #1 USER: mend it
    #2 CLAUDE calls: Edit `b.go`; Read `b.go`; Bash `go test ./...`
    #3 ERROR in Bash `go test ./...` (exit 1):
      b_test.go:3: want 2
      --- FAIL: TestB (0.01s)
    #4 CLAUDE calls: Edit `b.go`
    ");
}
