//! Promise: a project in which nothing was learned is left as it is, and git never adds our lock.

use crate::common::prelude::*;

fn untracked(env: &TestEnv) -> String {
    env.git(&["status", "--porcelain", "-uall"])
}

#[test]
fn a_session_that_teaches_nothing_leaves_nothing_in_the_project() {
    let env = TestEnv::without_worker();
    env.git(&["init", "-q"]);
    let session = Session::new("s1")
        .user("what does main.rs do?")
        .assistant("It starts.")
        .done();
    let transcript = env.write_transcript(&session);
    let transcript = transcript.to_str().unwrap();
    env.cli(&["reflect", transcript, "--apply"]).ok();
    let folder = env.project().join(".claude");
    assert!(!folder.exists());
    env.cli(&["remove", "pat-001"]).fails(1, &["pat-001"]);
    assert!(!folder.exists());
    assert_eq!(untracked(&env), "");
    // A folder of the user's stays.
    fs::create_dir(&folder).unwrap();
    env.cli(&["remove", "pat-001"]).fails(1, &["pat-001"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn git_sees_the_playbook_and_no_lock() {
    let env = TestEnv::without_worker();
    env.git(&["init", "-q"]);
    let exclude = env.project().join(".git/info/exclude");
    fs::write(&exclude, "mine").unwrap();
    for text in ["run the tests", "read the docs"] {
        env.cli(&["add", text]).ok();
    }
    assert!(env.project().join(".claude/playbook.json.lock").exists());
    assert_eq!(untracked(&env), "?? .claude/playbook.json\n");
    let list = fs::read_to_string(&exclude).unwrap();
    assert_eq!(list, "mine\n**/.claude/playbook.json.lock\n");
}
