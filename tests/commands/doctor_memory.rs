//! Promise: `playbook doctor memory` says where on its way a text was lost, and what to do.

use std::path::PathBuf;

use crate::common::learned::lesson;
use crate::common::prelude::*;

use super::doctor::healthy;

fn end(env: &TestEnv, session: &Session) {
    env.write_held(session);
    env.ends(session.id());
    env.settle();
}

fn memory(env: &TestEnv, words: &[&str]) -> String {
    env.cli(&[&["doctor", "memory"], words].concat()).ok()
}

#[test]
fn each_session_says_what_became_of_it() {
    let env = healthy();
    let session = Session::new("s1")
        .user("always release with `just release`")
        .assistant("Done.")
        .done();
    env.write_held(&session);
    let before = env.files();
    let told = memory(&env, &["just", "RELEASE"]);
    has!(
        told,
        "s1 of ",
        "not learned: it is still open",
        "do: `playbook bootstrap`"
    );
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());

    end(&env, &session);
    has!(
        memory(&env, &["just", "release"]),
        "s1 of ",
        "learned by rules, 1 change: `playbook log ",
        "each start gives it"
    );
    has!(memory(&env, &[]), "key points: 2 at each start");
    has!(
        memory(&env, &["make", "release"]),
        "none of the last 1 has these words",
        "none has these words"
    );
}

#[test]
fn a_refused_key_is_what_a_waiting_session_waits_for() {
    let mut env = healthy();
    let api = Api::script([Step::error(401, "authentication_error", "no such key")]);
    env.use_api(&api.base_url(), "sk-test");
    let mut session = Session::citing("s1");
    session.user("and use tabs").assistant("Tabs it is.");
    end(&env, &session);
    let told = env.cli(&["doctor", "memory", "tabs"]);
    assert_eq!(told.code, Some(1), "{told:?}");
    has!(
        told.stdout,
        "broken backend",
        "s1 of ",
        "waits",
        "no such key"
    );
}

#[test]
fn a_lesson_says_what_makes_it_a_key_point() {
    let env = healthy();
    let right = "start the database before the tests";
    env.learn("j1", 1, &[lesson("ran the tests alone", right, None)]);
    has!(
        memory(&env, &["database"]),
        "is a lesson, no key point yet",
        "do: nothing: a second session that teaches it"
    );
    has!(memory(&env, &[]), "1 lesson waits");
}

#[test]
fn key_points_say_why_they_are_not_given() {
    let env = healthy();
    let long = "word ".repeat(60);
    let points: Vec<(String, String)> = (1..=60)
        .map(|n| (format!("pat-{n:03}"), format!("point number{n} {long}")))
        .collect();
    env.write_playbook(&points);
    has!(memory(&env, &["number60"]), "no room for it at a start");
    has!(
        memory(&env, &[]),
        "60 key points: ",
        " with a prompt that touches them"
    );

    env.cli(&["untrust"]).ok();
    has!(
        memory(&env, &["number1"]),
        "this checkout is not trusted",
        "do: `playbook trust`",
        "and 8 more"
    );
}
