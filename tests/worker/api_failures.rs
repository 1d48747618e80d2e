//! Promise: a failing API costs neither a session nor a vote. A temporary failure waits and is
//! retried; a useless reply is set aside with its reason.

use crate::common::prelude::*;

/// The example reply in the reflector's template.
const EXAMPLE: &str = r#"{"analysis": "The parser was rewritten test first, as [pat-007] advises, and all tests passed at once. The commit was rejected: [pref-002] says to squash, but the user wanted the steps kept.", "bullet_tags": []}"#;

#[rstest]
#[case::too_many_requests(Step::retry_after(429, "1"), 3)]
#[case::server_error(Step::error(500, "api_error", "x"), 3)]
#[case::overloaded(Step::error(529, "overloaded_error", "x"), 3)]
#[case::timeout_of_the_server(Step::error(408, "timeout_error", "x"), 3)]
#[case::conflict(Step::error(409, "conflict_error", "x"), 3)]
#[case::dropped(Step::Drop, 3)]
#[case::broken_off(Step::Broken, 3)]
#[case::too_slow(Step::Canned.after(Duration::from_secs(30)), 3)]
#[case::refused_key(Step::error(401, "authentication_error", "invalid x-api-key"), 1)]
#[case::forbidden(Step::error(403, "permission_error", "no"), 1)]
#[case::a_page(Step::Raw(b"<html>Log in to the hotel</html>".to_vec()), 1)]
#[case::nothing(Step::Raw(Vec::new()), 1)]
#[case::no_content(Step::Status(204, Vec::new(), String::new()), 1)]
#[case::cut(Step::Truncated, 1)]
#[case::packed(Step::Raw(b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec()), 1)]
#[case::something_else(Step::Raw(b"{\"content\": null}".to_vec()), 1)]
#[case::no_message_of_a_model(Step::Raw(
    br#"{"id": 1, "role": 5, "content": "text", "stop_reason": [], "usage": "many"}"#.to_vec()
), 1)]
#[case::a_limit_in_words(Step::text("You've hit your session limit"), 3)]
#[case::a_firewall(Step::Status(403, Vec::new(), "<html>no</html>".to_owned()), 3)]
#[case::a_proxy(Step::Status(407, Vec::new(), String::new()), 3)]
#[case::a_gateway(Step::Status(400, Vec::new(), "<html>no</html>".to_owned()), 3)]
fn what_may_pass_waits_and_is_done_later(#[case] step: Step, #[case] requests: usize) {
    let (mut env, api) = TestEnv::with_ended([step]);
    env.write_config("[retry]\nbase_ms = 1\ntimeout_ms = 300\n");
    let before = env.playbook();
    env.worker();
    assert_eq!(api.requests().len(), requests);
    assert_eq!(env.playbook(), before);
    assert_eq!((env.spool().len(), env.failed().len()), (1, 0));

    // The backend is paused: no worker tries again before its time.
    env.worker();
    assert_eq!(api.requests().len(), requests);

    api.now([Step::Canned]);
    env.worker_at("2026-11-23T12:00:00Z");
    assert_eq!(env.marks_of("pat-001"), (1, 0), "the API is well again");
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[rstest]
#[case::prose(Step::text("I would rather talk about the weather."))]
#[case::no_object(Step::text("```json\n[1, 2]\n```"))]
#[case::cut_json(Step::text("{\"analysis\": \"it went well\", \"bullet_t"))]
#[case::cut_off(Step::Stop("max_tokens", "{\"analysis\": \"it".to_owned()))]
#[case::refusal(Step::Stop("refusal", String::new()))]
#[case::empty(Step::Empty)]
#[case::error(Step::text(r#"{"error": "overloaded"}"#))]
#[case::message(Step::text(r#"{"message": "cannot"}"#))]
#[case::no_keys(Step::text("{}"))]
#[case::our_prompt(Step::echo())]
#[case::our_example(Step::text(EXAMPLE))]
fn a_reply_that_cannot_be_used_is_asked_for_once_more_then_set_aside(#[case] step: Step) {
    let (env, api) = TestEnv::with_ended([step]);
    let before = env.playbook();
    env.worker();
    assert_eq!(api.requests().len(), 2, "one more try");
    assert_eq!(env.playbook(), before);
    assert_eq!((env.spool().len(), env.failed().len()), (0, 1));
    has!(env.failed()[0].to_string(), "reflect_error:");
    env.worker();
    assert_eq!(api.requests().len(), 2, "and then it is left alone");
}

#[rstest]
#[case::too_large(Step::error(413, "request_too_large", "Request exceeds the maximum size"))]
#[case::too_long(Step::error(400, "invalid_request_error", "prompt is too long"))]
fn a_question_that_is_too_large_is_asked_with_less_evidence(#[case] refused: Step) {
    let with_long_session = |steps: &[Step]| {
        let (env, api) = TestEnv::with_ended(steps.iter().cloned());
        let mut session = Session::new("s1");
        session.user("move each parser to its own module");
        for turn in 0..200 {
            let tested = "tested ".repeat(40);
            session.assistant(&format!(
                "By [pat-001], parser {turn} is moved, and {tested}."
            ));
        }
        env.write_transcript(&session);
        (env, api)
    };
    let (env, api) = with_long_session(&[refused.clone(), Step::Canned]);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0), "{:?}", env.failed());
    let asked = api.requests();
    let sizes: Vec<usize> = asked.iter().map(|asked| asked.body.len()).collect();
    let each = "the refused one, the smaller one, the curator's";
    assert_eq!(sizes.len(), 3, "{each}");
    // The instructions and the playbook are the same in both.
    assert!(sizes[1] + 10_000 < sizes[0], "{sizes:?}");

    // If that is too large as well, the job is kept for a retry.
    let (env, api) = with_long_session(&[refused]);
    env.worker();
    assert_eq!((env.spool().len(), env.failed().len()), (0, 1));
    assert_eq!(api.requests().len(), 2);
    api.now([Step::Canned]);
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[rstest]
#[case::prose("hm")]
#[case::error(r#"{"error": {"type": "overloaded"}}"#)]
#[case::only_names(r#"{"analysis": "It went well.", "bullet_tags": ["pat-001"]}"#)]
fn a_good_reply_to_the_second_question_is_as_good_as_a_first(#[case] said: &str) {
    let (env, api) = TestEnv::with_ended([Step::text(said), Step::Canned]);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert_eq!(api.requests().len(), 3, "twice the reflector, the curator");
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn an_absurd_bill_is_not_believed() {
    let text = r#"{"analysis": "x", "bullet_tags": [{"name": "pat-001", "tag": "helpful"}]}"#;
    let message = json!({
        "type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn",
        "usage": {"input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX,
                  "output_tokens": i64::MAX},
    });
    let (env, _api) = TestEnv::with_ended([Step::Raw(message.to_string().into_bytes())]);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    env.learn_citing("s2");
    assert_eq!(env.marks_of("pat-001"), (2, 0), "{:?}", env.spool());
}

/// The account of the answers no longer matters, and it may no longer exist.
#[test]
fn a_job_that_has_its_answers_is_done_by_a_worker_of_any_account() {
    let (mut env, own) = TestEnv::with_ended([Step::Text(tags(&[("pat-001", "helpful")]))]);
    let other = Api::canned();
    // Snapshots cannot be written.
    let snapshots = env.paths().snapshots(&env.project());
    write(&snapshots, "");
    env.worker();
    assert_eq!((own.requests().len(), env.spool().len()), (1, 1));
    fs::remove_file(snapshots).unwrap();

    env.set("AGENTIC_CONTEXT_BASE_URL", other.base_url());
    env.worker_at("2026-11-21T13:00:00Z");
    assert_eq!((other.requests().len(), env.spool().len()), (0, 0));
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    has!(env.cli(&["log"]).ok(), "pat-001");
}

#[rstest]
#[case::refused(Step::error(401, "authentication_error", "invalid x-api-key"))]
#[case::forbidden(Step::error(403, "permission_error", "no"))]
fn a_job_whose_key_was_refused_is_done_with_the_next_key(#[case] step: Step) {
    let (mut env, api) = TestEnv::with_ended([step, Step::Canned]);
    env.worker();
    assert_eq!((env.spool().len(), env.failed().len()), (1, 0));

    env.set("AGENTIC_CONTEXT_API_KEY", "sk-the-next-one");
    env.worker();
    assert_eq!((env.marks_of("pat-001"), env.spool().len()), ((1, 0), 0));
    let requests = api.requests();
    let key = |at: usize| requests[at].header("x-api-key");
    assert_eq!([key(0), key(1)], [Some("sk-test"), Some("sk-the-next-one")]);
}

#[test]
fn a_refused_key_is_told_at_each_start_and_tried_again_when_sessions_come() {
    let refused = Step::error(401, "authentication_error", "invalid x-api-key");
    let (mut env, api) = TestEnv::with_ended([refused]);
    env.worker();
    for id in ["s7", "s8"] {
        has!(env.told_at_start(id), "nothing is learned", "`export ");
    }
    has!(one_line(&env.cli(&[]).ok()), "the next start tries it");
    has!(env.cli(&["doctor"]).stdout, "export ANTHROPIC_API_KEY=KEY");
    has!(env.cli(&["status"]).ok(), "until it works", "export ");

    env.worker_at("2026-11-21T12:09:00Z");
    assert_eq!(api.requests().len(), 1, "not before ten minutes are over");
    api.now([Step::Canned]);
    env.worker_at("2026-11-21T12:11:00Z");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    lacks!(env.told_at_start("s9"), "nothing is learned");
}

/// The reflector is answered; the curator's reply repeats the question.
#[rstest]
#[case::whole(Step::echo())]
#[case::its_example(Step::text(
    r#"{"reasoning": "x", "operations": [{"type": "ADD", "text": "Run `make proto` after editing a .proto file, before `cargo build`; the build does not do it.", "section": "MISTAKES TO AVOID"}]}"#
))]
fn an_example_of_ours_is_never_learned(#[case] step: Step) {
    let (env, _api) = TestEnv::with_ended([Step::Canned, step]);
    env.worker();
    assert_eq!(env.marks().len(), 1, "{}", env.playbook());
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}

