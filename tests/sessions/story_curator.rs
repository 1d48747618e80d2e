//! Promise: after its judgement a session may add, refine, join and retire key points, on
//! the playbook as it is now; a bad answer costs the operations, never the marks.

use std::thread;
use std::time::Duration;

use crate::common::prelude::*;
use crate::common::story::{Row, change, deeds, history, operations, points, tags, write_points};

const POINTS: &[Row<'_>] = &[
    ("pat-001", "run the tests", 1, 0),
    ("pat-002", "read the log first", 2, 1),
    ("oth-001", "ask before a release", 3, 0),
    ("oth-002", "tell who is on call", 0, 1),
];

const REQUEST: &str =
    "hello: use the cache, run all tests, ask first, as the rule says; do not tell who is on call";

/// A playbook, a backend, and a session that has ended.
fn with_session(api: &Api) -> TestEnv {
    let env = TestEnv::asking(api);
    write_points(&env, POINTS);
    end(&env, "s1", "By [pat-001], done.");
    env
}

fn end(env: &TestEnv, id: &str, said: &str) {
    let session = Session::new(id).user(REQUEST).assistant(said).done();
    env.end(&session);
}

fn replies(wanted: &Value) -> [Step; 2] {
    [tags(&[("pat-001", "helpful")]), operations(wanted)].map(Step::Text)
}

