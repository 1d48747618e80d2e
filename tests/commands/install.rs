//! Promise: one command registers Playbook in the client's settings, another one removes it and
//! restores the settings to the byte.

use crate::common::prelude::*;

/// Settings as users have them: mixed indentation, objects on one line, non-ASCII words, empty
/// lists, and other hooks.
const RICH: &str = "{\n  \"model\": \"opus\",\n    \"env\": {\"GRÜSSE\": \"schön – 日本語\", \"A\":\"1\"},\n\t\"permissions\": { \"allow\": [\"Bash(ls:*)\",\n\t\t\"Read(~/.zshrc)\"], \"deny\": [ ] },\n  \"hooks\": {\n      \"PostToolUse\": [ {\"matcher\": \"Edit|Write\", \"hooks\": [ {\"type\": \"command\", \"command\": \"jq -r .x | { read f; fmt \\\"$f\\\"; }\", \"timeout\": 5} ] } ],\n    \"SessionEnd\": [\n      {\n\t\"hooks\": [{ \"type\": \"command\", \"command\": \"say bye\" }]\n      }\n    ],\n    \"Stop\": []\n  },\n  \"statusLine\": { \"type\": \"command\", \"command\": \"~/.claude/line.sh\" }\n}\n\n";

fn installed() -> TestEnv {
    let env = TestEnv::new();
    put_hooks(&env);
    env
}

fn put_hooks(env: &TestEnv) {
    for hook in Hook::ALL {
        write(&env.installed_bin().join(hook.name()), "");
    }
}

fn text(env: &TestEnv) -> String {
    fs::read_to_string(env.client_settings()).unwrap()
}

fn commands(text: &str, event: &str) -> Vec<String> {
    let settings: Value = serde_json::from_str(text).unwrap();
    let groups = settings["hooks"][event].as_array().into_iter().flatten();
    groups
        .flat_map(|group| texts(&group["hooks"], "command"))
        .collect()
}

#[test]
fn install_install_uninstall_leaves_rich_settings_as_they_were() {
    let env = installed();
    write(&env.client_settings(), RICH);
    let before = env.files();
    has!(env.cli(&["install"]).ok(), "registered");
    let once = text(&env);
    for hook in Hook::REGISTERED {
        let ours = env.installed_bin().join(hook.name()).display().to_string();
        assert!(once.matches(&ours).count() == 1, "{once}");
    }
    assert_eq!(commands(&once, "SessionEnd").len(), 2);
    // Lines of others stay the same.
    for line in RICH.lines().filter(|line| line.len() > 12) {
        has!(once, line.trim_end_matches([',', ']', '}']));
    }
    has!(env.cli(&["install"]).ok(), "already");
    assert_eq!(text(&env), once);

    env.cli(&["uninstall"]).ok();
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    assert!(!env.state().exists() && !env.config_dir().exists());
}

#[test]
fn hooks_of_the_earlier_version_stay_and_are_named() {
    let env = installed();
    let before = "{\"hooks\": {\"SessionEnd\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"python3 ~/.claude/hooks/session_end.py\"}]}]}}";
    write(&env.client_settings(), before);
    let said = env.cli(&["install"]).ok();
    has!(
        said,
        "hooks of the earlier Python version are still there",
        "line 1: python3 ~/.claude/hooks/session_end.py"
    );
    assert_eq!(commands(&text(&env), "SessionEnd").len(), 2);

    env.cli(&["uninstall"]).ok();
    assert_eq!(text(&env), before);
}

#[test]
fn a_project_can_have_hooks_of_its_own_that_work_for_everyone() {
    let mut env = installed();
    let shared = env.project().join(".claude/settings.json");
    env.cli(&["install", "--scope", "project"]).ok();
    let shared = fs::read_to_string(&shared).unwrap();
    lacks!(shared, &*env.home().to_string_lossy());
    // The command also works for a colleague without Playbook.
    let command = commands(&shared, "SessionStart").remove(0);
    env.set("HOME", "/nowhere");
    let mut sh = env.command("/bin/sh");
    sh.args(["-c", &command]);
    Running::start(sh, b"", Stdin::Closed).finish().silent();

    env.set("HOME", env.home());
    env.cli(&["install", "--scope", "local"]).ok();
    assert!(env.project().join(".claude/settings.local.json").is_file());
    env.cli(&["uninstall"]).ok();
    assert!(!env.project().join(".claude").exists(), "no trace");
}

#[test]
fn the_program_answers_for_hooks_that_are_not_there_until_they_are() {
    let env = TestEnv::new();
    env.cli(&["install", "--scope", "project"])
        .fails(1, &["could not register the hooks", "install.sh"]);
    let program = env!("CARGO_BIN_EXE_playbook");
    let registered = || commands(&text(&env), "SessionEnd");
    env.cli(&["install"]).ok();
    assert_eq!(registered(), [format!("{program} hook session-end")]);
    let said = env.cli(&["doctor"]).stdout;
    has!(said, "in the place of the hooks");
    has!(said, "session-start gave its context");
    put_hooks(&env);
    env.cli(&["install"]).ok();
    let own = env.installed_bin().join("session-end");
    assert_eq!(registered(), [own.to_str().unwrap()]);
    env.cli(&["uninstall"]).ok();
    assert!(!env.client_settings().exists());
}

