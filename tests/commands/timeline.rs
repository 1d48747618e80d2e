//! Promise: `playbook timeline` says by day what was asked, how it ended and what was learned.

use crate::common::prelude::*;

/// A session of the project that has ended; `day` of November.
fn session(env: &TestEnv, id: &str, day: u32, words: &str) {
    let mut session = Session::new(id);
    session.on(day).user(words).assistant("Done.");
    session.user("thanks").assistant("Any time.");
    env.write_held(&session);
}

#[test]
fn sessions_and_edits_stand_by_day_the_newest_first() {
    let env = TestEnv::new();
    let none = format!(
        "No session of this project is known: {}\n",
        env.project().display()
    );
    assert_eq!(env.cli(&["timeline"]).ok(), none);
    let words = "fix the build with sk-ant-api03-abcdefghijklmnop";
    session(&env, "s1", 3, words);
    session(&env, "s2", 5, "always release with `just release`");
    env.ends("s2");
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
    env.ends("s1");
    env.settle();
    std::fs::remove_file(env.transcript_path("s1")).unwrap();
    let told = env.cli(&["timeline"]).ok();
    has!(told, "  s1  ", "added to USER PREFERENCES");
    lacks!(told, "always release with `just release`\n");
}
