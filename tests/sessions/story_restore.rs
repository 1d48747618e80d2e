//! Promise: nothing in a playbook's file is ever lost. Older formats are read and kept, a broken
//! file is reported and repaired, and waiting jobs continue.

use crate::common::prelude::*;

const BROKEN: &str = "{\n<<<<<<< HEAD\n";

fn with_points() -> TestEnv {
    let env = TestEnv::without_worker();
    let ask = ("oth-001", "ask first", 0, 0);
    write_points(&env, &[("pat-001", "run the tests", 1, 0), ask]);
    env
}

/// Returns the copies that were kept of files in older formats and of broken ones.
fn originals(env: &TestEnv) -> Vec<PathBuf> {
    let files = env.files().into_keys();
    files
        .filter(|path| path.to_string_lossy().ends_with(".original.json"))
        .map(|path| env.root().join(path))
        .collect()
}

#[test]
fn a_broken_file_is_answered_with_the_last_good_one_and_mended_and_what_waited_goes_on() {
    let mut env = with_points();
    let _api = env.use_votes();
    end(&env, "s1");
    assert_eq!(env.marks_of("pat-001"), (2, 0));
    let good = sections(&env);
    write(&env.playbook_path(), BROKEN);

    // A session starts with the last good version, and the user is notified once.
    let (given, told) = env.start("s2");
    has!(given, "\n[pat-001] ");
    has!(told, "line 2", "playbook undo --to");
    assert_eq!(env.told_at_start("s3"), "");

    // It ends: its job waits, more than once, and nothing is written.
    end(&env, "s2");
    env.worker();
    assert_eq!(fs::read_to_string(env.playbook_path()).unwrap(), BROKEN);
    assert_eq!((env.spool().len(), env.failed().len()), (1, 0));
    let words = ["line 2", "playbook undo --to"];
    env.cli(&["add", "x"]).fails(1, &words);
    assert_eq!(env.spool().len(), 1, "a refused edit leaves no job");

    // The file is repaired, although the clock is stopped and the job is not due.
    let told = env.cli(&["undo", "--to"]).ok();
    has!(told, "can be read again");
    assert!(env.spool().is_empty() && env.failed().is_empty(), "{told}");
    assert_eq!(env.marks_of("pat-001"), (3, 0));
    let is_broken = |path: &PathBuf| fs::read_to_string(path).unwrap() == BROKEN;
    assert!(originals(&env).iter().any(is_broken));

    // Undoing the later changes restores the earlier state.
    let jobs = history(&env);
    assert_eq!(deeds(&jobs[0]), ["helpful pat-001"]);
    env.cli(&["undo", jobs[0]["job"].as_str().unwrap()]).ok();
    assert_eq!(sections(&env), good);
}

#[test]
fn a_broken_file_without_a_snapshot_is_told_with_its_place_and_left_alone() {
    let env = with_points();
    write(&env.playbook_path(), BROKEN);
    let words = ["no snapshot", "line 2", "hint: "];
    env.cli(&["undo", "--to"]).fails(1, &words);
    assert_eq!(fs::read_to_string(env.playbook_path()).unwrap(), BROKEN);
    assert!(env.spool().is_empty());
}

#[test]
fn any_snapshot_can_be_brought_back_and_that_can_be_undone() {
    let env = with_points();
    let first = change(&env, &["edit", "oth-001", "--text", "ask twice"]);
    let then = sections(&env);
    change(&env, &["remove", "pat-001"]);
    change(&env, &["add", "new one"]);
    let now = sections(&env);

    let listed = env.cli(&["undo", "--to", "--json"]).json();
    let names = texts(&listed["snapshots"], "snapshot");
    assert_eq!((names.len(), &names[2]), (3, &first), "newest first");
    assert!(env.cli(&["undo", "--to"]).ok().contains(&first));
    assert_eq!(sections(&env), now, "listing changes nothing");

    let job = change(&env, &["undo", "--to", &first]);
    assert_eq!(sections(&env), then);
    let told = env.cli(&["undo", "--to", &first]).ok();
    assert!(told.starts_with("Nothing to do"), "{told}");
    assert_eq!(deeds(&history(&env)[0]), ["delete oth-002", "add pat-001"]);
    env.cli(&["undo", &job]).ok();
    assert_eq!(sections(&env), now);
    change(&env, &["add", "one more"]);
    has!(points(&env).pop().unwrap(), "oth-003 one more");
    env.cli(&["undo", "--to", "20200101T000000-00000000"])
        .fails(1, &["no snapshot", "hint: "]);
}

