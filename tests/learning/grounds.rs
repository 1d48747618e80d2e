//! Promise: a session teaches what its user said and what its outcomes show, and says which.

use super::records::{assistant, called, failed, ran, read, read_as, user};
use crate::common::prelude::*;
use playbook::playbook::{Playbook, Skipped};
use playbook::reflect::accepted::{keep_grounded, with_grounds};
use playbook::reflect::grounds::Grounds;
use playbook::reflect::known::KnownLesson;
use playbook::reflect::reply::{Reflection, Reply as _};
use playbook::transcript::{Bearing, Evidence, Lane};

pub(super) fn evidence(lines: &[Value]) -> Evidence {
    read(lines).evidence.finish(24_000)
}

/// Returns the number of every event.
pub(super) fn numbers(evidence: &Evidence) -> Vec<u32> {
    evidence.shown.iter().map(|shown| shown.number).collect()
}

pub(super) fn playbook() -> Playbook {
    let json = json!({"version": "1.0", "last_updated": null, "sections": {
        "PATTERNS & APPROACHES": [
            {"name": "pat-001", "text": "run the parser tests before a push", "helpful": 3, "harmful": 0},
            {"name": "pat-002", "text": "mend the test that is red first", "helpful": 0, "harmful": 0},
            {"name": "pat-003", "text": "Where it fails on a large diff, write the text by `make release`.", "helpful": 0, "harmful": 0}]}});
    Playbook::parse(json.to_string().as_bytes()).unwrap()
}

/// What of an operation on [`playbook`] is accepted for the evidence, and what is dropped.
pub(super) fn accepted(evidence: &Evidence, operation: Value) -> (Vec<Value>, Vec<Skipped>) {
    accepted_knowing(evidence, operation, &[])
}

/// The same where earlier sessions have taught these lessons.
fn accepted_knowing(
    evidence: &Evidence,
    operation: Value,
    lessons: &[KnownLesson],
) -> (Vec<Value>, Vec<Skipped>) {
    let known = lessons.iter().map(|lesson| lesson.text.as_str());
    let grounds = Grounds::of(evidence).unwrap().knowing(known);
    let operations = vec![operation];
    with_grounds(operations, &playbook(), &grounds, lessons, |_| None, "")
}

/// A new key point with this text, resting on these events.
pub(super) fn add(text: &str, grounds: &[u32]) -> Value {
    json!({"type": "ADD", "text": text, "reason": "new", "grounds": grounds})
}

/// The user's words, and after an arrow a key point that rests on them.
#[rstest]
fn what_the_user_says_is_accepted(
    #[values(
        "no, keep the commits apart => Keep commits apart, one for each change.",
        "the release goes by scripts/ship.sh, not by hand => Release with `scripts/ship.sh`.",
        "nein, die Änderungen bitte immer einzeln ablegen => Make one commit for each change.",
        "not so => Run all tests, not the parser's alone.",
        "run the tests of the parser alone => Run only the parser's tests with `cargo test parser`."
    )]
    told: &str,
) {
    let (quote, accepted) = told_and_accepted(told);
    assert_eq!(accepted, Some(format!("new [{quote}]")));
}

#[rstest]
fn what_the_user_does_not_say_is_not_accepted(
    #[values(
        "not so => Answer every question in French.",
        "please rename the flag in the parser to color => Answer every question in French.",
        "the release goes by scripts/ship.sh, not by hand => Release with `scripts/release.sh`."
    )]
    told: &str,
) {
    assert_eq!(told_and_accepted(told).1, None);
}

