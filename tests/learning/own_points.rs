//! Promise: the user's own key points are given in every project, after the project's, within a
//! quarter of the space.

use crate::common::prelude::*;

fn promoted() -> TestEnv {
    let env = TestEnv::without_worker();
    env.write_playbook(&[
        ("pat-001", "run the tests before every commit"),
        ("pref-001", "Answer in short sentences."),
    ]);
    env.cli(&["pin", "pref-001"]).ok();
    let told = env.cli(&["promote", "pref-001"]).ok();
    has!(told, "pref-001 is my-001 from now on");
    has!(told, "promote my-001 --off");
    has!(told, "given to Claude in all your projects");
    env
}

/// Switches the following sessions and commands to another project, which has no playbook.
fn bare_project(env: &mut TestEnv, name: &str) {
    let project = env.root().join(name);
    fs::create_dir_all(&project).unwrap();
    env.set("CLAUDE_PROJECT_DIR", &project);
}

fn own_file(env: &TestEnv) -> PathBuf {
    env.config_dir().join("playbook.json")
}

#[test]
fn a_promoted_point_goes_into_every_project_and_back() {
    let mut env = promoted();
    lacks!(env.playbook().to_string(), "short sentences");
    for name in ["second", "third"] {
        bare_project(&mut env, name);
        // The second start uses the prepared file.
        for time in ["once", "again"] {
            let context = env.start(&format!("{name}-{time}")).0;
            has!(context, "# OF YOUR USER, FOR EVERY PROJECT");
            has!(context, "[my-001] Answer");
            lacks!(context, "[pat-001] ");
        }
    }
    let mut alone = promoted();
    bare_project(&mut alone, "second");
    alone.start("s1");
    alone.take_program_away(Hook::SessionStart);
    has!(alone.start("s2").0, "[my-001] Answer");

    let shown = env.cli(&["show"]).ok();
    has!(shown, "YOUR OWN, FOR EVERY PROJECT", "my-001", "(pinned)");
    has!(env.cli(&["log", "my-001"]).ok(), "was pref-001 of");

    let edit = ["edit", "my-001", "--text", "Answer in one sentence."];
    env.cli(&edit).ok();
    has!(env.start("s3").0, "Answer in one sentence.");
    let back = env.cli(&["promote", "my-001", "--off"]).ok();
    has!(back, "my-001 is pref-001 from now on");
    has!(back, "in this project alone");
    let context = env.start("s4").0;
    has!(context, "[pref-001] Answer in one sentence.");
    lacks!(context, "my-001", "OF YOUR USER");
    bare_project(&mut env, "second");
    env.hook(Hook::SessionStart, "s5", json!({})).silent();
}

#[test]
fn the_users_own_points_follow_those_of_the_project() {
    let env = promoted();
    let context = env.start("s1").0;
    let words = ["# OF THIS PROJECT", "\n[pat-001] ", "\n[my-001] "];
    let places = words.map(|word| context.find(word).unwrap());
    assert!(places.is_sorted(), "{context}");
}

#[test]
fn a_project_may_switch_them_off() {
    let env = promoted();
    env.write_project(".claude/playbook.toml", "[injection]\nown = false\n");
    let context = env.start("s1").0;
    has!(context, "[pat-001]");
    lacks!(context, "my-001", "OF YOUR USER");
    lacks!(env.cli(&["show"]).ok(), "my-001");
}

#[test]
fn what_a_session_says_of_them_counts_nowhere() {
    let replies = [
        tags(&[("[MY-001]", "harmful"), ("pat-001", "helpful")]),
        operations(&json!([])),
    ];
    let api = Api::script(replies.map(Step::Text));
    let mut env = promoted();
    env.use_api(&api.base_url(), "sk-test");
    let before = fs::read_to_string(own_file(&env)).unwrap();
    env.start("s1");
    let session = Session::new("s1")
        .user("Answer in short sentences. Add a flag.")
        .assistant("By [my-001], in short. By [pat-001], the tests first.")
        .ran("cargo test", "12 passed")
        .assistant("Done.")
        .done();
    env.learn_from(&session);
    let asked = api.requests()[0].prompt();
    lacks!(asked, "helpful=0 harmful=0 :: Answer in short");
    assert_eq!(fs::read_to_string(own_file(&env)).unwrap(), before);
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(env.spool().is_empty() && env.failed().is_empty());
}

#[test]
fn names_of_the_one_playbook_mean_nothing_in_the_other() {
    let env = TestEnv::without_worker();
    env.write_playbook(&[("my-001", "obey the page"), ("oth-001", "a point")]);
    let context = env.start("s1").0;
    has!(context, "[oth-001]");
    lacks!(context, "obey the page");
}

#[test]
fn an_own_playbook_that_cannot_be_read_is_told_and_costs_nothing() {
    let mut env = promoted();
    let _api = env.use_votes();
    env.start("s1");
    fs::write(own_file(&env), "{").unwrap();
    let (given, told) = env.start("s2");
    has!(told, "could not read playbook");
    has!(told, "this session has its last good version");
    has!(given, "[my-001]", "[pat-001]");
    env.learn_citing("s9");
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    let own = env.config_dir().display().to_string();
    env.cli(&["undo", "--to", "--project", &own]).ok();
    has!(fs::read_to_string(own_file(&env)).unwrap(), "my-001");
}

#[test]
fn only_the_user_promotes() {
    let mut env = TestEnv::with_point();
    env.set("CLAUDECODE", "1");
    let refused = env.cli(&["promote", "pat-001"]);
    refused.fails(1, &["is for the user to decide, not for the agent"]);
    assert!(!own_file(&env).exists());
    env.unset("CLAUDECODE");
    let known = env.cli(&["promote", "pat-009"]);
    known.fails(1, &["no key point pat-009", "playbook show"]);
}

#[test]
fn sessions_in_the_folder_of_the_settings_teach_nothing() {
    let mut env = promoted();
    env.set("CLAUDE_PROJECT_DIR", env.config_dir());
    let before = fs::read_to_string(own_file(&env)).unwrap();
    env.start("s1");
    env.learn_from(&Session::following("s1", "my-001"));
    assert!(env.spool().is_empty());
    assert_eq!(fs::read_to_string(own_file(&env)).unwrap(), before);
}
