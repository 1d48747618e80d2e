//! Promise: what a job asks, accepts and drops for its grounds is shown: in the prompts, in the log
//! and by doctor.

use crate::common::learned::lesson;
use crate::common::prelude::*;
use crate::common::story::history;

/// A session in which the user said how releases go.
fn release(id: &str) -> Session {
    Session::new(id)
        .user("the release of the parser goes by scripts/ship.sh, not by hand")
        .ran("scripts/ship.sh", "shipped")
        .assistant("By [pat-001], done.")
        .done()
}

fn replies() -> [Step; 2] {
    let lesson = |correction: &str, grounds: &[u32]| json!({"task_type": "release", "mistake": "The release was made by hand.", "correction": correction, "grounds": grounds});
    let reflection = json!({
        "analysis": "It went well.", "strategy": "Release on Fridays.",
        "bullet_tags": [{"name": "pat-001", "tag": "helpful", "rationale": "cited"}],
        "lessons": [lesson("Release with `scripts/ship.sh`.", &[1]), lesson("Use `scripts/go.sh`.", &[1])],
    });
    let curation = json!({"reasoning": "The user said how.", "operations": [
        {"type": "ADD", "text": "Release with `scripts/ship.sh`, not by hand.", "section": "PROJECT CONTEXT", "grounds": [1], "said": [1]},
        {"type": "ADD", "text": "Release with `scripts/go.sh`.", "section": "OTHERS", "grounds": [1]},
        {"type": "DELETE", "target_id": "pat-001", "reason": "old"},
    ]});
    [reflection, curation].map(|reply| Step::text(&reply.to_string()))
}

fn learned(env: &mut TestEnv, api: &Api) {
    env.use_api(&api.base_url(), "sk-test");
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.learn_from(&release("s1"));
}

#[test]
fn the_log_quotes_the_ground_of_a_change_and_names_what_has_none() {
    let api = Api::script(replies());
    let mut env = TestEnv::without_worker();
    learned(&mut env, &api);
    let names: Vec<String> = env.marks().into_keys().collect();
    assert_eq!(names, ["ctx-001", "pat-001"]);
    assert_eq!(env.marks_of("pat-001"), (1, 0), "tags count all the same");
    let job = &history(&env)[0];
    let quote = "[said: #1 USER: the release of the parser goes by scripts/ship.sh, not by hand]";
    let reason = format!("The user said how. {quote}");
    assert_eq!(job["changes"][1]["reason"], reason);
    let other = "`scripts/go.sh` stands neither in the user's words nor in a call";
    let none = "it names no ground";
    assert_eq!(texts(&job["dropped"], "reason"), [other, none, other, none]);
    let log = env.cli(&["log"]).ok();
    has!(log, quote, "not accepted: DELETE \"pat-001\"");
    has!(log, "not accepted: ADD \"Release with `scripts/go.sh`.\"");
    let lessons = env.cli(&["recall", "--kind", "lesson", "--json"]).ok();
    has!(lessons, "ship.sh");
    lacks!(lessons, "go.sh");
    assert_eq!(api.requests().len(), 2, "nothing is asked again");
    let asked = api.requests()[1].prompt();
    has!(asked, "#1 USER: the release of the parser");
}

#[test]
fn a_template_that_asks_for_no_grounds_works_as_it_did_and_doctor_says_what_it_misses() {
    let api = Api::script(replies());
    let mut env = TestEnv::without_worker();
    let templates = env.config_dir().join("templates");
    let judge = "Judge by {playbook}: {transcript}";
    write(&templates.join("reflector.txt"), judge);
    let follow = "What follows for {playbook}? {reflection}";
    write(&templates.join("curator.txt"), follow);
    learned(&mut env, &api);
    let file = env.playbook().to_string();
    has!(file, "scripts/go.sh", "scripts/ship.sh");
    lacks!(file, "pat-001\",\"text");
    assert_eq!(history(&env)[0]["dropped"], json!([]));
    for request in api.requests() {
        lacks!(request.prompt(), "(nothing)");
    }
    let told = format!("{:?}", env.cli(&["doctor"]));
    has!(told, "reflector.txt: no `\\\"grounds\\\"`");
    has!(told, "no `{known_lessons}`");
}

