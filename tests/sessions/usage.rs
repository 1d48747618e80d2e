//! Promise: a start gives every key point that fits, the user's first, and counts the sessions in
//! which each was shown and cited.

use crate::common::prelude::*;

const QUIET: (&str, &str) = ("pat-001", "`make parcel` wants the depot's stub");
const CITED: (&str, &str) = ("pat-002", "run the tests before a commit");

fn project() -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_config("backend = \"rules\"\n");
    env.write_playbook(&[QUIET, CITED]);
    env.cli(&["trust"]).ok();
    env
}

fn usage_of_quiet(env: &TestEnv) -> Value {
    let told = env.cli(&["show", "--json"]).json();
    let points = told["points"].as_array().unwrap();
    let point = points.iter().find(|point| point["name"] == "pat-001");
    let point = point.unwrap();
    json!([point["shown"], point["cited"]])
}

#[test]
fn a_point_that_no_session_cites_is_given_as_long_as_it_fits() {
    let env = project();
    for n in 0..13 {
        let id = format!("s{n}");
        has!(env.start(&id).0, "depot's stub");
        env.learn_from(&Session::saying(&id, "Done, by [pat-002]."));
    }
    has!(env.start("last").0, "depot's stub", "[pat-002]");
    assert_eq!(usage_of_quiet(&env), json!([13, 0]));
    let usage = "shown in 13 sessions, never cited";
    has!(env.cli(&["show"]).ok(), &*format!("({usage})"));
    has!(env.cli(&["log", "pat-001"]).ok(), usage);
}

/// A start without room for all leaves out the model's own points before the user's.
#[test]
fn a_full_start_keeps_the_points_that_the_user_added() {
    let env = TestEnv::without_worker();
    env.write_config("[injection]\nmax_units = 500\n");
    let long = "run the tests of the depot before each commit, ".repeat(3);
    let other = "read the depot's log before each release, ".repeat(3);
    env.write_playbook(&[("pat-001", &*long), ("pat-002", &*other)]);
    env.cli(&["trust"]).ok();
    has!(env.start("s0").0, "tests of the depot");
    let mine = "ask before a release, and say what it changes for whom, ".repeat(2);
    env.cli(&["add", "--section", "OTHERS", &mine]).ok();
    env.worker();
    let told = env.start("s1").0;
    has!(told, "ask before a release");
    lacks!(told, "depot's log");
}

/// Two parts of one session, and its fork, are one session.
#[test]
fn a_session_counts_once_and_an_undone_one_not_at_all() {
    let mut env = project();
    let _api = env.use_votes();
    env.start("s1");
    let mut session = Session::saying("s1", "Done, by [pat-002].");
    env.learn_from(&session);
    session.user("and on").assistant("Again by [pat-002].");
    env.learn_from(&session);
    let mut fork = session.fork("s2");
    fork.user("and here?").assistant("By [pat-002].");
    let start = env.hook(Hook::SessionStart, "s2", json!({"source": "fork"}));
    lacks!(start.ok(), "additionalContext");
    env.learn_from(&fork);
    assert_eq!(usage_of_quiet(&env), json!([1, 0]));

    env.start("s3");
    env.learn_from(&Session::saying("s3", "See [pat-001]."));
    assert_eq!(usage_of_quiet(&env), json!([2, 1]));
    let log = env.cli(&["log", "--json"]).json();
    let last = log["jobs"][0]["job"].as_str().unwrap().to_owned();
    env.cli(&["undo", &last]).ok();
    env.worker();
    assert_eq!(usage_of_quiet(&env), json!([1, 0]));
}
