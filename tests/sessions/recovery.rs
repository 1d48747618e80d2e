//! Promise: a session whose client was killed is reflected on like any other, once.

use std::process::Child;
use std::time::SystemTime;

use crate::common::prelude::*;
use jiff::SignedDuration;

/// Starts a process that plays the client in the session's mark.
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

fn open_sessions(env: &TestEnv) -> Vec<PathBuf> {
    let open = fs::read_dir(env.state().join("open")).into_iter().flatten();
    let files = open.flatten().map(|entry| entry.path());
    files
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect()
}

fn marks(env: &TestEnv) -> usize {
    open_sessions(env).len()
}

#[cfg(target_os = "linux")]
#[test]
fn a_session_whose_client_was_killed_counts_once() {
    let (mut env, _api) = TestEnv::with_model();
    let client = client();
    start_session(&mut env, "s1", &client);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (0, 0), "the client is alive");
    end(client);
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((1, 0), 0));
    // It was alive after all: its end adds nothing.
    env.ends("s1");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

/// The machine was restarted, so only the elapsed time shows whether the client is alive.
#[test]
fn a_session_of_another_boot_is_given_up_after_a_day_without_a_word() {
    let (mut env, _api) = TestEnv::with_model();
    let client = client();
    start_session(&mut env, "s1", &client);
    end(client);
    for file in open_sessions(&env) {
        let mut mark: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        mark["client"]["boot"] = json!("another");
        fs::write(&file, mark.to_string()).unwrap();
    }
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((0, 0), 1));
    let transcript = fs::metadata(env.transcript_path("s1")).unwrap();
    let written = Timestamp::try_from(transcript.modified().unwrap()).unwrap();
    env.worker_at(&(written + SignedDuration::from_hours(30)).to_string());
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((1, 0), 0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_mark_without_a_transcript_is_forgotten_and_a_broken_one_disturbs_nobody() {
    let (mut env, _api) = TestEnv::with_model();
    let client = client();
    env.set("CLAUDE_PID", client.id().to_string());
    env.hook(Hook::SessionStart, "s1", json!({})).ok();
    start_session(&mut env, "s2", &client);
    end(client);
    write(&env.state().join("open/0000000000000000.json"), "{\"v\":");
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((1, 0), 1));
}

/// The worker was stopped, or the session resumed, while the worker judged its mark.
#[cfg(target_os = "linux")]
#[test]
fn a_mark_that_was_being_judged_is_judged_again_and_a_living_session_keeps_its_own() {
    let (mut env, _api) = TestEnv::with_model();
    let (dead, alive) = (client(), client());
    start_session(&mut env, "s1", &dead);
    end(dead);
    start_session(&mut env, "s2", &alive);
    for file in open_sessions(&env) {
        fs::rename(&file, file.with_extension("json.taken")).unwrap();
    }
    env.worker();
    let alone = (env.marks_of("pat-001"), marks(&env));
    assert_eq!(alone, ((1, 0), 1), "s1 alone");
    end(alive);
    env.worker();
    assert_eq!((env.marks_of("pat-001"), marks(&env)), ((2, 0), 0));
}

/// The hook that wrote the job did not wait for the disk, and removed the mark.
#[test]
fn a_new_job_is_on_the_disk_before_anything_is_done_for_it() {
    let (mut env, _api) = TestEnv::with_model();
    let client = client();
    start_session(&mut env, "s1", &client);
    assert_eq!(marks(&env), 1);
    env.ends("s1");
    assert_eq!(marks(&env), 0, "the session has ended");
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

/// Writes a session that a client held in `cwd` more than an hour ago.
fn write_quiet(env: &TestEnv, session: &Session, cwd: &Path) {
    let folder = cwd.to_str().unwrap();
    let path = env.transcript_path(session.id());
    write(&path, session.text().replace("/home/user/project", folder));
    let written: SystemTime = "2026-11-21T11:30:00Z".parse::<Timestamp>().unwrap().into();
    let file = fs::File::options().append(true).open(path).unwrap();
    file.set_modified(written).unwrap();
}

/// Creates a user whose first session was learned from before all others began.
fn with_memory() -> (TestEnv, Api) {
    let (mut env, api) = TestEnv::with_model();
    env.set("PLAYBOOK_NOW", "2026-11-21T10:00:00Z");
    env.learn_citing("first");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    env.set("PLAYBOOK_NOW", "2026-11-21T13:00:00Z");
    (env, api)
}

#[test]
fn a_session_while_our_state_could_not_be_written_is_found_and_counts_once() {
    let (env, _api) = with_memory();
    let folders = ["open", "spool"].map(|name| env.state().join(name));
    for folder in &folders {
        fs::rename(folder, folder.with_extension("away")).unwrap();
        fs::write(folder, "").unwrap();
    }
    let told = env.hook(Hook::SessionStart, "s1", json!({})).ok();
    has!(told, "nothing will be learned");
    write_quiet(&env, &Session::citing("s1"), &env.project());
    env.ends("s1");
    for folder in &folders {
        fs::remove_file(folder).unwrap();
        fs::rename(folder.with_extension("away"), folder).unwrap();
    }
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    env.worker();
    env.ends("s1");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn only_sessions_are_found_that_our_hooks_spoke_to_and_that_nobody_knows() {
    let (mut env, api) = with_memory();
    let asked = api.requests().len();
    // A session with PLAYBOOK_DISABLE, or from before Playbook.
    let off = env.transcript_path("off");
    write_quiet(&env, &Session::citing("off"), &env.project());
    let text = fs::read_to_string(&off).unwrap();
    let notes = text.lines().filter(|line| !line.contains("hookEvent"));
    write(&off, notes.chain([""]).collect::<Vec<_>>().join("\n"));
    let fork = Session::citing("parent").fork("fork");
    write_quiet(&env, &fork, &env.project());
    let other = env.root().join("another");
    fs::create_dir(&other).unwrap();
    write_quiet(&env, &Session::citing("other"), &other);
    let client = client();
    env.set("CLAUDE_PID", client.id().to_string());
    env.hook(Hook::SessionStart, "open", json!({})).ok();
    write_quiet(&env, &Session::citing("open"), &env.project());
    env.write_transcript(&Session::citing("written-just-now"));
    env.worker();
    end(client);
    let found = || (api.requests().len(), env.marks_of("pat-001"));
    assert_eq!(found(), (asked, (1, 0)));

    // The user has switched off learning at the end of a session.
    write_quiet(&env, &Session::citing("ended"), &env.project());
    env.write_client_settings(&json!({"playbook_update_on_exit": false}));
    fs::remove_dir_all(env.state().join("open")).unwrap();
    fs::remove_file(env.transcript_path("open")).unwrap();
    env.worker();
    assert_eq!(found(), (asked, (1, 0)));
    env.write_client_settings(&json!({}));
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (2, 0));
}

/// A session that was learned from continues while nothing can be written; its later part is found.
#[rstest]
#[case::spoken_to("Playbook: nothing will be learned from this session.", (2, 0))]
#[case::not_spoken_to("Another hook: hello.", (1, 0))]
fn a_later_part_while_our_state_could_not_be_written_is_found_and_counts_once(
    #[case] told: &str,
    #[case] marks: (u64, u64),
) {
    // The first session that was learned from at all.
    let (mut env, _api) = TestEnv::voting();
    env.set("PLAYBOOK_NOW", "2026-11-21T11:00:00Z");
    let mut session = Session::citing("s1");
    env.learn_from(&session);
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    // Its start and end left nothing.
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
    assert_eq!(history(&env).len() as u64, marks.0, "it is found once");
}
