//! Promise: what the user wants forgotten is forgotten, and nothing else.

use super::recall::{experienced, known_id, recall};
use crate::common::prelude::*;

#[test]
fn what_is_forgotten_is_gone_from_memory_and_from_hooks() {
    const RIGHT: &str = "always add the auth middleware";
    let env = experienced();
    let again = lesson("forgot auth", RIGHT, Some("error: no user"));
    env.learn("j2", 3, &[again]);
    let id = known_id(&env);
    let on_disk = || {
        let files = env.files();
        let holds = |bytes: &[u8]| {
            bytes
                .windows(RIGHT.len())
                .any(|part| part == RIGHT.as_bytes())
        };
        files.values().filter(|bytes| holds(bytes)).count()
    };
    assert!(on_disk() >= 2, "in the database and for the hooks");
    let told = env.cli(&["forget", &id, "--yes"]).ok();
    assert_eq!(told, "Forgot 1 lesson.\n");
    assert!(recall(&env, &["auth"]).is_empty());
    // The project is the client's, wherever the shell is.
    let mut command = env.command("playbook");
    command
        .args(["forget", "--project", "--yes"])
        .current_dir(env.root());
    let told = Running::start(command, b"", Stdin::Closed).finish().ok();
    assert_eq!(told, "Forgot 1 reflection, 1 strategy, 1 error.\n");
    assert!(recall(&env, &[]).is_empty());
    assert_eq!(on_disk(), 0);
    let again = env.cli(&["forget", "--project", "--yes"]).ok();
    assert_eq!(again, "Forgot nothing.\n");
}

#[test]
fn what_is_old_is_forgotten_in_this_project_or_in_all() {
    let mut env = TestEnv::without_worker();
    env.learn("j1", 100, &[lesson("old", "older", None)]);
    env.learn("j2", 2, &[lesson("new", "newer", None)]);
    let left = |env: &TestEnv| recall(env, &["--all"]).len();
    let forget = |env: &TestEnv, args: &[&str]| {
        let answer = env.cli(&[&["forget", "--yes", "--json"], args].concat());
        answer.json()["total"].as_u64()
    };
    assert_eq!(forget(&env, &["--older-than", "1y"]), Some(0));
    let here = env.project();
    env.go_to_project("other");
    assert_eq!(forget(&env, &["--older-than", "90d"]), Some(0));
    assert_eq!(left(&env), 2);
    let here = here.to_str().expect("a path");
    let of_here = ["--older-than", "2026-09-01", "--project", here];
    assert_eq!(forget(&env, &of_here), Some(1));
    assert_eq!(forget(&env, &["--older-than", "1d", "--all"]), Some(1));
    assert_eq!(left(&env), 0);
}

#[rstest]
#[case::not_asked(&["forget", "--project"], 1, &["would forget the notes", "--yes"])]
#[case::not_asked_about_one(&["forget", "ID"], 1, &["would forget les-", "auth middleware", "--yes"])]
#[case::unknown(&["forget", "les-000000000000", "--yes"], 1, &["les-000000000000", "hint: "])]
#[case::unknown_not_asked(&["forget", "x"], 1, &["remembered as x"])]
#[case::no_time(&["forget", "--older-than", "soon", "--yes"], 1, &["no time: soon", "90d"])]
#[case::a_time_to_come(&["forget", "--older-than", "-3d", "--yes"], 2, &["error: "])]
#[case::nothing_said(&["forget"], 2, &["error: "])]
#[case::two_things_said(&["forget", "x", "--project", "."], 2, &["error: "])]
#[case::no_project(&["forget", "--project", "typo", "--yes"], 1, &["no such project: typo", "hint: "])]
#[case::no_folder(&["forget", "--project", "./typo", "-y"], 1, &["no such project: ./typo"])]
#[case::old_of_no_project(&["forget", "--older-than", "1d", "--project", "typo", "-y"], 1, &["no such project: typo"])]
fn nothing_is_forgotten_by_mistake(
    #[case] args: &[&str],
    #[case] code: i32,
    #[case] words: &[&str],
) {
    let env = experienced();
    let id = known_id(&env);
    let args = args.iter().map(|arg| match *arg {
        "ID" => id.as_str(),
        arg => arg,
    });
    // A missing folder in a repository does not select the repository.
    env.cli(&args.collect::<Vec<_>>()).fails(code, words);
    assert_eq!(recall(&env, &[]).len(), 4);
}