#[test]
fn what_the_project_says_and_earlier_sessions_taught_is_shown() {
    let api = Api::script((0..3).flat_map(|_| replies()));
    let mut env = TestEnv::without_worker();
    let mondays = "# Release\nThe release of the parser goes out on Mondays, token ghp_0123456789abcdefghijABCDEFGHIJ012345.\n\n# Colours\nBlue.\n";
    env.write_project("CLAUDE.md", mondays);
    let rule = "A release of the parser needs a changelog.";
    env.write_project(".claude/rules/release.md", rule);
    let outside = env.root().join("outside.md");
    write(&outside, "The release of the parser is a secret.");
    std::os::unix::fs::symlink(&outside, env.project().join("AGENTS.md")).unwrap();
    learned(&mut env, &api);
    env.learn_from(&release("s2"));
    env.cli(&["remove", "ctx-001"]).ok();
    env.learn_from(&release("s3"));
    let requests = api.requests();
    assert_eq!(requests.len(), 6);
    for request in &requests[2..4] {
        has!(request.prompt(), "goes out on Mondays");
        // A key point says what the lesson says.
        lacks!(request.prompt(), "L1 (");
    }
    for request in &requests[4..] {
        let prompt = request.prompt();
        has!(prompt, "goes out on Mondays", "L1 (2 sessions): ");
        has!(prompt, "From .claude/rules/release.md:");
        lacks!(prompt, "Blue.", "is a secret", "ghp_");
    }
    lacks!(requests[0].prompt(), "L1 (");
}

/// The request names nothing that the earlier lesson has; what the reflector makes of it does.
#[test]
fn a_curator_is_shown_lessons_like_what_the_reflector_found() {
    let api = Api::script(replies());
    let mut env = TestEnv::without_worker();
    let others = (0..40).map(|n| {
        let correction = format!("three{n} four{n} five{n}");
        lesson(&format!("one{n} two{n}"), &correction, None)
    });
    env.learn("j1", 1, &others.collect::<Vec<_>>());
    let ask = "ask the harbour before `scripts/ship.sh`";
    env.learn("j2", 1, &[lesson("it was late", ask, None)]);
    env.use_api(&api.base_url(), "sk-test");
    env.write_playbook(&[("pat-001", "run the tests")]);
    let session = Session::new("s1")
        .user("please go on with number 7837")
        .ran("scripts/ship.sh", "shipped")
        .assistant("By [pat-001], done.")
        .done();
    env.learn_from(&session);
    let prompts: Vec<String> = api.requests().iter().map(Request::prompt).collect();
    lacks!(prompts[0], "ask the harbour");
    has!(prompts[0], "L16 (");
    has!(prompts[1], "L16 (", "): it was late → ask the harbour");
}

/// What nothing could rest on is not asked for: it would be paid for and dropped.
#[test]
fn a_session_without_any_ground_costs_no_question_to_the_curator() {
    let (env, api) = TestEnv::with_model();
    let command = "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n<command-args>7915</command-args>";
    // Of what it was sent for nothing is known.
    let notice = "<task-notification>\n<status>completed</status>\n<summary>All is done.</summary>\n</task-notification>";
    let mut session = Session::new("s1");
    session.user(command).user(notice);
    env.learn_from(session.assistant("By [pat-001], done."));
    let asked: Vec<String> = api.requests().iter().map(Request::prompt).collect();
    assert_eq!(asked.len(), 1);
    has!(asked[0], "You are the reflector");
    // Its votes count all the same.
    assert_eq!(env.marks_of("pat-001"), (1, 0));
}
