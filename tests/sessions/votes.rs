//! Promise: a session's verdict on a key point counts only if the session was given the point with
//! its present text, or cited it. A point that failed gets no praise.
//!
//! Each case is a session with the votes that a reader would give `pat-001` for it.

use std::time::SystemTime;

use crate::common::prelude::*;

const TEXT: &str = "run the tests before every commit";
const OTHER: &str = "do not edit generated files";
const LINE: &str = "[pat-001] helpful=0 harmful=0 :: run the tests before every commit";
const HELPED: (u64, u64) = (1, 0);
const HARMED: (u64, u64) = (0, 1);
const NOTHING: (u64, u64) = (0, 0);

fn with_points() -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_playbook(&[("pat-001", TEXT), ("mis-002", OTHER)]);
    env
}

fn start(env: &TestEnv, session: &str, source: &str) {
    let given = env.hook(Hook::SessionStart, session, json!({"source": source}));
    given.context();
}

fn end(env: &TestEnv, session: &Session) {
    env.learn_from(session);
    assert!(env.failed().is_empty());
}

#[test]
fn by_rules_a_citation_is_no_vote() {
    let env = with_points();
    start(&env, "s1", "startup");
    end(&env, &Session::following("s1", "pat-001"));
    assert_eq!(env.marks_of("pat-001"), NOTHING);
}

/// The assistant's use of the point, and the events after it.
enum Then {
    Works,
    Compacted(&'static str),
    Says(&'static str),
}

use Then::{Compacted, Says, Works};

/// The model calls it helpful each time.
#[rstest]
#[case::went_on_cleanly(&[Says("By [pat-001], the tests first."), Works], HELPED)]
#[case::cited_at_the_end(&[Works, Says("Done; I ran the tests first, as [pat-001] says.")], HELPED)]
#[case::cited_often_is_one_vote(&[Says("[pat-001] first."), Works, Says("[pat-001] again."), Works], HELPED)]
#[case::in_a_summary(&[Compacted("Summary: the assistant cited [pat-001]."), Says("It says pat-001; [pat-] is no citation.")], NOTHING)]
#[case::not_cited(&[Says("The tests first."), Works], NOTHING)]
#[case::named_without_brackets(&[Says("By pat-001 (pat-001), the tests first."), Works], NOTHING)]
fn a_point_that_was_not_shown_counts_where_it_is_cited(
    #[case] story: &[Then],
    #[case] marks: (u64, u64),
) {
    let (api, env) = judged_by("helpful");
    let mut session = Session::new("s1");
    session.user("add a flag to the parser; what does [pat-001] say?");
    let test = json!({"command": "cargo test"});
    for step in story {
        match step {
            Says(text) => session.assistant(text),
            Works => session.tool("Bash", &test, "12 passed, see [pat-001]"),
            Compacted(summary) => session.compacted(summary),
        };
    }
    session.assistant("So much by [mis-002].");
    end(&env, &session);
    has!(api.requests()[0].prompt(), "So much by [mis-002].");
    assert_eq!(env.marks_of("pat-001"), marks);
}

/// Sets a model that gives every point of the playbook the same verdict.
fn judged_by(verdict: &str) -> (Api, TestEnv) {
    let all = ["pat-001", "mis-002", "pat-002"].map(|name| (name, verdict));
    asking(&all)
}

fn asking(verdicts: &[(&str, &str)]) -> (Api, TestEnv) {
    let api = Api::script([tags(verdicts), operations(&json!([]))].map(Step::Text));
    let mut env = with_points();
    env.use_api(&api.base_url(), "sk-test-of-the-votes");
    (api, env)
}

/// Builds a session that does not cite `pat-001` and is worth reflecting on.
fn quiet(id: &str) -> Session {
    Session::saying(id, "Done, by [mis-002].")
}

fn edit(env: &TestEnv) {
    change(env, &["edit", "pat-001", "--text", "skip the tests"]);
}

#[rstest]
#[case::helpful("helpful", HELPED)]
#[case::harmful("harmful", HARMED)]
#[case::neutral("neutral", NOTHING)]
fn a_point_that_was_shown_gets_the_models_verdict(
    #[case] verdict: &str,
    #[case] marks: (u64, u64),
) {
    let (_api, env) = judged_by(verdict);
    start(&env, "s1", "startup");
    end(&env, &quiet("s1"));
    assert_eq!(env.marks_of("pat-001"), marks);
}

#[rstest]
#[case::not_shown_to_it(quiet("s1"), NOTHING)]
#[case::but_cited(
    Session::saying("s1", "As [pat-002] says, done, by [mis-002]."),
    HELPED
)]
fn a_point_that_came_after_the_start_counts_only_when_cited(
    #[case] session: Session,
    #[case] marks: (u64, u64),
) {
    let (_api, env) = judged_by("helpful");
    start(&env, "s1", "startup");
    change(&env, &["add", "--section", "pat", "ask before a release"]);
    end(&env, &session);
    assert_eq!(env.marks_of("pat-002"), marks);
    assert_eq!(env.marks_of("mis-002"), HELPED, "that one was shown");
    let line = "helpful tag for pat-002 skipped: not shown to this session";
    assert_eq!(env.log().contains(line), marks == NOTHING, "{}", env.log());
}

