//! Promise: a state folder that others may have touched is not used. A link out of a project is
//! followed only if the user trusts it. Only transcripts of the client's are read.

use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use crate::common::prelude::*;

const OTHER: u32 = 12_345;

fn trusted() -> TestEnv {
    let env = TestEnv::with_point();
    fs::create_dir(env.project().join(".git")).unwrap();
    env.cli(&["trust"]).ok();
    env
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

/// Returns the notice of a start that gives nothing of the playbook.
fn told_alone(env: &TestEnv, session: &str) -> String {
    let (given, told) = env.start(session);
    assert_eq!(given, "");
    told
}

#[rstest]
#[case::state("")]
#[case::spool("spool")]
fn a_folder_that_others_write_to_is_not_used(#[case] folder: &str) {
    let env = TestEnv::with_point();
    env.write_transcript(&Session::citing("s1"));
    fs::create_dir_all(env.state().join("spool")).unwrap();
    let folder: PathBuf = env.state().join(folder).components().collect();
    set_mode(&folder, 0o777);
    let before = env.files();
    let hooks = Hook::ALL.into_iter();
    for hook in hooks.filter(|hook| *hook != Hook::SessionStart) {
        env.hook(hook, "s1", json!({})).silent();
    }
    // Each start reports it, because no file can record that it was shown.
    let name = folder.to_str().unwrap();
    for session in ["s1", "s2"] {
        let told = told_alone(&env, session);
        has!(told, "nothing will be learned", name, "`chmod -R go-rwx`");
    }
    let words = ["could not use state folder", name, "hint", "chmod"];
    for command in ["show", "worker", "add x", "review", "trust"] {
        let command: Vec<&str> = command.split(' ').collect();
        env.cli(&command).fails(1, &words);
    }
    assert!(env.changed_since(&before).is_empty());

    // Repaired, all works again.
    set_mode(&folder, 0o700);
    env.hook(Hook::SessionStart, "s1", json!({})).context();
}

#[test]
fn settings_that_others_write_are_told_at_each_start_and_those_that_switch_off_are_heard() {
    let env = TestEnv::with_point();
    env.write_config("[reflection]\nenabled = false\n");
    fs::create_dir_all(env.state()).unwrap();
    set_mode(&env.state(), 0o777);
    env.hook(Hook::SessionStart, "s1", json!({})).silent();

    set_mode(&env.config_dir().join("config.toml"), 0o666);
    set_mode(&env.state(), 0o700);
    has!(told_alone(&env, "s1"), "could not use settings", "chmod");
}

#[rstest]
#[case::state("PLAYBOOK_STATE_DIR")]
#[case::config("PLAYBOOK_CONFIG_DIR")]
#[case::client("CLAUDE_CONFIG_DIR")]
fn a_relative_folder_is_refused_and_nothing_is_written(#[case] variable: &str) {
    let mut env = TestEnv::new();
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.write_transcript(&Session::citing("s1"));
    env.set(variable, "rel/here");
    let before = env.files();
    for hook in Hook::ALL {
        env.hook(hook, "s1", json!({})).silent();
    }
    for command in ["show", "install", "doctor", "worker", "status"] {
        let words = [variable, "rel/here: not an absolute path", "hint"];
        env.cli(&[command]).fails(1, &words);
    }
    assert!(env.changed_since(&before).is_empty());
}

#[test]
fn a_state_folder_of_another_user_is_not_used() {
    let env = TestEnv::with_point();
    fs::create_dir_all(env.state()).unwrap();
    // Only root may give a folder away.
    if chown(env.state(), Some(OTHER), None).is_err() {
        return;
    }
    has!(told_alone(&env, "s1"), "uid 12345", "PLAYBOOK_STATE_DIR");
    let words = ["another user", "uid 12345", "PLAYBOOK_STATE_DIR"];
    env.cli(&["show"]).fails(1, &words);
    env.cli(&["worker"]).fails(1, &words);
}

#[rstest]
#[case::record(0, 0o666)]
#[case::its_folder(1, 0o777)]
#[case::the_folder_of_all(2, 0o770)]
fn a_trust_record_that_others_can_have_written_is_not_believed(
    #[case] above: usize,
    #[case] mode: u32,
) {
    let env = trusted();
    env.hook(Hook::SessionStart, "s1", json!({})).context();
    // The mode that it had before we closed it.
    set_mode(&env.state(), 0o755);
    let record = env.project_state().join("trust");
    let open = record.ancestors().nth(above).unwrap();
    set_mode(open, mode);
    let flaw = format!("{}: others may write there", open.display());
    let way_out = "`playbook trust` makes the record anew";
    has!(told_alone(&env, "s2"), &*flaw, way_out);

    env.cli(&["trust"]).ok();
    assert_eq!(mode_of(open) & 0o077, 0);
    env.hook(Hook::SessionStart, "s3", json!({})).context();
}

#[test]
fn a_trust_record_of_another_user_is_not_believed() {
    let env = trusted();
    let record = env.project_state().join("trust");
    // Only root may give a file away.
    if chown(&record, Some(OTHER), None).is_err() {
        return;
    }
    has!(told_alone(&env, "s1"), "another user (uid 12345)");
    env.cli(&["trust"]).ok();
    env.hook(Hook::SessionStart, "s2", json!({})).context();
}

#[rstest]
#[case::redact(&["redact"])]
#[case::list(&["config", "list"])]
#[case::get(&["config", "get", "backend"])]
#[case::set(&["config", "set", "backend", "rules"])]
#[case::check(&["config", "check"])]
fn settings_that_all_can_write_are_used_by_no_command(#[case] command: &[&str]) {
    let env = TestEnv::without_worker();
    env.write_config("[secrets]\noff = [\"github\"]\n");
    set_mode(&env.config_dir().join("config.toml"), 0o666);
    let before = env.files();
    let done = env.cli(command);
    assert_eq!(done.code, Some(1), "{done:?}");
    let told = format!("{}{}", done.stdout, done.stderr);
    has!(told, "could not use settings", "others may write there");
    assert!(env.changed_since(&before).is_empty());
}

#[test]
fn what_we_write_is_private_and_what_others_could_read_is_closed() {
    let env = TestEnv::with_point();
    env.write_transcript(&Session::citing("s1"));
    env.start("s1");
    env.ends("s1");
    assert_eq!(env.spool().len(), 1);
    assert_private(&env.state());
    set_mode(&env.state(), 0o755);
    env.worker();
    assert_private(&env.state());
}

fn assert_private(path: &Path) {
    let wanted = if path.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(mode_of(path), wanted, "{}", path.display());
    let entries = fs::read_dir(path).into_iter().flatten();
    entries.for_each(|entry| assert_private(&entry.unwrap().path()));
}

/// Creates a project in a git work tree whose playbook is a link to a file elsewhere.
fn linked(name: &str) -> TestEnv {
    let env = TestEnv::with_point();
    fs::create_dir_all(env.project().join(".git")).unwrap();
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let file = env.project().join(".claude").join(name);
    let target = elsewhere.join(name);
    if name.ends_with("json") {
        fs::rename(&file, &target).unwrap();
    }
    symlink(&target, &file).unwrap();
    env.write_transcript(&Session::citing("s1"));
    env
}

#[rstest]
#[case::playbook("playbook.json")]
#[case::lock("playbook.json.lock")]
fn a_link_out_of_a_project_is_followed_only_where_it_is_trusted(#[case] name: &str) {
    let mut env = linked(name);
    let _api = env.use_votes();
    let target = env.root().join("elsewhere").join(name);
    let before = fs::read(&target).ok();
    let out = "leads out of the project";
    has!(told_alone(&env, "s1"), out);
    // Commands that only read refuse it, too.
    for command in [&["add", "x"][..], &["show"], &["report"], &["export"]] {
        env.cli(command).fails(1, &[out, "playbook trust"]);
    }
    let status = env.cli(&["status", "--json"]).json();
    assert_eq!(status["key_points"], 0, "{status}");
    has!(status["problems"].to_string(), out);
    env.ends("s1");
    env.worker();
    has!(env.reasons()[0], out);
    assert_eq!(fs::read(&target).ok(), before, "neither written nor made");

    // In a trusted project it is followed, and reported only once.
    env.cli(&["trust"]).ok();
    has!(env.cli(&["show"]).ok(), "run the tests");
    let (given, told) = env.start("s2");
    has!(given, "run the tests");
    has!(told, out);
    env.set("PLAYBOOK_NOW", "2026-11-28T12:00:00Z");
    let (given, told) = env.start("s3");
    has!(given, "run the tests");
    lacks!(told, out);
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(target.is_file() && env.project().join(".claude").join(name).is_symlink());
}

/// A hook reads the transcript's path from stdin; a worker would read that file.
#[rstest]
#[case::elsewhere("/etc/passwd")]
#[case::relative("passwd")]
#[case::upwards("ROOT/home/.claude/projects/../../secret.jsonl")]
#[case::beside("ROOT/secret.jsonl")]
#[case::link("ROOT/home/.claude/projects/p/link.jsonl")]
fn what_is_no_transcript_of_the_clients_makes_no_job(#[case] path: &str) {
    let env = TestEnv::with_point();
    let projects = env.home().join(".claude/projects/p");
    write(&projects.join("s.jsonl"), "{}\n");
    for file in ["secret.jsonl", "home/secret.jsonl"] {
        write(&env.root().join(file), "{}\n");
    }
    symlink(env.root().join("secret.jsonl"), projects.join("link.jsonl")).unwrap();
    let path = path.replace("ROOT", env.root().to_str().unwrap());
    let named = json!({"transcript_path": path, "agent_transcript_path": path});
    env.write_config("[hooks]\non_subagent_stop = true\n");
    for hook in [Hook::SessionEnd, Hook::PreCompact, Hook::SubagentStop] {
        env.hook(hook, "s1", named.clone()).silent();
    }
    _ = env.hook(Hook::SessionStart, "s2", named);
    assert!(env.spool().is_empty());
    assert!(!env.state().join("open").join("x").exists());
    let is_told = env.log().contains("not a transcript of Claude Code");
    assert!(path == "passwd" || is_told, "{}", env.log());
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (0, 0));
}

/// Names from stdin are hashed before they become part of a path.
#[test]
fn ids_from_stdin_are_never_parts_of_paths() {
    let env = TestEnv::with_point();
    env.write_transcript(&Session::citing("s1"));
    let before = env.files();
    for id in "../../../../pwned|/pwned|a/b|..|x\0y|\n|\u{202e}|-rf".split('|') {
        let named = json!({"session_id": id, "agent_id": id, "source": id, "trigger": id, "reason": id,
            "prompt_id": id, "transcript_path": env.transcript_path("s1")});
        for hook in Hook::ALL {
            let output = env.hook(hook, "s1", named.clone());
            assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        }
    }
    for path in env.changed_since(&before) {
        assert!(path.starts_with("state"), "{}", path.display());
        lacks!(path.to_string_lossy(), "pwned", "a/b", "-rf", "\u{202e}");
    }
}
