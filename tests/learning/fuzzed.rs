//! Promise: no input, however broken, makes us panic, hang, disturb the client or write outside our
//! own folders.
//!
//! Targets and inputs are those of `examples/fuzz`, which runs for minutes. `PLAYBOOK_FUZZ=5000`
//! tries that many inputs for each hook's binary.

#[path = "../../fuzz/bodies.rs"]
mod bodies;
#[path = "../../examples/soak/dice.rs"]
#[allow(dead_code, reason = "the soak rolls them in more ways")]
mod dice;
#[path = "../../examples/fuzz/mutate.rs"]
mod mutate;

use crate::common::prelude::*;
use mutate::Mutator;

const INPUTS: usize = 400;
const HOOK_INPUTS: usize = 25;

#[test]
fn any_input_keeps_the_promises_of_each_target() {
    for (name, body) in bodies::TARGETS {
        println!("{name}");
        let mut mutator = Mutator::new(7);
        for _ in 0..INPUTS {
            let input = mutator.next();
            body(&input[..input.len().min(64 << 10)]);
        }
    }
}

/// Texts found by the fuzzer that a second masking changed.
#[test]
fn what_the_fuzzer_found_is_masked_for_good() {
    let findings = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/fuzz/redact");
    let mut count = 0;
    for finding in fs::read_dir(findings).unwrap().flatten() {
        bodies::redact(&fs::read(finding.path()).unwrap());
        count += 1;
    }
    assert_eq!(count, 13);
}

/// The input most likely to break linear time: a megabyte of one pattern.
#[rstest]
#[case::braces("{")]
#[case::brackets("[")]
#[case::quotes("\"")]
#[case::escapes("\\")]
#[case::objects("{\"a\":")]
#[case::fences("```json\n{")]
#[case::placeholders("{transcript}")]
#[case::names("token: ")]
#[case::commands("curl -u a:")]
#[case::commands_apart("curl -u a:curl -u a::currlypecurl -u a:curl -u a ")]
#[case::names_in_values("pwd:a")]
#[case::keys_in_keys("sk-")]
#[case::keys("-----BEGIN PRIVATE KEY-----")]
#[case::one_word("a")]
#[case::attacks("ignore ")]
#[case::fetches("curl x ")]
#[case::removals("rm -rf ")]
#[case::sendings("send the token to ")]
#[case::orders("use, ")]
#[case::tags("<!-- ")]
#[case::backticks("`never` ")]
fn a_megabyte_of_one_sign_is_read_by_all(#[case] sign: &str) {
    let input = sign.repeat((1 << 20) / sign.len());
    for (_, body) in bodies::TARGETS {
        body(input.as_bytes());
    }
}

#[rstest]
#[case::session_start(Hook::SessionStart)]
#[case::session_end(Hook::SessionEnd)]
#[case::pre_compact(Hook::PreCompact)]
#[case::subagent_stop(Hook::SubagentStop)]
#[case::post_tool_use_failure(Hook::PostToolUseFailure)]
#[case::user_prompt_submit(Hook::UserPromptSubmit)]
fn any_stdin_leaves_the_client_undisturbed(#[case] hook: Hook) {
    let inputs = std::env::var("PLAYBOOK_FUZZ").ok();
    let inputs = inputs.and_then(|n| n.parse().ok()).unwrap_or(HOOK_INPUTS);
    let env = TestEnv::in_memory();
    env.write_playbook(&[("pat-001", "run the tests")]);
    let known = lesson(
        "it was not there",
        "`make thing`",
        Some("error: no such thing"),
    );
    env.learn("j1", 2, &[known]);
    let before = env.files();
    let mut mutator = Mutator::new(11);
    for number in 0..inputs {
        let input = mutator.next();
        let output = env.hook_bytes(hook, &input, Stdin::Closed);
        assert_eq!(output.code, Some(0), "input {number}: {output:?}");
        assert_eq!(output.stderr, "", "input {number}");
        if !output.stdout.is_empty() {
            let answer: Value = serde_json::from_str(&output.stdout).expect("one JSON value");
            assert!(answer.is_object(), "input {number}: {answer}");
        }
        if number % 500 == 499 {
            // Another test covers a spool of thousands.
            fs::remove_dir_all(env.state()).ok();
        }
    }
    let ours = env.state();
    for path in env.changed_since(&before) {
        let path = env.root().join(path);
        assert!(path.starts_with(&ours), "{} was changed", path.display());
    }
}
