//! Promise: a session teaches what its user said and what its outcomes show, and says which.

use std::collections::BTreeSet;

use super::records::{answer, assistant, call_with, read_as, user};
use crate::common::prelude::*;
use playbook::playbook::{Playbook, Skipped};
use playbook::reflect::accepted::{keep_grounded, with_grounds};
use playbook::reflect::grounds::Grounds;
use playbook::reflect::known::KnownLesson;
use playbook::reflect::reply::{Reflection, Reply as _};
use playbook::transcript::{Bearing, Evidence, Lane};

pub(super) fn ran(id: usize, tool: &str, input: &Value, text: &str, is_error: bool) -> [Value; 2] {
    [call_with(id, tool, input), answer(id, text, is_error)]
}

pub(super) fn bash(id: usize, command: &str, answer: &str, is_error: bool) -> [Value; 2] {
    ran(id, "Bash", &json!({"command": command}), answer, is_error)
}

pub(super) fn evidence(lines: &[Value], lane: Lane) -> Evidence {
    read_as(lane, lines).evidence.finish(24_000)
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
    with_grounds(
        vec![operation],
        &playbook(),
        &grounds,
        lessons,
        |_| None,
        "",
    )
}

/// A new key point with this text, resting on these events.
pub(super) fn add(text: &str, grounds: &[u32]) -> Value {
    json!({"type": "ADD", "text": text, "reason": "new", "grounds": grounds})
}

#[rstest]
#[case::said(
    "no, keep the commits apart",
    "Keep commits apart, one for each change.",
    true
)]
#[case::named(
    "the release goes by scripts/ship.sh, not by hand",
    "Release with `scripts/ship.sh`.",
    true
)]
#[case::in_another_language(
    "nein, die Änderungen bitte immer einzeln ablegen",
    "Make one commit for each change.",
    true
)]
#[case::short("not so", "Run all tests, not the parser's alone.", true)]
#[case::short_and_of_nothing("not so", "Answer every question in French.", false)]
#[case::of_a_call(
    "run the tests of the parser alone",
    "Run only the parser's tests with `cargo test parser`.",
    true
)]
#[case::nothing_of_it(
    "please rename the flag in the parser to color",
    "Answer every question in French.",
    false
)]
#[case::other_name(
    "the release goes by scripts/ship.sh, not by hand",
    "Release with `scripts/release.sh`.",
    false
)]
fn what_the_user_says_is_accepted(
    #[case] said: &str,
    #[case] text: &str,
    #[case] is_accepted: bool,
) {
    let mut lines = vec![user("begin")];
    lines.extend(bash(
        1,
        "cargo test parser",
        "test result: ok. 1 passed",
        false,
    ));
    lines.push(user(said));
    let evidence = evidence(&lines, Lane::Session);
    let said = evidence
        .shown
        .iter()
        .rfind(|shown| shown.bearing == Bearing::Words)
        .unwrap();
    let (kept, dropped) = accepted(&evidence, add(text, &[said.number]));
    assert_eq!(kept.len() == 1, is_accepted, "{dropped:?}");
    if let Some(kept) = kept.first() {
        let quote = evidence.entry(said.number).unwrap();
        assert_eq!(kept["reason"], format!("new [#{} {quote}]", said.number));
    }
}

