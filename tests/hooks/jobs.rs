//! Promise: when a session ends or is compacted, one job holds all that a later reflection needs,
//! and no secret or text of the session.

use crate::common::prelude::*;

fn finished_session() -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_transcript(Session::new("s1").user("hello").assistant("By [pat-001]."));
    env
}

#[rstest]
#[case::session_end(Hook::SessionEnd, "prompt_input_exit")]
#[case::pre_compact(Hook::PreCompact, "manual")]
fn a_job_names_the_session_and_its_places(#[case] hook: Hook, #[case] reason: &str) {
    let env = finished_session();
    env.hook(hook, "s1", json!({})).silent();
    let spool = env.spool();
    assert_eq!(spool.len(), 1, "{spool:?}");
    let wanted = json!({
        "event": hook.name(), "session": "s1", "transcript": env.transcript_path("s1"),
        "cwd": env.project(), "project": env.project(), "reason": reason, "at": NOW,
    });
    includes(&spool[0], &wanted);
}

#[test]
fn a_job_holds_neither_the_key_nor_a_word_of_the_session() {
    let mut env = TestEnv::without_worker();
    env.set("ANTHROPIC_API_KEY", "sk-ant-the-key");
    env.set("ANTHROPIC_AUTH_TOKEN", "the-token");
    env.set("AGENTIC_CONTEXT_API_KEY", "our-own-key");
    env.write_transcript(Session::new("s1").user("a word of the session"));
    for hook in [Hook::SessionStart, Hook::SessionEnd, Hook::PreCompact] {
        env.hook(hook, "s1", json!({})).silent();
    }
    assert_eq!(env.spool().len(), 2);
    let secrets = ["sk-ant-the-key", "the-token", "our-own-key", "a word of"];
    env.assert_nowhere(&secrets, &["s1.jsonl"]);
}

#[test]
fn a_session_that_kept_no_transcript_has_no_job() {
    let env = TestEnv::without_worker();
    env.ends("never-written");
    assert!(env.spool().is_empty());
}

#[test]
fn a_state_folder_that_cannot_be_made_does_not_disturb_the_client() {
    let mut env = finished_session();
    write(&env.root().join("in-the-way"), "a file");
    env.set("PLAYBOOK_STATE_DIR", env.root().join("in-the-way/state"));
    for hook in Hook::ALL {
        let output = env.hook(hook, "s1", json!({}));
        match hook {
            Hook::SessionStart => assert!(output.ok().contains("nothing will be learned")),
            _ => output.silent(),
        }
    }
}

/// The client writes it while the hook runs, and the hook is often quicker.
#[test]
fn a_subagents_transcript_is_waited_for() {
    let env = finished_session();
    env.write_config("[hooks]\non_subagent_stop = true\n");
    let own = env.agent_transcript_path("s1");
    let event = env.event(Hook::SubagentStop, "s1").to_string();
    let hook = env.command(Hook::SubagentStop.name());
    let hook = Running::start(hook, event.as_bytes(), Stdin::Closed);
    // The time that the client takes to write it.
    thread::park_timeout(Duration::from_millis(50));
    write(&own, Session::subagent("s1").user("task").text());
    hook.finish().silent();
    let spool = env.spool();
    assert_eq!(spool.len(), 1);
    let wanted = json!({"event": "subagent-stop", "transcript": own});
    includes(&spool[0], &wanted);
}

#[test]
fn the_subagent_stop_of_a_compaction_is_no_subagent() {
    let env = finished_session();
    env.write_config("[hooks]\non_subagent_stop = true\n");
    let change = json!({
        "agent_type": "",
        "agent_transcript_path": env.root().join("no/such/agent.jsonl"),
    });
    env.hook(Hook::SubagentStop, "s1", change).silent();
    assert!(env.spool().is_empty());
}

