//! Promise: every change of a playbook can be explained and undone, and no id is given twice.

use crate::common::prelude::*;

const POINTS: &[Row<'_>] = &[
    ("pat-001", "run the tests", 1, 0),
    ("pat-002", "read the log first", 2, 1),
    ("oth-001", "ask before a release", 3, 0),
];

fn with_points() -> TestEnv {
    let env = TestEnv::without_worker();
    write_points(&env, POINTS);
    env
}

fn last_job(env: &TestEnv) -> String {
    history(env)[0]["job"].as_str().unwrap().to_owned()
}

fn undo(env: &TestEnv, job: &str) -> Value {
    env.cli(&["undo", job, "--json"]).json()
}

#[test]
fn log_says_who_changed_what_and_why() {
    let mut env = with_points();
    let _api = env.use_votes();
    end(&env, "s1");
    change(&env, &["remove", "oth-001", "--reason", "we ask nobody"]);
    let shown = env.cli(&["log"]).ok();
    has!(shown, "session s1", "it was followed");
    let at = ["we ask nobody", "helpful 1 -> 2"].map(|words| shown.find(words).expect(words));
    assert!(at.is_sorted(), "newest first");
    assert!(env.cli(&["log", "-n", "1"]).ok().len() < shown.len());

    let jobs = history(&env);
    assert_eq!(deeds(&jobs[0]), ["delete oth-001"]);
    assert_eq!(jobs[0]["changes"][0]["before"]["entry"]["helpful"], 3);
    assert_eq!(jobs[0]["changes"][0]["after"], Value::Null);
    assert_eq!(env.cli(&["log", &last_job(&env), "--json"]).json(), jobs[0]);
}

#[test]
fn a_key_point_tells_its_story_with_all_that_went_into_it() {
    let mut env = with_points();
    let api = env.use_votes();
    end(&env, "s1");
    merge_points(&env, &api, ["pat-001", "pat-002"], "test, then read");
    change(&env, &["edit", "pat-003", "--text", "test, read"]);
    for name in ["pat-003", "pat-001", "pat-002"] {
        let story = env.cli(&["log", name, "--json"]).json();
        let wanted = json!({"name": "pat-003", "aliases": ["pat-001", "pat-002"]});
        includes(&story, &wanted);
        let kinds = texts(&story["story"], "kind");
        assert_eq!(kinds, ["helpful", "merge", "merge", "absorb", "update"]);
    }
    let told = env.cli(&["log", "pat-001"]).ok();
    has!(told, "was merged from pat-001, pat-002", "helpful 1 -> 2");
    has!(told, "\"test, then read\" -> \"test, read\"");
    has!(told, "merged into pat-003", "session s1", "by hand");
}

#[test]
fn a_key_point_that_is_gone_still_tells_its_story() {
    let env = with_points();
    change(&env, &["remove", "oth-001", "--reason", "we ask nobody"]);
    let told = env.cli(&["log", "oth-001"]).ok();
    has!(told, "not in the playbook any more", "we ask nobody");
    for (name, flaw) in [
        ("oth-009", "no key point "),
        ("20200101T000000-00000000", "no job "),
    ] {
        let flaw = format!("{flaw}{name}");
        env.cli(&["log", name]).fails(1, &[&flaw, "hint: "]);
    }
}

#[test]
fn the_undo_of_a_job_restores_the_sections_byte_for_byte() {
    let api = Api::script([
        Step::text(&tags(&[("pat-001", "harmful")])),
        Step::text(&operations(&json!([
            {"type": "ADD", "text": "new", "section": "USER PREFERENCES"},
            {"type": "UPDATE", "target_id": "pat-001", "text": "run all tests"},
            {"type": "MERGE", "source_ids": ["pat-002", "oth-001"], "merged_text": "both"},
            {"type": "DELETE", "target_id": "pat-001", "reason": "x"},
        ]))),
    ]);
    let mut env = with_points();
    env.use_api(&api.base_url(), "sk-test-of-undo");
    end(&env, "s1");
    let jobs = texts(&json!(history(&env)), "job");
    let [curated, judged] = &jobs[..] else {
        panic!("{jobs:?}")
    };
    assert_eq!(undo(&env, curated)["applied"], true);
    let after = sections(&env);
    let back = undo(&env, &last_job(&env));
    assert_eq!(back["applied"], true, "and back again");
    assert_ne!(sections(&env), after);
    assert_eq!(undo(&env, curated)["applied"], true, "and once more");
    assert_eq!(sections(&env), after);
    assert_eq!(undo(&env, judged)["applied"], true);
    assert_eq!(points(&env), rows(POINTS));
}

