//! Promise: `playbook demo` shows the loop anywhere, offline, whatever the user has set,
//! and touches nothing of theirs.

use std::collections::BTreeMap;

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
fn the_demo_counts_a_helpful_mark_and_the_next_session_is_given_it() {
    let env = TestEnv::new();
    let files = env.files();
    let words = "playbook log pref-001";
    has!(
        env.cli(&["demo"]).ok(),
        "pat-001",
        words,
        "The user said: ",
        "session first"
    );
    let shown = env.cli(&["demo", "--json"]).json();
    env.settle();
    assert!(env.changed_since(&files).is_empty());
    let (before, after) = (points(&shown["before"]), points(&shown["after"]));
    let gained = after
        .iter()
        .find(|(name, point)| point["helpful"].as_u64() > before[*name]["helpful"].as_u64());
    let (name, point) = gained.unwrap_or_else(|| panic!("no helpful mark: {shown}"));
    assert_eq!(point["harmful"], 0, "{shown}");
    has!(
        shown["given_after"].as_str().unwrap(),
        &format!("\n[{name}] ")
    );
    assert_eq!(shown["story"]["name"], "pref-001");
    includes(
        &shown["story"]["story"][0],
        &json!({"kind": "add", "session": "first"}),
    );
}

fn points(list: &Value) -> BTreeMap<&str, &Value> {
    let points = list.as_array().into_iter().flatten();
    points
        .map(|point| (point["name"].as_str().unwrap(), point))
        .collect()
}
