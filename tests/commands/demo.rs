//! Promise: `playbook demo` shows the loop anywhere, offline, with any user settings, and touches
//! no file of the user's.

use crate::common::prelude::*;

#[test]
fn the_demo_works_inside_a_session_with_any_settings_and_calls_nobody() {
    let (mut env, api) = (TestEnv::new(), Api::canned());
    env.use_api(&api.base_url(), "sk-test");
    env.write_config("this is = not toml [");
    write(&env.config_dir().join("templates/playbook.txt"), "mine");
    env.write_client_settings(&json!({"playbook_update_on_exit": false}));
    for name in ["DISABLE", "WORKER", "NO_WORKER"] {
        env.set(&format!("PLAYBOOK_{name}"), "1");
    }
    env.set("CLAUDECODE", "1");
    env.set("CLAUDE_CONFIG_DIR", env.root().join("elsewhere"));
    env.set("ANTHROPIC_API_KEY", "sk-ant-test");
    has!(env.cli(&["demo"]).ok(), "pat-001");
    assert_eq!(api.requests().len(), 0);
    env.settle();
}

#[test]
fn the_demo_learns_what_was_stated_and_the_next_session_is_given_it() {
    let env = TestEnv::new();
    let files = env.files();
    let told = env.cli(&["demo"]).ok();
    has!(told, "pat-001", "playbook log pref-001", "You stated it. ");
    has!(told, "session first");
    let shown = env.cli(&["demo", "--json"]).json();
    env.settle();
    assert!(env.changed_since(&files).is_empty());
    let names = |list: &str| texts(&shown[list], "name");
    lacks!(names("before").join(" "), "pref-001");
    has!(names("after").join(" "), "pref-001");
    let said = shown["given_after"].as_str().unwrap();
    has!(said, "\n[pref-001] From now on");
    assert_eq!(shown["story"]["name"], "pref-001");
    let wanted = json!({"kind": "add", "session": "first"});
    includes(&shown["story"]["story"][0], &wanted);
}
