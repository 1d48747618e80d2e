//! Promise: the command line shows before it changes, changes once, and reports errors with advice.

use crate::common::prelude::*;

fn with_session() -> (TestEnv, String) {
    let env = TestEnv::without_worker();
    env.write_playbook(&[
        ("pat-001", "run the tests before every commit"),
        ("mis-002", "do not edit generated files"),
    ]);
    let path = env.write_transcript(&Session::citing("s1"));
    (env, path.display().to_string())
}

#[test]
fn the_earlier_names_of_pin_off_and_trust_off_lead_to_them() {
    let env = TestEnv::without_worker();
    for (earlier, now) in [("unpin", "'pin ID --off'"), ("untrust", "'trust'")] {
        env.cli(&[earlier]).fails(2, &[now]);
    }
}

#[test]
fn a_project_whose_path_is_not_utf8_is_named_with_the_way_out() {
    use std::os::unix::ffi::OsStringExt as _;
    let mut env = TestEnv::new();
    let folder = env
        .root()
        .join(std::ffi::OsString::from_vec(b"caf\xe9".to_vec()));
    if fs::create_dir(&folder).is_err() {
        eprintln!("skipped: this file system knows no such names");
        return;
    }
    env.set("CLAUDE_PROJECT_DIR", &folder);
    let told = env.hook(Hook::SessionStart, "s1", json!({})).stdout;
    has!(told, "nothing will be learned from this session");
    has!(told, "not UTF-8");
    for name in ["status", "show", "log", "doctor", "trust", "export"] {
        env.cli(&[name])
            .fails(1, &["its path is not UTF-8", "hint: rename the folder"]);
    }
}

#[test]
fn reflect_shows_what_it_would_do_and_does_nothing() {
    let (mut env, transcript) = with_session();
    let _api = env.use_votes();
    let before = env.playbook();
    let shown = env.cli(&["reflect", &transcript]).ok();
    has!(shown, "pat-001", "helpful");
    assert_eq!(env.playbook(), before);
    assert!(env.spool().is_empty());
    // Repeating it is harmless: nothing was claimed.
    assert_eq!(env.cli(&["reflect", &transcript]).ok(), shown);
    let told = env.cli(&["reflect", &transcript, "--json"]).json();
    assert!(told["analysis"].is_string(), "{told}");
    let tag = &told["bullet_tags"][0];
    includes(tag, &json!({"name": "pat-001", "tag": "helpful"}));
    assert!(tag["rationale"].as_str().is_some_and(|r| !r.is_empty()));
}

/// A fork contains records of its origin, which do not count for it.
#[test]
fn reflect_shows_the_votes_that_apply_casts() {
    let (mut env, origin) = with_session();
    let _api = env.use_votes();
    let mut fork = Session::citing("s1").fork("s2");
    fork.user("and the docs?").assistant("They are fine.");
    let fork = env.write_transcript(&fork);
    let fork = fork.to_str().unwrap();
    let changes = |env: &TestEnv, path: &str| {
        let told = env.cli(&["reflect", path, "--json"]).json();
        told["changes"].as_array().unwrap().len()
    };
    for (path, changed) in [(&*origin, 1), (fork, 0), (&*origin, 0)] {
        assert_eq!(changes(&env, path), changed, "{path}");
        let before = env.marks_of("pat-001").0;
        env.cli(&["reflect", path, "--apply"]).ok();
        assert_eq!(env.marks_of("pat-001").0 - before, changed as u64);
    }
    has!(env.cli(&["reflect", &origin]).ok(), "learned from before");
}

