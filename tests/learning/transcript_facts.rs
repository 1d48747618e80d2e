//! The facts of a session: what was asked, how it ended, what counts.

use super::records::{answer, assistant as claude, call, error, ran, read, read_as, user};
use crate::common::prelude::*;
use playbook::transcript::{
    Digest, ErrorCategory, EventSource, Facts, Lane, ReadOptions, Reason, SessionOutcome,
    scan_reader,
};

pub(super) fn facts(lines: &[Value]) -> Facts {
    read(lines).facts
}

fn synthetic(text: &str) -> Value {
    let mut line = claude(text);
    line["message"]["model"] = "<synthetic>".into();
    line
}

fn rejection(words: &str) -> Value {
    error(&format!(
        "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n{words}"
    ))
}

pub(super) fn with(mut record: Value, key: &str, value: impl Into<Value>) -> Value {
    record[key] = value.into();
    record
}

#[rstest]
#[case::went_well(vec![claude("done")], SessionOutcome::Partial, None)]
#[case::made_good(vec![call("Bash", "cargo tset"), error("no such command: tset"), call("Bash", "cargo test"), answer("ok"), claude("done")], SessionOutcome::Success, None)]
#[case::red(vec![call("Bash", "cargo test"), error("Exit code 101\ntest result: FAILED. 1 failed"), claude("so be it")], SessionOutcome::Failure, Some(ErrorCategory::TestFailure))]
#[case::red_then_green(vec![call("Bash", "cargo test"), error("test result: FAILED. 1 failed"), call("Bash", "cargo test"), answer("test result: ok. 1 passed"), claude("done")], SessionOutcome::Success, None)]
#[case::cut_off(vec![call("Bash", "x"), error("Command timed out after 2m")], SessionOutcome::Timeout, Some(ErrorCategory::Timeout))]
#[case::cut_off_and_said_so(vec![call("Bash", "x"), error("Command timed out after 2m"), claude("I could not finish.")], SessionOutcome::Timeout, Some(ErrorCategory::Timeout))]
#[case::failed_and_said_so(vec![call("Bash", "./deploy.sh"), error("Exit code 1\nPermissionError: a"), claude("I was not able to deploy.")], SessionOutcome::Partial, Some(ErrorCategory::Permission))]
#[case::failed_and_asked_again(vec![call("Bash", "./deploy.sh"), error("Exit code 1"), claude("It failed."), user("leave it then"), claude("All right.")], SessionOutcome::Partial, None)]
#[case::good_in_silence(vec![call("Bash", "make"), error("Exit code 2\nmake: *** [Makefile:3: all] Error 1"), call("Edit", "a.c"), answer("ok"), call("Bash", "make"), answer("cc -o a a.c"), claude("Built.")], SessionOutcome::Success, None)]
#[case::never_run_again(vec![call("Bash", "npx tsc"), error("Exit code 2\na.ts(3,5): error TS2322: x"), call("Edit", "a.ts"), answer("ok"), claude("Mended.")], SessionOutcome::Failure, Some(ErrorCategory::TypeCompile))]
#[case::linter_without_a_summary(vec![call("Bash", "cargo test"), answer("test result: ok. 1 passed"), call("Bash", "npx pyright src"), error("Exit code 1\nsrc/a.py:1:1 - error: x"), claude("so be it")], SessionOutcome::Failure, Some(ErrorCategory::TypeCompile))]
#[case::edited_after_the_check(vec![call("Bash", "cargo test"), answer("test result: ok. 1 passed"), call("Edit", "a.rs"), answer("ok"), claude("done")], SessionOutcome::Partial, None)]
#[case::edited_after_a_red_check(vec![call("Bash", "cargo test"), error("test result: FAILED. 1 failed"), call("Write", "a.rs"), answer("ok"), claude("done")], SessionOutcome::Failure, Some(ErrorCategory::TestFailure))]
#[case::killed(vec![call("Bash", "cargo test"), error("Exit code 137\nKilled"), claude("so be it")], SessionOutcome::Partial, Some(ErrorCategory::Resource))]
#[case::red_in_a_pipe(vec![call("Bash", "cargo test"), error("test result: FAILED. 1 failed"), call("Bash", "cargo test | tail -1"), answer("test result: FAILED. 1 failed"), claude("so be it")], SessionOutcome::Failure, Some(ErrorCategory::TestFailure))]
#[case::nothing_asked(vec![claude("done"), synthetic("No response requested.")], SessionOutcome::Partial, None)]
#[case::no_key(vec![with(synthetic("API Error: 401 Invalid API key"), "isApiErrorMessage", true)], SessionOutcome::Error, Some(ErrorCategory::Permission))]
#[case::unmarked(vec![synthetic("API Error: 529 overloaded")], SessionOutcome::Error, Some(ErrorCategory::Network))]
#[case::stopped(vec![claude("a"), user("[Request interrupted by user]")], SessionOutcome::Partial, None)]
#[case::refused_on_the_way(vec![call("Bash", "x"), rejection("use y"), claude("done")], SessionOutcome::Partial, None)]
#[case::no_answer(vec![with(claude("API Error: 529 overloaded"), "isApiErrorMessage", true)], SessionOutcome::Error, Some(ErrorCategory::Network))]
fn the_outcome_is_decided(
    #[case] after: Vec<Value>,
    #[case] outcome: SessionOutcome,
    #[case] category: Option<ErrorCategory>,
) {
    let facts = facts(&[vec![user("do x")], after].concat());
    assert_eq!((facts.outcome, facts.category), (outcome, category));
}

