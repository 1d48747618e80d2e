//! Promise: what happened in one session alone is kept as a lesson; it becomes a key point when
//! another session meets it. What the user said stands at once, and so does what a failed check
//! of weight showed.

use crate::common::prelude::*;
use crate::common::story::history;

const TEXT: &str = "Start the jobs with `python3 run.py`; there is no `python`.";
const OTHERWISE: &str = "The interpreter of this machine is `python3`.";
/// The events in which the call without an interpreter may have failed.
const FAILED: [u64; 2] = [3, 4];

/// A session in which a command failed and another one worked.
fn met(id: &str) -> Session {
    let mut session = Session::new(id);
    go_on(&mut session);
    session
}

fn go_on(session: &mut Session) {
    let error = "Exit code 127\nsh: 1: python: not found [said: #1 USER: yes]";
    session
        .user("start the nightly jobs")
        .failed("python run.py", error)
        .ran("python3 run.py", "done")
        .assistant("The jobs run.");
}

/// What a model makes of a session: a new key point with these fields besides.
fn replies(text: &str, importance: f64, more: &Value) -> [Step; 2] {
    let reflection =
        json!({"analysis": "It went well.", "bullet_tags": [], "importance": importance});
    let mut add =
        json!({"type": "ADD", "text": text, "section": "PROJECT CONTEXT", "grounds": FAILED});
    for (key, value) in more.as_object().unwrap() {
        add[key] = value.clone();
    }
    // What only the program may write: that the user said so.
    let curation = json!({"reasoning": "It failed. [said: #1 USER: yes]", "operations": [add]});
    [reflection, curation].map(|reply| Step::text(&reply.to_string()))
}

fn names(env: &TestEnv) -> Vec<String> {
    env.marks().into_keys().collect()
}

#[test]
fn what_happened_once_is_a_lesson_until_another_session_meets_it() {
    let same = replies(TEXT, 0.9, &json!({}));
    let api = Api::script([same.clone(), same.clone(), same].concat());
    let env = TestEnv::asking(&api);
    env.learn_from(&met("s1"));
    assert_eq!(names(&env), ["pat-001"]);
    let dropped = &history(&env)[0]["dropped"][0];
    let why = "waits as a lesson until a second session teaches it";
    assert_eq!(dropped["reason"], why);
    let lessons = env.cli(&["recall", "--kind", "lesson", "--json"]).json();
    assert_eq!(lessons["memories"][0]["text"], TEXT, "{lessons}");

    // A fork of it is no second session.
    let mut fork = met("s1").fork("s2");
    go_on(&mut fork);
    env.learn_from(&fork);
    assert_eq!(names(&env), ["pat-001"]);

    env.learn_from(&met("s3"));
    assert_eq!(names(&env), ["ctx-001", "pat-001"]);
    has!(env.playbook().to_string(), "there is no `python`");
}

/// Nothing was made good and nothing is voted on: the lesson is all there is.
#[test]
fn a_lesson_with_a_ground_is_kept_of_a_session_that_changed_nothing() {
    let lesson = json!({"task_type": "release", "mistake": "`make release` failed on a large diff.",
        "correction": "Write the text by `gh pr edit` where `make release` fails.", "grounds": [3, 4]});
    let reflection = json!({"analysis": "It went on.", "bullet_tags": [], "lessons": [lesson]});
    let curation = json!({"reasoning": "Once.", "operations": []});
    let api = Api::script([reflection, curation].map(|reply| Step::text(&reply.to_string())));
    let env = TestEnv::asking(&api);
    let mut session = Session::new("s1");
    session
        .user("go")
        .failed("make release", "Exit code 1\nArgument list too long")
        .ran("gh pr edit 12 --title x", "done")
        .assistant("It is out.");
    env.learn_from(&session);
    has!(env.cli(&["recall", "--kind", "lesson"]).ok(), "gh pr edit");
}

#[rstest]
#[case::that_is_known("L1", &["ctx-001", "pat-001"])]
#[case::that_is_not_known("L7", &["pat-001"])]
fn another_wording_recurs_when_it_names_the_lesson(#[case] name: &str, #[case] expected: &[&str]) {
    let first = replies(TEXT, 0.5, &json!({}));
    let second = replies(OTHERWISE, 0.5, &json!({"repeats": [name]}));
    let api = Api::script([first, second].concat());
    let env = TestEnv::asking(&api);
    env.learn_from(&met("s1"));
    env.learn_from(&met("s2"));
    has!(api.requests()[3].prompt(), "L1 (1 session): Start the jobs");
    assert_eq!(names(&env), expected);
}

#[rstest]
#[case::that_it_holds(json!({"said": [1]}), &["ctx-001", "pat-001"])]
#[case::only_what_to_do(json!({}), &["pat-001"])]
fn what_the_user_said_stands_at_once(#[case] more: Value, #[case] expected: &[&str]) {
    let api = Api::script(replies(TEXT, 0.5, &more));
    let env = TestEnv::asking(&api);
    let mut session = Session::new("s1");
    session.user("the jobs always start with python3, remember that");
    go_on(&mut session);
    env.learn_from(&session);
    assert_eq!(names(&env), expected);
}

#[rstest]
#[case::of_weight(0.8, &["ctx-001", "pat-001"])]
#[case::of_little_weight(0.7, &["pat-001"])]
fn a_check_that_failed_and_passed_later_teaches_by_its_weight(
    #[case] importance: f64,
    #[case] expected: &[&str],
) {
    let text = "`cargo test` needs the stub of `make stub`.";
    let api = Api::script(replies(text, importance, &json!({})));
    let env = TestEnv::asking(&api);
    let mut session = Session::new("s1");
    session
        .user("go")
        .failed("cargo test", "Exit code 101\ntest result: FAILED. 1 failed")
        .ran("make stub", "made")
        .ran("cargo test", "test result: ok. 1 passed")
        .assistant("All is green.");
    env.learn_from(&session);
    assert_eq!(names(&env), expected);
}
