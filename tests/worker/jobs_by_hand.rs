//! Promise: what waits or has failed is the user's to try again or to give up; what was
//! given up does not come back.

use std::time::Duration;

use crate::common::api::{Api, Request, Step};
use crate::common::env::{Hook, TestEnv};
use crate::common::run::{DEADLINE, Running, Stdin};
use crate::common::session::Session;
use rstest::rstest;
use serde_json::{Value, json};

const PARKED_LONG: &str = "[retry]\nbase_ms = 1\npark_ms = 3600000\n";

/// An environment with one ended session, which cites a point, and an API.
fn with_session(api: &Api) -> TestEnv {
    let mut env = TestEnv::without_worker();
    env.use_api(&api.base_url(), "sk-first");
    env.write_config(PARKED_LONG);
    env.write_playbook(&[("pat-001", "run the tests"), ("mis-002", "no")]);
    env.write_transcript(&cites("pat-001"));
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env
}

fn cites(point: &str) -> Session {
    Session::new("s1")
        .user("hello")
        .assistant(&format!("By [{point}], done."))
        .done()
}

fn refused() -> Step {
    Step::error(401, "authentication_error", "invalid x-api-key")
}

fn tags(point: &str) -> Step {
    let tag = json!({"name": point, "tag": "helpful", "rationale": "cited"});
    Step::Text(json!({"analysis": "a", "bullet_tags": [tag]}).to_string())
}

#[track_caller]
fn id_of(job: &Value) -> String {
    job["id"].as_str().expect("an id").to_owned()
}

#[test]
fn a_refused_key_is_tried_again_once_ten_minutes_are_over() {
    let api = Api::script([refused()]);
    let mut env = with_session(&api);
    env.worker();
    assert_eq!(api.requests().len(), 1);
    for (minute, requests) in [(9, 1), (11, 2), (20, 2), (22, 3)] {
        env.set("PLAYBOOK_NOW", format!("2026-11-21T12:{minute:02}:00Z"));
        env.worker();
        assert_eq!((api.requests().len(), env.spool().len()), (requests, 1));
    }
    assert!(env.cli(&["jobs"]).ok().contains("invalid x-api-key"));
}

#[test]
fn another_key_in_the_same_project_is_tried_at_once() {
    let api = Api::script([refused(), Step::Canned]);
    let mut env = with_session(&api);
    env.worker();
    env.set("AGENTIC_CONTEXT_API_KEY", "sk-second");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    let keys: Vec<_> = api.requests()[..2]
        .iter()
        .map(|request| request.header("x-api-key").unwrap_or_default().to_owned())
        .collect();
    assert_eq!(keys, ["sk-first", "sk-second"]);
}

#[test]
fn retry_asks_the_same_key_again_once_the_user_says_so() {
    let api = Api::script([refused(), Step::Canned]);
    let env = with_session(&api);
    env.worker();
    let id = id_of(&env.spool()[0]);
    let told = env.cli(&["jobs", "retry", &id]).ok();
    has!(told, "1 job");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty());
}

#[rstest]
#[case::one(false)]
#[case::all(true)]
fn retry_gives_a_job_the_environment_of_the_caller(#[case] all: bool) {
    let (first, second) = (Api::script([refused()]), Api::canned());
    let mut env = with_session(&first);
    env.worker();
    let id = id_of(&env.spool()[0]);
    env.set("AGENTIC_CONTEXT_BASE_URL", second.base_url());
    env.set("AGENTIC_CONTEXT_API_KEY", "sk-second");
    env.worker();
    assert_eq!(second.requests().len(), 0, "a job of another account");

    let which = if all { "--all" } else { id.as_str() };
    env.cli(&["jobs", "retry", which]).ok();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert_eq!(second.requests()[0].header("x-api-key"), Some("sk-second"));
    assert_eq!(first.requests().len(), 1);
}

