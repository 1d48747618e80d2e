//! Promise: `playbook gate` says of each stop in a transcript what the gate finds.

use crate::common::prelude::*;

const RED: &str = "test result: FAILED. 2 passed; 1 failed";

fn session() -> Session {
    let mut session = Session::new("s1");
    session
        .user("add a parser")
        .failed("cargo test", &format!("Exit code 101\n{RED}"))
        .assistant("All tests pass.")
        .user("they do not")
        .ran("cargo test", "test result: ok. 3 passed; 0 failed")
        .assistant("Now all tests pass.");
    session
}

#[test]
fn a_stop_that_contradicts_the_record_is_shown_with_its_evidence() {
    let env = TestEnv::without_worker();
    let path = env.write_transcript(&session());
    let said = env.cli(&["gate", path.to_str().unwrap()]).ok();
    has!(
        said,
        "score 0.30",
        "The last check failed (cargo test).",
        "You said: \"All tests pass.\"",
        "The last run: cargo test",
        RED,
        "2 stops; 1 would not pass"
    );
}

#[test]
fn each_stop_has_its_verdict_as_json() {
    let env = TestEnv::without_worker();
    let path = env.write_transcript(&session());
    let told = env.cli(&["gate", path.to_str().unwrap(), "--json"]).json();
    let stops = told["stops"].as_array().unwrap();
    assert_eq!(
        (&stops[0]["passes"], &stops[1]["passes"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(stops.len(), 2);
    assert_eq!(stops[0]["findings"][0]["fault"], "failed_check");
    assert_eq!(stops[1]["findings"], json!([]));
    assert_eq!(stops[1]["guidance"], "");
}

#[test]
fn a_transcript_that_is_not_there_is_named() {
    let env = TestEnv::without_worker();
    let out = env.cli(&["gate", "none.jsonl"]);
    assert_eq!(out.code, Some(1));
    has!(
        out.stderr,
        "could not read transcript",
        "none.jsonl",
        "hint:"
    );
}