fn rows(points: &[Row<'_>]) -> Vec<String> {
    let row =
        |&(name, text, helpful, harmful): &Row<'_>| format!("{name} {text} {helpful}/{harmful}");
    points.iter().map(row).collect()
}

#[rstest]
#[case::add(&["add", "new one", "--section", "preferences"])]
#[case::text(&["edit", "pat-001", "--text", "run all tests"])]
#[case::section(&["edit", "pat-001", "--section", "others"])]
#[case::both(&["edit", "pat-001", "--text", "run all tests", "--section", "mis"])]
#[case::remove(&["remove", "pat-002"])]
#[case::pin(&["pin", "pat-001"])]
fn every_command_can_be_undone_once(#[case] args: &[&str]) {
    let env = with_points();
    // The first command adds the missing sections.
    change(&env, &["edit", "pat-002", "--text", "read the log first!"]);
    let before = (sections(&env), env.playbook()["playbook"]["points"].clone());
    let job = change(&env, args);
    assert_eq!(undo(&env, &job)["applied"], true);
    let after = (sections(&env), env.playbook()["playbook"]["points"].clone());
    assert_eq!(after, before);

    let file = fs::read(env.playbook_path()).unwrap();
    has!(env.cli(&["undo", &job]).ok(), "was undone already");
    assert_eq!(undo(&env, &job)["applied"], false);
    assert_eq!(fs::read(env.playbook_path()).unwrap(), file);
    let undone = history(&env);
    assert_eq!(undone[1]["undone_by"], undone[0]["job"]);
    assert!(env.spool().is_empty());
}

#[test]
fn what_came_after_a_merge_stays_with_the_survivor_when_it_is_undone() {
    let mut env = with_points();
    let api = env.use_votes();
    let merge = merge_points(&env, &api, ["pat-001", "oth-001"], "both");
    end(&env, "s1");
    assert_eq!(env.marks_of("pat-003"), (5, 0), "an alias was cited");
    undo(&env, &merge);
    let mut found = points(&env);
    found.sort();
    let expected = [
        "oth-001 ask before a release 3/0",
        "pat-001 run the tests 1/0",
        "pat-002 read the log first 2/1",
        "pat-003 both 1/0",
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_undo_takes_back_what_it_can_and_tells_the_rest() {
    let env = with_points();
    let new = ["--text", "tests, both", "--section", "others"];
    let job = change(&env, &[&["edit", "pat-001"], &new[..]].concat());
    change(&env, &["edit", "pat-001", "--text", "mine"]);
    let told = env.cli(&["undo", &job]).ok();
    has!(told, "moved from OTHERS to PATTERNS", "left as it is");
    has!(told, "its text was changed since");
    let job = change(&env, &["edit", "pat-002", "--text", "later"]);
    change(&env, &["edit", "pat-002", "--text", "mine, too"]);
    let words = ["could not undo it", "its text was changed since", "hint: "];
    env.cli(&["undo", &job]).fails(1, &words);
}

#[test]
fn two_who_undo_the_same_job_at_once_undo_it_once() {
    let env = with_points();
    let job = change(&env, &["edit", "pat-001", "--text", "run all tests"]);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| env.cli(&["undo", &job]).ok());
        }
    });
    assert_eq!(points(&env), rows(POINTS));
    let mut undone = history(&env);
    undone.retain(|job| job["event"] == "undo");
    assert_eq!(undone.len(), 1);
}

