//! Promise: the hooks of the gate and of the guard are registered only while the user has them
//! switched on, and leave no trace.

use crate::common::prelude::*;

pub(super) fn registered(env: &TestEnv, switch: &str) -> Vec<Value> {
    let text = fs::read_to_string(env.client_settings()).unwrap_or("{}".to_owned());
    let settings: Value = serde_json::from_str(&text).unwrap();
    let event = if switch == "gate" {
        "Stop"
    } else {
        "PreToolUse"
    };
    let entries = settings["hooks"][event].as_array().into_iter().flatten();
    let hooks = entries.flat_map(|entry| entry["hooks"].as_array().unwrap());
    hooks.cloned().collect()
}

pub(super) fn with_settings(kind: &str) -> TestEnv {
    let env = TestEnv::new();
    let own = "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}],\"PreToolUse\" :[ {\"matcher\":\"Bash\",\"hooks\": [{\"type\": \"command\", \"command\": \"~/bin/pre-tool-use\"}]}\r\n]}}\n";
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
#[case::gate("gate", "playbook hook stop")]
#[case::guard("guard", "/pre-tool-use")]
fn on_registers_one_hook_and_off_takes_it_out_to_the_byte(
    #[case] switch: &str,
    #[case] command: &str,
    #[values("none", "own", "installed", "plugin")] kind: &str,
) {
    let env = with_settings(kind);
    let before = fs::read_to_string(env.client_settings()).ok();
    let others = registered(&env, switch);
    for mode in ["tell", "block", "block"] {
        let mode = ["--mode", mode];
        let mode = if switch == "gate" { &mode[..] } else { &[] };
        env.cli(&[&[switch, "on"], mode].concat()).ok();
        let mut hooks = registered(&env, switch);
        hooks.retain(|hook| !others.contains(hook));
        assert_eq!(hooks.len(), 1, "{hooks:?}");
        let registered = hooks[0]["command"].as_str().unwrap();
        assert!(registered.ends_with(command), "{registered}");
        let is_installed = registered.contains("/.claude/playbook/bin/");
        assert_eq!(is_installed, kind == "installed", "{registered}");
        if let [_, mode] = mode {
            assert_eq!(env.cli(&["config", "get", "gate.mode"]).ok().trim(), *mode);
        }
    }
    has!(
        env.cli(&[switch, "off"]).ok(),
        &*format!("the {switch} is off")
    );
    assert_eq!(fs::read_to_string(env.client_settings()).ok(), before);
    assert_eq!(env.cli(&["config", "get", "gate.mode"]).ok().trim(), "off");
}

#[rstest]
fn uninstall_takes_it_out_and_install_leaves_it_in(
    #[values("gate", "guard")] switch: &str,
    #[values("none", "own", "installed", "plugin")] kind: &str,
    #[values(true, false)] has_record: bool,
) {
    let env = with_settings(kind);
    let others = registered(&env, switch);
    env.cli(&[switch, "on"]).ok();
    let hooks = registered(&env, switch);
    env.cli(&["install"]).ok();
    assert_eq!(registered(&env, switch), hooks);
    if !has_record {
        fs::remove_dir_all(env.state().join("settings")).unwrap();
    }
    env.cli(&["uninstall"]).ok();
    assert_eq!(registered(&env, switch), others);
}

#[test]
fn a_hook_that_leads_to_a_program_that_is_gone_is_silent_and_made_anew() {
    let env = TestEnv::new();
    let gone = "[ ! -x /gone/playbook ] || exec /gone/playbook hook stop";
    let hook = json!({"type": "command", "command": gone});
    env.write_client_settings(&json!({"hooks": {"Stop": [{"hooks": [hook]}]}}));
    let mut sh = env.command("/bin/sh");
    sh.args(["-c", gone]);
    Running::start(sh, b"", Stdin::Closed).finish().silent();
    env.cli(&["gate", "on"]).ok();
    let hooks = registered(&env, "gate");
    assert_eq!(hooks.len(), 1);
    assert!(!hooks[0]["command"].as_str().unwrap().contains("/gone/"));
}

#[test]
fn a_cloned_project_can_switch_it_off_and_never_on() {
    let env = TestEnv::new();
    let own = env.project().join(".claude/playbook.toml");
    write(&own, "[gate]\nmode = \"block\"\n");
    let check = || env.cli(&["config", "check"]);
    assert_eq!(check().code, Some(1));
    has!(check().stdout, "can only be lowered by a project");
    env.cli(&["gate", "on", "--mode", "tell"]).ok();
    has!(check().stdout, "can only be lowered by a project");
    write(&own, "[gate]\nmode = \"off\"\n");
    check().ok();
    assert_eq!(env.cli(&["config", "get", "gate.mode"]).ok().trim(), "off");
}

#[test]
fn the_agent_cannot_switch_it() {
    let mut env = TestEnv::new();
    env.set("CLAUDECODE", "1");
    for args in [
        ["gate", "on"],
        ["gate", "off"],
        ["guard", "on"],
        ["guard", "off"],
    ] {
        env.cli(&args).fails(1, &["for the user to decide"]);
    }
    assert!(!env.client_settings().exists());
}

#[test]
fn doctor_says_where_setting_and_hook_do_not_go_together() {
    let env = TestEnv::new();
    let doctor = || env.cli(&["doctor"]).stdout;
    assert!(!doctor().contains("gate"));
    env.cli(&["config", "set", "gate.mode", "tell"]).ok();
    has!(doctor(), "its hook is not registered");
    env.cli(&["gate", "on"]).ok();
    has!(doctor(), "on: tell");
    env.cli(&["config", "set", "gate.mode", "off"]).ok();
    has!(doctor(), "costs Claude Code time");
}
