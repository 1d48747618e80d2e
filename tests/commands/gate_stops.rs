//! Promise: `playbook gate` shows what the gate finds at each stop in a transcript.

use crate::common::prelude::*;

const RED: &str = "test result: FAILED. 2 passed; 1 failed";

#[test]
fn each_stop_has_its_verdict_as_json() {
    let env = TestEnv::without_worker();
    let mut session = Session::new("s1");
    session
        .user("add a parser")
        .failed("cargo test", &format!("Exit code 101\n{RED}"))
        .assistant("All tests pass.")
        .user("they do not")
        .ran("cargo test", "test result: ok. 3 passed; 0 failed")
        .assistant("Now all tests pass.");
    let path = env.write_transcript(&session).display().to_string();
    let shown = env.cli(&["gate", &path]).ok();
    has!(shown, "score 0.30", "The last check failed (cargo test).");
    has!(shown, "You said: \"All tests pass.\"");
    has!(shown, "The last run: cargo test", RED);
    has!(shown, "2 stops; 1 would not pass");
    let told = env.cli(&["gate", &path, "--json"]).json();
    let [first, second] = &told["stops"].as_array().unwrap()[..] else {
        panic!("two: {told}");
    };
    assert_eq!(first["passes"], false);
    assert_eq!(first["findings"][0]["fault"], "failed_check");
    let nothing_found = json!({"passes": true, "findings": [], "guidance": ""});
    includes(second, &nothing_found);
    env.cli(&["gate", "none.jsonl"])
        .fails(1, &["could not read transcript", "none.jsonl", "hint:"]);
}
