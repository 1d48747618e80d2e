//! Promise: the notes of sessions may add, refine, merge and remove key points of the present
//! playbook. A bad answer costs that run, never the votes.

use crate::common::prelude::*;

const POINTS: &[Row<'_>] = &[
    ("pat-001", "run the tests", 1, 0),
    ("pat-002", "read the log first", 2, 1),
    ("oth-001", "ask before a release", 3, 0),
    ("oth-002", "tell who is on call", 0, 1),
];

fn with_session(steps: impl IntoIterator<Item = Step>) -> (TestEnv, Api) {
    let (env, api) = TestEnv::asking_for(steps);
    write_points(&env, POINTS);
    end(&env, "s1", "By [pat-001], done.");
    (env, api)
}

fn end(env: &TestEnv, id: &str, said: &str) {
    env.end(&Session::saying(id, said));
}

fn replies(wanted: &Value) -> [Step; 2] {
    let judged = json!({"analysis": "it went well",
        "bullet_tags": [{"name": "pat-001", "tag": "helpful", "rationale": "helpful here"}],
        "notes": [{"task_type": "work", "correction": "A note.", "events": [1]}]});
    let mut wanted = wanted.clone();
    for operation in wanted.as_array_mut().unwrap() {
        operation["grounds"] = json!(["n1"]);
    }
    [judged.to_string(), operations(&wanted)].map(Step::Text)
}

