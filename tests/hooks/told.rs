//! Promise: jobs that cannot proceed are kept for a limited time. The user is notified at the start
//! of a session, once and at most daily.

use std::os::unix::fs::MetadataExt as _;

use crate::common::prelude::*;

fn with_api(steps: impl IntoIterator<Item = Step>) -> (TestEnv, Api) {
    let (env, api) = TestEnv::asking_for(steps);
    env.write_config("[retry]\nattempts = 1\n");
    (env, api)
}

/// Returns the notices at the start of a session, except the one on what was sent. A resume injects
/// nothing.
fn told(env: &TestEnv) -> String {
    let told = env.start_by("resume", "next").1;
    let lines = told
        .lines()
        .filter(|line| !line.starts_with("Playbook: sent "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn of_failed_jobs_once_a_day() {
    let (mut env, _api) = with_api([Step::text("prose")]);
    env.learn_citing("s1");
    has!(told(&env), "1 job has failed", "`playbook jobs`");
    assert_eq!(told(&env), "", "once is enough");
    // Another failure on the same day does not repeat the notice.
    env.learn_citing("s2");
    assert_eq!(told(&env), "");
    env.worker_at("2026-11-22T12:00:01Z");
    has!(told(&env), "2 jobs have failed");
}

#[test]
fn of_jobs_that_wait_for_more_than_a_day_with_the_reason() {
    let (mut env, _api) = with_api([Step::error(500, "api_error", "the API is down")]);
    env.learn_citing("s1");
    assert_eq!(told(&env), "", "not yet");
    env.set("PLAYBOOK_NOW", "2026-11-22T12:00:01Z");
    env.learn_citing("s2");
    let said = told(&env);
    has!(said, "1 job waits: ");
    has!(said, "the API is down");
}

#[test]
fn at_once_of_what_keeps_a_job_waiting_that_the_user_can_change() {
    let (env, _api) = with_api([Step::Canned]);
    env.end_citing("s1");
    let folder = env.home().join(".claude/projects");
    fs::rename(&folder, env.root().join("away")).unwrap();
    env.worker();
    let said = told(&env);
    has!(
        said,
        "1 job waits: ",
        "`playbook jobs retry --all` tries again"
    );
    has!(
        env.cli(&[]).ok(),
        "a job waits: ",
        "playbook jobs retry --all"
    );
}

#[test]
fn at_once_of_a_job_that_cannot_be_read() {
    let (env, _api) = with_api([Step::Canned]);
    env.write_state("spool/20261121T120000-00000001.json", "{\"v\":");
    env.worker();
    let said = told(&env);
    has!(said, "a job is left alone: ");
    has!(said, "`playbook jobs` lists the jobs");
    has!(env.cli(&[]).ok(), "20261121T120000-00000001");
}

#[test]
fn at_once_of_a_budget_that_is_used_up() {
    let (env, _api) = with_api([Step::Canned]);
    env.write_config("[retry]\nattempts = 1\n[budgets]\ncalls_per_day = 1\n");
    for session in ["s1", "s2"] {
        env.learn_citing(session);
    }
    let said = told(&env);
    has!(said, "sessions wait until tomorrow: ");
    has!(said, "`budgets.calls_per_day` is 1");
    has!(env.cli(&[]).ok(), "sessions wait until tomorrow: ");
}

#[test]
fn of_a_template_that_lacks_what_it_needs_and_the_built_in_one_serves() {
    let (env, _api) = with_api([Step::Canned]);
    let folder = env.config_dir().join("templates");
    for name in ["playbook.txt", "curator.txt"] {
        write(&folder.join(name), "nothing of ours");
    }
    let start = env.hook(Hook::SessionStart, "s0", json!({}));
    has!(start.context(), "[pat-001]");
    env.learn_citing("s1");
    let (told, screen) = (told(&env), env.cli(&["--json"]).ok());
    for said in [
        "playbook.txt lacks `{key_points}`",
        "curator.txt lacks `{reflection}`",
    ] {
        has!(told, said);
        has!(screen, said);
    }
}

#[test]
fn of_failed_jobs_whose_transcripts_are_gone_without_a_remedy_that_cannot_work() {
    let (env, _api) = with_api([Step::text("prose")]);
    env.learn_citing("s1");
    fs::remove_file(env.transcript_path("s1")).unwrap();
    env.worker();
    let told = told(&env);
    has!(told, "1 job has failed; the transcripts are gone");
    has!(told, "jobs drop ID");
    lacks!(told, "jobs retry");
}

#[test]
fn of_jobs_that_only_another_account_would_answer() {
    let other = Api::canned();
    let (mut env, _own) = with_api([Step::Canned]);
    env.end_citing("s1");
    env.set("AGENTIC_CONTEXT_BASE_URL", other.base_url());
    env.worker_at("2026-11-23T12:00:00Z");
    has!(told(&env), "it was made with another key");
    let said = env.cli(&["jobs"]).ok();
    has!(said, "waiting", "it was made with another key");
}

#[test]
fn of_ten_sessions_none_of_which_was_reflected_on() {
    let (env, _api) = with_api([Step::error(500, "api_error", "no")]);
    for n in 1..=9 {
        env.end_citing(&format!("s{n}"));
    }
    env.worker();
    assert_eq!(told(&env), "");
    env.learn_citing("s10");
    has!(told(&env), "none of the last 10 sessions");
}

#[test]
fn and_not_when_one_of_ten_was() {
    let (mut env, _api) = with_api([
        Step::Canned,
        Step::Canned,
        Step::error(500, "api_error", "no"),
    ]);
    env.learn_citing("s1");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    env.set("PLAYBOOK_NOW", "2026-11-21T12:00:01Z");
    for n in 2..=10 {
        env.end_citing(&format!("s{n}"));
    }
    env.worker();
    assert_eq!(told(&env), "", "nine since");
}

/// No worker has written a status, so the hook looks at the spool itself.
#[test]
fn of_jobs_that_no_worker_ever_came_to() {
    let (mut env, _api) = with_api([Step::Canned]);
    env.end_citing("s1");
    assert_eq!(told(&env), "");
    env.set("PLAYBOOK_NOW", "2026-11-23T12:00:00Z");
    has!(told(&env), "though jobs wait");
}

#[test]
fn a_job_waits_for_so_many_days_and_then_has_failed() {
    let (mut env, api) = with_api([Step::error(401, "authentication_error", "no")]);
    env.learn_citing("s1");
    env.worker_at("2026-12-21T11:00:00Z");
    assert_eq!((env.spool().len(), env.failed().len()), (1, 0));
    env.worker_at("2026-12-21T13:00:00Z");
    assert_eq!((env.spool().len(), env.failed().len()), (0, 1));
    let told = env.failed()[0]["progress"]["failed"].to_string();
    has!(told, "days", "RefusedKey");
    // One more try before it is given up.
    assert_eq!(api.requests().len(), 3);

    // After a retry by the user it is kept as long again.
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    assert_eq!((env.spool().len(), api.requests().len()), (1, 4));
}

/// A session that was never reflected on is dropped only by the user.
#[test]
fn failed_jobs_are_kept_however_many() {
    let (env, _api) = with_api([Step::text("prose"), Step::text("prose"), Step::Canned]);
    env.learn_citing("s1");
    let oldest = env.failed().pop().unwrap();
    for n in 0..600_u32 {
        let id = format!("20261121T130000-{n:08x}");
        let mut job = oldest.clone();
        job["id"] = json!(id);
        job["transcript"] = json!(format!("/nowhere/{n}.jsonl"));
        let reflection = json!({"analysis": "", "bullet_tags": []});
        job["progress"] = json!({"failed": "gone", "reflection": reflection});
        env.write_state(&format!("failed/{id}.json"), job.to_string());
    }
    env.worker();
    assert_eq!(env.failed().len(), 601);
    env.cli(&["jobs", "retry", oldest["id"].as_str().unwrap()])
        .ok();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[rstest]
#[case::session_start(Hook::SessionStart)]
#[case::session_end(Hook::SessionEnd)]
#[case::pre_compact(Hook::PreCompact)]
#[case::subagent_stop(Hook::SubagentStop)]
fn every_hook_starts_a_worker_when_something_is_due(#[case] hook: Hook) {
    let (mut env, _api) = with_api([Step::Canned]);
    env.end_citing("s1");
    env.unset("PLAYBOOK_NO_WORKER");
    _ = env.hook(hook, "never-written", json!({}));
    env.settle();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// The status that one account's worker writes also covers jobs of another account.
#[test]
fn a_start_of_another_account_starts_a_worker_for_the_jobs_that_the_first_one_left() {
    let (mut env, own) = with_api([Step::Canned]);
    let other = Api::canned();
    env.end_citing("s1");
    env.set("AGENTIC_CONTEXT_BASE_URL", other.base_url());
    env.worker();
    assert_eq!((env.spool().len(), other.requests().len()), (1, 0));
    env.set("AGENTIC_CONTEXT_BASE_URL", own.base_url());
    env.unset("PLAYBOOK_NO_WORKER");
    _ = env.hook(Hook::SessionStart, "never-written", json!({}));
    env.settle();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

/// A hook starts the worker through another process of its own binary, which a renamed one cannot
/// play.
#[test]
fn a_worker_is_started_by_a_hook_under_another_name_and_by_the_whole_program() {
    let (mut env, _api) = with_api([Step::Canned]);
    let bin = env.home().join("bin");
    programs::link_into(&bin);
    let renamed = bin.join("at-the-end");
    fs::copy(bin.join("session-end"), &renamed).expect("a copy");
    env.unset("PLAYBOOK_NO_WORKER");
    let ends = |session: &str, program: &Path, args: &[&str]| {
        env.write_transcript(&Session::citing(session));
        let mut command = env.command(&program.display().to_string());
        command.args(args);
        let event = env.event(Hook::SessionEnd, session).to_string();
        let ended = Running::start(command, event.as_bytes(), Stdin::Closed);
        ended.finish().silent();
        env.settle();
    };
    ends("s1", &renamed, &[]);
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    ends("s2", &bin.join("playbook"), &["hook", "session-end"]);
    assert_eq!(env.marks_of("pat-001"), (2, 0));
}

#[test]
fn a_hook_starts_no_worker_when_nothing_is() {
    let (mut env, _api) = with_api([Step::error(401, "authentication_error", "no")]);
    env.end_citing("s1");
    // Screens its key points in advance.
    env.cli(&["trust"]).ok();
    env.worker();
    env.unset("PLAYBOOK_NO_WORKER");
    // Every worker writes it again.
    let status = || fs::metadata(env.state().join("status.json")).unwrap().ino();
    let before = status();
    for hook in [Hook::SessionStart, Hook::SubagentStop] {
        _ = env.hook(hook, "never-written", json!({}));
    }
    env.settle();
    assert_eq!(status(), before);
}

/// After a pause one job tries the account, and the others wait for its result.
#[test]
fn after_a_failure_one_job_tries_and_not_all_at_once() {
    let (mut env, api) = with_api([Step::error(500, "api_error", "down")]);
    for n in 1..=8 {
        env.end_citing(&format!("s{n}"));
    }
    env.worker();
    let first = api.requests().len();
    assert!((1..=4).contains(&first), "{first} were under way at once");
    for (minute, total) in [(2, 1), (5, 2), (10, 3)] {
        env.set("PLAYBOOK_NOW", format!("2026-11-21T12:{minute:02}:00Z"));
        env.worker();
        let found = api.requests().len();
        assert_eq!(found, first + total, "pauses of 1, 2 and 4 minutes");
    }
}

/// Creates a user without a model whom a session taught something.
fn taught(settings: &str) -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_config(settings);
    let mut session = Session::new("s1");
    session
        .user("From now on always run the checks before you commit.")
        .assistant("I will.")
        .user("thanks")
        .assistant("Done.");
    env.learn_from(&session);
    env
}

/// Returns the notices of a session that begins with or without a user at the terminal.
fn told_at(env: &mut TestEnv, source: &str, attended: &str) -> String {
    env.set("CLAUDE_CODE_SESSION_ATTENDED", attended);
    env.start_by(source, "next").1
}

#[test]
fn of_what_was_learned_once_and_only_a_person_who_has_just_come() {
    let mut env = taught("");
    assert_eq!(told_at(&mut env, "startup", "0"), "", "`-p`");
    assert_eq!(told_at(&mut env, "resume", "1"), "");
    let told = told_at(&mut env, "startup", "1");
    assert_eq!(told, "Playbook: 1 new key point on 21 Nov (`playbook log`)");
    assert_eq!(told_at(&mut env, "startup", "1"), "", "once is enough");
    // Changes by hand are no news.
    env.set("PLAYBOOK_NOW", "2026-11-22T12:00:00Z");
    env.cli(&["add", "Mine."]).ok();
    env.worker();
    assert_eq!(told_at(&mut env, "startup", "1"), "");
}

#[test]
fn of_a_point_that_was_marked_wrong_by_its_id() {
    let (mut env, _api) = with_api([Step::Text(tags(&[("pat-001", "harmful")]))]);
    env.learn_citing("s1");
    let told = told_at(&mut env, "startup", "1");
    has!(told, "`pat-001` was marked wrong (`playbook log`)");
}

#[test]
fn of_the_first_guard_once_while_it_is_off() {
    let wanted = json!([{"type": "ADD", "text": "Never force a push here.", "section": "OTHERS",
        "when": {"command": "git push --force"}, "guard": true}]);
    let replies = [tags(&[("pat-001", "helpful")]), operations(&wanted)];
    let (mut env, _api) = with_api(replies.map(Step::Text));
    env.learn_from(&Session::following("s1", "pat-001"));
    let told = told_at(&mut env, "startup", "1");
    has!(
        told,
        "`playbook guard on` lets `oth-001` turn its command back"
    );
    lacks!(told_at(&mut env, "startup", "1"), "guard");
}

#[test]
fn of_nothing_learned_where_the_user_wants_quiet() {
    let mut env = taught("notices = \"quiet\"\n");
    assert_eq!(told_at(&mut env, "startup", "1"), "");
}
