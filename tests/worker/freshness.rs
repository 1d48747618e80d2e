//! Promise: a key point that names what the project's files no longer have is not told to
//! sessions, says why, and is the curator's to mend; what only another branch lacks is not gone.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use crate::common::prelude::*;

use crate::common::git::git;

const TEXT: &str = "Cut a release with `scripts/release.sh`, never by hand.";
const GONE: &str = "`scripts/release.sh` is gone since 3 Nov 2026; `scripts/ship.sh` has its text";

fn commit(env: &TestEnv) {
    git(&env.project(), &["add", "-A"]);
    git(&env.project(), &["commit", "-q", "-m", "x"]);
}

/// A trusted project under git whose playbook has these points.
fn project(points: &[(String, String)], files: &[(String, String)]) -> TestEnv {
    let env = TestEnv::without_worker();
    git(&env.project(), &["init", "-q"]);
    env.write_playbook(points);
    for (path, text) in files {
        env.write_project(path, text);
    }
    commit(&env);
    env.cli(&["trust"]).ok();
    env
}

/// A project with one point, about a script.
fn with_script() -> TestEnv {
    let script: Vec<String> = (1..20).map(|n| format!("echo step {n}\n")).collect();
    let files = [
        ("scripts/release.sh".to_owned(), script.concat()),
        ("README.md".to_owned(), "a project".to_owned()),
    ];
    project(&[("pat-001".to_owned(), TEXT.to_owned())], &files)
}

fn rename(env: &TestEnv) {
    git(
        &env.project(),
        &["mv", "scripts/release.sh", "scripts/ship.sh"],
    );
    commit(env);
}

/// The first look after the rename is the second session's; the third one's curator knows.
fn three_sessions(env: &TestEnv) {
    env.learn_citing("s1");
    rename(env);
    env.learn_citing("s2");
    env.learn_citing("s3");
}

/// Why each point is out of date, as `playbook show` tells.
fn gone(env: &TestEnv) -> Vec<(String, String)> {
    let told = env.cli(&["show", "--json"]).json();
    let points = told["points"].as_array().unwrap().iter();
    let gone = points.filter_map(|point| {
        let why = point["gone"].as_str()?.to_owned();
        Some((point["name"].as_str()?.to_owned(), why))
    });
    gone.collect()
}

#[test]
fn a_point_about_a_renamed_file_is_silent_until_the_file_is_back() {
    let env = with_script();
    env.learn_citing("s1");
    assert_eq!(gone(&env), []);
    rename(&env);
    env.learn_citing("s2");
    assert_eq!(gone(&env), [("pat-001".to_owned(), GONE.to_owned())]);
    has!(
        env.cli(&["show"]).ok(),
        "out of date: `scripts/release.sh` is gone"
    );
    has!(env.cli(&["log", "pat-001"]).ok(), GONE);
    assert_eq!(env.start("s3"), (String::new(), String::new()));

    git(
        &env.project(),
        &["mv", "scripts/ship.sh", "scripts/release.sh"],
    );
    commit(&env);
    env.learn_citing("s3");
    assert_eq!(gone(&env), []);
    has!(env.start("s4").0, "[pat-001]");
}

#[test]
fn what_the_user_pinned_is_told_all_the_same() {
    let env = with_script();
    env.cli(&["pin", "pat-001"]).ok();
    env.learn_citing("s1");
    rename(&env);
    env.learn_citing("s2");
    assert_eq!(gone(&env).len(), 1);
    has!(env.start("s3").0, "[pat-001]");
}

#[test]
fn the_curator_is_told_what_is_gone() {
    let api = Api::script([Step::Canned, Step::Canned]);
    let mut env = with_script();
    env.use_api(&api.base_url(), "sk-test");
    three_sessions(&env);
    let asked = api.requests();
    let line = format!("[pat-001] {GONE}");
    let told = asked.iter().map(|asked| asked.prompt().contains(&line));
    let told: Vec<bool> = told.collect();
    assert_eq!(told, [false, false, false, false, false, true]);
}

