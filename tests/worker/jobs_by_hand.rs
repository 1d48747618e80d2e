//! Promise: the user can retry or drop waiting and failed jobs; dropped ones do not come back.

use crate::common::prelude::*;

fn with_session(steps: impl IntoIterator<Item = Step>) -> (TestEnv, Api) {
    let api = Api::script(steps);
    let mut env = TestEnv::without_worker();
    env.use_api(&api.base_url(), "sk-first");
    env.write_playbook(&[("pat-001", "run the tests"), ("mis-002", "no")]);
    env.end_citing("s1");
    (env, api)
}

fn refused() -> Step {
    Step::error(401, "authentication_error", "invalid x-api-key")
}

#[track_caller]
fn id_of(job: &Value) -> String {
    job["id"].as_str().expect("an id").to_owned()
}

#[rstest]
#[case::one(false)]
#[case::all(true)]
fn retry_gives_a_job_the_environment_of_the_caller(#[case] all: bool) {
    let (mut env, first) = with_session([refused()]);
    let second = Api::canned();
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
    let (env, _api) = with_session([Step::text("prose"), Step::text("prose"), Step::Canned]);
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
    let (mut env, _api) = with_session([refused(), Step::Canned]);
    env.worker();
    env.unset("PLAYBOOK_NO_WORKER");
    has!(env.cli(&["jobs", "retry", "--all"]).ok(), "1 job");
    env.settle();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty());
}

#[rstest]
#[case::that_has_claimed_its_part(true)]
#[case::that_nobody_came_to(false)]
fn what_was_dropped_does_not_come_back(#[case] claimed: bool) {
    let (mut env, api) = with_session([Step::error(500, "api_error", "down")]);
    if claimed {
        env.worker();
    }
    let id = id_of(&env.spool()[0]);
    env.cli(&["jobs", "drop", &id]).ok();
    assert!(env.spool().is_empty() && env.failed().is_empty());

    // The session continues and is forked: only the new part counts.
    drop(api);
    let api = Api::script([Step::Text(tags(&[("mis-002", "helpful")]))]);
    env.set("AGENTIC_CONTEXT_BASE_URL", api.base_url());
    let mut session = Session::citing("s1");
    session.user("go on").assistant("By [mis-002], done.");
    env.write_transcript(&session);
    env.write_transcript(&session.fork("s2"));
    for session in ["s1", "s2"] {
        env.ends(session);
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
    let (env, api) = with_session([Step::text("prose")]);
    env.worker();
    let id = id_of(&env.failed()[0]);
    let told = env.cli(&["jobs", "drop", &id, "--json"]).json();
    includes(&told, &json!({"done": true, "dropped": id}));
    assert!(env.failed().is_empty());
    env.ends("s1");
    env.worker();
    assert_eq!(api.requests().len(), 2, "nothing new");
}

#[test]
fn a_file_that_is_no_job_can_be_dropped_by_its_name() {
    let env = TestEnv::without_worker();
    let id = "20261121T110000-00000001";
    env.write_state(&format!("spool/{id}.json"), "{\"v\":");
    assert!(env.cli(&["jobs"]).ok().contains("unreadable"));
    env.cli(&["jobs", "drop", id]).ok();
    assert!(env.cli(&["jobs"]).ok().contains("Nothing waits"));
}

#[test]
fn a_file_that_is_named_as_no_job_is_told_of() {
    let env = TestEnv::without_worker();
    for name in "spool/xx.json, failed/copy of a job.json, spool/notes.txt".split(", ") {
        env.write_state(name, "{}");
    }
    let jobs = env.cli(&["jobs"]).ok();
    has!(jobs, "spool/xx.json", "failed/copy of a job.json");
    let strays = env.cli(&["jobs", "--json"]).json()["strays"].clone();
    assert_eq!(strays.as_array().map(Vec::len), Some(2), "{strays}");
}

/// The busy worker carries out the request, and the caller is informed.
#[test]
fn a_worker_that_is_busy_does_what_is_asked() {
    let (mut env, api) = with_session([
        Step::text("prose"),
        Step::text("prose"),
        Step::Canned.after(Duration::from_secs(3)),
        Step::Canned,
    ]);
    env.worker();
    let id = id_of(&env.failed()[0]);
    env.unset("PLAYBOOK_NO_WORKER");
    env.end_citing("s2");
    api.wait_for(3, DEADLINE);
    let told = env.cli(&["jobs", "drop", &id, "--json"]).json();
    assert_eq!(told["done"], true, "{told}");
    assert!(env.failed().is_empty());
    env.settle();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// A request about a running job is carried out when that has ended.
#[test]
fn a_job_under_way_is_dropped_when_it_would_have_to_wait() {
    let failing = Step::error(500, "api_error", "down").after(Duration::from_secs(1));
    let (env, api) = with_session([failing]);
    env.write_config("[retry]\nattempts = 1\n");
    let id = id_of(&env.spool()[0]);
    let worker = env.begin(&["worker"]);
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

#[test]
fn who_waits_for_a_worker_that_hangs_is_told_and_waits_no_longer_than_bounded() {
    let (env, api) = with_session([Step::Canned.after(Duration::from_secs(30)), Step::Canned]);
    let mut worker = env.command("playbook").arg("worker").spawn().unwrap();
    api.wait_for(1, DEADLINE);
    signal(worker.id(), Signal::STOP);
    let told = env.cli(&["add", "ask first"]);
    let pid = format!("process {}", worker.id());
    let waits = "waiting for the worker";
    told.fails(1, &[waits, &pid, " is not done yet: ", "hint: "]);
    assert_eq!(env.spool().len(), 2, "it is not lost");
    worker.kill().unwrap();
    worker.wait().unwrap();
    env.worker();
    has!(env.cli(&["show"]).ok(), "ask first");
}
