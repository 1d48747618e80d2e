//! Promise: where reflection is off nothing is written, where little happened nothing is spent, and
//! a dry run changes nothing.

use std::os::unix::fs::MetadataExt as _;

use super::backends::FAKE;
use crate::common::prelude::*;

/// Returns everything about each file and folder below a root except access times.
fn snapshot(root: &Path) -> BTreeMap<PathBuf, (u32, u64, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(path) = open.pop() {
        let about = fs::symlink_metadata(&path).unwrap();
        let bytes = if about.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        let (mode, time) = (about.mode(), about.mtime());
        found.insert(path, (mode, about.ino(), time, about.mtime_nsec(), bytes));
    }
    found
}

fn rich(id: &str) -> Session {
    Session::new(id)
        .user("hello")
        .assistant("By [pat-001], done.")
        .user("thanks, and the next one")
        .done()
}

fn user() -> (TestEnv, Api) {
    let (env, api) = TestEnv::with_model();
    env.write_transcript(&rich("s1"));
    (env, api)
}

fn switch_off(env: &mut TestEnv, how: &str) {
    let own = env.project().join(".claude/playbook.toml");
    match how {
        "inside our own worker" => env.set("PLAYBOOK_WORKER", "1"),
        "variable" => {
            env.set("PLAYBOOK_DISABLE", "1");
            // The variable needs no settings, not even valid ones.
            env.write_config("nonsense [");
        }
        "user" => env.write_config("[reflection]\nenabled = false\n"),
        "project" => write(&own, "reflection.enabled = false\n"),
        "project of a user with broken settings" => {
            env.write_config("x = 1\n");
            write(&own, "reflection.enabled = false\n");
        }
        other => panic!("{other}"),
    }
}

#[rstest]
fn off_leaves_home_and_project_as_they_were_byte_for_byte(
    #[values(
        "inside our own worker",
        "variable",
        "user",
        "project",
        "project of a user with broken settings"
    )]
    how: &str,
) {
    let (mut env, api) = user();
    env.unset("PLAYBOOK_NO_WORKER");
    write(&env.agent_transcript_path("s1"), rich("s1").text());
    switch_off(&mut env, how);
    let before = snapshot(env.root());
    for hook in Hook::ALL {
        env.hook(hook, "s1", json!({})).silent();
        env.hook_bytes(hook, b"not json", Stdin::Closed).silent();
        env.hook_bytes(hook, b"{", Stdin::HeldOpen).silent();
        env.cli_with(
            &["hook", hook.name(), "--wait", "--strange"],
            env.event(hook, "s1").to_string().as_bytes(),
        )
        .silent();
    }
    env.settle();
    assert_eq!(snapshot(env.root()), before);
    assert!(api.requests().is_empty());
}

#[rstest]
#[case::variable("variable", "PLAYBOOK_DISABLE")]
#[case::user("user", "`reflection.enabled`")]
#[case::project("project", "`reflection.enabled`")]
fn off_is_off_by_hand_too(#[case] how: &str, #[case] named: &str) {
    let (mut env, api) = user();
    switch_off(&mut env, how);
    if how == "variable" {
        env.write_config("");
    }
    let transcript = env.transcript_path("s1").display().to_string();
    let words = ["reflection is switched off", named];
    env.cli(&["reflect", &transcript, "--apply"])
        .fails(1, &words);
    let shown = format!("reflect {transcript}");
    for line in ["bootstrap --yes", &shown, "dream", "review --now"] {
        env.types(line).fails(1, &words);
    }
    assert!(env.spool().is_empty() && api.requests().is_empty());
}