/// That the files no longer have it is a ground; for the same advice, and for no other.
#[rstest]
#[case::corrected(
    json!({"type": "UPDATE", "target_id": "pat-001", "text": "Cut a release with `scripts/ship.sh`, never by hand."}),
    "Cut a release with `scripts/ship.sh`, never by hand."
)]
#[case::taken_away(json!({"type": "DELETE", "target_id": "pat-001", "reason": "gone"}), "")]
#[case::another_advice(
    json!({"type": "UPDATE", "target_id": "pat-001", "text": "Ask the team lead about every single change first."}),
    TEXT
)]
#[case::another_name(
    json!({"type": "UPDATE", "target_id": "pat-001", "text": "Cut a release with `scripts/fetch.sh`, never by hand."}),
    TEXT
)]
fn what_is_gone_is_the_ground_of_its_correction(#[case] operation: Value, #[case] left: &str) {
    let judged = json!({"analysis": "a", "bullet_tags": []}).to_string();
    let curated = json!({"reasoning": "r", "operations": [operation]}).to_string();
    let steps = [Step::Canned, Step::Canned, Step::Canned, Step::Canned];
    let last = [Step::Text(judged), Step::Text(curated)];
    let api = Api::script(steps.into_iter().chain(last));
    let mut env = with_script();
    env.use_api(&api.base_url(), "sk-test");
    three_sessions(&env);
    let playbook = env.playbook().to_string();
    has!(playbook, left);
    assert_eq!(
        playbook.matches("Cut a release").count(),
        left.matches("Cut a release").count()
    );
}

#[rstest]
#[case::a_branch_without_it_yet(|env: &TestEnv| {
    git(&env.project(), &["checkout", "-q", "-b", "old", "HEAD~1"]);
})]
#[case::deleted_and_not_committed(|env: &TestEnv| {
    fs::remove_file(env.project().join("scripts/release.sh")).unwrap();
})]
#[case::deleted_on_a_branch(|env: &TestEnv| {
    git(&env.project(), &["checkout", "-q", "-b", "other"]);
    rename(env);
})]
#[case::git_is_broken(|env: &TestEnv| {
    rename(env);
    fs::remove_dir_all(env.project().join(".git/objects")).unwrap();
})]
#[case::trusted_no_more(|env: &TestEnv| {
    rename(env);
    env.cli(&["trust", "--off"]).ok();
})]
fn what_may_come_back_is_not_gone(#[case] happens: fn(&TestEnv)) {
    let env = with_script();
    // The script is newer than the first commit.
    git(
        &env.project(),
        &["rm", "-q", "--cached", "scripts/release.sh"],
    );
    git(&env.project(), &["commit", "-q", "--amend", "-m", "x"]);
    commit(&env);
    env.learn_citing("s1");
    happens(&env);
    env.learn_citing("s2");
    assert_eq!(gone(&env), []);
}

#[test]
fn a_session_in_a_linked_worktree_is_seen_by_what_is_checked_out_there() {
    let env = with_script();
    env.learn_citing("s1");
    rename(&env);
    git(
        &env.project(),
        &["worktree", "add", "-q", "../linked", "HEAD"],
    );
    git(&env.project(), &["checkout", "-q", "--detach", "HEAD~1"]);
    let linked = env.root().join("linked");
    env.write_transcript(&Session::citing("s2"));
    env.hook(Hook::SessionEnd, "s2", json!({"cwd": &linked}))
        .silent();
    env.worker();
    assert_eq!(gone(&env).len(), 1);
}

#[test]
fn nothing_that_the_repository_asks_for_is_run() {
    let env = with_script();
    env.learn_citing("s1");
    rename(&env);
    let ran = env.root().join("ran");
    let program = env.root().join("program");
    write_program(
        &program,
        format!("#!/bin/sh\ntouch {}\ncat\n", ran.display()),
    );
    let program = program.to_str().unwrap();
    let keys = "core.fsmonitor filter.x.clean filter.x.smudge diff.external core.pager";
    for key in keys.split(' ') {
        git(&env.project(), &["config", key, program]);
    }
    env.write_project(".git/info/attributes", "* filter=x\n");
    // As after a checkout in the second in which git wrote its index: git believes the times of
    // no file, and runs the filter to compare each.
    let index = env.project().join(".git/index");
    let index = File::options().write(true).open(index).unwrap();
    index
        .set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1))
        .unwrap();
    env.learn_citing("s2");
    assert_eq!(gone(&env).len(), 1);
    assert!(!ran.exists());
}

