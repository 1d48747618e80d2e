//! Promise: `playbook` alone shows a project's state and the next steps on one screen, with
//! anything missing or broken.

use crate::common::prelude::*;
use playbook::memory::{BudgetKind, ModelCall};

const SCREEN: usize = 24;

/// Creates a project with two sessions; the worker has seen only the first.
fn lived_in() -> TestEnv {
    let mut env = TestEnv::without_worker();
    let _api = env.use_votes();
    let points = [
        ("pat-001", "run the tests before every commit", 31, 2),
        ("pat-002", "read the error before the code", 4, 0),
        ("mis-001", "do not edit generated files", 4, 3),
        ("ctx-001", "releases are tags", 0, 0),
    ];
    write_points(&env, &points);
    env.learn_citing("s1");
    env.end_citing("s2");
    spend(&env, "j2", "/elsewhere", 2, BudgetKind::Day);
    env
}

/// Records calls of today, with a thousand tokens in and a hundred out each.
fn spend(env: &TestEnv, job: &str, project: &str, calls: u64, budget_kind: BudgetKind) {
    let call = ModelCall {
        job: job.to_owned(),
        seq: 0,
        project: project.to_owned(),
        time: crate::common::learned::days_ago(0),
        backend: "anthropic".to_owned(),
        model: "a-model".to_owned(),
        attempts: calls,
        input_tokens: calls * 1000,
        output_tokens: calls * 100,
        budget_kind,
    };
    env.memory().add_call(&call).unwrap();
}

#[test]
fn a_project_is_told_on_one_screen() {
    let env = lived_in();
    let shown = env.cli(&[]).ok();
    has!(
        shown,
        "project  4 key points",
        "PATTERNS & APPROACHES    2     36/2     █",
        "MISTAKES TO AVOID        1      4/3     ███░░",
        "PROJECT CONTEXT          1      0/0\n",
        "Learned   2026-11-21 12:00, session s1, session-end (anthropic)",
        "pat-001   helpful 31 -> 32",
        "Jobs      1 ready",
        "Today     3 of 400 calls, 2,215 of 2,000,000 tokens (here 1, 15)"
    );
    assert_eq!(shown, env.cli(&["status"]).ok(), "the same by its name");
}

#[test]
fn the_json_says_the_same_by_both_names() {
    let env = lived_in();
    let told = env.cli(&["--json"]).json();
    assert_eq!(told, env.cli(&["status", "--json"]).json());
    assert_eq!(told["sections"].as_array().unwrap().len(), 5);
    let patterns =
        json!({"section": "PATTERNS & APPROACHES", "key_points": 2, "helpful": 36, "harmful": 2});
    assert_eq!(told["sections"][0], patterns);
    let wanted = json!({
        "last": {"session": "s1"},
        "jobs": {"ready": 1, "waiting": 0, "failed": 0, "elsewhere": 0},
        "today": {"all_projects": {"calls": 3}, "project": {"tokens_in": 10}},
    });
    includes(&told, &wanted);
    assert_eq!(told["last"]["changes"][0]["point"], "pat-001");
}

#[test]
fn another_project_is_shown_by_its_folder() {
    let env = lived_in();
    let other = env.root().join("other");
    fs::create_dir_all(&other).unwrap();
    let other = other.to_str().unwrap();
    let wanted = json!({"key_points": 0, "last": null, "jobs": {"elsewhere": 1}});
    for args in [&[][..], &["status"]] {
        let args = [args, &["--project", other, "--json"]].concat();
        includes(&env.cli(&args).json(), &wanted);
    }
}

#[rstest]
fn no_line_is_wider_than_the_screen(#[values("40", "80", "300")] columns: &str) {
    let mut env = lived_in();
    env.set("COLUMNS", columns);
    // Long values: names, texts, problems, wide letters.
    let long = "日本語 ".repeat(120);
    env.cli(&["add", "--section", "OTHERS", &long]).ok();
    env.write_config("[retry]\natempts = 3\n");
    let shown = env.cli(&[]).ok();
    let width: usize = columns.parse().unwrap();
    for line in shown.lines() {
        let is_wide = |c: &char| *c > '\u{2fff}';
        let cells = line.chars().count() + line.chars().filter(is_wide).count();
        assert!(cells <= width.min(100), "{cells} cells: {line:?}");
    }
    assert!(shown.lines().count() <= SCREEN, "{shown}");
    let problem = &env.cli(&["--json"]).json()["problems"][0];
    let last = problem.as_str().unwrap().split(' ').next_back().unwrap();
    has!(shown, last);
}

