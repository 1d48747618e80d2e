//! Promise: the guard's hook is registered only while the user has it switched on, and leaves no
//! trace.

use crate::common::prelude::*;

fn registered(env: &TestEnv) -> Vec<Value> {
    let text = fs::read_to_string(env.client_settings()).unwrap_or("{}".to_owned());
    let settings: Value = serde_json::from_str(&text).unwrap();
    let entries = settings["hooks"]["PreToolUse"].as_array().cloned();
    entries.unwrap_or_default()
}

fn with_settings(kind: &str) -> TestEnv {
    let env = TestEnv::new();
    let own = "{ \"model\":\"opus\",\n\t\"hooks\" : {\"PreToolUse\":[ {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"~/bin/pre-tool-use\"}]}\n]}}\r\n";
    let plugin = r#"{"enabledPlugins":{"playbook@playbook":true}}"#;
    match kind {
        "own" => write(&env.client_settings(), own),
        "plugin" => write(&env.client_settings(), plugin),
        "installed" => {
            programs::link_into(&env.installed_bin());
            env.cli(&["install"]).ok();
        }
        _ => {}
    }
    env
}

#[rstest]
fn on_registers_one_hook_and_off_takes_it_out_to_the_byte(
    #[values("none", "own", "installed", "plugin")] kind: &str,
) {
    let env = with_settings(kind);
    let before = fs::read_to_string(env.client_settings()).ok();
    let others = registered(&env);
    for _ in 0..2 {
        has!(env.cli(&["guard", "on"]).ok(), "the guard is on");
        let mut entries = registered(&env);
        entries.retain(|entry| !others.contains(entry));
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!(entries[0]["matcher"], "Bash");
        let command = entries[0]["hooks"][0]["command"].as_str().unwrap();
        assert!(command.ends_with("/pre-tool-use"), "{command}");
        let is_installed = command.contains("/.claude/playbook/bin/");
        assert_eq!(is_installed, kind == "installed", "{command}");
    }
    has!(env.cli(&["guard", "off"]).ok(), "the guard is off");
    assert_eq!(fs::read_to_string(env.client_settings()).ok(), before);
}

#[rstest]
fn uninstall_takes_it_out_and_install_leaves_it_in(
    #[values("none", "own", "installed", "plugin")] kind: &str,
) {
    let env = with_settings(kind);
    let others = registered(&env);
    env.cli(&["guard", "on"]).ok();
    let entries = registered(&env);
    env.cli(&["install"]).ok();
    assert_eq!(registered(&env), entries);
    // Without its record, too.
    if kind != "own" {
        fs::remove_dir_all(env.state().join("settings")).unwrap();
    }
    env.cli(&["uninstall"]).ok();
    assert_eq!(registered(&env), others);
}

#[test]
fn what_is_registered_turns_a_call_back_and_is_silent_without_its_program() {
    let mut env = with_settings("installed");
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    env.cli(&["guard", "on"]).ok();
    env.write_playbook(&[("pat-001", "run `just proto`")]);
    env.cli(&["trust"]).ok();
    let shown = || env.cli(&["guard"]).ok();
    has!(shown(), "No key point has a guard");
    env.cli(&["edit", "pat-001", "--when-command", "make proto", "--guard"])
        .ok();
    has!(
        shown(),
        "pat-001 run `just proto` (at command \"make proto\", before it runs)"
    );
    let call = json!({"tool_input": {"command": "make proto"}});
    let input = env.event_with(Hook::PreToolUse, "s1", call);
    let entries = registered(&env);
    let command = entries[0]["hooks"][0]["command"].as_str().unwrap();
    let runs = || {
        let mut sh = env.command("/bin/sh");
        sh.args(["-c", command]);
        Running::start(sh, &input, Stdin::Closed).finish()
    };
    has!(runs().ok(), "\"deny\"");
    fs::remove_file(env.installed_bin().join("pre-tool-use")).unwrap();
    runs().silent();
}

#[test]
fn the_agent_cannot_switch_it() {
    let mut env = TestEnv::new();
    env.set("CLAUDECODE", "1");
    for switch in ["on", "off"] {
        env.cli(&["guard", switch])
            .fails(1, &["for the user to decide"]);
    }
    assert!(!env.client_settings().exists());
    has!(env.cli(&["guard"]).ok(), "the guard is off");
}

#[test]
fn edit_and_doctor_say_when_a_guard_does_nothing() {
    let env = TestEnv::with_point();
    let doctor = || env.cli(&["doctor"]).stdout;
    lacks!(doctor(), "guard");
    let args = ["edit", "pat-001", "--when-command", "make proto", "--guard"];
    has!(env.cli(&args).stderr, "`playbook guard on` switches it on");
    has!(
        doctor(),
        "1 key point with a guard, and its hook is not registered"
    );
    env.cli(&["guard", "on"]).ok();
    has!(doctor(), "on: 1 key point with a guard");
    let text = fs::read_to_string(env.client_settings()).unwrap();
    write(
        &env.client_settings(),
        text.replace("/pre-tool-use", "/old/pre-tool-use"),
    );
    has!(doctor(), "leads to another program");
}