/// How many points there are of each kind, and how many of them go stale.
const OF_A_KIND: usize = 100;
const STALE: usize = 20;

/// Three hundred points of three kinds; the files of a fifth change under them.
#[test]
fn planted_stale_points_are_found_and_true_ones_left() {
    let beside = "See https://x.y/z, `--flag`, `v1.2`, `src/**/*.rs`, `path/to/x` and <id>; \
                  `cargo test --lib` runs in CI.";
    let mut points = Vec::new();
    let mut files = Vec::new();
    let (mut calls, mut makefile) = (String::new(), String::from(".PHONY: all\nall:\n"));
    for n in 0..OF_A_KIND {
        let file = format!("src/part_{}/unit_{n}.rs", n % 10);
        let body: Vec<String> = (0..20).map(|line| format!("// {n} {line}\n")).collect();
        let body = body.concat();
        files.push((
            file.clone(),
            format!("{body}pub fn handle_case_{n}() {{}}\n"),
        ));
        writeln!(calls, "handle_case_{n}();").unwrap();
        writeln!(makefile, "step-{n}: all\n\techo {n}").unwrap();
        let texts = [
            format!("Read `{file}` before you change its part. {beside}"),
            format!("`make step-{n}` comes before a release. {beside}"),
            format!("`handle_case_{n}` must never block: it holds the lock. {beside}"),
        ];
        for (kind, text) in texts.into_iter().enumerate() {
            points.push((format!("pat-{:03}", kind * OF_A_KIND + n + 1), text));
        }
    }
    files.push(("src/main.rs".to_owned(), calls.clone()));
    files.push(("Makefile".to_owned(), makefile.clone()));
    let env = project(&points, &files);
    env.learn_citing("s1");
    assert_eq!(gone(&env), []);

    let mut changelog = String::from("# Changes\n");
    for n in 0..STALE {
        let old = format!("src/part_{}/unit_{n}.rs", n % 10);
        git(
            &env.project(),
            &["mv", &old, &format!("src/unit_{n}_moved.rs")],
        );
        // Of other cases than those whose files move.
        let case = n + 40;
        let renamed = format!("settle_case_{case}");
        let file = env
            .project()
            .join(format!("src/part_{}/unit_{case}.rs", case % 10));
        let (from, to) = (format!("handle_case_{case}("), format!("{renamed}("));
        write(
            &file,
            fs::read_to_string(&file).unwrap().replace(&from, &to),
        );
        calls = calls.replace(&from, &to);
        makefile = makefile.replace(&format!("step-{n}: all\n\techo {n}\n"), "");
        writeln!(
            changelog,
            "- handle_case_{case} is {renamed}; `make step-{n}` went"
        )
        .unwrap();
    }
    env.write_project("src/main.rs", calls);
    env.write_project("Makefile", makefile);
    env.write_project("CHANGELOG.md", changelog);
    commit(&env);
    env.learn_citing("s2");

    let planted = |name: &str| {
        let n = name[4..].parse::<usize>().unwrap() - 1;
        let (kind, n) = (n / OF_A_KIND, n % OF_A_KIND);
        if kind == 2 {
            (40..40 + STALE).contains(&n)
        } else {
            n < STALE
        }
    };
    let (found, wrong): (Vec<_>, Vec<_>) =
        gone(&env).into_iter().partition(|(name, _)| planted(name));
    let (all, all_true) = (3 * STALE, 3 * (OF_A_KIND - STALE));
    println!(
        "stale found: {} of {all}; true marked: {} of {all_true}",
        found.len(),
        wrong.len()
    );
    assert!(found.len() * 100 >= all * 95, "{} found", found.len());
    assert!(wrong.len() * 100 <= all_true, "{wrong:?}");
}
