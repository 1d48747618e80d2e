//! Promise: sessions that end at the same moment are all counted, each once.

use std::thread;

use crate::common::api::{Api, Step};
use crate::common::env::{Hook, TestEnv};
use crate::common::session::Session;
use rstest::rstest;
use serde_json::json;

const SESSIONS: usize = 8;

#[rstest]
#[case::ended(&[Hook::SessionEnd])]
#[case::compacted_then_ended(&[Hook::PreCompact, Hook::SessionEnd])]
fn eight_sessions_at_once_are_eight_marks(#[case] hooks: &[Hook]) {
    let api = Api::script([Step::Canned.after(std::time::Duration::from_millis(100))]);
    let mut env = TestEnv::new();
    env.use_api(&api.base_url(), "sk-test");
    env.write_playbook(&[("pat-001", "run the tests")]);
    let ids: Vec<String> = (0..SESSIONS).map(|n| format!("session-{n}")).collect();
    for id in &ids {
        env.write_transcript(&Session::citing(id));
    }

    thread::scope(|scope| {
        for id in &ids {
            scope.spawn(|| {
                for hook in hooks {
                    env.hook(*hook, id, json!({})).silent();
                }
            });
        }
    });
    env.settle();

    assert_eq!((env.spool(), env.failed()), (vec![], vec![]));
    assert_eq!(env.marks_of("pat-001"), (SESSIONS as u64, 0));
    assert_eq!(
        api.requests().len(),
        2 * SESSIONS,
        "each question was paid for once"
    );
}
