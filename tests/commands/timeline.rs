//! Promise: `playbook timeline` says by day what was asked, how it ended and what was learned.

use serde_json::json;

use crate::common::env::{Hook, TestEnv, write};
use crate::common::session::Session;

/// A session of the project that has ended; `day` of November.
fn session(env: &TestEnv, id: &str, day: u32, words: &str) {
    let mut session = Session::new(id);
    session.user(words).assistant("Done.");
    session.user("thanks").assistant("Any time.");
    let folder = env.project();
    let text = session.text();
    let text = text.replace("/home/user/project", folder.to_str().unwrap());
    let text = text.replace("2026-11-21T", &format!("2026-11-{day:02}T"));
    write(&env.transcript_path(id), text);
}

#[test]
fn sessions_and_edits_stand_by_day_the_newest_first() {
    let env = TestEnv::new();
    assert_eq!(
        env.cli(&["timeline"]).ok(),
        format!(
            "No session of this project is known: {}\n",
            env.project().display()
        )
    );
    session(
        &env,
        "s1",
        3,
        "fix the build with sk-ant-api03-abcdefghijklmnop",
    );
    session(&env, "s2", 5, "always release with `just release`");
    env.hook(Hook::SessionEnd, "s2", json!({})).silent();
    env.settle();
    env.cli(&["add", "ask first"]).ok();

    let told = env.cli(&["timeline"]).ok();
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[0], "2026-11-21", "{told}");
    has!(lines[1], "by hand");
    has!(lines[2], "added to OTHERS: \"ask first\"");
    assert_eq!(lines[4], "2026-11-05", "{told}");
    has!(lines[5], "  s2  ");
    has!(lines[6], "always release with");
    has!(lines[7], "added to USER PREFERENCES");
    assert_eq!(lines[9], "2026-11-03", "{told}");
    has!(lines[10], "  s1  not learned");
    has!(lines[11], "fix the build with");
    lacks!(told, "abcdefghijklmnop");

    let newest = env.cli(&["timeline", "-n", "1", "--json"]).json();
    assert_eq!(newest["moments"].as_array().unwrap().len(), 1);
    assert_eq!(newest["moments"][0]["by"], "by hand");
}

#[test]
fn a_session_whose_transcript_is_gone_keeps_its_place() {
    let env = TestEnv::new();
    session(&env, "s1", 21, "always release with `just release`");
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.settle();
    std::fs::remove_file(env.transcript_path("s1")).unwrap();
    let told = env.cli(&["timeline"]).ok();
    has!(told, "  s1  ", "added to USER PREFERENCES");
    lacks!(told, "always release with `just release`\n");
}
