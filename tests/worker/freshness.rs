//! Promise: a key point whose paths and targets no longer exist in the project is not given to
//! sessions. It is shown with the reason and left to the curator to correct.

use std::fs::File;
use std::time::SystemTime;

use crate::common::prelude::*;

const TEXT: &str = "Cut a release with `scripts/release.sh`, never by hand.";
const GONE: &str = "`scripts/release.sh` is gone since 21 Nov 2026";

fn project(text: &str) -> TestEnv {
    let env = TestEnv::without_worker();
    env.git(&["init", "-q"]);
    env.write_playbook(&[("pat-001".to_owned(), text.to_owned())]);
    env.write_project("scripts/release.sh", "make check");
    env.write_project("Makefile", "check:\n\ttrue\n");
    env.commit();
    env.cli(&["trust"]).ok();
    env
}

fn with_script() -> TestEnv {
    project(TEXT)
}

fn rename(env: &TestEnv) {
    let (from, to) = ("scripts/release.sh", "scripts/ship.sh");
    env.git(&["mv", from, to]);
    env.commit();
}

/// The second session's look is the first after the rename, so the third one's curator knows of it.
fn three_sessions(env: &TestEnv) {
    env.learn_citing("s1");
    rename(env);
    env.learn_citing("s2");
    env.learn_citing("s3");
}

fn gone(env: &TestEnv) -> Vec<(String, String)> {
    let told = env.cli(&["show", "--json"]).json();
    let points = told["points"].as_array().unwrap().iter();
    let gone = points.filter_map(|point| {
        let why = point["gone"].as_str()?.to_owned();
        Some((point["name"].as_str()?.to_owned(), why))
    });
    gone.collect()
}

#[test]
fn a_point_about_a_renamed_file_is_silent_until_the_file_is_back() {
    let env = with_script();
    env.learn_citing("s1");
    assert_eq!(gone(&env), []);
    rename(&env);
    env.learn_citing("s2");
    assert_eq!(gone(&env), [("pat-001".to_owned(), GONE.to_owned())]);
    let shown = env.cli(&["show"]).ok();
    has!(shown, "out of date: `scripts/release.sh` is gone");
    has!(env.cli(&["log", "pat-001"]).ok(), GONE);
    assert_eq!(env.start("s3"), (String::new(), String::new()));

    let (from, to) = ("scripts/ship.sh", "scripts/release.sh");
    env.git(&["mv", from, to]);
    env.commit();
    env.learn_citing("s3");
    assert_eq!(gone(&env), []);
    has!(env.start("s4").0, "[pat-001]");
}

/// One of two names still exists: the point is given, and the missing name is reported.
#[test]
fn a_target_that_is_gone_is_named() {
    let env = project("Run `make check` before `scripts/release.sh`.");
    env.learn_citing("s1");
    env.write_project("Makefile", "test:\n\ttrue\n");
    env.learn_citing("s2");
    let why = "`make check` is gone since 21 Nov 2026".to_owned();
    assert_eq!(gone(&env), [("pat-001".to_owned(), why)]);
    has!(env.start("s3").0, "[pat-001]");
    rename(&env);
    env.learn_citing("s4");
    assert_eq!(env.start("s5").0, "");
}

#[rstest]
#[case::pinned(&["pin", "pat-001"])]
#[case::edited(&["edit", "pat-001", "--text", "Always cut a release with `scripts/release.sh`."])]
fn what_the_user_wants_is_given_all_the_same(#[case] command: &[&str]) {
    let env = with_script();
    env.cli(command).ok();
    env.learn_citing("s1");
    rename(&env);
    env.learn_citing("s2");
    assert_eq!(gone(&env).len(), 1);
    has!(env.start("s3").0, "[pat-001]");
}

/// The record is a cache: a file in another format is ignored.
#[rstest]
#[case::half("{\"0a1b\":")]
#[case::of_another_form(
    r#"{"looked_at": [], "points": {"pat-001": {"text": "0a1b", "names": []}}}"#
)]
fn a_record_that_cannot_be_read_is_made_again(#[case] text: &str) {
    let env = with_script();
    env.learn_citing("s1");
    write(&env.project_state().join("freshness.json"), text);
    assert_eq!(gone(&env), []);
    env.learn_citing("s2");
    rename(&env);
    env.learn_citing("s3");
    assert_eq!(gone(&env).len(), 1);
}

