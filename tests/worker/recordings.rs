//! Promise: recorded replies stand for the backend they come from.

use std::fs;
use std::path::PathBuf;

use super::backends::{good, logged_in, pids};
use crate::common::prelude::*;

/// Writes recorded replies for the two questions about `s1`, as `fixtures record` does.
fn recorded(env: &TestEnv) -> PathBuf {
    let file = env.config_dir().join("replies.jsonl");
    let transcript = env.transcript_path("s1").display().to_string();
    let file_argument = file.display().to_string();
    env.cli(&["fixtures", "record", &transcript, "--file", &file_argument])
        .ok();
    file
}

#[test]
fn recorded_replies_stand_for_the_backend_they_come_from() {
    let mut env = logged_in(&good());
    fs::remove_dir_all(env.state()).unwrap();
    let file = recorded(&env);
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 2);
    assert_eq!(env.marks_of("pat-001"), (0, 0), "recording changes nothing");
    assert_eq!(pids(&env).len(), 2);

    env.set("PATH", "/usr/bin:/bin");
    env.write_config("backend = \"fixtures\"\n[fixtures]\npath = \"replies.jsonl\"\n");
    env.ends("s1");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    let line = &env.reflections()[0];
    assert_eq!(line["backend"], "fixtures");
    let key = line["fixture_key"].as_str().unwrap();
    assert_eq!(key.len(), 12);
    assert!(fs::read_to_string(&file).unwrap().contains(key));
}

/// Spec/2, section 4.2.
#[test]
fn a_missing_recording_is_named_and_writes_nothing() {
    let env = TestEnv::with_point();
    env.write_config("backend = \"fixtures\"\nfixtures.path = \"replies.jsonl\"\n");
    write(&env.config_dir().join("replies.jsonl"), "");
    env.end_citing("s1");
    let before = env.playbook();
    env.worker();
    assert_eq!(env.playbook(), before);
    assert_eq!(env.failed().len(), 1);
    let line = &env.reflections()[0];
    assert_eq!(line["reason"], "reflect_error:FixtureMissingError");
    assert_eq!(line["ops_written"], 0);
    assert_eq!(line["fixture_key"].as_str().unwrap().len(), 12);
}
