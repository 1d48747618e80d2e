//! Promise: every part of every session counts exactly once, even after a stop at the worst moment,
//! a strange file in the spool or a clock set back.

use crate::common::prelude::*;

fn spool_file(env: &TestEnv, name: &str) -> PathBuf {
    env.state().join("spool").join(name)
}

fn go_on(env: &TestEnv) {
    let mut session = Session::citing("s1");
    let before = session.text();
    session.user("once more").assistant("By [pat-001], again.");
    let after = session.text().replacen(&before, "", 1);
    let after = after.replace("2026-11-21T", "2026-11-22T");
    write(&env.transcript_path("s1"), before + &after);
    env.ends("s1");
}

#[track_caller]
fn only_job(env: &TestEnv) -> (PathBuf, Value) {
    let job = env.spool().pop().expect("a job");
    let id = job["id"].as_str().expect("an id").to_owned();
    (spool_file(env, &format!("{id}.json")), job)
}

#[test]
fn a_stop_on_the_way_to_failed_asks_nothing_again() {
    let (env, api) = TestEnv::with_ended([Step::text("prose")]);
    env.worker();
    assert_eq!(api.requests().len(), 2);
    // The evidence has been moved already, the job has not.
    let failed = env.failed().pop().expect("a failed job");
    let name = format!("{}.json", failed["id"].as_str().unwrap());
    let file = env.state().join("failed").join(&name);
    fs::rename(file, spool_file(&env, &name)).unwrap();
    env.worker();
    assert_eq!(api.requests().len(), 2);
    assert_eq!((env.spool().len(), env.failed().len()), (0, 1));
    let told = env.failed()[0]["progress"]["failed"].to_string();
    has!(told, "reflect_error");
}

/// Its claim is unknown until it can be read.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_claimed_while_the_disk_does_not_give_a_job() {
    let (env, api) = TestEnv::with_ended([Step::Canned]);
    let (file, _) = only_job(&env);
    let aside = file.with_extension("aside");
    fs::rename(&file, &aside).unwrap();
    // Reading the first byte of this file is an I/O error (EIO).
    std::os::unix::fs::symlink("/proc/self/mem", &file).unwrap();
    env.hook(Hook::PreCompact, "s1", json!({})).silent();
    env.cli(&["worker"]).fails(1, &["could not read"]);
    assert_eq!((api.requests().len(), env.marks_of("pat-001")), (0, (0, 0)));

    fs::rename(&aside, &file).unwrap();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[rstest]