#[test]
fn the_curator_is_told_what_is_gone() {
    let api = Api::script([Step::Canned, Step::Canned]);
    let mut env = with_script();
    env.use_api(&api.base_url(), "sk-test");
    three_sessions(&env);
    let line = format!("[pat-001] names what is gone: {GONE}.");
    let asked = api.requests();
    let told = asked.iter().map(|asked| asked.prompt().contains(&line));
    let told: Vec<bool> = told.collect();
    assert_eq!(told, [false, false, false, false, false, true]);
}

/// A missing name is a ground for a correction by itself.
#[rstest]
#[case::corrected(
    json!({"type": "UPDATE", "target_id": "pat-001", "text": "Cut a release, never by hand."}),
    "Cut a release, never by hand."
)]
#[case::taken_away(json!({"type": "DELETE", "target_id": "pat-001", "reason": "gone"}), "")]
fn what_is_gone_is_the_ground_of_its_correction(#[case] mut operation: Value, #[case] left: &str) {
    operation["grounds"] = json!(["f1"]);
    let curated = json!({"reasoning": "r", "operations": [operation]}).to_string();
    let steps = vec![Step::Canned; 5];
    let api = Api::script(steps.into_iter().chain([Step::Text(curated)]));
    let mut env = with_script();
    env.use_api(&api.base_url(), "sk-test");
    three_sessions(&env);
    let playbook = env.playbook().to_string();
    has!(playbook, left);
    let count = |text: &str| text.matches("Cut a release").count();
    assert_eq!(count(&playbook), count(left));
}

#[rstest]
#[case::deleted_and_not_committed(|env: &TestEnv| {
    fs::remove_file(env.project().join("scripts/release.sh")).unwrap();
})]
#[case::an_empty_index(|env: &TestEnv| {
    env.git(&["rm", "-q", "-r", "--cached", "."]);
})]
#[case::a_makefile_that_cannot_be_read(|env: &TestEnv| {
    fs::remove_file(env.project().join("Makefile")).unwrap();
})]
#[case::git_is_broken(|env: &TestEnv| {
    rename(env);
    fs::remove_dir_all(env.project().join(".git/objects")).unwrap();
})]
#[case::trusted_no_more(|env: &TestEnv| {
    rename(env);
    env.cli(&["trust", "--off"]).ok();
})]
fn what_may_come_back_is_not_gone(#[case] happens: fn(&TestEnv)) {
    let env = project("Run `make check` before `scripts/release.sh`.");
    env.learn_citing("s1");
    happens(&env);
    env.learn_citing("s2");
    assert_eq!(gone(&env), []);
}

#[test]
fn a_session_in_a_linked_worktree_is_seen_by_what_is_checked_out_there() {
    let env = with_script();
    env.learn_citing("s1");
    rename(&env);
    env.git(&["worktree", "add", "-q", "../linked", "HEAD"]);
    env.git(&["checkout", "-q", "--detach", "HEAD~1"]);
    let linked = env.root().join("linked");
    env.write_transcript(&Session::citing("s2"));
    let event = json!({"cwd": &linked});
    env.hook(Hook::SessionEnd, "s2", event).silent();
    env.worker();
    assert_eq!(gone(&env).len(), 1);
}

#[test]
fn nothing_that_the_repository_asks_for_is_run() {
    let env = with_script();
    env.learn_citing("s1");
    rename(&env);
    let ran = env.root().join("ran");
    let program = env.root().join("program");
    write_program(
        &program,
        format!("#!/bin/sh\ntouch {}\ncat\n", ran.display()),
    );
    let program = program.to_str().unwrap();
    for key in "core.fsmonitor filter.x.clean filter.x.smudge diff.external core.pager".split(' ') {
        env.git(&["config", key, program]);
    }
    env.write_project(".git/info/attributes", "* filter=x\n");
    // As after a checkout in the second in which git wrote its index: git trusts no file times and
    // runs the filter to compare each file.
    let index = env.project().join(".git/index");
    let index = File::options().write(true).open(index).unwrap();
    index
        .set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1))
        .unwrap();
    env.learn_citing("s2");
    assert_eq!(gone(&env).len(), 1);
    assert!(!ran.exists());
}