/// The switches of the earlier Python version, which config.toml overrides.
#[rstest]
#[case::all_by_default(json!({}), "", [true, true, false])]
#[case::exit_off(json!({"playbook_update_on_exit": false}), "", [false, true, false])]
#[case::clear_off(json!({"playbook_update_on_clear": false}), "", [true, false, false])]
#[case::subagents_on(json!({"playbook_update_on_subagent_stop": true}), "", [true, true, true])]
#[case::no_booleans(
    json!({"playbook_update_on_exit": "no", "playbook_update_on_clear": null, "hooks": {}}),
    "", [true, true, false]
)]
#[case::ours_win(
    json!({"playbook_update_on_exit": false, "playbook_update_on_clear": true,
        "playbook_update_on_subagent_stop": true}),
    "[hooks]\non_exit = true\non_clear = false\non_subagent_stop = false\n",
    [true, false, false]
)]
#[case::ours_alone(
    json!({}), "[hooks]\non_exit = false\non_clear = false\non_subagent_stop = true\n",
    [false, false, true]
)]
fn which_endings_make_a_job(
    #[case] client: Value,
    #[case] config: &str,
    #[case] expected: [bool; 3],
) {
    let env = finished_session();
    let path = env.agent_transcript_path("s1");
    write(&path, Session::subagent("s1").user("task").text());
    env.write_client_settings(&client);
    env.write_config(config);
    let makes_a_job = |hook: Hook, change: Value| {
        let before = env.spool().len();
        env.hook(hook, "s1", change).silent();
        env.spool().len() > before
    };
    let found = [
        makes_a_job(Hook::SessionEnd, json!({"reason": "other"})),
        makes_a_job(Hook::SessionEnd, json!({"reason": "clear"})),
        makes_a_job(Hook::SubagentStop, json!({})),
    ];
    assert_eq!(found, expected, "on exit, on clear, on a subagent's end");
}

#[test]
fn the_project_is_where_the_playbook_is() {
    let mut env = finished_session();
    env.write_playbook(&[("pat-001", "run the tests")]);
    fs::create_dir_all(env.project().join(".git")).unwrap();
    let deep = env.project().join("src/deep");
    fs::create_dir_all(&deep).unwrap();
    env.set("CLAUDE_PROJECT_DIR", &deep);
    let event = json!({"cwd": deep});
    env.hook(Hook::SessionEnd, "s1", event).silent();
    let wanted = json!({"project": env.project(), "cwd": deep});
    includes(&env.spool()[0], &wanted);
}

/// Creates a finished session whose prepared settings name a model.
fn with_settings() -> TestEnv {
    let mut env = finished_session();
    env.set("AGENTIC_CONTEXT_API_KEY", "k");
    env.write_config("[anthropic]\nmodel = \"ready\"\n");
    env.cli(&["trust"]).ok();
    env
}

#[test]
fn a_job_names_the_account_that_lies_ready_and_in_doubt_waits_for_the_program() {
    let mut env = with_settings();
    env.take_program_away(Hook::SessionEnd);
    env.ends("s1");
    assert_eq!(env.spool()[0]["need"]["model"], "ready");
    env.write_config("[anthropic]\nmodel = \"ready now\"\n");
    env.end_citing("s2");
    let spool = env.spool();
    let job = spool.iter().find(|job| job["session"] == "s2").unwrap();
    assert_eq!(job.get("need"), None);
    has!(env.log(), "could not find the program `playbook`");
}

#[rstest]
#[case::in_the_settings("config/config.toml")]
#[case::in_what_lies_ready("settings.json")]
fn what_changed_a_moment_ago_counts_and_what_others_can_write_does_not(#[case] file: &str) {
    let env = with_settings();
    match file {
        "settings.json" => {
            let ready = env.project_state().join(file);
            let text = fs::read_to_string(&ready).unwrap();
            fs::write(&ready, text.replace("\"ready\"", "\"forged\"")).unwrap();
            set_mode(&ready, 0o666);
        }
        _ => env.write_config("[anthropic]\nmodel = \"ready now\"\n"),
    }
    env.ends("s1");
    let model = env.spool()[0]["need"]["model"].clone();
    let is_forged = file == "settings.json";
    assert_eq!(model, if is_forged { "ready" } else { "ready now" });
}

#[test]
fn what_lies_ready_of_the_settings_holds_no_secret() {
    let mut env = finished_session();
    env.set("AGENTIC_CONTEXT_API_KEY", "hunter2");
    env.write_config("[anthropic]\nbase_url = \"https://me:hunter2@127.0.0.1/x\"\n");
    env.cli(&["trust"]).ok();
    let ready = fs::read_to_string(env.project_state().join("settings.json")).unwrap();
    has!(ready, "@127.0.0.1/x");
    lacks!(ready, "hunter2");
}
