//! Promise: with `curator.approval = "ask"` no operation of a model is in the playbook before the
//! user has accepted it; votes count immediately.

use super::projects::quarantine;
use crate::common::prelude::*;

fn session(id: &str) -> Session {
    Session::new(id)
        .user("always run `just test` before a push, and never test by hand")
        .ran("just test", "12 passed")
        .assistant("By [pat-001], done.")
        .done()
}

fn asked() -> TestEnv {
    let wanted = json!([
        {"type": "ADD", "text": "Pushing by hand is never wanted.", "section": "OTHERS"},
        {"type": "UPDATE", "target_id": "pat-001", "text": "Run `just test` before each push."},
        {"type": "DELETE", "target_id": "pat-002", "reason": "never by hand"},
    ]);
    let replies = [tags(&[("pat-001", "helpful")]), operations(&wanted)];
    let (env, api) = TestEnv::answered_by(replies.map(Step::Text));
    env.write_config("[curator]\napproval = \"ask\"\n");
    env.write_playbook(&[("pat-001", "run the tests"), ("pat-002", "test by hand")]);
    env.cli(&["trust"]).ok();
    env.learn_from(&session("s1"));
    assert!(env.spool().is_empty() && env.failed().is_empty());
    assert_eq!(api.requests().len(), 2);
    env
}

fn waiting(env: &TestEnv) -> Vec<String> {
    let held = quarantine(env);
    held.iter().map(|row| row["id"].to_string()).collect()
}

fn shown(env: &TestEnv) -> Vec<String> {
    texts(&env.cli(&["show", "--json"]).json()["points"], "text")
}

#[test]
fn what_a_model_asks_for_waits_until_the_user_takes_it() {
    let env = asked();
    assert_eq!(shown(&env), ["run the tests", "test by hand"]);
    assert_eq!(env.marks_of("pat-001"), (1, 0), "votes count at once");
    has!(env.told_at_start("s2"), "3 key points are held back");
    let told = env.cli(&["review"]).ok();
    has!(told, "Pushing by hand is never wanted.");
    has!(told, "waits for your OK, as `curator.approval` says");
    has!(told, "UPDATE pat-001", "DELETE pat-002");
    let ids = waiting(&env);
    env.cli(&["review", "accept", &ids[0]]).ok();
    env.cli(&["review", "accept", &ids[1]]).ok();
    env.cli(&["review", "drop", &ids[2]]).ok();
    let taken = [
        "Run `just test` before each push.",
        "test by hand",
        "Pushing by hand is never wanted.",
    ];
    assert_eq!(shown(&env), taken);
    assert!(waiting(&env).is_empty());
}

/// A text that the user refused does not wait again when it is proposed again.
#[test]
fn what_was_refused_is_not_proposed_again() {
    let env = TestEnv::with_point();
    let text = "Use tabs in the makefiles.";
    let propose = ["add", "--propose", "--section", "pref", text];
    has!(env.cli(&propose).ok(), "held back");
    env.cli(&["review", "drop", &waiting(&env)[0]]).ok();
    has!(env.cli(&propose).ok(), "the user has decided on it before");
    assert!(waiting(&env).is_empty());
}

/// A point that the user changed meanwhile is not overwritten.
#[test]
fn an_operation_that_no_longer_fits_is_told_and_not_taken() {
    let env = asked();
    let ids = waiting(&env);
    env.cli(&["edit", "pat-001", "--text", "my own words"]).ok();
    let flaw = "error: pat-001 was changed since this was asked for";
    let refused = env.cli(&["review", "accept", &ids[1]]);
    refused.fails(1, &[flaw, "hint: "]);
    env.cli(&["remove", "pat-002"]).ok();
    let refused = env.cli(&["review", "accept", &ids[2]]);
    has!(refused.stderr, "error: pat-002 was changed since");
    env.cli(&["review", "edit", &ids[1], "--text", "both"]).ok();
    assert_eq!(shown(&env), ["both"]);
}
