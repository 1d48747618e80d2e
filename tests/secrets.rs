//! Promise: a key is in no file, no message and no command line, even when the API sends
//! it back in an error.

mod common;

use std::time::Duration;

use common::api::{Api, Step};
use common::env::{Hook, TestEnv};
use common::run::DEADLINE;
use common::session::Session;
use rstest::rstest;
use serde_json::json;

const KEY: &str = "sk-ant-api03-Zm9vYmFyYmF6-never-to-be-seen";

fn with_session() -> TestEnv {
    let env = TestEnv::new();
    env.write_playbook(&[("pat-001", "run the tests")]);
    let mut session = Session::new("s1");
    session.user("hello").assistant("By [pat-001], done.");
    env.write_transcript(&session);
    env
}

#[rstest]
#[case::success(Step::Canned)]
#[case::refused(Step::error(401, "authentication_error", &format!("invalid x-api-key: {KEY}")))]
#[case::server_error(Step::Status(500, Vec::new(), format!("<pre>x-api-key: {KEY}</pre>")))]
#[case::bad_request(Step::error(400, "invalid_request_error", &format!("header {KEY}")))]
#[case::garbage(Step::text(&format!("your key is {KEY}")))]
#[case::dropped(Step::Drop)]
fn the_key_is_nowhere_afterwards(
    #[case] step: Step,
    #[values("AGENTIC_CONTEXT_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_API_KEY")] name: &str,
) {
    let api = Api::script([step]);
    let mut env = with_session();
    env.use_api(&api.base_url(), "");
    env.write_config("[retry]\nbase_ms = 1\npark_ms = 3600000\n");
    env.unset("AGENTIC_CONTEXT_API_KEY");
    env.set(name, KEY);
    env.set("PLAYBOOK_DEBUG", env.root().join("debug"));

    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.settle();
    assert!(!api.requests().is_empty(), "the key was used");
    for args in [&["jobs"][..], &["jobs", "--json"], &["show"], &["worker"]] {
        let output = env.cli(args);
        let text = format!("{output:?}");
        assert!(!text.contains(KEY), "{args:?}: {text}");
    }
    for (path, bytes) in env.files() {
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(KEY), "in {}", path.display());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_key_is_in_no_command_line_while_it_is_used() {
    let api = Api::script([Step::Canned.after(Duration::from_secs(2))]);
    let mut env = with_session();
    env.use_api(&api.base_url(), KEY);
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    api.wait_for(1, DEADLINE);
    let workers = env.processes();
    assert!(!workers.is_empty());
    for pid in workers {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains(KEY));
    }
    env.settle();
}
