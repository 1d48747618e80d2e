//! Promise: the user's own commands change the playbook immediately and report their changes; an
//! impossible change is reported and leaves no trace.

use crate::common::prelude::*;

const POINTS: &[Row<'_>] = &[
    ("pat-001", "run the tests before every commit", 1, 0),
    ("pat-002", "read the log first", 2, 1),
    ("oth-001", "Run the tests before each commit.", 3, 0),
    ("oth-002", "never run the tests before every commit", 0, 0),
];

fn with_points() -> TestEnv {
    let env = TestEnv::without_worker();
    write_points(&env, POINTS);
    env
}

#[test]
fn a_first_key_point_makes_the_playbook_and_reaches_the_next_session() {
    let env = TestEnv::without_worker();
    let add = ["add", "use `just`", "--section", "preferences"];
    has!(env.cli(&add).ok(), "pref-001", "playbook undo");
    assert_eq!(points(&env), ["pref-001 use `just` 0/0"]);
    has!(env.start("s1").0, "[pref-001] use `just`");
}

#[test]
fn each_command_does_what_it_says() {
    let env = with_points();
    let text = ["--text", "read the\nwhole log", "--section", "mistakes"];
    change(&env, &[&["edit", "pat-002"], &text[..]].concat());
    change(&env, &["remove", "oth-002", "--reason", "wrong"]);
    let mut found = points(&env);
    found.sort();
    let expected = [
        "oth-001 Run the tests before each commit. 3/0",
        "pat-001 run the tests before every commit 1/0",
        "pat-002 read the whole log 2/1",
    ];
    assert_eq!(found, expected);
    for (off, is_pinned) in [(&[][..], json!(true)), (&["--off"], Value::Null)] {
        change(&env, &[&["pin", "pat-002"], off].concat());
        let points = &env.playbook()["playbook"]["points"];
        assert_eq!(points["pat-002"]["pinned"], is_pinned);
    }
}

#[rstest]
#[case::unknown_point(&["edit", "pat-009", "--text", "x"], 1, "no key point pat-009")]
#[case::remove_unknown(&["remove", "pat-009"], 1, "no key point pat-009")]
#[case::long_text(&["add", &"word ".repeat(120)], 1, "a key point at most 500")]
#[case::empty_text(&["add", " \u{200b}\n"], 1, "the text is empty")]
#[case::known_text(&["add", "read the log first"], 1, "[pat-002] says it already")]
#[case::unknown_section(&["add", "x", "--section", "ideas"], 1, "no section ideas")]
#[case::pin_unknown(&["pin", "nothing"], 1, "no key point nothing")]
#[case::nothing_to_edit(&["edit", "pat-001"], 2, "--text")]
fn what_cannot_be_done_is_told_at_once_and_leaves_no_trace(
    #[case] args: &[&str],
    #[case] code: i32,
    #[case] words: &str,
) {
    let env = with_points();
    let before = fs::read(env.playbook_path()).unwrap();
    env.cli(args).fails(code, &["error: ", words]);
    assert_eq!(fs::read(env.playbook_path()).unwrap(), before);
    assert!(env.spool().is_empty() && env.failed().is_empty());
    assert!(env.cli(&["log"]).ok().starts_with("Nothing was learned"));
}

#[test]
fn what_is_so_already_is_no_error_and_no_job() {
    let env = with_points();
    change(&env, &["pin", "pat-001"]);
    let before = fs::read(env.playbook_path()).unwrap();
    let told = env.cli(&["pin", "pat-001"]).ok();
    assert!(told.starts_with("Nothing to do"), "{told}");
    let told = env.cli(&["pin", "pat-001", "--json"]).json();
    assert_eq!(told["applied"], false);
    assert_eq!(fs::read(env.playbook_path()).unwrap(), before);
    assert!(env.spool().is_empty());
}

#[test]
fn export_is_a_document_of_all_key_points() {
    let env = with_points();
    let document = env.cli(&["export", "--markdown"]).ok();
    let expected = "# Playbook of project\n\n\
         ## PATTERNS & APPROACHES\n\n\
         - **pat-001** run the tests before every commit (helpful 1, harmful 0)\n\
         - **pat-002** read the log first (helpful 2, harmful 1)\n\n\
         ## OTHERS\n\n\
         - **oth-001** Run the tests before each commit. (helpful 3, harmful 0)\n\
         - **oth-002** never run the tests before every commit (helpful 0, harmful 0)\n";
    assert_eq!(document, expected);
    let json = env.cli(&["export", "--json"]).json();
    assert_eq!(json["points"].as_array().unwrap().len(), POINTS.len());
}