#[rstest]
#[case::playbook("playbook.json", "playbook undo --to", |env: &TestEnv| write(&env.playbook_path(), "{"))]
#[case::settings("retry.atempts", "playbook config check", |env: &TestEnv| env.write_config("[retry]\natempts = 3\n"))]
#[case::memory("memory.db", "playbook doctor", |env: &TestEnv| {
    env.lose_memory();
    env.write_state("memory.db", "no database ".repeat(500));
})]
#[case::spool_is_a_file("spool", "playbook doctor", |env: &TestEnv| {
    fs::remove_dir_all(env.state().join("spool")).unwrap();
    env.write_state("spool", "");
})]
#[case::failed_job("1 failed", "playbook jobs", |env: &TestEnv| {
    fs::remove_file(env.transcript_path("s2")).unwrap();
    env.worker();
})]
fn what_is_broken_is_named_with_the_way_out(
    #[case] named: &str,
    #[case] next: &str,
    #[case] break_it: fn(&TestEnv),
) {
    let env = lived_in();
    break_it(&env);
    let shown = env.cli(&[]).ok();
    // A name may be broken off at the end of a line; the JSON has it whole.
    let told = env.cli(&["--json"]).json();
    let is_fine = told.to_string().contains(named) || shown.contains(named);
    assert!(is_fine, "no {named:?} in {shown}{told}");
    has!(shown, next);
    let is_unread = named == "playbook.json";
    assert_eq!(shown.contains("its key points cannot be read"), is_unread);
    assert_eq!(told["next"][0]["command"], next);
    assert!(shown.lines().count() <= SCREEN, "{shown}");
}

#[test]
fn where_nothing_was_learned_it_says_what_to_do_and_writes_nothing() {
    let env = TestEnv::new();
    let before = env.files();
    let told = env.cli(&[]).ok();
    has!(told, "no key points yet", "the hooks are not registered");
    has!(told, "Next", "playbook install");
    lacks!(told, "playbook bootstrap");
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    env.cli(&["install"]).ok();
    let told = env.cli(&[]).ok();
    has!(told, "playbook doctor");
    lacks!(told, "Problem", "playbook bootstrap", "playbook install");
}

#[test]
fn where_sessions_taught_nothing_it_names_the_log() {
    let env = TestEnv::without_worker();
    env.cli(&["install"]).ok();
    env.learn_from(&Session::new("s1").user("hello").assistant("Hello.").done());
    let told = env.cli(&["--json"]).json();
    let next = texts(&told["next"], "command");
    assert_eq!(next, ["playbook doctor", "playbook log"]);
}

#[test]
fn without_a_home_it_shows_what_it_can() {
    let mut env = lived_in();
    for name in ["HOME", "PLAYBOOK_STATE_DIR", "PLAYBOOK_CONFIG_DIR"] {
        env.unset(name);
    }
    // The system may know the user's home by the uid.
    has!(env.cli(&[]).ok(), "4 key points");
}

#[test]
fn what_was_agreed_to_is_told_beside_the_limits_of_the_day() {
    let env = lived_in();
    spend(&env, "j3", "/elsewhere", 4, BudgetKind::Agreed);
    let today = json!({"all_projects": {"calls": 7}, "limited": {"calls": 3}});
    includes(&env.cli(&["--json"]).json()["today"], &today);
    has!(env.cli(&[]).ok(), "4 calls that you agreed to");
}

#[test]
fn what_was_undone_is_not_what_was_learned_last() {
    let env = lived_in();
    let last = env.cli(&["--json"]).json()["last"]["job"].clone();
    env.cli(&["undo", last.as_str().unwrap()]).ok();
    assert_ne!(env.cli(&["--json"]).json()["last"]["job"], last);
}

#[test]
fn a_playbook_that_came_with_a_clone_is_told_to_be_held_back() {
    let env = TestEnv::with_point();
    fs::create_dir_all(env.project().join(".git")).unwrap();
    let told = env.cli(&["--json"]).json();
    assert_eq!(told["next"][0]["command"], "playbook trust");
}

/// W3: nothing said that a start leaves key points out.
#[test]
fn a_key_point_without_room_at_the_start_is_marked() {
    let env = TestEnv::without_worker();
    for number in 1..=3 {
        let text = format!("rule {number}: {}", "x".repeat(150));
        env.cli(&["add", &text]).ok();
    }
    env.cli(&["edit", "oth-001", "--when-command", "make proto"])
        .ok();
    has!(env.cli(&["show"]).ok(), "(new)");
    lacks!(env.cli(&["show"]).ok(), "no room");
    lacks!(env.cli(&[]).ok(), "no room");
    env.write_config("[injection]\nmax_units = 500\n");
    let told = env.cli(&["show", "--json"]).json();
    let points = told["points"].as_array().unwrap().iter();
    let given: Vec<_> = points.map(|point| point["given"].as_bool()).collect();
    let (start, _) = env.start("s1");
    for (number, given) in (1..).zip(given) {
        assert_eq!(given, Some(start.contains(&format!("[oth-00{number}]"))));
    }
    has!(env.cli(&["show"]).ok(), "no room at the start");
    let left_out = told["points"].as_array().unwrap().iter();
    let left_out = left_out.filter(|point| point["given"] == false).count();
    assert_eq!(env.cli(&["--json"]).json()["without_room"], left_out);
    has!(
        env.cli(&[]).ok(),
        "The start has no room for",
        "playbook show marks them"
    );
}
