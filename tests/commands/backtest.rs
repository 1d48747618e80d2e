//! Promise: `playbook backtest` says what would have been said in past sessions, by the real
//! hooks and the real queue, and touches nothing of the user's.

use std::path::PathBuf;

use crate::common::prelude::*;

/// A key that masks must take out, and that no list may show.
const KEY: &str = "AKIAZ3MSQWERTYUIOP27";

/// A session in which a command fails and the same one with another flag works.
fn slip(id: &str) -> Session {
    Session::new(id)
        .user("show the pull request, please")
        .failed(
            "gh pr view --jsno title",
            "Exit code 1\nunknown flag: --jsno",
        )
        .ran("gh pr view --json title", "title: Mend it")
        .assistant("Here it is.")
        .done()
}

/// Three days of the same slip; on the first the user says how things are done here.
fn folder(env: &TestEnv) -> PathBuf {
    let folder = env.root().join("old");
    for (day, id) in (10..).zip(["one", "two", "three"]) {
        let mut session = slip(id);
        if day == 10 {
            session
                .user("Always run the tests before you commit.")
                .assistant(&format!("I will. The key was {KEY}."));
        }
        let text = session
            .text()
            .replace("2026-11-21T", &format!("2026-11-{day}T"));
        write(&folder.join(format!("{id}.jsonl")), text);
    }
    folder
}

fn replay(env: &TestEnv, more: &[&str]) -> String {
    let folder = folder(env);
    let args = [&["backtest", "--dir", folder.to_str().unwrap()], more].concat();
    env.cli(&args).ok()
}

fn figures(env: &TestEnv) -> Value {
    serde_json::from_str(&replay(env, &["--json"])).unwrap()
}

#[test]
fn what_would_have_been_said_is_counted() {
    let env = TestEnv::without_worker();
    let seen = figures(&env);
    let count = |key: &str| seen[key].as_array().unwrap().len();
    assert_eq!((&seen["sessions"], &seen["errors"]), (&json!(3), &json!(3)));
    assert_eq!((count("hints"), &seen["hits"]), (1, &json!(1)), "{seen}");
    assert_eq!(seen["hints"][0]["place"], "three.jsonl:5");
    assert_eq!(seen["tokens_sent"], 0);
    assert_eq!(count("masks"), 1);
}

#[test]
fn what_the_user_said_is_learned_and_given_to_later_sessions() {
    let env = TestEnv::without_worker();
    let seen = figures(&env);
    let points = seen["points"].as_array().unwrap();
    let said = points
        .iter()
        .find(|point| point["place"] == "one.jsonl")
        .unwrap();
    let text = said["text"].as_str().unwrap().to_lowercase();
    has!(text, "always run the tests before you commit");
    assert!(seen["units_at_start"].as_u64().unwrap() > 0);
}

#[test]
fn each_item_can_be_read_and_no_secret_is_shown() {
    let env = TestEnv::without_worker();
    assert!(replay(&env, &["--list", "hints"]).contains("unknown flag: --jsno"));
    assert!(replay(&env, &["--list", "points"]).contains("one.jsonl"));
    let masks = replay(&env, &["--list", "masks"]);
    has!(masks, "AKIA…", "one.jsonl");
    for list in ["hints", "points", "held", "masks"] {
        assert!(!replay(&env, &["--list", list]).contains(KEY));
    }
}

#[test]
fn what_the_gate_would_have_said_stands_beside_what_the_user_said_next() {
    let env = TestEnv::without_worker();
    let mut session = Session::new("false");
    let red = "Exit code 101\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out";
    session
        .user("mend the parser")
        .failed("cargo test", red)
        .assistant("All done: the tests pass.")
        .user("No, they still fail.")
        .failed("cargo test", red)
        .assistant("Right, one test fails.");
    let folder = env.root().join("sessions");
    write(&folder.join("false.jsonl"), session.text());
    let dir = folder.to_str().unwrap();
    let args = ["backtest", "--dir", dir, "--list", "gate"];
    let told = env.cli(&[&args[..], &["--json"]].concat()).json();
    assert_eq!(told["stops"], 2);
    let [one] = &told["gate"].as_array().unwrap()[..] else {
        panic!("one: {told}");
    };
    assert_eq!(one["answer"], "No, they still fail.");
    assert_eq!(one["failed_again"], true);
    has!(env.cli(&args).ok(), "The last check failed (cargo test).");
    has!(env.cli(&args[..3]).ok(), "1  of 2 turns");
}

#[test]
fn nothing_of_the_users_is_touched() {
    let env = TestEnv::with_point();
    let folder = folder(&env);
    let before = env.files();
    env.cli(&["backtest", "--dir", folder.to_str().unwrap()])
        .ok();
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
}

#[test]
fn the_projects_own_sessions_are_replayed_where_no_folder_is_named() {
    let env = TestEnv::without_worker();
    env.write_held(&slip("own"));
    let seen: Value = env.cli(&["backtest", "--json"]).json();
    assert_eq!((&seen["sessions"], &seen["errors"]), (&json!(1), &json!(1)));
}

#[test]
fn a_model_is_asked_only_once_the_user_has_agreed() {
    let (env, api) = TestEnv::answered_by([Step::Canned]);
    let folder = folder(&env);
    let args = ["backtest", "--dir", folder.to_str().unwrap(), "--model"];
    let asked = env.cli(&args);
    assert_eq!(asked.code, Some(0));
    assert!(
        asked.stderr.contains("calls") && asked.stderr.contains("--yes"),
        "{}",
        asked.stderr
    );
    assert_eq!(api.requests().len(), 0);
}

/// The canned model finds one thing in each session, which no user said to hold.
#[test]
fn with_a_model_it_says_what_recurs_what_each_start_gives_and_what_it_takes() {
    let (env, api) = TestEnv::answered_by((0..3).flat_map(|_| replies()));
    let folder = folder(&env);
    let dir = folder.to_str().unwrap();
    let told = env.cli(&["backtest", "--dir", dir, "--model", "--yes", "--json"]);
    assert!(told.stderr.contains("at most 8 calls"), "{told:?}");
    let seen: Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(api.requests().len(), 6);
    assert_eq!(texts(&seen["waiting"], "place"), ["one.jsonl"], "{seen}");
    assert_eq!(texts(&seen["points"], "place"), ["two.jsonl"]);
    assert_eq!(texts(&seen["starts"], "points"), ["", "", "ctx-001"]);
    assert!(seen["tokens_a_session"].as_u64().unwrap() > 0);
}

/// What a model makes of a session in which a flag was mistyped.
fn replies() -> [Step; 2] {
    let reflection = json!({"analysis": "A flag was wrong.", "bullet_tags": []});
    let add = json!({"type": "ADD", "text": "`gh pr view` has `--json title`, and no `--jsno`.",
        "section": "PROJECT CONTEXT", "grounds": [2, 3, 4, 5, 6]});
    let curation = json!({"reasoning": "It failed.", "operations": [add]});
    [reflection, curation].map(|reply| Step::text(&reply.to_string()))
}

#[test]
fn a_folder_without_transcripts_is_an_error() {
    let env = TestEnv::without_worker();
    let empty = env.root().join("empty");
    std::fs::create_dir(&empty).unwrap();
    env.cli(&["backtest", "--dir", empty.to_str().unwrap()])
        .fails(
            1,
            &["could not find transcripts", "no `.jsonl` file", "hint:"],
        );
    env.cli(&["backtest", "--dir", "/nope"]).fails(
        1,
        &["could not find transcripts: /nope: no such folder", "hint:"],
    );
}