/// A job from before the switch sends nothing, and its session is not lost.
#[test]
fn what_is_switched_off_before_the_worker_comes_is_not_sent() {
    let (env, api) = user();
    env.ends("s1");
    let own = env.project().join(".claude/playbook.toml");
    write(&own, "reflection.enabled = false\n");
    env.worker();
    assert!(api.requests().is_empty() && env.spool().is_empty() && env.failed().is_empty());
    assert_eq!(last_line(&env)["reason"], "reflection is switched off");

    fs::remove_file(own).unwrap();
    env.hook(Hook::PreCompact, "s1", json!({})).silent();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

fn last_line(env: &TestEnv) -> Value {
    env.reflections().pop().expect("a line in the log")
}

fn trivial(id: &str) -> Session {
    let file = json!({"file_path": "/home/user/project/main.rs"});
    Session::new(id)
        .user("what does main.rs do?")
        .tool("Read", &file, "fn main() {}")
        .assistant("It does nothing.")
        .done()
}

#[test]
fn too_little_is_skipped_without_a_call_and_the_next_job_covers_it() {
    let (env, api) = user();
    let mut session = trivial("s2");
    env.end(&session);
    env.worker();
    assert!(api.requests().is_empty() && env.spool().is_empty());
    let wanted = json!({"outcome": "skipped", "reason": "too little happened"});
    includes(&last_line(&env), &wanted);
    has!(env.cli(&["log"]).ok(), "skipped: too little happened");

    session
        .user("then make it print its version")
        .assistant("By [pat-001], done.");
    env.end(&session);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    has!(api.requests()[0].prompt(), "what does main.rs do?");
}

/// Two jobs of one transcript wait: the first part alone is too little.
#[test]
fn a_skipped_part_goes_to_the_job_that_waits_behind_it() {
    let (mut env, api) = user();
    let mut session = trivial("s2");
    env.write_transcript(&session);
    env.hook(Hook::PreCompact, "s2", json!({})).silent();
    env.set("PLAYBOOK_NOW", "2026-11-21T12:00:01Z");
    env.ends("s2");
    env.worker();
    assert!(api.requests().is_empty());
    assert_eq!(env.reflections().len(), 2);
    session.user("then test it");
    env.end(&session);
    env.worker();
    assert!(!api.requests().is_empty());
    assert!(api.requests()[0].prompt().contains("what does main.rs do?"));
}

#[test]
fn what_the_user_asks_for_is_reflected_on_however_little_it_is() {
    let (env, api) = user();
    let transcript = env.write_transcript(&trivial("s2")).display().to_string();
    env.cli(&["reflect", &transcript, "--apply"]).ok();
    assert!(!api.requests().is_empty());
    assert_eq!(env.reflections()[0]["trigger"], "asked");
}

#[test]
fn a_trigger_can_be_switched_off() {
    let (env, api) = user();
    env.write_config("[triggers]\noff = [\"activity\", \"citations\"]\n[retry]\nbase_ms = 1\n");
    env.ends("s1");
    env.worker();
    assert!(api.requests().is_empty());
    env.write_config("[triggers]\noff = [\"citations\"]\n[retry]\nbase_ms = 1\n");
    env.hook(Hook::PreCompact, "s1", json!({})).silent();
    env.worker();
    assert_eq!(env.reflections()[1]["trigger"], "activity");
}

/// The first answer is useless, and reflection is switched off before the second question.
#[test]
fn what_is_switched_off_between_two_calls_is_asked_no_more() {
    let mut env = TestEnv::with_point();
    env.set("PATH", format!("{FAKE}:/usr/bin:/bin"));
    env.set("CLAUDE_CODE_OAUTH_TOKEN", "a-login");
    let reply = json!({"type": "result", "is_error": false, "stop_reason": "end_turn",
        "result": "I would rather not."});
    let own = env.project().join(".claude/playbook.toml");
    let off = format!("echo 'reflection.enabled = false' > '{}'", own.display());
    let play = format!("cat > /dev/null; {off}\ncat <<'EOT'\n{reply}\nEOT\n");
    write(&env.home().join("play"), play);
    env.end(&rich("s1"));
    let before = env.playbook();
    env.worker();
    let calls = fs::read_to_string(env.home().join("pids")).unwrap();
    assert_eq!(calls.lines().count(), 1);
    let line = last_line(&env);
    let said = json!([line["outcome"], line["reason"], line["attempts"]]);
    assert_eq!(said, json!(["skipped", "reflection is switched off", 1]));
    assert_eq!(env.playbook(), before);
    assert!(env.spool().is_empty());
}