#[rstest]
#[case::only_shown(quiet("s1"))]
#[case::cited_too(Session::saying("s1", "By [pat-001], the tests first."))]
fn a_point_that_says_something_else_now_gets_no_vote_for_it(#[case] session: Session) {
    let (_api, env) = judged_by("helpful");
    start(&env, "s1", "startup");
    edit(&env);
    end(&env, &session);
    assert_eq!(env.marks_of("pat-001"), NOTHING);
    has!(env.log(), "pat-001 skipped: its text was another");
}

#[rstest]
#[case::after_the_start("clear")]
#[case::after_a_compaction("compact")]
fn a_later_injection_counts_with_the_first(#[case] source: &str) {
    let (_api, env) = judged_by("helpful");
    start(&env, "s1", "startup");
    edit(&env);
    start(&env, "s1", source);
    end(&env, &quiet("s1"));
    assert_eq!(env.marks_of("pat-001"), HELPED);
}

/// The record is missing on another machine, and for earlier sessions.
#[rstest]
#[case::the_transcript_shows_the_point(LINE, "SessionStart", "By [mis-002].", HELPED)]
#[case::with_another_text(&LINE.replace("every", "each"), "SessionStart", "By [pat-001].", NOTHING)]
#[case::not_by_a_start(LINE, "UserPromptSubmit", "By [mis-002].", NOTHING)]
#[case::nothing_is_known("a note", "SessionStart", "By [mis-002].", NOTHING)]
#[case::nothing_is_known_but_it_is_cited("a note", "SessionStart", "By [pat-001].", HELPED)]
fn without_a_record_the_clients_notes_count(
    #[case] given: &str,
    #[case] event: &str,
    #[case] said: &str,
    #[case] marks: (u64, u64),
) {
    let (_api, env) = judged_by("helpful");
    let session = Session::new("s1")
        .injected(given)
        .user(LINE)
        .assistant(said)
        .done();
    let kept = format!(r#""hookEvent":"{event}""#);
    let text = session
        .text()
        .replace(r#""hookEvent":"SessionStart""#, &kept);
    write(&env.transcript_path("s1"), text);
    env.ends("s1");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), marks);
}

#[test]
fn without_a_record_a_note_before_the_jobs_own_part_counts_too() {
    let (api, env) = judged_by("neutral");
    let mut session = Session::new("s1");
    session
        .injected(LINE)
        .user("hello")
        .assistant("Hi, by [mis-002].");
    end(&env, &session);
    api.now([tags(&[("pat-001", "harmful")]), operations(&json!([]))].map(Step::Text));
    session.user("and now?").assistant("Done, by [mis-002].");
    end(&env, &session);
    assert_eq!(env.marks_of("pat-001"), HARMED);
}

#[rstest]
#[case::of_the_session(&["s2"])]
#[case::of_a_fork_of_it(&["s2", "s3"])]
fn a_fork_has_what_its_origin_was_given(#[case] forks: &[&str]) {
    let (_api, env) = judged_by("helpful");
    start(&env, "s1", "startup");
    let mut session = quiet("s1");
    env.write_transcript(&session);
    for id in forks {
        session = session.fork(id);
        session.user("and here?").assistant("By [mis-002].");
        let started = env.hook(Hook::SessionStart, id, json!({"source": "fork"}));
        started.silent();
        env.write_transcript(&session);
    }
    end(&env, &session);
    assert_eq!(env.marks_of("pat-001"), HELPED);
}

#[test]
fn what_another_session_was_given_does_not_count() {
    let (_api, env) = judged_by("helpful");
    start(&env, "s1", "startup");
    end(&env, &quiet("s2"));
    assert_eq!(env.marks_of("pat-001"), NOTHING);
}

#[rstest]
#[case::said_often(&["helpful"; 9], HELPED)]
#[case::contradicted(&["helpful", "harmful", "helpful"], NOTHING)]
#[case::with_a_neutral_word(&["neutral", "harmful"], HARMED)]
fn a_point_gets_one_vote_of_a_session_however_often_it_is_named(
    #[case] verdicts: &[&str],
    #[case] marks: (u64, u64),
) {
    let all = verdicts.iter().map(|verdict| ("pat-001", *verdict));
    let (_api, env) = asking(&all.collect::<Vec<_>>());
    start(&env, "s1", "startup");
    end(&env, &quiet("s1"));
    assert_eq!(env.marks_of("pat-001"), marks);
}

