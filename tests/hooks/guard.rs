//! Promise: a guarded command is turned back once a session, before it runs; in any doubt it runs.

use crate::common::prelude::*;

const TEXT: &str = "run `just proto`: `make proto` wipes the generated stubs";

/// Creates a trusted project with a guarded point, and a person at the terminal.
fn guarded() -> TestEnv {
    let mut env = TestEnv::without_worker();
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    env.write_playbook(&[("pat-001", TEXT), ("pat-002", "small commits")]);
    env.cli(&["trust"]).ok();
    guards(&env, "pat-001");
    env
}

fn guards(env: &TestEnv, id: &str) {
    let args = ["edit", id, "--when-command", "make proto", "--guard"];
    assert_eq!(env.cli(&args).code, Some(0));
}

fn calls(env: &TestEnv, session: &str, change: Value) -> Output {
    let mut event = json!({"tool_input": {"command": "cd api && make proto -j4 | tail"}});
    merge(&mut event, change);
    env.hook(Hook::PreToolUse, session, event)
}

#[track_caller]
fn turned_back(output: Output) -> Value {
    let answer = output.json();
    let told = &answer["hookSpecificOutput"];
    assert_eq!(
        (&told["hookEventName"], &told["permissionDecision"]),
        (&json!("PreToolUse"), &json!("deny"))
    );
    let reason = told["permissionDecisionReason"].as_str().expect("a reason");
    has!(reason, "run it again to run it anyway.\n- [");
    answer
}

#[test]
fn a_guarded_command_is_turned_back_once_in_each_session_and_for_each_subagent() {
    let env = guarded();
    let answer = turned_back(calls(&env, "s1", json!({})));
    let reason = &answer["hookSpecificOutput"]["permissionDecisionReason"];
    assert!(reason.as_str().unwrap().ends_with(TEXT), "{reason}");
    has!(
        answer["systemMessage"].as_str().unwrap(),
        "run `just proto`"
    );
    calls(&env, "s1", json!({})).silent();
    env.start_by("compact", "s1");
    calls(&env, "s1", json!({})).silent();
    let agent = |id: &str| json!({"agent_id": id, "agent_type": "general-purpose"});
    turned_back(calls(&env, "s1", agent("a1")));
    calls(&env, "s1", agent("a1")).silent();
    turned_back(calls(&env, "s1", agent("a2")));
    turned_back(calls(&env, "s2", json!({})));
}

#[test]
fn what_was_said_then_is_no_hint_and_counts_as_shown() {
    let env = guarded();
    turned_back(calls(&env, "s1", json!({})));
    let failed = json!({"tool_input": {"command": "make proto"}, "error": "Exit code 2\nno stubs"});
    env.hook(Hook::PostToolUseFailure, "s1", failed).silent();
    let mut records = fs::read_dir(env.project_state().join("shown")).expect("a folder");
    let record = records.next().expect("a record").expect("a file");
    has!(fs::read_to_string(record.path()).unwrap(), "pat-001");
}

#[test]
fn of_many_calls_at_once_one_is_turned_back() {
    let env = guarded();
    let told: usize = thread::scope(|s| {
        let hooks: Vec<_> = (0..12)
            .map(|_| s.spawn(|| calls(&env, "s1", json!({})).ok()))
            .collect();
        let printed = hooks.into_iter().map(|hook| hook.join().expect("ended"));
        printed.filter(|printed| !printed.is_empty()).count()
    });
    assert_eq!(told, 1);
}

#[rstest]
#[case::spoken_of(json!({"tool_input": {"command": "echo \"make proto\""}}))]
#[case::another(json!({"tool_input": {"command": "make prototype"}}))]
#[case::another_tool(json!({"tool_name": "mcp__shell__run"}))]
#[case::no_tool(json!({"tool_name": null}))]
#[case::no_command(json!({"tool_input": {"command": 7}}))]
#[case::no_session(json!({"session_id": null}))]
#[case::a_session_of_another_type(json!({"session_id": ["s1"]}))]
fn all_else_runs(#[case] change: Value) {
    let env = guarded();
    let before = env.files();
    calls(&env, "s1", change).silent();
    assert!(env.changed_since(&before).is_empty());
}

#[rstest]
#[case::nobody_attends(|env: &mut TestEnv| env.set("CLAUDE_CODE_SESSION_ATTENDED", "0"))]
#[case::a_client_that_does_not_say(|env: &mut TestEnv| env.unset("CLAUDE_CODE_SESSION_ATTENDED"))]
#[case::our_own_worker(|env: &mut TestEnv| env.set("PLAYBOOK_WORKER", "1"))]
#[case::switched_off(|env: &mut TestEnv| env.set("PLAYBOOK_DISABLE", "1"))]
#[case::no_guard_left(|env: &mut TestEnv| {
    env.cli(&["edit", "pat-001", "--when-command", "make proto"]).ok();
})]
#[case::not_trusted_any_more(|env: &mut TestEnv| { env.cli(&["trust", "--off"]).ok(); })]
#[case::the_settings_were_changed(|env: &mut TestEnv| env.write_config("notices = \"quiet\"\n"))]
#[case::others_may_write_the_index(|env: &mut TestEnv| {
    set_mode(&env.project_state().join("context.json"), 0o666);
})]
#[case::the_index_is_stale(|env: &mut TestEnv| {
    let text = fs::read_to_string(env.playbook_path()).expect("a playbook");
    write(&env.playbook_path(), text.replace("small commits", "tiny commits"));
})]
#[case::no_mark_can_be_made(|env: &mut TestEnv| write(&env.state().join("shown"), "a file"))]
fn in_any_doubt_it_runs(#[case] happens: fn(&mut TestEnv)) {
    let mut env = guarded();
    happens(&mut env);
    calls(&env, "s1", json!({})).silent();
}

/// A colleague's pull gives a known point a guard, or another command to an old one.
#[rstest]
#[case::a_guard("pat-002")]
#[case::another_command("pat-001")]
fn what_came_with_a_pull_does_nothing_before_the_ok(#[case] point: &str) {
    let env = guarded();
    let mut playbook = env.playbook();
    let cue = json!({"when": {"command": "git push"}, "guard": true});
    playbook["playbook"]["points"][point] = cue;
    write(&env.playbook_path(), playbook.to_string());
    env.start("s0");
    env.worker();
    env.start("s1");
    let push = || json!({"tool_input": {"command": "git push origin main"}});
    calls(&env, "s1", push()).silent();
    env.cli(&["review", "accept", "1"]).ok();
    turned_back(calls(&env, "s1", push()));
}

#[test]
fn without_a_guarded_point_it_ends_before_it_reads_its_input() {
    let mut env = TestEnv::with_point();
    env.set("CLAUDE_CODE_SESSION_ATTENDED", "1");
    let before = env.files();
    env.hook_bytes(Hook::PreToolUse, b"{", Stdin::HeldOpen)
        .silent();
    calls(&env, "s1", json!({})).silent();
    assert!(env.changed_since(&before).is_empty());
    let env = guarded();
    env.hook_bytes(Hook::PreToolUse, b"{\"tool_name\":", Stdin::Closed)
        .silent();
}
