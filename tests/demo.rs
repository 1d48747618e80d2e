//! Promise: `playbook demo` shows the loop anywhere, offline, whatever the user has set,
//! and touches nothing of theirs.

mod common;

use common::api::Api;
use common::env::{TestEnv, write};
use serde_json::json;

#[test]
fn the_demo_shows_a_mark_and_what_the_next_session_is_given() {
    let env = TestEnv::new();
    let before = env.files();
    let shown = env.cli(&["demo"]).ok();
    for words in ["pat-001", "helpful=0", "helpful=1"] {
        assert!(shown.contains(words), "no {words:?} in {shown}");
    }
    assert_eq!(env.changed_since(&before), Vec::<std::path::PathBuf>::new());
    env.settle();
}

#[test]
fn the_demo_works_inside_a_session_with_any_settings_and_calls_nobody() {
    let api = Api::canned();
    let mut env = TestEnv::new();
    env.use_api(&api.base_url(), "sk-test");
    env.write_config("this is = not toml [");
    write(&env.config_dir().join("templates/playbook.txt"), "mine");
    env.write_client_settings(&json!({"playbook_update_on_exit": false}));
    for name in [
        "PLAYBOOK_DISABLE",
        "PLAYBOOK_WORKER",
        "PLAYBOOK_NO_WORKER",
        "CLAUDECODE",
    ] {
        env.set(name, "1");
    }
    env.set("CLAUDE_CONFIG_DIR", env.root().join("elsewhere"));
    env.set("ANTHROPIC_API_KEY", "sk-ant-test");
    let shown = env.cli(&["demo"]).ok();
    assert!(shown.contains("helpful=1"), "{shown}");
    assert_eq!(api.requests().len(), 0);
    env.settle();
}

#[test]
fn the_demo_can_be_read_by_a_program() {
    let shown = TestEnv::new().cli(&["demo", "--json"]).json();
    assert!(shown.is_object(), "{shown}");
}
