//! Promise: what became of a call that a guard turned back is read from the transcript. It is no
//! error and no vote; two sessions in which the guard was wrong end one that the curator gave.

use crate::common::prelude::*;
use playbook::cue::TURNED_BACK;

/// Creates a project with a guarded point that came from no command of the user's.
fn guarded() -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_playbook(&[("pat-001", "run `just proto`")]);
    let mut playbook = env.playbook();
    playbook["playbook"] =
        json!({"points": {"pat-001": {"when": {"command": "make proto"}, "guard": true}}});
    write(&env.playbook_path(), playbook.to_string());
    env.cli(&["trust"]).ok();
    env
}

/// Goes on with a session in which `make proto` is turned back, and with what comes next.
fn goes_on(mut session: Session, next: impl FnOnce(&mut Session)) -> Session {
    let denied = format!("PreToolUse:Bash hook error: {TURNED_BACK}\n- [pat-001] run `just proto`");
    session
        .user("make the stubs")
        .failed("make proto", &denied)
        .tool("Read", &json!({"file_path": "/p/Makefile"}), "proto:");
    next(&mut session);
    session.assistant("Done.").user("thanks").done()
}

fn held(id: &str, next: impl FnOnce(&mut Session)) -> Session {
    goes_on(Session::new(id), next)
}

fn again(session: &mut Session) {
    session.ran("cd /p && make proto", "12 stubs");
}

fn point(env: &TestEnv) -> Value {
    env.cli(&["show", "--json"]).json()["points"][0].clone()
}

#[rstest]
#[case::ran_again_and_worked(again, "helped in 0, was wrong in 1")]
#[case::another_way(|s: &mut Session| { s.ran("just proto", "12 stubs"); }, "helped in 1, was wrong in 0")]
#[case::prepared_first(|s: &mut Session| {
    s.ran("docker compose up -d", "").ran("make proto", "12 stubs");
}, "helped in 1, was wrong in 0")]
#[case::another_way_after_one_that_failed(|s: &mut Session| {
    s.failed("just prot", "Exit code 1\nno recipe").ran("just proto", "12 stubs");
}, "helped in 1, was wrong in 0")]
#[case::ran_again_and_failed(|s: &mut Session| {
    s.failed("make proto", "Exit code 2\nno stubs").ran("just proto", "12 stubs");
}, "")]
#[case::a_failure_would_not_show(|s: &mut Session| { s.ran("make proto | tail", ""); }, "")]
#[case::left_running(|s: &mut Session| {
    s.ran("make proto", "Command running in background with ID: b1");
}, "")]
#[case::nothing(|_: &mut Session| (), "")]
fn the_next_call_decides_and_is_no_vote(#[case] next: fn(&mut Session), #[case] verdict: &str) {
    let env = guarded();
    env.learn_from(&held("s1", next));
    let shown = env.cli(&["show"]).ok();
    assert!(shown.contains(verdict), "{shown}");
    assert_eq!(shown.contains("its guard"), !verdict.is_empty(), "{shown}");
    assert_eq!(env.marks_of("pat-001"), (0, 0));
    assert_eq!(point(&env)["guard"], true);
}

#[test]
fn two_sessions_end_a_guard_and_an_undo_gives_it_back_for_good() {
    let env = guarded();
    let session = held("s1", again);
    env.learn_from(&session);
    // A fork is no second session.
    env.learn_from(&goes_on(session.fork("s2"), again));
    includes(&point(&env), &json!({"guard": true}));
    env.learn_from(&held("s3", again));
    includes(
        &point(&env),
        &json!({"guard": false, "when": {"command": "make proto"}}),
    );
    let job = &history(&env)[0];
    let why = job["changes"][0]["reason"].as_str().unwrap();
    has!(why, "its guard was wrong in two sessions");
    env.cli(&["undo", job["job"].as_str().unwrap()]).ok();
    env.learn_from(&held("s4", again));
    env.learn_from(&held("s5", again));
    includes(&point(&env), &json!({"guard": true}));
    has!(env.cli(&["show"]).ok(), "was wrong in 3");
}

#[test]
fn a_guard_that_the_user_set_is_only_marked() {
    let env = guarded();
    env.cli(&["edit", "pat-001", "--no-when"]).ok();
    let args = ["edit", "pat-001", "--when-command", "make proto", "--guard"];
    assert_eq!(env.cli(&args).code, Some(0));
    for id in ["s1", "s2", "s3"] {
        env.learn_from(&held(id, again));
    }
    assert_eq!(point(&env)["guard"], true);
    has!(env.cli(&["show"]).ok(), "was wrong in 3");
}

#[test]
fn a_call_turned_back_is_no_error_and_the_model_reads_what_it_was() {
    let env = guarded();
    env.learn_from(&held("s1", |_| ()));
    let path = env.transcript_path("s1").display().to_string();
    let evidence = env.cli(&["evidence", &path, "--json"]).json();
    let text = evidence["evidence"]["text"].as_str().unwrap();
    has!(
        text,
        "PLAYBOOK turned back, once Bash `make proto`: - [pat-001] run"
    );
    lacks!(text, "ERROR");
    includes(
        &evidence["facts"],
        &json!({"tool_errors": 0, "unresolved": 0}),
    );
    assert_eq!(env.cli(&["stats", "--json"]).json()["errors"], 0);
}