#[case::gone(None)]
#[case::cut(Some("{\"facts\":"))]
fn evidence_that_cannot_be_read_is_made_again(#[case] content: Option<&str>) {
    let (mut env, api) = TestEnv::with_ended([Step::error(500, "api_error", "down")]);
    env.write_config("[retry]\nattempts = 1\n");
    env.worker();
    let (job, _) = only_job(&env);
    let evidence = job.with_extension("evidence");
    match content {
        None => fs::remove_file(&evidence).unwrap(),
        Some(text) => fs::write(&evidence, text).unwrap(),
    }
    drop(api);
    let api = Api::canned();
    env.set("AGENTIC_CONTEXT_BASE_URL", api.base_url());
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    assert!(api.requests()[0].prompt().contains("By [pat-001]"));
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[test]
fn half_written_copied_and_foreign_files_in_the_spool_hold_up_nobody() {
    let (env, _api) = TestEnv::with_ended([Step::Canned]);
    let (file, _) = only_job(&env);
    fs::copy(file, spool_file(&env, "20261121T000000-00000006.json")).unwrap();
    let half = "{\"v\":1,\"id\":\"20261121T0";
    let files = [
        ("20261121T000000-00000001.json", ""),
        ("20261121T000000-00000002.json", half),
        ("20261121T000000-00000003.json", "{\"hello\": \"world\"}"),
        ("notes.txt", "someone else's"),
        ("job.json", "{}"),
    ];
    for (name, content) in files {
        write(&spool_file(&env, name), content);
    }
    fs::create_dir(spool_file(&env, "20261121T000000-00000004.json")).unwrap();
    let fifo = spool_file(&env, "20261121T000000-00000005.json");
    assert!(Command::new("mkfifo").arg(fifo).status().unwrap().success());
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    for (name, content) in files {
        assert_eq!(fs::read_to_string(spool_file(&env, name)).unwrap(), content);
    }
    let told = env.cli(&["jobs"]).ok();
    has!(told, "20261121T000000-00000006", "unreadable");
}

/// The transcript is reserved for it, because only the newer version knows its claim.
#[test]
fn a_job_of_a_newer_version_and_its_transcript_are_left_alone() {
    let (env, _api) = TestEnv::with_ended([Step::Canned]);
    let (_, job) = only_job(&env);
    let newer = json!({"v": 99, "transcript": job["transcript"], "claimed": [[0, 100]]});
    let file = spool_file(&env, "20261121T000000-00000001.json");
    write(&file, newer.to_string());
    env.learn_citing("s2");
    assert_eq!(env.marks_of("pat-001"), (1, 0), "s2 alone");
    let jobs = env.cli(&["jobs"]).ok();
    has!(jobs, "a job of a newer version comes first");
    assert!(file.exists());
}

#[test]
fn a_clock_that_went_back_does_not_make_a_job_wait_for_years() {
    let (mut env, _api) =
        TestEnv::with_ended([Step::error(500, "api_error", "down"), Step::Canned]);
    env.write_config("[retry]\nattempts = 1\n");
    env.set("PLAYBOOK_NOW", "2036-11-21T12:00:00Z");
    env.worker();
    // By that clock the job is too old and is in failed/; a younger one waits.
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    env.set("PLAYBOOK_NOW", "2026-11-21T12:00:01Z");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// The project of a session can change between two of its hooks.
#[test]
fn one_transcript_under_two_projects_counts_once() {
    let (env, _api) = TestEnv::with_ended([Step::Canned]);
    let (file, mut job) = only_job(&env);
    let sub = env.project().join("sub");
    let ours = fs::read(env.playbook_path()).unwrap();
    write(&sub.join(".claude/playbook.json"), ours);
    for n in 1..=8 {
        let id = format!("20261121T115959-{n:08x}");
        job["id"] = json!(id);
        job["project"] = json!([&sub, &env.project()][usize::from(n % 2 == 0)]);
        write(&file.with_file_name(format!("{id}.json")), job.to_string());
    }
    env.worker();
    let votes = |path: PathBuf| {
        let playbook: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let point = &playbook["sections"]["PATTERNS & APPROACHES"][0];
        point["helpful"].as_u64().unwrap()
    };
    let sum = votes(env.playbook_path()) + votes(sub.join(".claude/playbook.json"));
    assert_eq!(sum, 1);
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

/// A job that three workers did not survive is done after the others. A worker that ends while such
/// a job only waits was not ended by it.
#[rstest]
#[case::until_the_user_asks("2026-11-21T12:00:00Z")]
#[case::until_it_is_due("2026-11-21T20:00:00Z")]
fn a_job_that_ends_the_worker_does_not_hold_up_the_others(#[case] then: &str) {
    let (mut env, _api) = TestEnv::with_ended([Step::Canned]);
    let (_, job) = only_job(&env);
    let id = job["id"].as_str().unwrap();
    let ended = json!({id: {"ended": 2, "now": true}});
    env.write_state("at-work.json", ended.to_string());
    env.learn_citing("s2");
    assert_eq!(env.marks_of("pat-001"), (1, 0), "s2 alone");
    let jobs = env.cli(&["jobs"]).ok();
    has!(jobs, "3 workers ended while they were at it");
    if then == NOW {
        env.cli(&["jobs", "retry", id]).ok();
    }
    env.worker_at(then);
    assert_eq!(env.marks_of("pat-001"), (2, 0));
}

#[test]
fn a_worker_for_one_job_leaves_the_others_to_the_next() {
    let (env, _api) = TestEnv::with_ended([Step::Canned]);
    env.end_citing("s2");
    let id = env.spool()[0]["id"].as_str().unwrap().to_owned();
    env.cli(&["worker", "--job", &id]).ok();
    assert_eq!((env.marks_of("pat-001"), env.spool().len()), ((1, 0), 1));
    env.worker();
    assert_eq!((env.marks_of("pat-001"), env.spool().len()), ((2, 0), 0));
}

#[test]
fn the_job_is_written_though_its_account_cannot_be_told() {
    let (env, _api) = TestEnv::with_model();
    // The salt of the key hashes cannot be read.
    fs::create_dir_all(env.state().join("salt")).unwrap();
    env.end_citing("s1");
    assert_eq!(env.spool().len(), 1);
    fs::remove_dir(env.state().join("salt")).unwrap();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[test]
fn evidence_without_a_job_is_removed_and_temporary_files_are_swept() {
    let (mut env, _api) = TestEnv::with_ended([Step::Canned]);
    let left = [
        "spool/20261121T000000-00000001.evidence",
        "spool/.playbook-a1b2c3.tmp",
        ".playbook-d4e5f6.tmp",
    ];
    for name in left {
        env.write_state(name, "text of a session");
    }
    env.worker();
    assert!(!env.state().join(left[0]).exists());
    // By the machine's clock they are new: a hook may be writing them.
    assert!(env.state().join(left[1]).exists());
    env.set("PLAYBOOK_NOW", "2099-01-01T00:00:00Z");
    env.worker();
    for name in left {
        assert!(!env.state().join(name).exists(), "{name}");
    }
}

/// A session that waits in the spool has not counted, whenever it was held.
#[test]
fn a_memory_that_is_gone_keeps_no_waiting_session_from_counting() {
    let (mut env, _api) = TestEnv::with_ended([Step::Canned]);
    env.worker();
    env.end_citing("s2");
    // A session that has counted continued and ended again.
    env.set("PLAYBOOK_NOW", "2026-11-22T12:00:00Z");
    go_on(&env);
    env.lose_memory();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (3, 0));
}

/// The records of an open session have not counted, except those before its last job.
#[test]
fn a_memory_that_is_gone_keeps_no_open_session_from_counting() {
    let (mut env, _api) = TestEnv::with_ended([Step::Canned]);
    env.set("CLAUDE_PID", std::process::id().to_string());
    // One session ended before and continues, one has only begun, one ended.
    env.worker();
    for session in ["s1", "s2"] {
        let source = json!({"source": if session == "s1" { "resume" } else { "startup" }});
        env.hook(Hook::SessionStart, session, source).code_is(0);
    }
    env.write_transcript(&Session::citing("s2"));
    env.lose_memory();
    env.set("PLAYBOOK_NOW", "2026-11-22T12:00:00Z");
    env.learn_citing("s3");
    assert_eq!(env.marks_of("pat-001"), (2, 0), "s1 and s3");
    env.set("PLAYBOOK_NOW", "2026-11-22T13:00:00Z");
    env.ends("s1");
    env.ends("s2");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (3, 0), "s2, and s1 not again");
}

/// A deleted memory, as our hint advises for a damaged one, knows no sessions; the votes of the
/// ended ones are in the playbook.
#[rstest]
#[case::deleted(None)]
#[case::empty(Some(""))]
fn a_memory_that_is_gone_counts_nothing_twice_and_says_so(#[case] left: Option<&str>) {
    let (mut env, _api) = TestEnv::with_ended([Step::Canned]);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    env.lose_memory();
    if let Some(left) = left {
        env.write_state("memory.db", left);
    }
    env.set("PLAYBOOK_NOW", "2026-11-22T12:00:00Z");
    env.learn_citing("s1");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    has!(env.start_by("resume", "s9").1, "what was remembered of ");
    // The session is resumed on the next day, and that counts.
    go_on(&env);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (2, 0));
}