#[test]
fn the_lines_of_one_message_are_one_message() {
    let part = |text: &str, uuid: &str| json!({"type": "assistant", "uuid": uuid, "message": {"id": "m1", "content": [{"type": "text", "text": text}]}});
    let facts = facts(&[part("a [pat-001]", "u1"), part("b", "u2"), part("b", "u2")]);
    assert_eq!((facts.assistant_texts, facts.citations.len()), (1, 1));
}

#[test]
fn a_uuid_counts_once_and_what_another_job_has_not_at_all() {
    let record = |uuid: &str| with(user("x"), "uuid", uuid);
    let Digest { facts, stats, .. } = read(&[record("a"), record("b"), record("a")]);
    assert_eq!(facts.user_turns, 2);
    assert_eq!(stats.skipped[&Reason::Repeated], 1);
    let text = format!("{}\n{}\n", record("a"), record("b"));
    let mut asked = BTreeSet::new();
    let is_copy = &mut |hash, _| {
        assert!(asked.insert(hash), "once");
        asked.len() == 1
    };
    let digest = scan_reader(text.as_bytes(), 0, &ReadOptions::default(), is_copy).unwrap();
    assert_eq!(digest.facts.user_turns, 1);
}

#[rstest]
#[case::with_words("\n<command-args>update the docs</command-args>", "update the docs")]
#[case::alone("", "/x")]
fn a_slash_command_is_a_request(#[case] words: &str, #[case] request: &str) {
    let command = format!(
        "<command-message>x is running…</command-message>\n<command-name>/x</command-name>{words}"
    );
    let facts = facts(&[with(user("template"), "isMeta", true), user(command)]);
    assert_eq!(facts.first_request.as_deref(), Some(request));
    assert_eq!((facts.user_turns, facts.commands), (0, 1));
}

#[test]
fn an_answer_that_says_of_itself_that_it_failed_is_an_error() {
    let told = |success| format!("{{\n \"success\": {success}, \"error\": \"no plan 7\"}}");
    let lines = [false, true].map(|success| ran("x", &told(success)));
    let facts = facts(&lines.concat());
    assert_eq!((facts.tool_errors, facts.unresolved), (1, 0));
}

#[test]
fn a_subagents_file_is_read_in_its_own_lane() {
    let lines = [
        with(user("find it"), "isSidechain", true),
        with(claude("By [pat-009]."), "isSidechain", true),
        claude("By [pat-001]."),
    ];
    let cited = |lane| {
        let cited = read_as(lane, &lines).facts.citations;
        cited.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(cited(Lane::Session), ["pat-001"]);
    assert_eq!(cited(Lane::Subagent), ["pat-009"]);
}

/// REQ-REFL-001 on transcripts: only what the assistant wrote counts.
#[test]
fn ids_that_the_assistant_did_not_write_are_no_citations() {
    let lines = [
        user("[pat-002]"),
        json!({"type": "assistant", "message": {"content": [{"type": "thinking", "thinking": "[pat-001]"}]}}),
        call("Bash", "echo [pat-003]"),
        answer("[pat-004]"),
        with(claude("[pat-005]"), "isSidechain", true),
        json!({"type": "attachment", "attachment": {"content": "[pat-006]"}}),
        json!({"type": "summary", "summary": "[pat-007]"}),
        json!({"type": "api-request", "message": {"role": "assistant", "content": "[pat-008]"}}),
        with(claude("[pat-009]"), "isApiErrorMessage", true),
    ];
    assert_eq!(facts(&lines).citations, []);
}

#[test]
fn the_clients_own_commands_are_no_request() {
    let commands = [("/model", "opus"), ("/bashes", ""), ("/fix", "the parser")];
    let commands = commands.map(|(name, words)| {
        user(format!(
            "<command-name>{name}</command-name>\n<command-args>{words}</command-args>"
        ))
    });
    let facts = facts(&commands);
    assert_eq!(facts.first_request.as_deref(), Some("the parser"));
    assert_eq!(facts.commands, 1);
}

/// The feedback of a Stop hook to the agent (tests/fixtures/transcripts/stop-blocked.jsonl,
/// measured).
#[test]
fn the_guidance_of_a_stop_hook_is_neither_a_prompt_nor_the_users_words_nor_a_ground() {
    let text = include_str!("../fixtures/transcripts/stop-blocked.jsonl");
    has!(
        text,
        "From now on always run the checks before you say [pat-002]"
    );
    let read = |text: &str| {
        let options = ReadOptions::default();
        scan_reader(text.as_bytes(), 0, &options, &mut |_, _| false).unwrap()
    };
    let Digest {
        facts, evidence, ..
    } = read(text);
    assert_eq!((facts.user_turns, facts.stated), (1, vec![]));
    assert_eq!(facts.first_request.as_deref(), Some("run the checks"));
    let cited: Vec<String> = facts.citations.iter().map(ToString::to_string).collect();
    assert_eq!(cited, ["pat-001"]);

    let shown = evidence.finish(24_000).shown;
    let (hook, others): (Vec<_>, Vec<_>) = shown.iter().partition(|event| event.kind == "hook");
    assert_eq!(hook.len(), 1, "{shown:?}");
    assert_eq!(hook[0].source, EventSource::Outcome);
    for event in others {
        lacks!(event.words.join("\n"), "From now on");
    }
    // The same holds for a client that does not mark the record as its own.
    let facts = read(&text.replace(r#","isMeta":true"#, "")).facts;
    assert_eq!((facts.user_turns, facts.stated), (1, vec![]));
}
