//! Promise: what is sent goes where the user said, and nowhere else; what comes back is
//! bounded; nothing runs through a shell.

use std::fs;
use std::path::Path;

use crate::common::api::{Api, Step};
use crate::common::env::{Hook, TestEnv};
use crate::common::session::Session;
use serde_json::json;

const KEY: &str = "sk-ant-api03-Zm9vYmFyYmF6-0123456789";

fn with_session() -> TestEnv {
    let env = TestEnv::new();
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.write_transcript(&Session::citing("s1"));
    env
}

#[track_caller]
fn reason_of_the_waiting_job(env: &TestEnv) -> String {
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.settle();
    let jobs = env.spool();
    assert_eq!(jobs.len(), 1, "the job waits");
    jobs[0].to_string()
}

/// 192.0.2.0/24 belongs to nobody; nothing is sent there.
#[test]
fn plain_http_elsewhere_is_refused_until_the_user_says_so() {
    let mut env = with_session();
    env.use_api("http://192.0.2.1", KEY);
    let reason = reason_of_the_waiting_job(&env);
    has!(reason, "plain `http`");
    env.write_config("[anthropic]\nbase_url = \"http://192.0.2.1\"\n");
    let check = format!("{:?}", env.cli(&["config", "check"]));
    has!(check, "anthropic.allow_http");
    env.write_config("[anthropic]\nbase_url = \"http://192.0.2.1\"\nallow_http = true\n");
    env.cli(&["config", "check"]).ok();
}

/// A project must not be able to say it.
#[test]
fn a_project_cannot_send_sessions_elsewhere() {
    for line in [
        "anthropic.allow_http = true",
        "anthropic.base_url = \"https://evil.example\"",
        "secrets.off = [\"jwt\"]",
    ] {
        let env = with_session();
        fs::write(env.project().join(".claude/playbook.toml"), line).unwrap();
        let check = format!("{:?}", env.cli(&["config", "check"]));
        assert!(check.contains("cannot be used"), "{line}: {check}");
    }
}

#[test]
fn a_redirect_gets_neither_key_nor_session() {
    let elsewhere = Api::canned();
    let api = Api::script([Step::Redirect(elsewhere.base_url())]);
    let mut env = with_session();
    env.use_api(&api.base_url(), KEY);
    let reason = reason_of_the_waiting_job(&env);
    has!(reason, "Redirected");
    assert_eq!(elsewhere.requests().len(), 0);
}

#[test]
fn an_endless_answer_is_cut_off() {
    let api = Api::script([Step::Huge(64 << 20)]);
    let mut env = with_session();
    env.use_api(&api.base_url(), KEY);
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.settle();
    let log = fs::read_to_string(env.state().join("log/playbook.log")).unwrap();
    has!(log, "NotAMessage");
}

/// A server without a certificate is not spoken to over `https`.
#[test]
fn tls_is_not_given_up() {
    let api = Api::canned();
    let mut env = with_session();
    env.use_api(&api.base_url().replace("http://", "https://"), KEY);
    let reason = reason_of_the_waiting_job(&env);
    has!(reason, "Connection");
    assert!(api.requests().is_empty());
}

/// Programs are started with their arguments, and certificates are always looked at.
#[test]
fn the_code_starts_no_shell_and_switches_no_check_off() {
    const NEVER: [&str; 7] = [
        "Command::new(\"sh\")",
        "Command::new(\"bash\")",
        "Command::new(\"/bin/sh\")",
        "Command::new(\"env\")",
        ".danger_accept",
        ".tls_danger",
        "dangerous()",
    ];
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            for never in NEVER {
                assert!(!text.contains(never), "{never} in {}", path.display());
            }
        }
    }
    assert!(files > 100);
}
