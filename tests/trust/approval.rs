//! Promise: with `curator.approval = "ask"` nothing that a model asks for is in the playbook
//! before the user has taken it; votes count at once.

use serde_json::{Value, json};

use crate::common::api::{Api, Step};
use crate::common::env::{Hook, TestEnv};
use crate::common::session::Session;

const ASK: &str = "[curator]\napproval = \"ask\"\n";

fn session(id: &str) -> Session {
    Session::new(id)
        .user("always run `just test` before a push, and never by hand")
        .ran("just test", "12 passed")
        .assistant("By [pat-001], done.")
        .done()
}

/// A project in which a model asked for three changes.
fn asked(config: &str) -> TestEnv {
    let said = |operation: Value| {
        let mut operation = operation;
        operation["grounds"] = json!([1]);
        operation["said"] = json!([1]);
        operation
    };
    let operations = [
        json!({"type": "ADD", "text": "Pushing by hand is never wanted.", "section": "OTHERS"}),
        json!({"type": "UPDATE", "target_id": "pat-001", "text": "Run `just test` before each push."}),
        json!({"type": "DELETE", "target_id": "pat-002", "reason": "never by hand"}),
    ];
    let operations: Vec<Value> = operations.into_iter().map(said).collect();
    let reflection = json!({"analysis": "a", "bullet_tags": [
        {"name": "pat-001", "tag": "helpful", "rationale": "r"}]});
    let curation = json!({"reasoning": "r", "operations": operations});
    let api = Api::script([reflection, curation].map(|reply| Step::text(&reply.to_string())));
    let mut env = TestEnv::without_worker();
    env.use_api(&api.base_url(), "sk-test");
    env.write_config(config);
    env.write_playbook(&[("pat-001", "run the tests"), ("pat-002", "test by hand")]);
    env.cli(&["trust"]).ok();
    env.write_transcript(&session("s1"));
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.worker();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    assert_eq!(api.requests().len(), 2);
    env
}

fn waiting(env: &TestEnv) -> Vec<u64> {
    let told = env.cli(&["review", "--json"]).json();
    let rows = told["quarantine"].as_array().unwrap();
    rows.iter().map(|row| row["id"].as_u64().unwrap()).collect()
}

fn texts(env: &TestEnv) -> Vec<String> {
    let told = env.cli(&["show", "--json"]).json();
    let points = told["points"].as_array().unwrap().iter();
    points
        .map(|point| point["text"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn what_a_model_asks_for_waits_until_the_user_takes_it() {
    let env = asked(ASK);
    assert_eq!(texts(&env), ["run the tests", "test by hand"]);
    assert_eq!(env.marks_of("pat-001"), (1, 0), "votes count at once");
    let start = env.hook(Hook::SessionStart, "s2", json!({})).json();
    has!(
        start["systemMessage"].as_str().unwrap(),
        "3 key points are held back"
    );
    let said = env.cli(&["review"]).ok();
    has!(
        said,
        "Pushing by hand is never wanted.",
        "waits for your word, as `curator.approval` says",
        "UPDATE pat-001",
        "DELETE pat-002"
    );
    let ids = waiting(&env);
    env.cli(&["review", "accept", &ids[0].to_string()]).ok();
    env.cli(&["review", "accept", &ids[1].to_string()]).ok();
    env.cli(&["review", "drop", &ids[2].to_string()]).ok();
    assert_eq!(
        texts(&env),
        [
            "Run `just test` before each push.",
            "test by hand",
            "Pushing by hand is never wanted."
        ]
    );
    assert!(waiting(&env).is_empty());
}

/// What the user changed meanwhile is not overwritten.
#[test]
fn an_operation_that_no_longer_fits_is_told_and_not_taken() {
    let env = asked(ASK);
    let ids = waiting(&env);
    env.cli(&["edit", "pat-001", "--text", "my own words"]).ok();
    let refused = env.cli(&["review", "accept", &ids[1].to_string()]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(1), ""));
    has!(
        refused.stderr,
        "error: pat-001 was changed since this was asked for",
        "hint: "
    );
    env.cli(&["remove", "pat-002"]).ok();
    let refused = env.cli(&["review", "accept", &ids[2].to_string()]);
    has!(refused.stderr, "error: pat-002 was changed since");
    env.cli(&["review", "edit", &ids[1].to_string(), "--text", "both"])
        .ok();
    assert_eq!(texts(&env), ["both"]);
}

#[test]
fn without_the_setting_it_is_applied_at_once() {
    let env = asked("");
    assert_eq!(
        texts(&env),
        [
            "Run `just test` before each push.",
            "Pushing by hand is never wanted."
        ]
    );
    assert!(waiting(&env).is_empty());
}