#[test]
fn reflect_with_apply_counts_once_and_the_end_of_the_session_adds_nothing() {
    let (mut env, transcript) = with_session();
    let _api = env.use_votes();
    env.cli(&["reflect", &transcript, "--apply"]).ok();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    env.cli(&["reflect", &transcript, "--apply"]).ok();
    assert_eq!(env.marks_of("pat-001"), (1, 0), "nothing is left");
    env.ends("s1");
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn the_question_is_printed_without_a_key_and_asks_nobody() {
    let (mut env, api) = TestEnv::with_model();
    env.unset("AGENTIC_CONTEXT_API_KEY");
    let transcript = env.write_transcript(&Session::citing("s1"));
    let asked = ["reflect", transcript.to_str().unwrap(), "--print-prompt"];
    let prompt = env.cli(&asked).ok();
    has!(prompt, "[pat-001] helpful=0 harmful=0 :: run the tests");
    has!(prompt, "By [pat-001], done.");
    assert!(api.requests().is_empty());
    assert_eq!(env.marks_of("pat-001"), (0, 0));
}

#[rstest]
#[case::no_such_file(&["reflect", "no/such.jsonl"], 1, &["error: ", "no/such.jsonl"])]
#[case::a_folder(&["reflect", "/"], 1, &["error: ", "not a regular file"])]
#[case::unknown_command(&["refelct"], 2, &["error: ", "reflect"])]
#[case::unknown_flag(&["show", "--bogus"], 2, &["error: ", "--bogus"])]
fn a_wrong_call_names_the_thing(#[case] args: &[&str], #[case] code: i32, #[case] words: &[&str]) {
    let (env, _) = with_session();
    env.cli(args).fails(code, words);
}

#[test]
fn show_lists_the_key_points_and_finds_some() {
    let (env, _) = with_session();
    has!(env.cli(&["show"]).ok(), "pat-001", "mis-002");
    let some = env.cli(&["show", "generated"]).ok();
    has!(some, "mis-002");
    lacks!(some, "pat-001");
    let json = env.cli(&["show", "--json"]).json().to_string();
    has!(json, "pat-001", "mis-002");
    let without_a_playbook = TestEnv::new().cli(&["show"]).ok();
    assert!(!without_a_playbook.is_empty());
}

#[test]
fn hostile_texts_put_no_control_character_on_the_terminal() {
    let env = TestEnv::without_worker();
    let text = "a\u{1b}]0;evil\u{7}b\u{202e}c\nd";
    env.write_playbook(&[("pat-001", text), ("x\u{1b}[2J", text), ("oth-001", text)]);
    env.learn_citing("s\u{1b}[31m");
    let reason = "\u{1b}[2Jgone\u{202e}";
    env.cli(&["remove", "oth-001", "--reason", reason]).ok();
    for args in [&[][..], &["show"], &["log"], &["log", "oth-001"]] {
        let shown = env.cli(args).ok();
        let control = shown.find(['\u{1b}', '\u{7}', '\u{202e}']);
        assert_eq!(control, None, "{args:?}: {shown:?}");
        assert_eq!(shown.contains("gone"), args.contains(&"log"), "{shown}");
    }
}

#[rstest]
#[case::show(&["show"])]
#[case::status(&["status"])]
#[case::bootstrap(&["bootstrap"])]
#[case::trust(&["trust"])]
#[case::add(&["add", "run the tests"])]
#[case::install(&["install", "--scope", "project"])]
fn a_project_that_is_not_there_is_named_and_nothing_is_written(#[case] command: &[&str]) {
    let env = TestEnv::without_worker();
    let gone = env.root().join("no/such/project");
    let before = env.files();
    let gone = gone.to_str().expect("a path");
    let in_project = |path: &str| env.cli(&[command, &["--project", path]].concat());
    in_project(gone).fails(1, &["no such folder", gone, "hint"]);
    let file = env.root().join("file");
    write(&file, "");
    in_project(file.to_str().expect("a path")).fails(1, &["not a folder"]);
    fs::remove_file(file).expect("removed");
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
}

#[test]
fn a_reflection_that_waits_says_why_and_so_does_the_next_call() {
    let mut env = TestEnv::with_point();
    env.use_api("http://127.0.0.1:9", "sk-test");
    env.write_config("[retry]\nattempts = 1\nbase_ms = 1\n");
    let transcript = env.write_transcript(&Session::citing("s1"));
    let apply = ["reflect", transcript.to_str().unwrap(), "--apply"];
    let (server, undone) = ("127.0.0.1:9", " is not done yet: ");
    let words = [undone, server, "tried again in", "playbook jobs"];
    env.cli(&apply).fails(1, &words);
    let jobs = env.cli(&["jobs", "--json"]).json();
    let id = jobs["jobs"][0]["id"].as_str().unwrap();
    let again = format!("job {id} is not done yet: ");
    env.cli(&apply).fails(1, &[&again, "127.0.0.1:9"]);
    assert_eq!(env.spool().len(), 1, "no second job holds on");
}

#[test]
fn what_does_not_count_in_a_preview_is_told_as_left_out() {
    fn answer(_: &str) -> String {
        let tags = json!([
            {"name": "pat-001", "tag": "helpful", "rationale": "it did"},
            {"name": "pat-777", "tag": "helpful", "rationale": "nobody knows it"},
            {"name": "pat-001", "tag": "splendid", "rationale": "no such tag"},
        ]);
        json!({"analysis": "a", "bullet_tags": tags}).to_string()
    }
    let (env, _api) = TestEnv::answered_by([Step::Answer(answer)]);
    env.write_playbook(&[("pat-001", "run the tests")]);
    let transcript = env.write_transcript(&Session::citing("s1"));
    let shown = env.cli(&["reflect", transcript.to_str().unwrap()]).ok();
    assert_eq!(shown.matches("left out: ").count(), 2, "{shown}");
    has!(shown, "splendid");
    lacks!(shown, "nobody knows it");
}