/// A check that failed and passed, and an error that was made good, are grounds; a check that
/// only passed, an error that stayed and the assistant's own word are none.
#[test]
fn an_outcome_is_what_turned() {
    let mut lines = vec![user("go")];
    let red = "Exit code 101\ntest result: FAILED. 1 failed";
    lines.extend(bash(1, "cargo test", red, true));
    lines.extend(ran(2, "Edit", &json!({"file_path": "a.rs"}), "ok", false));
    lines.extend(bash(3, "cargo test", "test result: ok. 1 passed", false));
    lines.extend(bash(
        4,
        "python run.py",
        "Exit code 127\nsh: 1: python: not found",
        true,
    ));
    lines.extend(bash(5, "python3 run.py", "done", false));
    lines.extend(bash(6, "./deploy.sh", "Exit code 1\nno space", true));
    lines.extend(bash(7, "npx tsc", "", false));
    lines.push(assistant("All is done."));
    let evidence = evidence(&lines, Lane::Session);
    let marked: Vec<String> = evidence
        .shown
        .iter()
        .filter(|shown| matches!(shown.bearing, Bearing::PassedLater | Bearing::Outcome))
        .map(|shown| {
            let entry = evidence.entry(shown.number).unwrap();
            format!("{:?}: {entry}", shown.bearing)
        })
        .collect();
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
    let mut lines = vec![user("go")];
    let red = "Exit code 1\ncli/resume.go:279:2: error is not nil but it returns nil (nilerr)\n1 issues:\n* nilerr: 1";
    lines.extend(bash(1, "mise run lint", red, true));
    lines.extend(bash(2, "mise run lint", "0 issues.", false));
    lines.push(assistant("Done."));
    let evidence = evidence(&lines, Lane::Session);
    let turned = evidence
        .shown
        .iter()
        .filter(|shown| shown.bearing == Bearing::PassedLater);
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
    let evidence = evidence(&lines, Lane::Session);
    let read = |correction: &str| {
        let mistake = "Paths were built with `./scripts/where.sh`.";
        let lesson = json!({"mistake": mistake, "correction": correction, "grounds": [1]});
        let reply = json!({"analysis": "a", "bullet_tags": [], "lessons": [lesson]});
        Reflection::parse(&reply.to_string()).unwrap().0
    };
    let kept = |mut reflection: Reflection, known: &[&str]| {
        let grounds = Grounds::of(&evidence)
            .unwrap()
            .knowing(known.iter().copied());
        keep_grounded(&mut reflection, &grounds);
        let mut lessons = reflection.lessons.into_iter();
        lessons.next().map(|lesson| lesson.mistake)
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
    let mut lines = vec![user("first: build it well")];
    lines.push(assistant("I look first."));
    let error = "Exit code 1\nError: Argument list too long: 'claude'";
    lines.extend(bash(1, "gh pr view 12", error, true));
    lines.extend(bash(2, "git log -1", "abc", false));
    lines.push(assistant("It is the last one."));
    lines.extend((0..9).map(|n| user(format!("then the part {n} please"))));
    let evidence = evidence(&lines, Lane::Session);
    let grounds = Grounds::of(&evidence).unwrap();
    let all = grounds.listed(40, &[]);
    has!(all, "too long", "git log");
    let reply =
        json!({"lessons": [{"correction": "Build it well.", "grounds": [1]}], "analysis": ""});
    let lessons = Reflection::parse(&reply.to_string()).unwrap().0.lessons;
    let few = grounds.listed(3, &lessons);
    assert!(
        few.contains("build it well") && few.contains("part 8"),
        "{few}"
    );
    assert!(!few.contains("part 0"), "{few}");
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
    let mut lines = vec![user("go")];
    lines.extend(bash(1, "git log -1", "abc", false));
    let error = "Exit code 1\nError: Argument list too long: 'claude'";
    lines.extend(bash(2, "make release", error, true));
    lines.extend(bash(
        3,
        "make publish",
        "Exit code 2\nno such command",
        true,
    ));
    let denied = "Permission to use Bash with command make release --now has been denied.";
    lines.extend(bash(5, "make release --now", denied, true));
    lines.extend(ran(
        6,
        "Task",
        &json!({"description": "Try the release", "prompt": "Run `make release --dry`, no more."}),
        "It failed: the list is too long.",
        false,
    ));
    lines.extend(bash(4, "gh pr edit 12 --title x", "done", false));
    let evidence = evidence(&lines, Lane::Session);
    let numbers: BTreeSet<u32> = evidence
        .shown
        .iter()
        .map(|shown| shown.number)
        .filter(|number| {
            let entry = evidence.entry(*number).unwrap();
            let is_such = |word: &&str| match *word {
                "ERROR" => entry.contains("ERROR") && entry.contains("make release`"),
                "DENIED" => entry.contains("ERROR") && entry.contains("Permission to use"),
                "REPORT" => entry.starts_with("SUBAGENT returned"),
                call => entry.contains("calls") && entry.contains(call),
            };
            named.iter().any(is_such)
        })
        .collect();
    assert_eq!(numbers.len(), named.len());
    let numbers = Vec::from_iter(numbers);
    let text = "Where `make release --dry` fails on a large diff, write the text by `gh pr edit`.";
    let operations = [
        add(text, &numbers),
        json!({"type": "UPDATE", "target_id": "pat-003", "text": text.replace(" --dry", ""), "grounds": numbers}),
    ];
    let kept = operations.map(|operation| accepted(&evidence, operation).0.len() == 1);
    assert_eq!(kept, is_accepted, "{}", evidence.text);
}

/// What several sessions taught is not lost because none of them made it a key point; what one
/// taught needs an event that stands for it here as well.
#[rstest]
#[case::two_sessions_taught_it(2, "Start the jobs with `python3 run.py`; there is no `python`.", &[], true)]
#[case::one_did(1, "Start the jobs with `python3 run.py`; there is no `python`.", &[], false)]
#[case::one_did_and_the_user_speaks_here(1, "Start the jobs with `python3 run.py`; there is no `python`.", &[1], true)]
#[case::something_else(2, "Send each change of the parser to the mirror by `python3 run.py`.", &[1], false)]
#[case::with_a_name_that_is_new(2, "Start the jobs with `python3 run.py --force`; there is no `python`.", &[1], false)]
fn a_known_lesson_that_recurs_is_a_ground(
    #[case] sessions: u64,
    #[case] text: &str,
    #[case] grounds: &[u32],
    #[case] is_accepted: bool,
) {
    let evidence = evidence(&[user("please write the letters in green")], Lane::Session);
    let lessons = [no_python(sessions)];
    let mut operation = add(text, grounds);
    operation["repeats"] = json!(["L1"]);
    let quote = format!("new [{}]", lessons[0].text);
    let (kept, dropped) = accepted_knowing(&evidence, operation, &lessons);
    assert_eq!(kept.len() == 1, is_accepted, "{dropped:?}");
    assert!(kept.iter().all(|kept| kept["reason"] == quote), "{kept:?}");
}

fn no_python(sessions: u64) -> KnownLesson {
    KnownLesson {
        id: "les-000000000001".to_owned(),
        text: "The jobs failed → There is no `python`: start the jobs with `python3 run.py`"
            .to_owned(),
        sessions,
    }
}

/// A known lesson says nothing of the key points that are there.
#[rstest]
#[case::delete(json!({"type": "DELETE", "target_id": "pat-001", "reason": "old"}))]
#[case::update(json!({"type": "UPDATE", "target_id": "pat-001", "text": "Never start the jobs with `python3 run.py`."}))]
#[case::merge(json!({"type": "MERGE", "source_ids": ["pat-001", "pat-002"], "merged_text": "Start the jobs with `python3 run.py`."}))]
fn a_known_lesson_is_no_ground_to_change_or_take_away_a_key_point(#[case] mut operation: Value) {
    let evidence = evidence(&[user("please write the letters in green")], Lane::Session);
    operation["repeats"] = json!(["L1"]);
    let (kept, dropped) = accepted_knowing(&evidence, operation, &[no_python(2)]);
    assert_eq!((kept.len(), dropped.len()), (0, 1), "{kept:?}");
}

/// The prompts in a subagent's file are the agent's.
#[test]
fn a_task_given_to_a_subagent_is_no_word_of_the_users() {
    let line = json!({"type": "user", "isSidechain": true, "message": {"role": "user", "content": "always use pnpm"}});
    let evidence = evidence(&[line], Lane::Subagent);
    assert_eq!(evidence.shown[0].bearing, Bearing::Others);
}