#[rstest]
#[case::texts(r#"{"key_points": ["use tabs", "run the tests"]}"#, &["kpt_001 use tabs 0/0", "kpt_002 run the tests 0/0"])]
#[case::scores(
    r#"{"key_points": [{"name": "kpt_003", "text": "a", "score": 2}, {"name": "kpt_004", "text": "b", "score": -3}, {"text": "c"}]}"#,
    &["kpt_003 a 2/0", "kpt_004 b 0/3", "kpt_005 c 0/0"]
)]
#[case::both(
    r#"{"key_points": ["gone"], "sections": {"OTHERS": [{"name": "oth-001", "text": "stays"}]}, "mine": [1]}"#,
    &["oth-001 stays null/null"]
)]
fn a_file_of_an_older_format_is_taken_over_by_the_first_change_and_kept(
    #[case] old: &str,
    #[case] expected: &[&str],
) {
    let env = TestEnv::without_worker();
    write(&env.playbook_path(), old);
    // Reading changes nothing.
    env.cli(&["show"]).ok();
    assert_eq!(fs::read_to_string(env.playbook_path()).unwrap(), old);

    change(&env, &["add", "new one", "--section", "patterns"]);
    let found = points(&env);
    assert_eq!(found[1..].len(), expected.len());
    let is_found = |point: &&str| found.iter().any(|found| found == point);
    assert!(expected.iter().all(is_found), "{found:?}");
    assert_eq!(env.playbook()["sections"].as_object().unwrap().len(), 5);
    let originals = originals(&env);
    assert_eq!(originals.len(), 1);
    assert!(originals[0].starts_with(env.state()));
    assert_eq!(fs::read_to_string(&originals[0]).unwrap(), old);
    change(&env, &["add", "another"]);
    assert_eq!(self::originals(&env).len(), 1, "kept once");
}

#[rstest]
#[case::counter(r#"{"sections": {"OTHERS": [{"name": "oth-001", "text": "t", "helpful": "3"}]}}"#, &["OTHERS, entry 1 (oth-001)", "`helpful` is a string"])]
#[case::list(r#"{"sections": [{"name": "oth-001"}]}"#, &["`sections`", "a list"])]
#[case::tail("{}\n{}", &["line 2, column 1: trailing characters"])]
#[case::twice("{\"a\": {\"b\": 1,\n \"b\": 2}}", &["line 2, column 4: key `b` stands here twice"])]
#[case::ours(r#"{"playbook": {"next": 1}}"#, &["key `playbook`: invalid type: integer `1`, expected a map"])]
fn a_wrong_type_is_told_with_its_place_and_nothing_is_written(
    #[case] file: &str,
    #[case] words: &[&str],
) {
    let mut env = TestEnv::without_worker();
    let _api = env.use_votes();
    write(&env.playbook_path(), file);
    env.cli(&["show"]).fails(1, words);
    env.cli(&["add", "x"]).fails(1, words);
    end(&env, "s1");
    assert_eq!(env.spool().len(), 1, "the session is not lost");
    let jobs = env.cli(&["jobs"]).ok();
    for word in words {
        has!(jobs, *word);
    }
    assert_eq!(fs::read_to_string(env.playbook_path()).unwrap(), file);
    // A file that the user repaired counts.
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.worker_at("2026-11-23T12:00:00Z");
    assert_eq!((env.marks_of("pat-001"), env.spool().len()), ((1, 0), 0));
}

#[test]
fn a_playbook_of_2000_points_gives_a_session_at_most_4000_units_and_says_what_is_missing() {
    let env = TestEnv::without_worker();
    let text = |n| format!("rule {n}: größer ist besser 🦀");
    let points = (1..=2000).map(|n| (format!("pat-{n:04}"), text(n)));
    env.write_playbook(&points.collect::<Vec<_>>());
    let (context, _) = env.start("s1");
    let units = context.encode_utf16().count();
    assert!((3_700..=4_000).contains(&units), "{units} units");
    has!(context, "cite its ID");
    let shown = context.lines().filter(|l| l.starts_with("[pat-")).count();
    let last = context.lines().last().unwrap();
    has!(last, &(2000 - shown).to_string(), "playbook show");

    let (context, _) = env.start_by("compact", "s1");
    assert!(context.encode_utf16().count() <= 2_500);
    assert!(context.lines().filter(|l| l.starts_with("[pat-")).count() <= 10);
}

#[test]
fn in_the_middle_of_a_merge_that_cannot_be_made_nothing_is_brought_back() {
    let env = with_points();
    let job = change(&env, &["edit", "oth-001", "--text", "ask twice"]);
    let ours = fs::read_to_string(env.playbook_path()).unwrap();
    let merging = format!("<<<<<<< HEAD\n{ours}=======\n{{\n>>>>>>> other\n");
    write(&env.playbook_path(), &merging);
    for args in [&["undo", "--to"][..], &["undo", "--to", &job]] {
        let flaw = "conflict markers, and is not merged";
        env.cli(args).fails(1, &[flaw, "hint: finish the merge"]);
    }
    assert_eq!(fs::read_to_string(env.playbook_path()).unwrap(), merging);
    assert!(env.spool().is_empty());
}
