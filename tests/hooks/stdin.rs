//! Promise: with any input on a hook's stdin, the client is not disturbed: status 0, nothing on
//! stderr or stdout, and nothing on disk outside our own state.

use crate::common::prelude::*;

/// More than the 8 MiB that a hook reads.
const TOO_MUCH: usize = 9 << 20;

#[rstest]
#[case::empty(b"")]
#[case::newline(b"\n")]
#[case::not_json(b"hello")]
#[case::cut_off(b"{\"session_id\": \"s1\", \"transc")]
#[case::not_an_object(b"[1, 2, 3]")]
#[case::a_string(b"\"session-end\"")]
#[case::null(b"null")]
#[case::no_keys(b"{}")]
#[case::invalid_utf8(b"{\"session_id\": \"\xff\xfe\"}")]
#[case::nuls(b"\0\0\0\0")]
#[case::wrong_types(
    b"{\"session_id\": 7, \"transcript_path\": [], \"cwd\": {}, \"reason\": false}"
)]
#[case::null_fields(
    b"{\"session_id\": null, \"transcript_path\": null, \"cwd\": null, \"hook_event_name\": null, \
       \"reason\": null, \"source\": null, \"trigger\": null, \"agent_transcript_path\": null}"
)]
fn input_that_names_no_session_makes_no_job(#[case] input: &[u8]) {
    let env = TestEnv::with_point();
    let before = env.files();
    let hooks = Hook::ALL.into_iter();
    for hook in hooks.filter(|hook| *hook != Hook::SessionStart) {
        env.hook_bytes(hook, input, Stdin::Closed).silent();
    }
    assert!(env.spool().is_empty());
    only_state_changed(&env, &before);
}

#[test]
fn nine_mebibytes_are_refused_and_nothing_hangs() {
    let env = TestEnv::without_worker();
    let before = env.files();
    let more = "x".repeat(TOO_MUCH);
    for hook in Hook::ALL {
        env.hook(hook, "s1", json!({"more": more})).silent();
    }
    assert!(env.spool().is_empty());
    only_state_changed(&env, &before);
}

#[rstest]
#[case::nested_deeply("[")]
#[case::objects_nested_deeply("{\"a\":")]
fn depth_is_no_crash(#[case] opening: &str) {
    let env = TestEnv::without_worker();
    let input = opening.repeat(1 << 20).into_bytes();
    for hook in Hook::ALL {
        env.hook_bytes(hook, &input, Stdin::Closed).silent();
    }
    assert!(env.spool().is_empty());
}

#[test]
fn a_whole_value_is_enough_though_stdin_is_never_closed() {
    let env = TestEnv::without_worker();
    env.write_transcript(Session::new("s1").user("hello"));
    let event = env.event(Hook::SessionEnd, "s1").to_string();
    env.hook_bytes(Hook::SessionEnd, event.as_bytes(), Stdin::HeldOpen)
        .silent();
    assert_eq!(env.spool().len(), 1);
}

#[rstest]
#[case::nothing(b"")]
#[case::half_a_value(b"{\"session_id\": \"s1\", ")]
fn a_value_that_never_comes_is_given_up_on(#[case] input: &[u8]) {
    let env = TestEnv::without_worker();
    for hook in Hook::ALL {
        env.hook_bytes(hook, input, Stdin::HeldOpen).silent();
    }
    assert!(env.spool().is_empty());
}

#[test]
fn unknown_keys_and_an_odd_order_are_tolerated() {
    let env = TestEnv::without_worker();
    let transcript = env.write_transcript(Session::new("s1").user("hello"));
    let event = format!(
        "\u{20}\n{{\"future\": {{\"a\": [1, null]}}, \"reason\": \"a reason of tomorrow\", \
         \"hook_event_name\": \"SessionEnd\", \"cwd\": {:?}, \"transcript_path\": {:?}, \
         \"permission_mode\": null, \"session_id\": \"s1\"}}",
        env.project(),
        transcript,
    );
    env.hook_bytes(Hook::SessionEnd, event.as_bytes(), Stdin::Closed)
        .silent();
    assert_eq!(env.spool().len(), 1);
}

#[rstest]
#[case::unknown_event(&["hook", "no-such-event"])]
#[case::no_event(&["hook"])]
#[case::stray_argument(&["hook", "session-end", "--bogus"])]
#[case::not_utf8_like(&["hook", "\u{fffd}"])]
fn a_wrong_command_line_of_a_hook_never_blocks_the_client(#[case] args: &[&str]) {
    let output = TestEnv::without_worker().cli_with(args, b"{}");
    assert_eq!((output.code, &*output.stdout), (Some(0), ""), "{output:?}");
}

#[track_caller]
fn only_state_changed(env: &TestEnv, before: &BTreeMap<PathBuf, Vec<u8>>) {
    let changed = env.changed_since(before);
    let is_fine = changed.iter().all(|path| path.starts_with("state"));
    assert!(is_fine, "{changed:?}");
}
