//! Promise: the guard turns back what is guarded, and says when it cannot.

use super::gate::{registered, with_settings};
use crate::common::prelude::*;

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
    let hooks = registered(&env, "guard");
    let command = hooks[0]["command"].as_str().unwrap();
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
