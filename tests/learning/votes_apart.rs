//! Promise: with `playbook.votes = "local"` the file changes only when a text does; all that
//! sessions vote counts all the same, and goes along when the setting changes.

use std::fs;

use crate::common::prelude::*;

const LOCAL: &str = "[playbook]\nvotes = \"local\"\n";

fn learn(env: &TestEnv, id: &str) {
    env.learn_from(&Session::following(id, "pat-001"));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

fn file(env: &TestEnv) -> String {
    fs::read_to_string(env.playbook_path()).unwrap()
}

/// What `playbook show` says of the first point.
fn helpful(env: &TestEnv) -> u64 {
    let told = env.cli(&["show", "--json"]).json();
    let points = told["points"].as_array().unwrap().iter();
    let point = points.clone().find(|point| point["name"] == "pat-001");
    point.and_then(|point| point["helpful"].as_u64()).unwrap()
}

fn project() -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_config(LOCAL);
    env.write_playbook(&[
        ("pat-001", "run the tests before every commit"),
        ("pat-002", "b"),
    ]);
    env
}

#[test]
fn a_vote_changes_no_file_and_counts() {
    let env = project();
    let before = file(&env);
    for (number, id) in (1..).zip(["s1", "s2"]) {
        learn(&env, id);
        assert_eq!((file(&env), helpful(&env)), (before.clone(), number));
    }
    // What others vote, who write it into the file, counts too.
    let others = before.replacen("\"helpful\": 0", "\"helpful\": 5", 1);
    fs::write(env.playbook_path(), others).unwrap();
    assert_eq!(helpful(&env), 7);
    learn(&env, "s4");
    assert_eq!(helpful(&env), 8);
    has!(file(&env), "\"helpful\": 5");
    let log = env.cli(&["log", "pat-001", "--json"]).json();
    let job = log["story"].as_array().unwrap().last().unwrap()["job"].clone();
    env.cli(&["undo", job.as_str().unwrap()]).ok();
    assert_eq!(helpful(&env), 7);
}

#[test]
fn a_text_changes_the_file_and_no_counter_in_it() {
    let env = project();
    learn(&env, "s1");
    env.cli(&["edit", "pat-001", "--text", "run all tests"])
        .ok();
    assert_eq!(env.marks_of("pat-001"), (0, 0));
    has!(file(&env), "run all tests");
    assert_eq!(helpful(&env), 1);
    // A merged point is new, and takes the votes of its sources along.
    env.cli(&["merge", "pat-001", "pat-002", "--text", "run each test"])
        .ok();
    assert_eq!(env.marks_of("pat-003"), (1, 0));
}

#[test]
fn the_votes_go_along_when_the_setting_changes() {
    let env = project();
    learn(&env, "s1");
    learn(&env, "s2");
    env.write_config("");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (2, (0, 0)));
    learn(&env, "s3");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (3, (3, 0)));
    env.write_config(LOCAL);
    learn(&env, "s4");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (4, (3, 0)));
}

#[test]
fn votes_that_cannot_be_read_are_kept_and_hold_the_jobs() {
    let env = project();
    learn(&env, "s1");
    let votes = env.project_state().join("votes.json");
    assert!(votes.exists());
    fs::write(&votes, "{").unwrap();
    env.learn_from(&Session::following("s2", "pat-001"));
    assert_eq!(fs::read_to_string(&votes).unwrap(), "{");
    has!(env.cli(&["jobs"]).ok(), "could not read the votes");
}

/// A model's new key point goes into the file; its tags do not.
#[test]
fn what_a_model_adds_is_in_the_file() {
    let reflection = json!({"analysis": "a", "bullet_tags": [
        {"name": "pat-001", "tag": "helpful", "rationale": "r"}]});
    let add = json!({"type": "ADD", "text": "Always add a flag to the parser first.",
        "section": "OTHERS", "grounds": [1], "said": [1]});
    let curation = json!({"reasoning": "r", "operations": [add]});
    let api = Api::script([reflection, curation].map(|reply| Step::text(&reply.to_string())));
    let mut env = project();
    env.use_api(&api.base_url(), "sk-test");
    env.write_config(LOCAL);
    learn(&env, "s1");
    let marks = env.marks();
    assert_eq!(
        (marks["pat-001"], marks.len(), helpful(&env)),
        ((0, 0), 3, 1)
    );
}