/// A subagent has its own context, without the playbook.
#[test]
fn a_subagent_is_judged_only_by_the_points_that_it_cites() {
    let (api, env) = judged_by("helpful");
    env.write_config("[hooks]\non_subagent_stop = true\n");
    start(&env, "s1", "startup");
    let mut agent = Session::subagent("s1");
    let test = json!({"command": "cargo test"});
    let red = "Exit code 101\ntest result: FAILED. 1 failed";
    agent.user("task").assistant("By [pat-001], done.");
    agent
        .tool_error("Bash", &test, red)
        .tool("Bash", &test, "test result: ok. 1 passed");
    write(&env.agent_transcript_path("s1"), agent.text());
    env.hook(Hook::SubagentStop, "s1", json!({})).silent();
    env.worker();
    let [reflector, curator] = [0, 1].map(|n| api.requests()[n].prompt());
    has!(reflector, "run the tests before");
    lacks!(reflector, "do not edit generated");
    // The curator sees all points, because a new one must not repeat any.
    has!(curator, "do not edit generated");
    assert_eq!(env.marks_of("pat-001"), HELPED);
    assert_eq!(env.marks_of("mis-002"), NOTHING);
}

/// The client keeps the context that hooks gave at a subagent's start in its transcript.
#[test]
fn a_subagent_that_is_learned_from_is_given_the_playbook_and_judged_by_it() {
    let (api, env) = judged_by("helpful");
    env.hook(Hook::SubagentStart, "s1", json!({})).silent();
    env.write_config("[hooks]\non_subagent_stop = true\n");
    let compaction = json!({"agent_id": "other", "agent_type": ""});
    env.hook(Hook::SubagentStart, "s1", compaction).silent();
    let given = env.hook(Hook::SubagentStart, "s1", json!({}));
    let given = given.context_for("SubagentStart");
    has!(given, "[mis-002]");
    env.hook(Hook::SubagentStart, "s1", json!({})).silent();
    let mut agent = Session::subagent("s1");
    agent.given_at("SubagentStart", &given);
    agent.user("task").assistant("Done without a word of it.");
    agent
        .ran("cargo test", "test result: ok. 1 passed")
        .assistant("All good.");
    write(&env.agent_transcript_path("s1"), agent.text());
    env.hook(Hook::SubagentStop, "s1", json!({})).silent();
    env.worker();
    has!(api.requests()[0].prompt(), "do not edit generated");
    assert_eq!(env.marks_of("mis-002"), HELPED);
}

fn records(env: &TestEnv) -> Vec<PathBuf> {
    let projects = fs::read_dir(env.state().join("projects")).expect("projects");
    let folders = projects.flatten().map(|entry| entry.path().join("shown"));
    let files = folders.filter_map(|folder| fs::read_dir(folder).ok());
    files.flatten().flatten().map(|file| file.path()).collect()
}

/// A job that waits for its model continues with what it knew when it was claimed.
#[test]
fn what_a_session_was_given_is_asked_once_for_a_job() {
    let (api, mut env) = judged_by("helpful");
    start(&env, "s1", "startup");
    api.now([Step::error(500, "api_error", "no")]);
    end(&env, &quiet("s1"));
    assert_eq!(env.spool().len(), 1);
    api.now([tags(&[("pat-001", "helpful")]), operations(&json!([]))].map(Step::Text));
    for file in records(&env) {
        fs::remove_file(file).unwrap();
    }
    env.worker_at("2026-11-23T12:00:00Z");
    assert_eq!(env.spool(), Vec::<Value>::new());
    assert_eq!(env.marks_of("pat-001"), HELPED);
}

/// The names in the record do not reveal the session, and it holds no text.
#[test]
fn a_record_holds_names_and_hashes_and_goes_with_its_transcript() {
    let mut env = with_points();
    let start = |change| env.hook(Hook::SessionStart, "s2", change).context();
    start(json!({}));
    start(json!({"session_id": "../../s1", "transcript_path": env.transcript_path("s1")}));
    let transcript = env.write_transcript(&quiet("s2"));
    let files = records(&env);
    assert_eq!(files.len(), 2);
    let long_ago = SystemTime::now() - Duration::from_secs(365 * 24 * 60 * 60);
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        has!(text, "pat-001");
        lacks!(text, "tests");
        let open = fs::File::options().append(true).open(file).unwrap();
        open.set_modified(long_ago).unwrap();
    }
    env.set("PLAYBOOK_NOW", NOW);
    env.worker();
    assert_eq!(records(&env).len(), 1, "of the session with a transcript");
    fs::remove_file(&transcript).unwrap();
    env.worker();
    assert_eq!(records(&env).len(), 0);
}
