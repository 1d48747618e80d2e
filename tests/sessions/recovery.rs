//! Promise: a session whose client was killed is reflected on like any other, once.

use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::SystemTime;

use crate::common::api::Api;
use crate::common::env::{Hook, TestEnv};
use crate::common::session::Session;
use jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

/// A client: its process is what the mark of the session remembers.
fn client() -> Child {
    Command::new("sleep").arg("600").spawn().expect("a client")
}

fn end(mut client: Child) {
    client.kill().expect("a child of ours");
    client.wait().expect("a child of ours");
}

fn start_session(env: &mut TestEnv, id: &str, client: &Child) {
    env.set("CLAUDE_PID", client.id().to_string());
    env.hook(Hook::SessionStart, id, json!({})).ok();
    env.write_transcript(&Session::citing(id));
}

fn marks(env: &TestEnv) -> usize {
    let open = fs::read_dir(env.state().join("open")).into_iter().flatten();
    open.flatten()
        .filter(|entry| entry.path().extension().is_some_and(|e| e == "json"))
        .count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_whose_client_was_killed_counts_once() {
    let api = Api::canned();
    let mut env = TestEnv::asking(&api);
    let client = client();
    start_session(&mut env, "s1", &client);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (0, 0), "the client is alive");
    end(client);
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((1, 0), 0));
    // It was not dead after all: its end adds nothing.
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn a_session_that_ended_has_no_mark() {
    let api = Api::canned();
    let mut env = TestEnv::asking(&api);
    let client = client();
    start_session(&mut env, "s1", &client);
    assert_eq!(marks(&env), 1);
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    assert_eq!(marks(&env), 0);
    end(client);
}

/// The machine was restarted, or the client ran in another container: nobody can tell
/// whether it lives, so time does.
#[test]
fn a_session_of_another_boot_is_given_up_after_a_day_without_a_word() {
    let api = Api::canned();
    let mut env = TestEnv::asking(&api);
    let client = client();
    start_session(&mut env, "s1", &client);
    end(client);
    let open = fs::read_dir(env.state().join("open")).unwrap();
    for file in open.flatten().map(|e| e.path()) {
        if file.extension().is_some_and(|e| e == "json") {
            let mut mark: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            mark["client"]["boot"] = json!("another");
            fs::write(&file, mark.to_string()).unwrap();
        }
    }
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((0, 0), 1));
    let written = fs::metadata(env.transcript_path("s1"))
        .unwrap()
        .modified()
        .unwrap();
    let later = jiff::Timestamp::try_from(written).unwrap() + jiff::SignedDuration::from_hours(30);
    env.set("PLAYBOOK_NOW", later.to_string());
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((1, 0), 0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_mark_without_a_transcript_is_forgotten_and_a_broken_one_disturbs_nobody() {
    let api = Api::canned();
    let mut env = TestEnv::asking(&api);
    let client = client();
    env.set("CLAUDE_PID", client.id().to_string());
    env.hook(Hook::SessionStart, "s1", json!({})).ok();
    start_session(&mut env, "s2", &client);
    end(client);
    crate::common::env::write(&env.state().join("open/0000000000000000.json"), "{\"v\":");
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((1, 0), 1));
}

/// The worker was stopped, or the session resumed, while it judged a mark.
#[cfg(target_os = "linux")]
#[test]
fn a_mark_that_was_being_judged_is_judged_again_and_a_living_session_keeps_its_own() {
    let api = Api::canned();
    let mut env = TestEnv::asking(&api);
    let (dead, alive) = (client(), client());
    start_session(&mut env, "s1", &dead);
    end(dead);
    start_session(&mut env, "s2", &alive);
    let open = fs::read_dir(env.state().join("open")).unwrap();
    for file in open.flatten().map(|e| e.path()) {
        if file.extension().is_some_and(|e| e == "json") {
            fs::rename(&file, file.with_extension("json.taken")).unwrap();
        }
    }
    env.worker();
    assert_eq!(
        (env.marks_of("pat-001"), marks(&env)),
        ((1, 0), 1),
        "s1 alone"
    );
    end(alive);
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((2, 0), 0));
}

