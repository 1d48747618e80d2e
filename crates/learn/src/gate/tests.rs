use std::fmt::Write as _;

use serde_json::{Value, json};

use super::*;

const DONE: &str = "All done: the tests pass.";
const RED: &str = "Exit code 101\ntest a ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
const GREEN: &str = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";

fn prompt() -> Vec<Value> {
    vec![json!({"type": "user", "message": {"role": "user", "content": "mend the parser"}})]
}

fn call(id: &str, command: &str) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "content":
        [{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}})
}

fn answer(id: &str, text: &str) -> Value {
    let is_error = text.starts_with("Exit code");
    json!({"type": "user", "message": {"role": "user", "content":
        [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}]}})
}

fn ran(id: &str, command: &str, output: &str) -> [Value; 2] {
    [call(id, command), answer(id, output)]
}

fn judged(lines: &[Value], message: &str) -> Option<Judgement> {
    let step = lines.iter().fold(String::new(), |mut step, line| {
        writeln!(step, "{line}").unwrap();
        step
    });
    judge(step.as_bytes(), message, &Options::default())
}

fn score(lines: &[Value], message: &str) -> Option<f64> {
    judged(lines, message).map(|judgement| judgement.quality_score)
}

#[test]
fn a_failed_last_run_counts_where_the_agent_says_that_it_is_done() {
    let mut step = prompt();
    step.extend(ran("t1", "cargo test", GREEN));
    assert_eq!(score(&step, DONE), Some(1.0));
    step.extend(ran("t2", "cargo test", RED));
    let judgement = judged(&step, DONE).unwrap();
    assert!((judgement.quality_score - 0.2).abs() < 1e-9);
    let guidance = judgement.guidance();
    assert!(guidance.contains("`cargo test`") && guidance.contains("FAILED. 1 passed"));
    assert_eq!(score(&step, "Two tests still fail."), Some(1.0));
    step.extend(ran("t3", "cargo test --all", GREEN));
    assert_eq!(score(&step, DONE), Some(1.0));
}

#[test]
fn a_run_has_one_key_and_the_next_run_another() {
    let mut step = prompt();
    step.extend(ran("t1", "cargo test", RED));
    let key = |step: &[Value]| judged(step, DONE).unwrap().findings[0].key("p1");
    let first = key(&step);
    step.push(json!({"type": "assistant", "message": {"role": "assistant",
        "content": [{"type": "text", "text": DONE}]}}));
    assert_eq!(key(&step), first);
    step.extend(ran("t2", "cargo test", RED));
    assert_ne!(key(&step), first);
}

#[test]
fn it_is_silent_where_the_end_of_the_turn_is_not_certain() {
    let red = |mut step: Vec<Value>| {
        step.extend(ran("t1", "cargo test", RED));
        step
    };
    assert_eq!(score(&red(Vec::new()), DONE), None, "no prompt");
    let mut open = red(prompt());
    open.push(call("t2", "cargo test"));
    assert_eq!(score(&open, DONE), None, "a result is missing");
    let mut stopped = red(prompt());
    stopped.push(json!({"type": "user", "message": {"role": "user",
        "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}));
    assert_eq!(score(&stopped, DONE), None, "interrupted");
    let mut unreachable = red(prompt());
    unreachable.push(
        json!({"type": "assistant", "isApiErrorMessage": true, "message":
        {"role": "assistant", "content": [{"type": "text", "text": "API Error: 529"}]}}),
    );
    assert_eq!(score(&unreachable, DONE), None, "an API error");
}

#[test]
fn guidance_is_short_masked_and_no_prompt() {
    let key = ["ghp_", "16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let mut step = prompt();
    for tool in ["cargo test", "cargo clippy", "cargo build"] {
        let command = format!("GH={key} {tool} {}", "--verbose ".repeat(200));
        let output = format!("Exit code 101\nerror: {key} {}\n{RED}", "x".repeat(3_000));
        step.extend(ran(tool, &command, &output));
    }
    let guidance = judged(&step, DONE).unwrap().guidance();
    assert!(
        guidance.contains("cargo") && !guidance.contains(&key),
        "{guidance}"
    );
    assert!(guidance.encode_utf16().count() <= 1_500, "{guidance}");
    step.push(
        json!({"type": "user", "isMeta": true, "message": {"role": "user",
        "content": format!("Stop hook feedback:\n{guidance}")}}),
    );
    assert!(score(&step, DONE).is_some_and(|score| score < 0.5));
}
