//! Promise: when very many sessions end at once, all of them count, one worker does it,
//! and no job is left behind without one.

use crate::common::api::Api;
use crate::common::env::{Hook, TestEnv};
use crate::common::run::{Running, Stdin};
use crate::common::session::Session;

/// Sessions that end at once.
const SESSIONS: usize = 200;

#[test]
fn two_hundred_hooks_at_once_leave_no_job_behind() {
    let api = Api::canned();
    let mut env = TestEnv::new();
    env.use_api(&api.base_url(), "sk-test");
    env.write_playbook(&[("pat-001", "run the tests")]);
    for n in 0..SESSIONS {
        let mut session = Session::new(&format!("s{n}"));
        session.user("hello").assistant("By [pat-001], done.");
        env.write_transcript(&session);
    }
    let hooks: Vec<_> = (0..SESSIONS)
        .map(|n| {
            let event = env.event(Hook::SessionEnd, &format!("s{n}")).to_string();
            let command = env.command(Hook::SessionEnd.name());
            Running::start(command, event.as_bytes(), Stdin::Closed)
        })
        .collect();
    for hook in hooks {
        hook.finish().silent();
    }
    env.settle();
    assert!(env.spool().is_empty(), "{} left behind", env.spool().len());
    assert!(env.failed().is_empty());
    assert_eq!(env.marks_of("pat-001"), (SESSIONS as u64, 0));
    // Two workers at once would have asked some questions twice.
    assert_eq!(api.requests().len(), 2 * SESSIONS, "two questions each");
}