#[test]
fn all_four_operations_are_applied_after_the_marks_and_stand_in_the_history() {
    let (env, _api) = with_session(replies(&json!([
        {"type": "ADD", "text": "use the cache of CI", "section": "project context"},
        {"type": "UPDATE", "target_id": "pat-001", "text": "run all tests"},
        {"type": "MERGE", "source_ids": ["pat-002", "oth-001", "pat-002"], "merged_text": "read the log first and ask before a release"},
        {"type": "DELETE", "target_id": "oth-002", "reason": "nobody is"},
        {"type": "ADD", "text": "say hello", "section": "MANNERS"},
    ])));
    env.worker();
    let mut found = points(&env);
    found.sort();
    let expected = [
        "ctx-001 use the cache of CI 0/0",
        "oth-003 say hello 0/0",
        "pat-001 run all tests 2/0",
        "pat-003 read the log first and ask before a release 5/1",
    ];
    assert_eq!(found, expected);
    let jobs = history(&env);
    assert_eq!(deeds(&jobs[1]), ["helpful pat-001"]);
    assert_eq!(jobs[1]["changes"][0]["reason"], "helpful here");
    includes(&jobs[1], &json!({"backend": "anthropic", "session": "s1"}));
    let wanted = "add ctx-001, update pat-001, merge pat-002, merge oth-001, absorb pat-003, \
        delete oth-002, add oth-003";
    assert_eq!(deeds(&jobs[0]).join(", "), wanted);
    for (change, reason) in [(0, "as the session shows (n1)"), (5, "nobody is (n1)")] {
        assert_eq!(jobs[0]["changes"][change]["reason"], reason);
    }
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn an_operation_brings_a_cue_and_one_that_is_wrong_costs_the_cue_alone() {
    let (env, _api) = with_session(replies(&json!([
        {"type": "ADD", "text": "run `buf lint` first", "when": {"command": "make proto"},
            "guard": true},
        {"type": "ADD", "text": "say hello", "when": {"command": "git"}},
    ])));
    env.worker();
    let log = env.log();
    has!(log, "the cue of ADD", "`git` is too wide", "a guard needs");
    let shown = env.cli(&["show", "proto", "--json"]).json();
    assert_eq!(shown["points"], json!([]));
    let shown = env.cli(&["show", "buf", "--json"]).json();
    let due = json!({"when": {"command": "make proto"}, "guard": false});
    includes(&shown["points"][0], &due);
    let shown = env.cli(&["show", "hello", "--json"]).json();
    assert_eq!(shown["points"][0]["when"], json!(null));
    let event = json!({"tool_name": "Bash", "tool_input": {"command": "cd api && make proto"},
        "error": "Exit code 2\nmake: *** [proto] Error 1"});
    let told = env.hook(Hook::PostToolUseFailure, "s2", event);
    let told = told.context_for("PostToolUseFailure");
    has!(told, "run `buf lint` first");
}

#[test]
fn the_curator_sees_the_fresh_counters_and_never_the_session() {
    let (env, api) = with_session(replies(&json!([])));
    env.worker();
    let requests = api.requests();
    assert_eq!(requests.len(), 2);
    let (reflector, curator) = (requests[0].prompt(), requests[1].prompt());
    has!(reflector, "By [pat-001], done.");
    let counters = "[pat-001] (helpful 2, harmful 0, ";
    has!(curator, counters, "n1 (1 session: s1): A note.");
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
    let (env, api) = with_session([reflector, curator.after(Duration::from_secs(2))]);
    thread::scope(|scope| {
        scope.spawn(|| env.worker());
        // The curator's question is on its way: now the user is quicker than its answer.
        api.wait_for(2, DEADLINE);
        change(&env, &["remove", "pat-002"]);
    });
    let expected = [
        "pat-001 run the tests 2/0",
        "oth-001 ask before a release 3/0",
        "oth-002 tell who is on call 0/1",
        "oth-003 say hello 0/0",
    ];
    assert_eq!(points(&env), expected);
    let told = env.log();
    has!(told, "no key point pat-002", "no key point oth-999");
    has!(told, "unknown type", "[pat-001] says it already");
}

/// A job must be able to read what it has stored.
#[test]
fn an_operation_that_nests_without_end_is_passed_over_and_the_rest_done() {
    let deep = (0..110).fold(json!(0), |inner, _| json!([inner]));
    let plain = json!({"type": "ADD", "text": "a plain rule", "section": "OTHERS"});
    let nested = json!({"type": "ADD", "text": "a nested rule", "more": deep});
    let (env, _api) = with_session(replies(&json!([nested, plain])));
    env.worker();
    assert!(env.spool().is_empty() && env.failed().is_empty());
    let points = points(&env).join("\n");
    has!(points, "a plain rule");
    lacks!(points, "a nested rule");
}

#[rstest]
#[case::prose(Step::text("The playbook looks fine to me."))]
#[case::wrong_shape(Step::text("[1, 2]"))]
#[case::error(Step::text(r#"{"error": "overloaded"}"#))]
#[case::cut_off(Step::Stop("max_tokens", "{\"reasoning\": \"x".to_owned()))]
#[case::refused(Step::Stop("refusal", String::new()))]
fn an_answer_that_stays_bad_fails_the_run_and_is_told(#[case] bad: Step) {
    let [reflector, _] = replies(&json!([]));
    let (env, api) = with_session([reflector, bad]);
    env.worker();
    assert_eq!(api.requests().len(), 3, "the curator is asked once more");
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    assert_eq!(points(&env).len(), POINTS.len());
    assert_eq!((env.spool().len(), env.failed().len()), (0, 1));
    let reason = &env.reasons()[0];
    assert!(reason.starts_with("curator_error:"), "{reason}");
    has!(env.log(), reason);
    let line = env.reflections().pop().unwrap();
    let short = line["reason"].as_str().unwrap();
    assert!(reason.starts_with(short), "{short}");
    // The note is available to the next run.
    api.now(replies(&json!([
        {"type": "ADD", "text": "the late rule", "section": "OTHERS"}])));
    end(&env, "s2", "By [pat-001], done.");
    env.worker();
    has!(api.requests().last().unwrap().prompt(), "\nn1 (");
    assert_eq!(points(&env).len(), POINTS.len() + 1);
}

#[test]
fn an_overloaded_curator_makes_its_run_wait_and_keeps_nothing_else() {
    let [reflector, curator] = replies(&json!([
        {"type": "ADD", "text": "the late rule", "section": "OTHERS"}]));
    let busy = || Step::error(529, "overloaded_error", "x");
    let (mut env, api) = with_session([reflector, busy(), busy(), busy(), curator]);
    env.worker();
    assert_eq!(env.spool().len(), 1);
    assert_eq!(history(&env).len(), 1);
    assert_eq!(points(&env).len(), POINTS.len());
    assert_eq!(env.marks_of("pat-001"), (2, 0));

    env.worker_at("2026-11-22T12:00:00Z");
    let requests = api.requests();
    let curator = requests.iter().map(|r| r.prompt().contains("merged_text"));
    let found = curator.collect::<Vec<_>>();
    assert_eq!(found, [false, true, true, true, true], "the reflector once");
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    assert_eq!(env.marks_of("oth-003"), (0, 0));
    assert!(env.spool().is_empty());
}

#[test]
fn a_pinned_point_is_safe_from_a_model_but_not_from_its_user() {
    let (env, _api) = with_session(replies(&json!([
        {"type": "DELETE", "target_id": "oth-002", "reason": "x"},
        {"type": "MERGE", "source_ids": ["oth-002", "pat-002"], "merged_text": "read the log first"},
    ])));
    change(&env, &["pin", "oth-002"]);
    env.worker();
    assert_eq!(points(&env).len(), POINTS.len());
    let held = "waits for your OK: it changes [oth-002], which you pinned";
    assert_eq!(env.log().matches(held).count(), 2, "{}", env.log());
    change(&env, &["remove", "oth-002"]);
    assert_eq!(points(&env).len(), POINTS.len() - 1);
}

/// The project's own instructions are read from all places that the client reads, with their
/// imports, from the first session on.
#[test]
fn the_curator_is_shown_all_of_the_projects_own_instructions() {
    let note = json!({"analysis": "a", "bullet_tags": [], "notes": [
        {"task_type": "build", "correction": "Run it first.", "events": [1]}]});
    let (env, api) =
        TestEnv::asking_for([note.to_string(), operations(&json!([]))].map(Step::Text));
    let memory = env.transcript_path("s1").with_file_name("memory/note.md");
    let code = "```\n@docs/code.md\n```\nand `@docs/span.md`\n";
    let place_1 = "place-1 @docs/hop-1.md, and @~/outside.md @../outside.md\n";
    let files = [
        ("claude.md", place_1),
        (".claude/CLAUDE.md", code),
        ("CLAUDE.local.md", "place-2"),
        ("AGENTS.md", "place-3"),
        ("sub/CLAUDE.md", "place-4 @./beside.md"),
        ("sub/beside.md", "place-5"),
        (".claude/rules/a/b.md", "place-6"),
        (memory.to_str().unwrap(), "place-7"),
        ("docs/hop-1.md", "hop-1 @hop-2.md @hop-1.md"),
        ("docs/hop-2.md", "hop-2 @hop-3.md"),
        ("docs/hop-3.md", "hop-3 @hop-4.md"),
        ("docs/hop-4.md", "hop-4 @hop-5.md"),
        ("docs/hop-5.md", "hop-5 @hop-6.md"),
        ("docs/hop-6.md", "too-far"),
        ("docs/code.md", "in-code"),
        ("docs/span.md", "in-code"),
        ("../outside.md", "not-ours"),
    ];
    for (path, text) in files {
        env.write_project(path, text);
    }
    env.git(&["init", "-q"]);
    env.commit();
    let mut session = Session::saying("s1", "Done.");
    session.failed("make", "error: no rule");
    env.learn_from(&session);
    let prompt = api.requests().last().unwrap().prompt();
    for place in 1..=7 {
        has!(prompt, &format!("place-{place}"));
    }
    for hop in 1..=5 {
        assert_eq!(prompt.matches(&format!("hop-{hop} @")).count(), 1, "{hop}");
    }
    lacks!(prompt, "too-far", "in-code", "not-ours");
}

#[test]
fn a_note_on_an_error_is_shown_to_the_next_session_that_meets_it() {
    let note = json!({"analysis": "a", "bullet_tags": [], "notes": [
        {"task_type": "build", "correction": "Run `just stubs` first.", "events": [3, 4]}]});
    let (env, api) =
        TestEnv::asking_for([note.to_string(), operations(&json!([]))].map(Step::Text));
    for id in ["s1", "s2"] {
        let mut session = Session::saying(id, "By [pat-001], the build.");
        let error = "error: could not find `proto` in the crate root";
        session.failed("cargo build", error);
        env.learn_from(&session);
    }
    let asked = api.requests().into_iter().map(|request| request.prompt());
    let of_sessions: Vec<String> = asked.filter(|it| !it.contains("merged_text")).collect();
    lacks!(of_sessions[0], "just stubs");
    has!(of_sessions[1], "Run `just stubs` first.");
}

#[test]
fn in_full_mode_the_worker_dreams_once_a_day() {
    let (mut env, api) = TestEnv::with_model();
    env.write_config("[retry]\nbase_ms = 1\n[memory]\nmode = \"full\"\n");
    for (day, id, asked) in [(21, "s1", 3), (21, "s2", 5), (22, "s3", 8)] {
        env.set("PLAYBOOK_NOW", format!("2026-11-{day}T12:00:00Z"));
        env.learn_citing(id);
        assert_eq!(api.requests().len(), asked, "{id}");
    }
    let dreams = env.cli(&["recall", "mock", "--tag", "dream", "--json"]);
    assert_eq!(texts(&dreams.json()["memories"], "kind"), ["reflection"]);
}
