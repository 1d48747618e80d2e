//! Promise: with `playbook.votes = "local"` the file changes only when a text does. All votes of
//! sessions count once all the same, also after the setting changes.

use crate::common::prelude::*;

const LOCAL: &str = "[playbook]\nvotes = \"local\"\n";

fn learn(env: &TestEnv, id: &str) {
    env.learn_from(&Session::following(id, "pat-001"));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

fn edit(env: &TestEnv, text: &str) {
    env.cli(&["edit", "pat-001", "--text", text]).ok();
}

fn file(env: &TestEnv) -> String {
    fs::read_to_string(env.playbook_path()).unwrap()
}

fn helpful_of(env: &TestEnv, name: &str) -> u64 {
    let told = env.cli(&["show", "--json"]).json();
    let points = told["points"].as_array().unwrap().iter();
    let point = points.clone().find(|point| point["name"] == name);
    point.and_then(|point| point["helpful"].as_u64()).unwrap()
}

fn helpful(env: &TestEnv) -> u64 {
    helpful_of(env, "pat-001")
}

/// Undoes the job of one change of the point that sessions vote on.
fn undo(env: &TestEnv, change: usize) {
    let log = env.cli(&["log", "pat-001", "--json"]).json();
    let job = log["story"][change]["job"].as_str().unwrap().to_owned();
    env.cli(&["undo", &job]).ok();
}

fn project() -> (TestEnv, Api) {
    let mut env = TestEnv::without_worker();
    let api = env.use_votes();
    env.write_config(LOCAL);
    env.write_playbook(&[
        ("pat-001", "run the tests before every commit"),
        ("pat-002", "b"),
    ]);
    (env, api)
}

#[test]
fn a_vote_changes_no_file_and_counts() {
    let (env, _api) = project();
    let before = file(&env);
    for (number, id) in (1..).zip(["s1", "s2"]) {
        learn(&env, id);
        assert_eq!((file(&env), helpful(&env)), (before.clone(), number));
    }
    // Votes that others write into the file count, too.
    let others = before.replacen("\"helpful\": 0", "\"helpful\": 5", 1);
    fs::write(env.playbook_path(), others).unwrap();
    assert_eq!(helpful(&env), 7);
    learn(&env, "s4");
    assert_eq!(helpful(&env), 8);
    has!(file(&env), "\"helpful\": 5");
    undo(&env, 3);
    assert_eq!(helpful(&env), 7);
    has!(file(&env), "\"helpful\": 5");
}

#[test]
fn a_text_changes_the_file_and_no_counter_in_it() {
    let (env, api) = project();
    learn(&env, "s1");
    // A merged point is new and gets the votes of its sources.
    let merged = merge_points(&env, &api, ["pat-001", "pat-002"], "run all tests");
    assert_eq!(env.marks_of("pat-003"), (0, 0));
    assert_eq!(helpful_of(&env, "pat-003"), 1);
    env.cli(&["undo", &merged]).ok();
    edit(&env, "run all tests");
    has!(file(&env), "run all tests");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (1, (0, 0)));
}

#[test]
fn a_snapshot_brings_texts_back_and_leaves_the_votes() {
    let (env, _api) = project();
    learn(&env, "s1");
    edit(&env, "run all tests");
    learn(&env, "s2");
    edit(&env, "run no tests");
    let earlier = env.cli(&["undo", "--to", "--json"]).json()["snapshots"][1]["snapshot"].clone();
    env.cli(&["undo", "--to", earlier.as_str().unwrap()]).ok();
    has!(file(&env), "run all tests");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (2, (0, 0)));
}

#[test]
fn a_counter_is_that_of_the_file_and_the_votes_whatever_the_setting() {
    let (env, _api) = project();
    learn(&env, "s1");
    learn(&env, "s2");
    env.write_config("");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (2, (0, 0)));
    learn(&env, "s3");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (3, (1, 0)));
    env.write_config(LOCAL);
    learn(&env, "s4");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (4, (1, 0)));
    undo(&env, 3);
    assert_eq!(helpful(&env), 3);
    env.write_config("");
    undo(&env, 0);
    assert_eq!(helpful(&env), 2);
}

/// Earlier versions kept votes in a file of the project's state.
#[test]
fn votes_of_a_file_are_added_once_and_the_file_goes() {
    let (env, _api) = project();
    learn(&env, "s1");
    let old = env.paths().votes(&env.project());
    let said = json!({"points": {"pat-001": {"helpful": 3, "harmful": 0, "text": "0a1b"}},
        "applied": ["20261121T120000-3f9a2c1b"]});
    for _ in 0..2 {
        // The second run plays a file that could not be removed.
        fs::write(&old, said.to_string()).unwrap();
        assert_eq!(helpful(&env), 4);
        assert!(!old.exists());
    }
    learn(&env, "s2");
    assert_eq!((helpful(&env), env.marks_of("pat-001")), (5, (0, 0)));
    fs::write(&old, "{").unwrap();
    env.learn_from(&Session::following("s3", "pat-001"));
    assert_eq!(fs::read_to_string(&old).unwrap(), "{");
    has!(env.cli(&["jobs"]).ok(), "could not read votes");
}

/// A model's new key point is written to the file; its votes are not.
#[test]
fn what_a_model_adds_is_in_the_file() {
    let add = json!([{"type": "ADD", "text": "Always add a flag to the parser first.",
        "section": "OTHERS"}]);
    let replies = [tags(&[("pat-001", "helpful")]), operations(&add)].map(Step::Text);
    let (env, api) = project();
    api.now(replies.clone());
    learn(&env, "s1");
    assert_eq!((env.marks_of("pat-001"), env.marks().len()), ((0, 0), 3));
    assert_eq!(helpful(&env), 1);
    // Both prompts show the counters of the file with the votes.
    api.now(replies);
    learn(&env, "s2");
    let asked = api.requests();
    has!(asked[2].prompt(), "[pat-001] helpful=1 harmful=0");
    has!(asked[3].prompt(), "[pat-001] (helpful 2, harmful 0,");
}