#[test]
fn all_four_operations_are_applied_after_the_marks_and_stand_in_the_history() {
    let api = Api::script(replies(&json!([
        {"type": "ADD", "text": "use the cache of CI", "section": "project context"},
        {"type": "UPDATE", "target_id": "pat-001", "text": "run all tests"},
        {"type": "MERGE", "source_ids": ["pat-002", "oth-001", "pat-002"], "merged_text": "read the log first and ask before a release"},
        {"type": "DELETE", "target_id": "oth-002", "reason": "nobody is"},
        {"type": "ADD", "text": "say hello", "section": "MANNERS"},
    ])));
    let env = with_session(&api);
    env.worker();
    let mut found = points(&env);
    found.sort();
    assert_eq!(
        found,
        [
            "ctx-001 use the cache of CI 0/0",
            "oth-003 say hello 0/0",
            "pat-001 run all tests 2/0",
            "pat-003 read the log first and ask before a release 5/1",
        ]
    );
    let job = &history(&env)[0];
    assert_eq!(
        deeds(job),
        [
            "helpful pat-001",
            "add ctx-001",
            "update pat-001",
            "merge pat-002",
            "merge oth-001",
            "absorb pat-003",
            "delete oth-002",
            "add oth-003",
        ]
    );
    includes(job, &json!({"backend": "anthropic", "session": "s1"}));
    let said = format!("#1 USER: {REQUEST}]");
    for (change, reason) in [
        (0, "helpful here".to_owned()),
        (1, format!("as the session shows [said: {said}")),
        (6, format!("nobody is [{said}")),
    ] {
        assert_eq!(job["changes"][change]["reason"], reason);
    }
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn the_curator_sees_the_fresh_counters_and_never_the_session() {
    let api = Api::script(replies(&json!([])));
    let env = with_session(&api);
    env.worker();
    let requests = api.requests();
    assert_eq!(requests.len(), 2);
    let (reflector, curator) = (requests[0].prompt(), requests[1].prompt());
    has!(reflector, "By [pat-001], done.");
    let counters = "[pat-001] helpful=2 harmful=0 :: run the tests";
    has!(curator, counters, "it went well");
    lacks!(curator, "By [pat-001], done.");
}

#[test]
fn what_vanished_meanwhile_is_skipped_with_its_reason_and_the_rest_is_done() {
    let [reflector, curator] = replies(&json!([
        {"type": "UPDATE", "target_id": "pat-002", "text": "run no tests"},
        {"type": "DELETE", "target_id": "oth-999", "reason": "x"},
        {"type": "RENAME", "target_id": "pat-001"},
        {"type": "ADD", "text": "run the tests", "section": "OTHERS"},
        {"type": "ADD", "text": "say hello", "section": "OTHERS"},
    ]));
    let slow = curator.after(Duration::from_secs(2));
    let api = Api::script([reflector, slow]);
    let env = with_session(&api);
    thread::scope(|scope| {
        scope.spawn(|| env.worker());
        // The curator has been asked: now the user is quicker than its answer.
        api.wait_for(2, DEADLINE);
        change(&env, &["remove", "pat-002"]);
    });
    assert_eq!(
        points(&env),
        [
            "pat-001 run the tests 2/0",
            "oth-001 ask before a release 3/0",
            "oth-002 tell who is on call 0/1",
            "oth-003 say hello 0/0",
        ]
    );
    has!(
        env.log(),
        "no key point pat-002",
        "no key point oth-999",
        "unknown type",
        "[pat-001] says it already"
    );
}

/// A job must be able to read what it stored.
#[test]
fn an_operation_that_nests_without_end_is_passed_over_and_the_rest_done() {
    let deep = (0..110).fold(json!(0), |inner, _| json!([inner]));
    let plain = json!({"type": "ADD", "text": "a plain rule", "section": "OTHERS"});
    let nested = json!({"type": "ADD", "text": "a nested rule", "more": deep});
    let api = Api::script(replies(&json!([nested, plain])));
    let env = with_session(&api);
    env.worker();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    let points = points(&env).join("\n");
    has!(points, "a plain rule");
    lacks!(points, "a nested rule");
}

#[rstest]
#[case::prose(Step::text("The playbook looks fine to me."))]
#[case::wrong_shape(Step::text("[1, 2]"))]
#[case::cut_off(Step::Stop("max_tokens", "{\"reasoning\": \"x".to_owned()))]
#[case::refused(Step::Stop("refusal", String::new()))]
fn an_answer_that_stays_bad_costs_the_operations_and_is_told(#[case] bad: Step) {
    let [reflector, _] = replies(&json!([]));
    let api = Api::script([reflector, bad]);
    let env = with_session(&api);
    env.worker();
    assert_eq!(api.requests().len(), 3, "the curator is asked once more");
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    assert_eq!(points(&env).len(), POINTS.len());
    let job = &history(&env)[0];
    assert_eq!(deeds(job), ["helpful pat-001"]);
    let reason = job["reason"].as_str().unwrap();
    assert!(reason.starts_with("curator_error:"), "{reason}");
    has!(env.cli(&["log"]).ok(), reason);
    has!(env.log(), reason);
    let lines = env.reflections();
    assert!(lines.iter().any(|line| line["reason"] == reason));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn an_overloaded_curator_makes_the_job_wait_before_anything_is_applied() {
    let [reflector, curator] = replies(&json!([
        {"type": "ADD", "text": "the late rule", "section": "OTHERS"}]));
    let busy = || Step::error(529, "overloaded_error", "x");
    let api = Api::script([reflector, busy(), busy(), busy(), curator]);
    let mut env = with_session(&api);
    let before = env.playbook();
    env.worker();
    assert_eq!(env.playbook(), before);
    assert_eq!(env.spool().len(), 1);
    assert_eq!(history(&env), Vec::<Value>::new());

    env.worker_at("2026-11-22T12:00:00Z");
    let requests = api.requests();
    let curator = requests.iter().map(|r| r.prompt().contains("merged_text"));
    let curator: Vec<bool> = curator.collect();
    assert_eq!(
        curator,
        [false, true, true, true, true],
        "the reflector once"
    );
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    assert_eq!(env.marks_of("oth-003"), (0, 0));
    assert!(env.spool().is_empty());
}

#[test]
fn a_session_that_cites_a_merged_point_credits_the_one_that_took_it_in() {
    let env = TestEnv::without_worker();
    write_points(&env, POINTS);
    change(&env, &["merge", "pat-001", "oth-001", "--text", "both"]);
    end(&env, "s1", "By [oth-001], I ask first.");
    env.worker();
    assert_eq!(env.marks_of("pat-003"), (5, 0), "4 of its sources, and 1");
}

#[test]
fn a_pinned_point_is_safe_from_a_model_but_not_from_its_user() {
    let api = Api::script(replies(&json!([
        {"type": "DELETE", "target_id": "oth-002", "reason": "x"},
        {"type": "MERGE", "source_ids": ["oth-002", "pat-002"], "merged_text": "read the log first"},
    ])));
    let env = with_session(&api);
    change(&env, &["pin", "oth-002"]);
    env.worker();
    assert_eq!(points(&env).len(), POINTS.len());
    assert!(env.log().contains("oth-002 is pinned"));
    change(&env, &["remove", "oth-002"]);
    assert_eq!(points(&env).len(), POINTS.len() - 1);
}
