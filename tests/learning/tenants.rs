//! Promise: two tenants with one project are never shown each other's texts, and the user is shown
//! neither's.

use crate::common::prelude::*;

/// Runs a command on the memory of one tenant, in the project that all of them name.
fn ask(env: &TestEnv, tenant: Option<&str>, args: &[&str]) -> Output {
    let tenant = tenant.map(|name| ["--tenant", name]);
    let tenant = tenant.as_ref().map_or(&[][..], |named| &named[..]);
    env.cli(&[args, tenant].concat())
}

/// Reflects on a trace with an error of this name and stores the result; returns the id.
fn learn(env: &TestEnv, tenant: Option<&str>, word: &str) -> String {
    let trace = json!({
        "tenant_id": tenant, "project_id": "shop",
        "events": [
            {"event_type": "tool_call", "content": "make orders", "tool_name": "Bash"},
            {"event_type": "error_event", "content": format!("error: no rule to make target {word}"),
             "tool_name": "Bash"},
        ],
        "outcome": "failure", "task_description": format!("make {word}"),
        "error": {"error_category": "other", "error_message": format!("no {word}")},
    });
    let said = env.cli_with(&["generate", "--store"], trace.to_string().as_bytes());
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let said: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(said["problem"], Value::Null);
    said["reflection_id"].as_str().expect("stored").to_owned()
}

/// Names with a meaning for a file system or for SQL, and two that masking would make equal.
const TENANTS: [&str; 6] = [
    "acme",
    "../../memory",
    "' OR 1=1 --",
    "",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "ghp_26C7e42F292c6912E7710c838347Ae178B4b",
];

const EVERY_WORD: &str = "okapia okapib okapic okapid okapie okapif";

#[test]
fn of_two_tenants_with_one_project_neither_sees_the_other() {
    let env = TestEnv::without_worker();
    let word = |at: usize| EVERY_WORD.split(' ').nth(at).unwrap_or_default().to_owned();
    let tenants = TENANTS.map(Some).into_iter().enumerate();
    let learned = tenants.map(|(at, name)| (name, learn(&env, name, &word(at))));
    let learned = learned.collect::<Vec<_>>();
    for (at, (tenant, own)) in learned.iter().enumerate() {
        let of = |args: &[&str]| ask(&env, *tenant, args).stdout.replace(EVERY_WORD, "");
        let all = [
            of(&["recall", "--all", "--json", EVERY_WORD]),
            of(&["recall", "--project", "shop", "--json"]),
            of(&["recall", "--all", "--json", "-k", "100"]),
        ];
        for shown in all {
            has!(shown, &word(at));
            for other in (0..TENANTS.len()).filter(|other| *other != at) {
                lacks!(shown, &word(other));
            }
        }
        let stats: Value = serde_json::from_str(&of(&["stats", "--all", "--json"])).unwrap();
        assert_eq!(stats["total_reflections"], 1, "{tenant:?}");
        has!(of(&["recall", "--json", own]), &word(at));
        for other in 0..TENANTS.len() {
            let error = format!("error: no rule to make target {}", word(other));
            let seen = ask(&env, *tenant, &["seen", "--all", "--tool", "Bash", &error]);
            assert_eq!(seen.code, Some(i32::from(other != at)), "{}", seen.stdout);
        }
        // A stolen id: other tenants can neither find nor forget it.
        for (thief, _) in learned.iter().filter(|(thief, _)| thief != tenant) {
            let shown = ask(&env, *thief, &["recall", "--json", own]).stdout;
            lacks!(shown, &word(at));
            let forgotten = ask(&env, *thief, &["forget", "--yes", own]);
            assert_eq!(forgotten.code, Some(1), "{}", forgotten.stdout);
        }
    }
    let forget = ["forget", "--yes", "--all", "--older-than", "2999-01-01"];
    let gone = ask(&env, Some("acme"), &forget);
    assert_eq!(gone.code, Some(0), "{}", gone.stderr);
    for (at, (tenant, _)) in learned.iter().enumerate() {
        let left = ask(&env, *tenant, &["recall", "--all", "--json"]).stdout;
        assert_eq!(left.contains(&word(at)), at != 0, "{tenant:?}");
    }
}

#[test]
fn nothing_of_a_tenant_reaches_the_hooks_and_purge_takes_it_along() {
    let env = TestEnv::without_worker();
    learn(&env, Some("acme"), "okapi");
    let found = Command::new("grep")
        .args(["-rl", "okapi"])
        .arg(env.state())
        .output()
        .unwrap();
    let found = String::from_utf8(found.stdout).unwrap();
    let beside = found.lines().filter(|file| !file.contains("/tenants/"));
    assert_eq!(beside.collect::<Vec<_>>(), Vec::<&str>::new());
    let purged = env.cli(&["uninstall", "--purge"]);
    assert_eq!(purged.code, Some(0), "{}", purged.stderr);
    assert!(!env.state().join("tenants").exists());
}

#[test]
fn a_trace_of_another_tenant_than_the_one_named_is_refused() {
    let env = TestEnv::without_worker();
    let trace = |tenant: Value| {
        json!({"tenant_id": tenant, "events": [{"event_type": "user_message", "content": "hi"}],
               "outcome": "success"})
        .to_string()
    };
    let args = ["generate", "--store", "--tenant", "acme"];
    for other in [json!("umbrella"), json!(7), json!("default")] {
        let said = env.cli_with(&args, trace(other).as_bytes());
        assert_eq!(said.code, Some(1));
        has!(said.stdout, "tenant_id");
    }
    assert!(!env.state().join("tenants").exists());
    let said = env.cli_with(&args, trace(Value::Null).as_bytes());
    has!(said.stdout, r#""tenant_id":"acme""#);
}
