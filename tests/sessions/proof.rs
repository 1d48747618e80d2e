//! Promise: a key point that many sessions were shown in vain rests, and says so; it comes back
//! when a session needs it, and what the user wants is told whatever is seen of it.

use std::ops::Range;

use crate::common::prelude::*;

const QUIET: (&str, &str) = (
    "pat-001",
    "`make parcel` wants the depot's stub on port 4100",
);
const CITED: (&str, &str) = ("pat-002", "run the tests before a commit");
/// In so many sessions a point may be shown in vain.
const PATIENCE: usize = 12;

fn project() -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_config("backend = \"rules\"\n");
    env.write_playbook(&[QUIET, CITED]);
    env.cli(&["trust"]).ok();
    env
}

/// Sessions that were shown both points and cite one of them.
fn in_vain(env: &TestEnv, sessions: Range<usize>) {
    for n in sessions {
        let id = format!("vain{n}");
        has!(env.start(&id).0, "depot's stub");
        env.learn_from(&Session::saying(&id, "Done, by [pat-002]."));
    }
}

fn of_quiet(env: &TestEnv) -> Value {
    let told = env.cli(&["show", "--json"]).json();
    let points = told["points"].as_array().unwrap();
    let point = points.iter().find(|point| point["name"] == "pat-001");
    let point = point.unwrap();
    json!([
        point["stage"],
        point["proof"]["shown"],
        point["proof"]["cited"]
    ])
}

#[test]
fn what_is_shown_in_vain_rests_until_a_prompt_or_a_session_needs_it() {
    let env = project();
    in_vain(&env, 0..PATIENCE - 1);
    assert_eq!(of_quiet(&env), json!(["probation", 11, 0]));
    in_vain(&env, PATIENCE - 1..PATIENCE);
    assert_eq!(of_quiet(&env), json!(["resting", 12, 0]));
    let told = env.start("later").0;
    has!(told, "[pat-002]");
    lacks!(told, "depot's stub", "left out");
    has!(
        env.cli(&["show"]).ok(),
        "(resting: shown in 12 sessions, never cited)"
    );
    has!(
        env.cli(&["log", "pat-001"]).ok(),
        "resting: shown in 12 sessions"
    );

    let asked = json!({"prompt": "Why does make parcel fail?"});
    let asked = env.hook(Hook::UserPromptSubmit, "later", asked);
    has!(asked.context_for("UserPromptSubmit"), "depot's stub");
    env.learn_from(&Session::saying(
        "later",
        "The stub was missing, see [pat-001].",
    ));
    assert_eq!(of_quiet(&env), json!(["proven", 13, 1]));
    has!(env.start("last").0, "depot's stub");
}

#[test]
fn what_the_user_added_or_pinned_never_rests() {
    let env = project();
    env.cli(&["add", "--section", "OTHERS", "ask before a release"])
        .ok();
    env.worker();
    env.cli(&["pin", "pat-001"]).ok();
    env.worker();
    in_vain(&env, 0..PATIENCE + 1);
    has!(env.start("later").0, "depot's stub", "ask before a release");
    assert_eq!(of_quiet(&env), json!(["pinned", 13, 0]));
}

#[test]
fn what_rests_is_told_again_when_the_user_edits_it() {
    let env = project();
    in_vain(&env, 0..PATIENCE);
    assert_eq!(of_quiet(&env), json!(["resting", 12, 0]));
    let text = "`make parcel` wants the depot's stub on port 4200";
    env.cli(&["edit", "pat-001", "--text", text]).ok();
    env.worker();
    assert_eq!(of_quiet(&env), json!(["probation", 12, 0]));
    has!(env.start("later").0, "port 4200");
}

/// What a session would have needed and did not have is told first to the next one.
#[test]
fn what_would_have_helped_comes_first() {
    let mut env = TestEnv::without_worker();
    env.write_config("[injection]\nmax_units = 500\n");
    let long = "run the tests of the depot before each commit, ".repeat(3);
    let other = "read the depot's log before each release, ".repeat(3);
    env.write_playbook(&[("pat-001", &*other), ("pat-002", &*long)]);
    env.cli(&["trust"]).ok();
    lacks!(env.start("s0").0, "tests of the depot");
    let reply = json!({"analysis": "The commit was red.", "bullet_tags": [],
        "would_have_helped": ["pat-002", "pat-999"]});
    let api = Api::script([Step::Text(reply.to_string())]);
    env.use_api(&api.base_url(), "sk-test");
    env.write_config("[injection]\nmax_units = 500\n");
    let mut session = Session::new("s1");
    // Learned from twice, it is one session all the same.
    for _ in 0..2 {
        session
            .user("commit it")
            .failed("make release", "Exit code 1\nerror: the depot is red")
            .ran("make depot", "12 passed")
            .ran("make release", "ok")
            .assistant("It is committed.")
            .done();
        env.learn_from(&session);
    }
    let told = env.start("s2").0;
    has!(told, "tests of the depot");
    lacks!(told, "depot's log");
    has!(
        env.cli(&["show"]).ok(),
        "came up again in 1 session, not shown yet"
    );
}

/// Two parts of one session, and its fork, are one session.
#[test]
fn a_session_counts_once_and_an_undone_one_not_at_all() {
    let env = project();
    env.start("s1");
    let mut session = Session::saying("s1", "Done, by [pat-002].");
    env.learn_from(&session);
    session.user("and on").assistant("Again by [pat-002].");
    env.learn_from(&session);
    let mut fork = session.fork("s2");
    fork.user("and here?").assistant("By [pat-002].");
    env.hook(Hook::SessionStart, "s2", json!({"source": "fork"}))
        .silent();
    env.learn_from(&fork);
    assert_eq!(of_quiet(&env), json!(["probation", 1, 0]));

    env.start("s3");
    env.learn_from(&Session::saying("s3", "See [pat-001]."));
    assert_eq!(of_quiet(&env), json!(["proven", 2, 1]));
    let log = env.cli(&["log", "--json"]).json();
    let last = log["jobs"][0]["job"].as_str().unwrap().to_owned();
    env.cli(&["undo", &last]).ok();
    env.worker();
    assert_eq!(of_quiet(&env), json!(["probation", 1, 0]));
}