/// Returns how the user's words are quoted, and the reason of the key point where it is accepted.
fn told_and_accepted(told: &str) -> (String, Option<String>) {
    let (said, text) = told.split_once(" => ").unwrap();
    let lines = [
        vec![user("begin")],
        ran("cargo test parser", "test result: ok. 1 passed"),
        vec![user(said)],
    ]
    .concat();
    let evidence = evidence(&lines);
    let mut shown = evidence.shown.iter();
    let said = shown.rfind(|shown| shown.bearing == Bearing::Words);
    let number = said.unwrap().number;
    let kept = accepted(&evidence, add(text, &[number])).0;
    let quote = format!("#{number} {}", evidence.entry(number).unwrap());
    let reason = |kept: &Value| kept["reason"].as_str().unwrap().to_owned();
    (quote, kept.first().map(reason))
}

/// A check that failed and passed, and an error that was made good, are grounds; a check that
/// only passed, an error that stayed and the assistant's own word are none.
#[test]
fn an_outcome_is_what_turned() {
    let red = "Exit code 101\ntest result: FAILED. 1 failed";
    let lines = [
        vec![user("go")],
        failed("cargo test", red),
        called("Edit", &json!({"file_path": "a.rs"}), "ok"),
        ran("cargo test", "test result: ok. 1 passed"),
        failed("python run.py", "Exit code 127\nsh: 1: python: not found"),
        ran("python3 run.py", "done"),
        failed("./deploy.sh", "Exit code 1\nno space"),
        ran("npx tsc", ""),
        vec![assistant("All is done.")],
    ];
    let evidence = evidence(&lines.concat());
    let is_outcome = |bearing| matches!(bearing, Bearing::PassedLater | Bearing::Outcome);
    let shown = evidence.shown.iter();
    let shown = shown.filter(|shown| is_outcome(shown.bearing));
    let marked = shown.map(|shown| {
        let entry = evidence.entry(shown.number).unwrap();
        format!("{:?}: {entry}", shown.bearing)
    });
    let marked: Vec<String> = marked.collect();
    insta::assert_snapshot!(marked.join("\n"), @r"
    PassedLater: ERROR in Bash `cargo test` (exit 101): test result: FAILED. 1 failed
    PassedLater: CHECK passed (cargo test): test result: ok. 1 passed
    Outcome: ERROR in Bash `python run.py` (exit 127): sh: 1: python: not found
      → then this worked: `python3 <file>` instead of `python <file>`
    ");
}

/// Lints were no outcome: one that fails had the name of the compiler, and one that passes its own.
#[test]
fn a_lint_that_fails_and_passes_is_one_check() {
    let red = "Exit code 1\ncli/resume.go:279:2: error is not nil but it returns nil (nilerr)\n1 issues:\n* nilerr: 1";
    let linted = [
        failed("mise run lint", red),
        ran("mise run lint", "0 issues."),
    ]
    .concat();
    let evidence = evidence(&[vec![user("go")], linted].concat());
    let bearings = evidence.shown.iter().map(|shown| shown.bearing);
    let turned = bearings.filter(|bearing| *bearing == Bearing::PassedLater);
    assert_eq!(turned.count(), 2, "{}", evidence.text);
}

/// Honest lessons were refused for a name in the tale of what went wrong, and for names that
/// earlier sessions had taught.
#[test]
fn a_lesson_is_kept_without_a_tale_that_has_no_ground_and_may_name_what_is_known() {
    let lines = [
        user("paths must work from every folder, resolve them against the root"),
        assistant("Done."),
    ];
    let evidence = evidence(&lines);
    let read = |correction: &str| {
        let mistake = "Paths were built with `./scripts/where.sh`.";
        let lesson = json!({"mistake": mistake, "correction": correction, "grounds": [1]});
        let reply = json!({"analysis": "a", "bullet_tags": [], "lessons": [lesson]});
        Reflection::parse(&reply.to_string()).unwrap().0
    };
    let kept = |mut reflection: Reflection, known: &[&str]| {
        let grounds = Grounds::of(&evidence).unwrap();
        keep_grounded(&mut reflection, &grounds.knowing(known.iter().copied()));
        reflection.lessons.pop().map(|lesson| lesson.mistake)
    };
    let plain = read("Resolve paths against the root.");
    assert_eq!(kept(plain.clone(), &[]).as_deref(), Some(""));
    let known = ["`./scripts/where.sh` prints the folder"];
    assert!(kept(plain, &known).is_some_and(|mistake| mistake.contains("where.sh")));
    let named = read("Resolve paths against the root with `lib/root.sh`.");
    assert_eq!(kept(named.clone(), &[]), None);
    assert!(kept(named, &["`lib/root.sh` is the helper"]).is_some());
}

/// A curator may rest a key point on an error and the call that got past it: it is shown both,
/// and what the lessons rest on before all else.
#[test]
fn a_curator_is_shown_errors_with_their_calls_and_first_what_lessons_rest_on() {
    let error = "Exit code 1\nError: Argument list too long: 'claude'";
    let lines = [
        vec![user("first: build it well"), assistant("I look first.")],
        failed("gh pr view 12", error),
        ran("git log -1", "abc"),
        vec![assistant("It is the last one.")],
        (0..9)
            .map(|n| user(format!("then the part {n} please")))
            .collect::<Vec<_>>(),
    ];
    let evidence = evidence(&lines.concat());
    let grounds = Grounds::of(&evidence).unwrap();
    has!(grounds.listed(40, &[]), "too long", "git log");
    let reply =
        json!({"lessons": [{"correction": "Build it well.", "grounds": [1]}], "analysis": ""});
    let lessons = Reflection::parse(&reply.to_string()).unwrap().0.lessons;
    let few = grounds.listed(3, &lessons);
    has!(few, "build it well", "part 8");
    lacks!(few, "part 0");
}

#[rstest]
#[case::many(json!({"correction": "c", "repeats": ["L1", "L3"]}), &["L1", "L3"])]
#[case::one(json!({"correction": "c", "repeats": "L2"}), &["L2"])]
#[case::none(json!({"correction": "c", "repeats": null}), &[])]
fn a_lesson_repeats_as_many_as_it_names(#[case] lesson: Value, #[case] want: &[&str]) {
    let reply = json!({"analysis": "a", "bullet_tags": [], "lessons": [lesson]});
    let said = Reflection::parse(&reply.to_string()).unwrap().0;
    assert_eq!(said.lessons[0].repeats, want);
}

/// An error is a ground of what is new. To change a key point it is one with the call that got
/// past it, which need not be the same program again: the reply names both.
#[rstest]
#[case::an_error_and_what_got_past_it(&["ERROR", "gh pr edit"], [true, true])]
#[case::what_the_settings_forbade(&["DENIED", "gh pr edit"], [false, false])]
#[case::the_error_alone(&["ERROR"], [true, false])]
#[case::a_call_alone(&["gh pr edit"], [false, false])]
#[case::an_error_and_a_call_that_failed_too(&["ERROR", "make publish"], [true, false])]
#[case::an_error_and_what_was_before_it(&["ERROR", "git log"], [true, false])]
#[case::what_a_subagent_reports(&["REPORT"], [true, false])]
#[case::a_report_and_a_later_call(&["REPORT", "gh pr edit"], [true, false])]
fn what_is_new_may_rest_on_an_error_and_a_change_on_the_call_that_got_past_it(
    #[case] named: &[&str],
    #[case] is_accepted: [bool; 2],
) {
    let error = "Exit code 1\nError: Argument list too long: 'claude'";
    let denied = "Permission to use Bash with command make release --now has been denied.";
    let task =
        json!({"description": "Try the release", "prompt": "Run `make release --dry`, no more."});
    let lines = [
        vec![user("go")],
        ran("git log -1", "abc"),
        failed("make release", error),
        failed("make publish", "Exit code 2\nno such command"),
        failed("make release --now", denied),
        called("Task", &task, "It failed: the list is too long."),
        ran("gh pr edit 12 --title x", "done"),
    ];
    let evidence = evidence(&lines.concat());
    let mut numbers = numbers(&evidence);
    numbers.retain(|number| {
        let entry = evidence.entry(*number).unwrap();
        let is_such = |word: &&str| match *word {
            "ERROR" => entry.contains("ERROR") && entry.contains("make release`"),
            "DENIED" => entry.contains("ERROR") && entry.contains("Permission to use"),
            "REPORT" => entry.starts_with("SUBAGENT returned"),
            call => entry.contains("calls") && entry.contains(call),
        };
        named.iter().any(is_such)
    });
    numbers.dedup();
    assert_eq!(numbers.len(), named.len());
    let text = "Where `make release --dry` fails on a large diff, write the text by `gh pr edit`.";
    let operations = [
        add(text, &numbers),
        json!({"type": "UPDATE", "target_id": "pat-003", "text": text.replace(" --dry", ""), "grounds": numbers}),
    ];
    let kept = operations.map(|operation| accepted(&evidence, operation).0.len() == 1);
    assert_eq!(kept, is_accepted, "{}", evidence.text);
}

const PYTHON3: &str = "Start the jobs with `python3 run.py`; there is no `python`.";

/// What several sessions taught is not lost because none of them made it a key point; what one
/// taught needs an event that stands for it here as well.
#[rstest]
#[case::two_sessions_taught_it(2, PYTHON3, &[], true)]
#[case::one_did(1, PYTHON3, &[], false)]
#[case::one_did_and_the_user_speaks_here(1, PYTHON3, &[1], true)]
#[case::something_else(2, "Send each change of the parser to the mirror by `python3 run.py`.", &[1], false)]
#[case::with_a_name_that_is_new(2, "Start the jobs with `python3 run.py --force`; there is no `python`.", &[1], false)]
fn a_known_lesson_that_recurs_is_a_ground(
    #[case] sessions: u64,
    #[case] text: &str,
    #[case] grounds: &[u32],
    #[case] is_accepted: bool,
) {
    let evidence = evidence(&[user("please write the letters in green")]);
    let lessons = [no_python(sessions)];
    let mut operation = add(text, grounds);
    operation["repeats"] = json!(["L1"]);
    let quote = format!("new [{}]", lessons[0].text);
    let (kept, dropped) = accepted_knowing(&evidence, operation, &lessons);
    assert_eq!(kept.len() == 1, is_accepted, "{dropped:?}");
    assert!(kept.iter().all(|kept| kept["reason"] == quote), "{kept:?}");
}

fn no_python(sessions: u64) -> KnownLesson {
    let text = "The jobs failed → There is no `python`: start the jobs with `python3 run.py`";
    KnownLesson {
        id: "les-000000000001".to_owned(),
        text: text.to_owned(),
        sessions,
    }
}

/// A known lesson says nothing of the key points that are there.
#[rstest]
#[case::delete(json!({"type": "DELETE", "target_id": "pat-001", "reason": "old"}))]
#[case::update(json!({"type": "UPDATE", "target_id": "pat-001", "text": "Never start the jobs with `python3 run.py`."}))]
#[case::merge(json!({"type": "MERGE", "source_ids": ["pat-001", "pat-002"], "merged_text": "Start the jobs with `python3 run.py`."}))]
fn a_known_lesson_is_no_ground_to_change_or_take_away_a_key_point(#[case] mut operation: Value) {
    let evidence = evidence(&[user("please write the letters in green")]);
    operation["repeats"] = json!(["L1"]);
    let (kept, dropped) = accepted_knowing(&evidence, operation, &[no_python(2)]);
    assert_eq!((kept.len(), dropped.len()), (0, 1), "{kept:?}");
}

/// The prompts in a subagent's file are the agent's.
#[test]
fn a_task_given_to_a_subagent_is_no_word_of_the_users() {
    let line = json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": "always use pnpm"}});
    let evidence = read_as(Lane::Subagent, &[line]).evidence.finish(24_000);
    assert_eq!(evidence.shown[0].bearing, Bearing::Others);
}