/// The hook that wrote it did not wait for the disk, and took the mark away.
#[test]
fn a_new_job_is_on_the_disk_before_anything_is_done_for_it() {
    let api = Api::canned();
    let mut env = TestEnv::asking(&api);
    let client = client();
    start_session(&mut env, "s1", &client);
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    let log = env.root().join("points");
    env.set("PLAYBOOK_FAULT_LOG", &log);
    env.worker();
    end(client);
    let points = fs::read_to_string(log).unwrap();
    let place = |name: &str| points.lines().position(|line| line.ends_with(name));
    let (sync, write) = (place(" true sync"), place(" true replace: create"));
    assert!(sync.is_some() && sync < write, "{points}");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// Writes a session as the client does that held it in the test's own project, an hour and
/// more before anybody looks.
fn write_quiet(env: &TestEnv, session: &Session, cwd: &Path) {
    let text = session
        .text()
        .replace("/home/user/project", &cwd.to_string_lossy());
    let path = env.transcript_path(session.id());
    crate::common::env::write(&path, text);
    let written: SystemTime = "2026-11-21T11:30:00Z".parse::<Timestamp>().unwrap().into();
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(written).unwrap();
}

fn said(id: &str) -> Session {
    Session::citing(id)
}

/// A user whose first session was learned from, before all others began.
fn with_memory(api: &Api) -> TestEnv {
    let mut env = TestEnv::asking(api);
    env.set("PLAYBOOK_NOW", "2026-11-21T10:00:00Z");
    env.write_transcript(&said("first"));
    env.hook(Hook::SessionEnd, "first", json!({})).silent();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    env.set("PLAYBOOK_NOW", "2026-11-21T13:00:00Z");
    env
}

#[test]
fn a_session_while_our_state_could_not_be_written_is_found_and_counts_once() {
    let api = Api::canned();
    let env = with_memory(&api);
    let folders = ["open", "spool"].map(|name| env.state().join(name));
    for folder in &folders {
        fs::rename(folder, folder.with_extension("away")).unwrap();
        fs::write(folder, "").unwrap();
    }
    let told = env.hook(Hook::SessionStart, "s1", json!({})).ok();
    has!(told, "nothing will be learned");
    write_quiet(&env, &said("s1"), &env.project());
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    for folder in &folders {
        fs::remove_file(folder).unwrap();
        fs::rename(folder.with_extension("away"), folder).unwrap();
    }
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    env.worker();
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn only_sessions_are_found_that_our_hooks_spoke_to_and_that_nobody_knows() {
    let api = Api::canned();
    let mut env = with_memory(&api);
    let asked = api.requests().len();
    // As with PLAYBOOK_DISABLE, or before Playbook was there.
    let off = env.transcript_path("off");
    write_quiet(&env, &said("off"), &env.project());
    let text = fs::read_to_string(&off).unwrap();
    let notes = text.lines().filter(|line| !line.contains("hookEvent"));
    let notes: Vec<&str> = notes.chain([""]).collect();
    crate::common::env::write(&off, notes.join("\n"));
    let fork = said("parent").fork("fork");
    write_quiet(&env, &fork, &env.project());
    let other = env.root().join("another");
    fs::create_dir(&other).unwrap();
    write_quiet(&env, &said("other"), &other);
    let client = client();
    env.set("CLAUDE_PID", client.id().to_string());
    env.hook(Hook::SessionStart, "open", json!({})).ok();
    write_quiet(&env, &said("open"), &env.project());
    env.write_transcript(&said("written-just-now"));
    env.worker();
    end(client);
    assert_eq!(
        (api.requests().len(), env.marks_of("pat-001")),
        (asked, (1, 0))
    );

    // The user wants no session learned from.
    write_quiet(&env, &said("ended"), &env.project());
    env.write_client_settings(&json!({"playbook_update_on_exit": false}));
    fs::remove_dir_all(env.state().join("open")).unwrap();
    fs::remove_file(env.transcript_path("open")).unwrap();
    env.worker();
    assert_eq!(
        (api.requests().len(), env.marks_of("pat-001")),
        (asked, (1, 0))
    );
    env.write_client_settings(&json!({}));
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (2, 0));
}

/// A session that was learned from is gone on with while nothing can be written: its later part
/// is found, too.
#[rstest]
#[case::spoken_to("Playbook: nothing will be learned from this session.", (2, 0))]
#[case::not_spoken_to("Another hook: hello.", (1, 0))]
fn a_later_part_while_our_state_could_not_be_written_is_found_and_counts_once(
    #[case] told: &str,
    #[case] marks: (u64, u64),
) {
    let api = Api::canned();
    // It is the first that was learned from at all.
    let mut env = TestEnv::asking(&api);
    env.set("PLAYBOOK_NOW", "2026-11-21T11:00:00Z");
    let mut session = said("s1");
    env.write_transcript(&session);
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    // Its start and its end left nothing.
    session
        .injected(told)
        .user("and once more")
        .assistant("By [pat-001], done.")
        .ran("cargo test", "12 passed")
        .assistant("All 12 tests pass.");
    write_quiet(&env, &session, &env.project());
    env.set("PLAYBOOK_NOW", "2026-11-21T13:00:00Z");
    for _ in 0..2 {
        env.worker();
        assert_eq!(env.marks_of("pat-001"), marks);
    }
    assert!(env.spool().is_empty() && env.failed().is_empty());
    let jobs = env.cli(&["log", "--json"]).json();
    let jobs = jobs["jobs"].as_array().map_or(0, Vec::len);
    assert_eq!(jobs as u64, marks.0, "it is found once");
}