#[test]
fn a_purge_leaves_nothing_but_the_playbooks() {
    let mut env = installed();
    env.write_playbook(&[("pat-001", "run the tests")]);
    let _api = env.use_votes();
    env.cli(&["install"]).ok();
    env.start("s1");
    env.end_citing("s1");
    env.settle();
    env.worker();
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.settle();
    env.cli(&["uninstall", "--purge"]).ok();
    env.cli(&["worker"]).ok();
    for folder in [env.state(), env.config_dir()] {
        let left = fs::read_dir(&folder).into_iter().flatten().count();
        assert_eq!(left, 0, "{}", folder.display());
    }
    assert!(!env.client_settings().exists());
    assert_eq!(env.marks_of("pat-001").0, 1, "what was learned stays");
}

#[test]
fn a_purge_touches_nothing_that_is_not_ours() {
    let env = installed();
    let kept = "thesis.tex projects/my-project/main.rs settings/printer.json log/syslog \
        open/door failed/exam.json worker-of-the-month.txt";
    let kept = kept.split(' ').map(|file| env.state().join(file));
    let mut theirs: Vec<PathBuf> = kept.collect();
    theirs.extend(["notes", "templates/letter.txt"].map(|file| env.config_dir().join(file)));
    for file in &theirs {
        write(file, "mine");
    }
    env.cli(&["install"]).ok();
    env.cli(&["uninstall", "--purge"]).ok();
    for file in &theirs {
        assert_eq!(fs::read_to_string(file).unwrap(), "mine");
    }
}

#[rstest]
#[case::the_hooks_leave(|_: &TestEnv| (), &["uninstall"])]
#[case::after_a_setting_was_made(
    |env: &TestEnv| { env.cli(&["config", "set", "injection.own", "false"]).ok(); },
    &["uninstall", "--purge"]
)]
#[case::after_the_settings_of_the_client_were_removed(
    |env: &TestEnv| fs::remove_file(env.client_settings()).unwrap(), &["uninstall", "--purge"]
)]
#[case::after_the_hooks_left(
    |env: &TestEnv| {
        env.cli(&["uninstall"]).ok();
        env.cli(&["jobs", "retry", "--all"]).ok();
    },
    &["uninstall", "--purge"]
)]
fn folders_that_were_made_above_ours_go_as_well(
    #[case] happens: fn(&TestEnv),
    #[case] uninstall: &[&str],
) {
    let mut env = installed();
    for variable in ["PLAYBOOK_STATE_DIR", "PLAYBOOK_CONFIG_DIR"] {
        env.unset(variable);
    }
    env.set("PLAYBOOK_NO_WORKER", "1");
    env.cli(&["install"]).ok();
    assert!(env.home().join(".local/state/playbook").is_dir());
    happens(&env);
    env.cli(uninstall).ok();
    for folder in [".local", ".config"] {
        assert!(!env.home().join(folder).exists(), "{folder} is left");
    }
}

#[test]
fn what_was_there_before_us_is_kept_whatever_is_changed_later() {
    let env = installed();
    write(&env.client_settings(), RICH);
    env.cli(&["install"]).ok();
    for (model, new) in [("opus", "sonnet"), ("sonnet", "haiku")] {
        write(&env.client_settings(), text(&env).replacen(model, new, 1));
        env.cli(&["uninstall"]).ok();
        env.cli(&["install"]).ok();
    }
    let copies = fs::read_dir(env.state().join("settings")).unwrap();
    let copies = copies.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap());
    assert_eq!(copies.filter(|copy| copy == RICH).count(), 1);
}

#[test]
fn settings_with_two_names_are_one_file() {
    let env = installed();
    write(&env.client_settings(), RICH);
    let linked = env.project().join(".claude/settings.json");
    fs::create_dir_all(linked.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(env.client_settings(), &linked).unwrap();
    env.cli(&["install", "--scope", "project"]).ok();
    env.cli(&["install"]).ok();
    env.cli(&["uninstall"]).ok();
    assert_eq!(text(&env), RICH);
    assert!(!env.state().exists(), "no trace");
}

#[test]
fn one_scope_is_told_apart_from_the_others() {
    let env = installed();
    env.cli(&["install", "--scope", "local"]).ok();
    let told = env.cli(&["uninstall", "--scope", "user"]).ok();
    has!(told, "no hooks of ours are registered there");
    has!(told, "still registered in ", "settings.local.json");
    lacks!(told, "nothing is installed");
}

#[test]
fn a_path_that_json_cannot_hold_is_named_before_anything_is_done() {
    use std::os::unix::ffi::OsStrExt as _;
    let mut env = installed();
    let client = env.home().join(std::ffi::OsStr::from_bytes(b"cl\xff"));
    env.set("CLAUDE_CONFIG_DIR", &client);
    write(&client.join("settings.json"), RICH);
    let before = env.files();
    let path = "its path is not UTF-8";
    let words = ["could not edit settings", path, "hint: rename"];
    env.cli(&["install", "--dry-run"]).fails(1, &words);
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
}
