//! Promise: `playbook log --diff` describes the changes of the key points for a pull request.

use crate::common::prelude::*;

/// Creates a project with a commit that has three points, after one without a playbook.
fn project() -> TestEnv {
    let env = TestEnv::without_worker();
    env.git(&["init", "-q"]);
    env.git(&["commit", "-q", "--allow-empty", "-m", "nothing"]);
    env.git(&["tag", "none"]);
    let texts = [("pat-001", "run tests"), ("pat-002", "run all tests")];
    env.write_playbook(&[&texts[..], &[("pat-003", "x")]].concat());
    env.commit();
    env.cli(&["trust"]).ok();
    env
}

#[test]
fn what_changed_since_a_commit_is_said_in_words() {
    let mut env = project();
    let none = "No key point differs between HEAD and the file.\n";
    assert_eq!(env.cli(&["log", "--diff"]).ok(), none);
    let api = env.use_votes();
    merge_points(&env, &api, ["pat-001", "pat-002"], "run all tests");
    env.cli(&["edit", "pat-003", "--text", "keep x"]).ok();
    env.cli(&["add", "use just"]).ok();
    let said = env.cli(&["log", "--diff"]).ok();
    has!(
        said,
        "pat-001   merged into pat-004",
        "pat-002   merged into pat-004",
        "pat-003   reworded: \"x\" -> \"keep x\"",
        "pat-004   added to PATTERNS & APPROACHES: \"run all tests\"",
        "oth-001   added to OTHERS: \"use just\""
    );
    env.git(&["commit", "-qam", "changes"]);
    assert_eq!(env.cli(&["log", "--diff", "HEAD~..HEAD"]).ok(), said);
    let told = env.cli(&["log", "--diff", "none..HEAD~", "--json"]).json();
    includes(&told, &json!({"from": "none", "to": "HEAD~"}));
    let changes = told["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 3, "no file, no points");
}

#[test]
fn a_revision_that_is_none_is_told() {
    let env = TestEnv::with_point();
    let words = ["no revision HEAD", "without git"];
    env.cli(&["log", "--diff"]).fails(1, &words);
    let env = project();
    for revision in ["nowhere", "--output=x", "HEAD..nowhere"] {
        let output = env.cli(&["log", &format!("--diff={revision}")]);
        assert_eq!((output.code, output.stdout.as_str()), (Some(1), ""));
        has!(output.stderr, "error: no revision ", "hint: name a commit");
    }
    env.write_project(".claude/playbook.json", "{");
    env.git(&["commit", "-qam", "broken"]);
    let output = env.cli(&["log", "--diff", "HEAD~..HEAD"]);
    has!(output.stderr, "error: could not read playbook of HEAD: ");
}