#[test]
fn retry_brings_failed_jobs_back_and_asks_again() {
    let api = Api::script([Step::text("prose"), Step::text("prose"), Step::Canned]);
    let env = with_session(&api);
    env.worker();
    assert_eq!((env.spool().len(), env.failed().len()), (0, 1));
    let told = env.cli(&["jobs", "retry", "--all", "--json"]).json();
    assert_eq!(told["done"], true);
    assert_eq!(told["retried"].as_array().unwrap().len(), 1);
    assert_eq!((env.spool().len(), env.failed().len()), (1, 0));
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn retry_starts_a_worker() {
    let api = Api::script([refused(), Step::Canned]);
    let mut env = with_session(&api);
    env.worker();
    env.unset("PLAYBOOK_NO_WORKER");
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.settle();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[rstest]
#[case::that_has_claimed_its_part(true)]
#[case::that_nobody_came_to(false)]
fn what_was_dropped_does_not_come_back(#[case] claimed: bool) {
    let api = Api::script([Step::error(500, "api_error", "down")]);
    let env = with_session(&api);
    if claimed {
        env.worker();
    }
    let id = id_of(&env.spool()[0]);
    env.cli(&["jobs", "drop", &id]).ok();
    assert!(env.spool().is_empty() && env.failed().is_empty());

    // The session goes on, and is forked: only what is new counts.
    drop(api);
    let api = Api::script([tags("mis-002"), Step::Canned]);
    let mut env = env;
    env.set("AGENTIC_CONTEXT_BASE_URL", api.base_url());
    let mut session = cites("pat-001");
    session.user("go on").assistant("By [mis-002], done.");
    env.write_transcript(&session);
    let fork = session.fork("s2");
    env.write_transcript(&fork);
    for session in ["s1", "s2"] {
        env.hook(Hook::SessionEnd, session, json!({})).silent();
    }
    env.worker();
    let prompts: Vec<_> = api.requests().iter().map(Request::prompt).collect();
    assert!(!prompts.is_empty());
    for prompt in &prompts {
        lacks!(prompt, "By [pat-001]");
    }
    assert_eq!(env.marks_of("pat-001"), (0, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn a_failed_job_can_be_dropped() {
    let api = Api::script([Step::text("prose")]);
    let env = with_session(&api);
    env.worker();
    let id = id_of(&env.failed()[0]);
    let told = env.cli(&["jobs", "drop", &id, "--json"]).json();
    assert_eq!(
        (&told["done"], &told["dropped"]),
        (&json!(true), &json!(id))
    );
    assert!(env.failed().is_empty());
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.worker();
    assert_eq!(api.requests().len(), 2, "nothing new");
}

#[test]
fn a_file_that_is_no_job_can_be_dropped_by_its_name() {
    let env = TestEnv::without_worker();
    let id = "20261121T110000-00000001";
    crate::common::env::write(&env.state().join(format!("spool/{id}.json")), "{\"v\":");
    assert!(env.cli(&["jobs"]).ok().contains("unreadable"));
    env.cli(&["jobs", "drop", id]).ok();
    assert!(env.cli(&["jobs"]).ok().contains("Nothing waits"));
}

#[test]
fn a_file_that_is_named_as_no_job_is_told_of() {
    let env = TestEnv::without_worker();
    for name in [
        "spool/xx.json",
        "failed/copy of a job.json",
        "spool/notes.txt",
    ] {
        crate::common::env::write(&env.state().join(name), "{}");
    }
    let jobs = env.cli(&["jobs"]).ok();
    has!(jobs, "spool/xx.json", "failed/copy of a job.json");
    let strays = env.cli(&["jobs", "--json"]).json()["strays"].clone();
    assert_eq!(strays.as_array().map(Vec::len), Some(2), "{strays}");
}

/// The worker is at another job: what is asked is done by it, and the caller is told.
#[test]
fn a_worker_that_is_busy_does_what_is_asked() {
    let api = Api::script([
        Step::text("prose"),
        Step::text("prose"),
        Step::Canned.after(Duration::from_secs(3)),
        Step::Canned,
    ]);
    let mut env = with_session(&api);
    env.worker();
    let id = id_of(&env.failed()[0]);
    env.unset("PLAYBOOK_NO_WORKER");
    let other = Session::new("s2")
        .user("hello")
        .assistant("By [pat-001], done.")
        .done();
    env.end(&other);
    api.wait_for(3, DEADLINE);
    let told = env.cli(&["jobs", "drop", &id, "--json"]).json();
    assert_eq!(told["done"], true, "{told}");
    assert!(env.failed().is_empty());
    env.settle();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// A request about a job that is under way is carried out when that has ended.
#[test]
fn a_job_under_way_is_dropped_when_it_would_have_to_wait() {
    let failing = Step::error(500, "api_error", "down").after(Duration::from_secs(1));
    let api = Api::script([failing]);
    let env = with_session(&api);
    env.write_config("[retry]\nattempts = 1\npark_ms = 3600000\n");
    let id = id_of(&env.spool()[0]);
    let mut worker = env.command("playbook");
    worker.arg("worker");
    let worker = Running::start(worker, b"", Stdin::Closed);
    api.wait_for(1, DEADLINE);
    env.cli(&["jobs", "drop", &id]).ok();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    worker.finish().ok();
    assert_eq!(env.marks_of("pat-001"), (0, 0));
}

#[rstest]
#[case::retry(&["jobs", "retry", "20261121T110000-00000001"], 1, "no such job")]
#[case::drop(&["jobs", "drop", "../../etc/passwd"], 1, "no such job")]
#[case::neither_id_nor_all(&["jobs", "retry"], 2, "required")]
#[case::both(&["jobs", "retry", "x", "--all"], 2, "--all")]
fn a_wrong_call_is_told(#[case] args: &[&str], #[case] code: i32, #[case] says: &str) {
    TestEnv::without_worker().cli(args).fails(code, &[says]);
}

/// Stops or continues a process.
fn signal(signal: &str, pid: u32) {
    let sent = std::process::Command::new("kill")
        .args([signal, &pid.to_string()])
        .status()
        .expect("kill runs");
    assert!(sent.success(), "kill {signal} {pid}");
}

#[test]
fn who_waits_for_a_worker_that_hangs_is_told_and_waits_no_longer_than_bounded() {
    let api = Api::script([Step::Canned.after(Duration::from_secs(30)), Step::Canned]);
    let env = with_session(&api);
    let mut worker = env.command("playbook");
    worker.arg("worker");
    let mut worker = worker.spawn().unwrap();
    api.wait_for(1, DEADLINE);
    signal("-STOP", worker.id());
    let told = env.cli(&["add", "ask first"]);
    let pid = format!("process {}", worker.id());
    told.fails(
        1,
        &[
            "waiting for the worker",
            &pid,
            " is not done yet: ",
            "hint: ",
        ],
    );
    assert_eq!(env.spool().len(), 2, "it is not lost");
    worker.kill().unwrap();
    worker.wait().unwrap();
    env.worker();
    let shown = env.cli(&["show"]).ok();
    has!(shown, "ask first");
}