#[test]
fn a_cue_is_set_shown_undone_and_taken_away() {
    let mut env = with_points();
    let set = |more: &[&str]| change(&env, &[&["edit", "pat-001"][..], more].concat());
    let due = || {
        let shown = env.cli(&["show", "--json"]).json();
        let point = &shown["points"][0];
        (point["when"].clone(), point["guard"].clone())
    };
    let job = set(&["--when-command", "make proto", "--when-file", "*.proto"]);
    let when = json!({"command": "make proto", "file": "*.proto"});
    assert_eq!(due(), (when.clone(), json!(false)));
    env.cli(&["undo", &job]).ok();
    assert_eq!(due(), (json!(null), json!(false)));
    set(&["--when-command", "make proto", "--when-file", "*.proto"]);
    let shown = env.cli(&["show"]).ok();
    has!(shown, "(at command \"make proto\", file \"*.proto\")");
    env.cli(&["guard", "on"]).ok();
    set(&["--guard", "--text", "ask first"]);
    assert_eq!(due(), (when, json!(true)));
    has!(env.cli(&["export", "--json"]).ok(), "make proto");
    set(&["--when-words", "release notes"]);
    assert_eq!(due(), (json!({"words": "release notes"}), json!(false)));
    set(&["--no-when"]);
    assert_eq!(due(), (json!(null), json!(false)));
    let log = env.cli(&["log"]).ok();
    has!(log, "due at words", "has no cue any more");
    env.set("CLAUDECODE", "1");
    let agents = env.cli(&["edit", "pat-001", "--when-words", "release"]);
    agents.fails(1, &["is for the user to decide"]);
}

#[rstest]
#[case::git("--when-command", "git")]
#[case::npm("--when-command", "npm run")]
#[case::cat("--when-command", "cat")]
#[case::python("--when-command", "python3")]
#[case::every_file("--when-file", "**")]
#[case::any_prompt("--when-words", "the")]
fn a_cue_that_is_too_wide_is_refused(#[case] option: &str, #[case] cue: &str) {
    let env = with_points();
    let before = fs::read(env.playbook_path()).unwrap();
    env.cli(&["edit", "pat-001", option, cue])
        .fails(1, &["error: ", &format!("`{cue}` is too wide")]);
    let guard = env.cli(&["edit", "pat-001", "--guard"]);
    guard.fails(1, &["only a command can be guarded"]);
    assert_eq!(fs::read(env.playbook_path()).unwrap(), before);
}

#[test]
fn show_marks_what_is_pinned_and_what_nobody_used_for_90_days() {
    let env = with_points();
    let mut playbook = env.playbook();
    playbook["playbook"] = json!({"points": {
        "pat-001": {"added": "2026-08-01T00:00:00Z"},
        "pat-002": {"added": "2025-01-01T00:00:00Z", "used": "2026-11-01T00:00:00Z"},
        "oth-001": {"added": "2025-01-01T00:00:00Z", "pinned": true},
    }});
    write(&env.playbook_path(), playbook.to_string());
    let shown = env.cli(&["show"]).ok();
    let line = |name: &str| shown.lines().find(|l| l.contains(name)).unwrap().to_owned();
    has!(line("pat-001"), "unused");
    lacks!(line("pat-002"), "unused");
    has!(line("oth-001"), "pinned");
    // Its date is unknown.
    lacks!(line("oth-002"), "unused");
    let json = env.cli(&["show", "--json"]).json();
    for (n, is_stale) in [true, false].into_iter().enumerate() {
        let wanted = json!({"pinned": false, "stale": is_stale});
        includes(&json["points"][n], &wanted);
    }
}

/// Waiting edits are done in the order of the user's commands, even within one second.
#[test]
fn edits_that_wait_are_done_in_their_order() {
    let mut env = TestEnv::without_worker();
    env.cli(&["add", "zero", "--section", "others"]).ok();
    // The clock runs.
    env.unset("PLAYBOOK_NOW");
    let busy = fs::File::create(env.state().join("worker.lock")).unwrap();
    busy.lock().unwrap();
    let texts = ["one", "two", "three", "four", "five"];
    for (before, text) in texts.iter().enumerate() {
        let mut command = env.command("playbook");
        let mut child = command
            .args(["add", text, "--section", "others"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while env.spool().len() == before && child.try_wait().unwrap().is_none() {
            thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    drop(busy);
    env.worker();
    let points = points(&env);
    let order = points.iter().filter_map(|point| point.split(' ').nth(1));
    assert!(order.eq(["zero"].into_iter().chain(texts)), "{points:?}");
}