#[rstest]
#[case::no_id("pat-001", "not a job id")]
#[case::unknown("20200101T000000-00000000", "no job 20200101T000000-00000000")]
fn an_undo_of_nothing_is_told_and_leaves_no_job(#[case] job: &str, #[case] words: &str) {
    let env = with_points();
    let before = env.playbook();
    env.cli(&["undo", job]).fails(1, &[words, "hint: "]);
    assert_eq!(env.playbook(), before);
    assert!(env.spool().is_empty());
}

#[test]
fn a_job_that_waits_cannot_be_undone_yet() {
    let env = with_points();
    env.end_citing("s1");
    let id = env.spool()[0]["id"].as_str().unwrap().to_owned();
    let words = ["has not been applied yet", "playbook jobs"];
    env.cli(&["undo", &id]).fails(1, &words);
    assert_eq!(env.spool().len(), 1);
}

#[test]
fn a_job_of_another_project_is_not_undone_from_here() {
    let mut env = with_points();
    let job = change(&env, &["pin", "pat-001"]);
    env.go_to_project("other");
    env.cli(&["undo", &job]).fails(1, &["another project"]);
    env.set("CLAUDE_PROJECT_DIR", env.project());
    assert_eq!(undo(&env, &job)["applied"], true);
}

/// The state after a kill that followed the file's write: the file holds the job, the history does
/// not, and the job is in the spool with its changes.
#[rstest]
#[case::before_the_snapshot(false)]
#[case::before_the_record(true)]
fn a_job_that_was_applied_and_then_stopped_is_recorded_before_its_undo(#[case] is_applied: bool) {
    let env = with_points();
    change(&env, &["pin", "oth-001"]);
    env.end_citing("s1");
    let id = env.spool()[0]["id"].as_str().unwrap().to_owned();
    let file = env.state().join(format!("spool/{id}.json"));
    let mut job = env.spool()[0].clone();
    let state = |helpful: u64| {
        json!({"section": "PATTERNS & APPROACHES", "index": 0, "entry":
            {"name": "pat-001", "text": "run the tests", "helpful": helpful, "harmful": 0}})
    };
    job["progress"]["is_applied"] = json!(is_applied);
    job["progress"]["changes"] = json!([{"kind": "helpful", "id": "pat-001",
        "before": state(1), "after": state(2), "reason": "cited"}]);
    write(&file, job.to_string());
    let mut playbook = env.playbook();
    playbook["sections"]["PATTERNS & APPROACHES"][0]["helpful"] = json!(2);
    let applied = &mut playbook["playbook"]["applied"];
    applied.as_array_mut().unwrap().push(json!(&id));
    write(&env.playbook_path(), playbook.to_string());
    if is_applied {
        let snapshots = env.project_state().join("snapshots");
        let name = format!("00000002-{id}.snapshot.json");
        assert!(snapshots.join(&name).parent().unwrap().is_dir());
        write(&snapshots.join(name), playbook.to_string());
    }

    assert_eq!(undo(&env, &id)["applied"], true);
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    let jobs = history(&env);
    let events = jobs.iter().map(|job| job["event"].as_str().unwrap());
    assert!(events.eq(["undo", "session-end", "edit"]), "{jobs:?}");
    assert_eq!(deeds(&jobs[1]), ["helpful pat-001"]);
    assert_eq!(jobs[1]["undone_by"], jobs[0]["job"]);
    assert!(env.spool().is_empty() && !file.exists());
}