#[rstest]
#[case::key(
    Step::error(401, "authentication_error", "no"),
    "export ANTHROPIC_API_KEY"
)]
#[case::forbidden(Step::error(403, "forbidden_error", "no"), "export ANTHROPIC_API_KEY")]
#[case::model_not_allowed(Step::error(403, "permission_error", "no"), "anthropic.model")]
#[case::no_method(Step::Status(405, Vec::new(), String::new()), "base URL")]
#[case::balance(Step::error(402, "billing_error", "no credit"), "top up")]
#[case::model(Step::error(404, "not_found_error", "model: x"), "anthropic.model")]
#[case::a_page(Step::Status(404, Vec::new(), "<html>".to_owned()), "base URL")]
#[case::request(Step::error(400, "invalid_request_error", "no"), "doctor --online")]
#[case::redirect(Step::Status(302, Vec::new(), String::new()), "base_url")]
fn a_lasting_refusal_is_told_at_the_start_with_what_helps(#[case] step: Step, #[case] helps: &str) {
    let (env, _api) = TestEnv::with_ended([step]);
    env.worker();
    has!(one_line(&env.told_at_start("s7")), helps);
    has!(one_line(&env.cli(&["doctor"]).stdout), helps);
    has!(env.cli(&[]).ok(), "nothing is learned until it works: ");
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The worker's connection cannot be used any more; the next worker opens the memory again.
#[test]
fn a_worker_whose_memory_is_taken_away_under_it_ends_and_the_next_counts() {
    let late = Step::Sleep(Duration::from_secs(1), Box::new(Step::Canned));
    let (mut env, api) = TestEnv::with_ended([late, Step::Canned]);
    env.unset("PLAYBOOK_NOW");
    let worker = env.begin(&["worker"]);
    wait_until("the question", || !api.requests().is_empty());
    fs::remove_file(env.state().join("memory.db-wal")).unwrap();
    env.end_citing("s2");
    worker.finish().ok();
    let found = env.spool().len();
    assert_eq!(found, 2, "it and the curator's wait for the memory");
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    assert_eq!((env.marks_of("pat-001"), env.spool().len()), ((2, 0), 0));
    assert_eq!(api.requests().len(), 4, "no answer was paid for twice");
}

#[test]
fn a_refusal_is_told_while_the_worker_waits_to_try_again() {
    let (mut env, _api) = TestEnv::with_ended([Step::error(402, "billing_error", "no credit")]);
    env.unset("PLAYBOOK_NOW");
    let worker = env.begin(&["worker"]);
    wait_until("a start to tell of the balance", || {
        env.told_at_start("s7").contains("top up")
    });
    let id = env.spool()[0]["id"].as_str().unwrap().to_owned();
    env.cli(&["jobs", "drop", &id]).ok();
    worker.finish().ok();
}

#[rstest]
#[case::a_bare_list(r#"[{"name": "pat-001", "tag": "helpful", "rationale": "x"}]"#)]
#[case::a_list_as_name(r#"{"bullet_tags": [{"name": ["pat-001"], "tag": "helpful"}]}"#)]
#[case::in_capitals(r#"{"bullet_tags": [{"name": "[PAT-001]", "tag": "HELPFUL"}]}"#)]
fn what_can_be_read_of_a_reply_is(#[case] said: &str) {
    let (env, api) = TestEnv::with_ended([Step::text(said), Step::Canned]);
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert_eq!(api.requests().len(), 1, "it is not asked again");
}