#[test]
fn what_the_user_writes_into_the_file_is_kept_recorded_once_and_can_be_undone() {
    let env = with_points();
    change(&env, &["pin", "oth-001"]);
    let before = sections(&env);
    let mut playbook = env.playbook();
    let mine = json!({"name": "pat-009", "text": "my own", "helpful": 0, "harmful": 0});
    let list = playbook["sections"]["PATTERNS & APPROACHES"]
        .as_array_mut()
        .unwrap();
    list[1]["text"] = json!("read the whole log");
    list.push(mine);
    write(&env.playbook_path(), playbook.to_string());
    let edited = sections(&env);

    // A job that changes nothing itself records the edit, and the next one does not record it
    // again.
    let session = Session::new("s0").user("hello").assistant("Done.").done();
    env.learn_from(&session);
    assert_eq!(sections(&env), edited);
    end(&env, "s1");
    let jobs = history(&env);
    let by_hand: Vec<&Value> = jobs.iter().filter(|j| j["event"] == "hand-edit").collect();
    assert_eq!(by_hand.len(), 1);
    assert_eq!(deeds(by_hand[0]), ["update pat-002", "add pat-009"]);
    has!(env.cli(&["log"]).ok(), "edited in the file");
    has!(env.cli(&["log", "pat-009"]).ok(), "in the file");

    let of_session = jobs.iter().find(|job| job["session"] == "s1").unwrap();
    undo(&env, of_session["job"].as_str().unwrap());
    undo(&env, by_hand[0]["job"].as_str().unwrap());
    assert_eq!(sections(&env), before);
    let next = change(&env, &["add", "one more", "--section", "patterns"]);
    let added = &env.cli(&["log", &next, "--json"]).json()["changes"][0];
    assert_eq!(added["point"], "pat-010", "its number is not given again");
}

#[test]
fn a_checkout_of_an_older_file_shows_in_the_history_and_gives_no_id_again() {
    let env = with_points();
    change(&env, &["pin", "oth-001"]);
    let older = fs::read(env.playbook_path()).unwrap();
    change(&env, &["add", "new one", "--section", "others"]);
    write(&env.playbook_path(), &older);
    let job = change(&env, &["add", "newer one", "--section", "others"]);
    let jobs = history(&env);
    assert_eq!(deeds(&jobs[0]), ["add oth-003"]);
    assert_eq!(jobs[1]["event"], "hand-edit");
    assert_eq!(deeds(&jobs[1]), ["delete oth-002"]);
    assert_eq!(jobs[0]["job"], job);
}

/// Ways in which a number becomes free; it must not be given again.
#[rstest]
#[case::removed(|env: &TestEnv| { change(env, &["remove", "oth-002"]); })]
#[case::undone(|env: &TestEnv| { undo(env, &last_job(env)); })]
#[case::deleted_in_the_file(|env: &TestEnv| {
    let mut playbook = env.playbook();
    playbook["sections"]["OTHERS"].as_array_mut().unwrap().pop();
    playbook.as_object_mut().unwrap().remove("playbook");
    write(&env.playbook_path(), playbook.to_string());
})]
#[case::begun_anew(|env: &TestEnv| write(&env.playbook_path(), "{}"))]
fn a_number_is_never_given_twice(#[case] free: fn(&TestEnv)) {
    let env = with_points();
    change(&env, &["add", "second", "--section", "others"]);
    free(&env);
    change(&env, &["add", "third", "--section", "others"]);
    assert_eq!(&history(&env)[0]["changes"][0]["point"], "oth-003");
}

#[test]
fn a_pruned_number_is_never_given_again() {
    let env = TestEnv::without_worker();
    let weak = ("oth-002", "guess the password", 0, 3);
    write_points(&env, &[("oth-001", "keep", 0, 0), weak]);
    end(&env, "s1");
    assert_eq!(points(&env), ["oth-001 keep 0/0"]);
    assert_eq!(deeds(&history(&env)[0]), ["prune oth-002"]);
    change(&env, &["add", "third"]);
    assert_eq!(history(&env)[0]["changes"][0]["point"], "oth-003");
}

#[test]
fn what_has_to_leave_a_full_playbook_stands_in_the_history() {
    let env = TestEnv::without_worker();
    let rows = [("oth-001", "weak", 0, 1), ("oth-002", "strong", 3, 0)];
    write_points(&env, &rows);
    env.write_config("[playbook]\nmax_points = 2\n");
    has!(env.cli(&["add", "third"]).ok(), "oth-001", "left");
    assert_eq!(points(&env), ["oth-002 strong 3/0", "oth-003 third 0/0"]);
    assert_eq!(deeds(&history(&env)[0]), ["add oth-003", "evict oth-001"]);
    undo(&env, &last_job(&env));
    assert_eq!(points(&env), ["oth-001 weak 0/1", "oth-002 strong 3/0"]);
}
