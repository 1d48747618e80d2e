//! Promise: a state folder that others may have touched is not used, a link out of a project
//! is followed only where the user trusts it, and nothing is read that is no transcript of the
//! client's.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use crate::common::env::{Hook, TestEnv, write};
use crate::common::session::Session;
use rstest::rstest;
use serde_json::json;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn ended(env: &TestEnv) {
    let session = Session::new("s1")
        .user("hello")
        .assistant("By [pat-001], done.")
        .user("thanks")
        .done();
    env.write_transcript(&session);
}

#[rstest]
#[case::state("")]
#[case::spool("spool")]
fn a_folder_that_others_write_to_is_not_used(#[case] folder: &str) {
    let env = TestEnv::with_point();
    ended(&env);
    fs::create_dir_all(env.state().join("spool")).unwrap();
    let folder: std::path::PathBuf = env.state().join(folder).components().collect();
    set_mode(&folder, 0o777);
    let before = env.files();
    for hook in Hook::ALL
        .into_iter()
        .filter(|hook| *hook != Hook::SessionStart)
    {
        env.hook(hook, "s1", json!({})).silent();
    }
    // Each start tells it: there is nothing that could remember.
    for session in ["s1", "s2"] {
        let told = told_at_start(&env, session);
        let said = [
            "nothing will be learned",
            folder.to_str().unwrap(),
            "`chmod -R go-rwx`",
        ];
        assert!(said.iter().all(|words| told.contains(words)), "{told}");
    }
    let words = [
        "could not use state folder",
        folder.to_str().unwrap(),
        "hint",
        "chmod",
    ];
    for command in [
        &["show"][..],
        &["worker"],
        &["add", "x"],
        &["review"],
        &["trust"],
    ] {
        env.cli(command).fails(1, &words);
    }
    assert_eq!(env.changed_since(&before), Vec::<std::path::PathBuf>::new());

    // Mended, all works again.
    set_mode(&folder, 0o700);
    env.hook(Hook::SessionStart, "s1", json!({})).context();
}

/// What a start says to the user, and that it gives nothing of the playbook.
fn told_at_start(env: &TestEnv, session: &str) -> String {
    let said = env.hook(Hook::SessionStart, session, json!({})).json();
    assert!(said["hookSpecificOutput"].is_null(), "{said}");
    said["systemMessage"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn settings_that_others_write_are_told_at_each_start_and_those_that_switch_off_are_heard() {
    let env = TestEnv::without_worker();
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.write_config("[reflection]\nenabled = false\n");
    fs::create_dir_all(env.state()).unwrap();
    set_mode(&env.state(), 0o777);
    env.hook(Hook::SessionStart, "s1", json!({})).silent();

    let config = env.config_dir().join("config.toml");
    set_mode(&config, 0o666);
    set_mode(&env.state(), 0o700);
    let told = told_at_start(&env, "s1");
    assert!(
        told.contains("could not use settings") && told.contains("chmod"),
        "{told}"
    );
}

#[rstest]
#[case::state("PLAYBOOK_STATE_DIR")]
#[case::config("PLAYBOOK_CONFIG_DIR")]
#[case::client("CLAUDE_CONFIG_DIR")]
fn a_relative_folder_is_refused_and_nothing_is_written(#[case] variable: &str) {
    let mut env = TestEnv::new();
    env.write_playbook(&[("pat-001", "run the tests")]);
    ended(&env);
    env.set(variable, "rel/here");
    let before = env.files();
    for hook in Hook::ALL {
        env.hook(hook, "s1", json!({})).silent();
    }
    for command in [
        &["show"][..],
        &["install"],
        &["doctor"],
        &["worker"],
        &["status"],
    ] {
        let words = [variable, "rel/here: not an absolute path", "hint"];
        env.cli(command).fails(1, &words);
    }
    assert_eq!(env.changed_since(&before), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_state_folder_of_another_user_is_not_used() {
    const OTHER: u32 = 12_345;
    let env = TestEnv::with_point();
    fs::create_dir_all(env.state()).unwrap();
    // Only root may give a folder away.
    if chown(env.state(), Some(OTHER), None).is_err() {
        return;
    }
    let told = told_at_start(&env, "s1");
    assert!(
        told.contains("uid 12345") && told.contains("PLAYBOOK_STATE_DIR"),
        "{told}"
    );
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
    let env = TestEnv::without_worker();
    fs::create_dir(env.project().join(".git")).unwrap();
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.cli(&["trust"]).ok();
    env.hook(Hook::SessionStart, "s1", json!({})).context();
    // As it was before anybody closed it.
    set_mode(&env.state(), 0o755);
    let open = trust_record(&env)
        .ancestors()
        .nth(above)
        .unwrap()
        .to_owned();
    set_mode(&open, mode);

    let said = env.hook(Hook::SessionStart, "s2", json!({})).json();
    assert!(said["hookSpecificOutput"].is_null(), "{said}");
    let told = said["systemMessage"].as_str().unwrap();
    has!(
        told,
        &format!("{}: others may write there", open.display()),
        "`playbook trust` makes the record anew"
    );

    env.cli(&["trust"]).ok();
    assert_eq!(mode_of(&open) & 0o077, 0);
    env.hook(Hook::SessionStart, "s3", json!({})).context();
}

#[test]
fn a_trust_record_of_another_user_is_not_believed() {
    const OTHER: u32 = 12_345;
    let env = TestEnv::without_worker();
    fs::create_dir(env.project().join(".git")).unwrap();
    env.write_playbook(&[("pat-001", "run the tests")]);
    env.cli(&["trust"]).ok();
    let record = trust_record(&env);
    // Only root may give a file away.
    if chown(&record, Some(OTHER), None).is_err() {
        return;
    }
    let said = env.hook(Hook::SessionStart, "s1", json!({})).json();
    assert!(said["hookSpecificOutput"].is_null(), "{said}");
    let told = said["systemMessage"].as_str().unwrap();
    has!(told, "another user (uid 12345)");
    env.cli(&["trust"]).ok();
    env.hook(Hook::SessionStart, "s2", json!({})).context();
}

fn trust_record(env: &TestEnv) -> std::path::PathBuf {
    let mut projects = fs::read_dir(env.state().join("projects")).unwrap();
    projects.next().unwrap().unwrap().path().join("trust")
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
    let file = env.config_dir().join("config.toml");
    set_mode(&file, 0o666);
    let before = env.files();
    let done = env.cli(command);
    assert_eq!(done.code, Some(1), "{done:?}");
    let told = format!("{}{}", done.stdout, done.stderr);
    has!(told, "could not use settings", "others may write there");
    assert_eq!(env.changed_since(&before), Vec::<std::path::PathBuf>::new());
}

#[test]
fn what_we_write_is_private_and_what_others_could_read_is_closed() {
    let env = TestEnv::with_point();
    fs::create_dir_all(env.state()).unwrap();
    set_mode(&env.state(), 0o755);
    ended(&env);
    env.hook(Hook::SessionStart, "s1", json!({})).context();
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.worker();
    assert_eq!(mode_of(&env.state()), 0o700);
    let mut open = vec![env.state()];
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            let wanted = if path.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(mode_of(&path), wanted, "{}", path.display());
            if path.is_dir() {
                open.push(path);
            }
        }
    }
}

/// A project below a git work tree whose playbook is a link to a file elsewhere.
fn linked(name: &str) -> TestEnv {
    let env = TestEnv::without_worker();
    fs::create_dir_all(env.project().join(".git")).unwrap();
    env.write_playbook(&[("pat-001", "run the tests")]);
    let elsewhere = env.root().join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let (file, target) = (
        env.project().join(".claude").join(name),
        elsewhere.join(name),
    );
    if name.ends_with("json") {
        fs::rename(&file, &target).unwrap();
    }
    symlink(&target, &file).unwrap();
    ended(&env);
    env
}

#[rstest]
#[case::playbook("playbook.json")]
#[case::lock("playbook.json.lock")]
fn a_link_out_of_a_project_is_followed_only_where_it_is_trusted(#[case] name: &str) {
    let mut env = linked(name);
    let elsewhere = env.root().join("elsewhere");
    let target = elsewhere.join(name);
    let before = fs::read(&target).ok();
    let told = |env: &TestEnv, session: &str| {
        let said = env.hook(Hook::SessionStart, session, json!({})).json();
        let context = said["hookSpecificOutput"]["additionalContext"].is_string();
        (
            context,
            said["systemMessage"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        )
    };

    let (context, said) = told(&env, "s1");
    assert!(
        !context && said.contains("leads out of the project"),
        "{said}"
    );
    env.cli(&["add", "x"])
        .fails(1, &["leads out of the project", "playbook trust"]);
    // Nor is it shown to who only looks.
    for command in ["show", "report", "export"] {
        env.cli(&[command])
            .fails(1, &["leads out of the project", "playbook trust"]);
    }
    let status = env.cli(&["status", "--json"]).json();
    assert_eq!(status["key_points"], 0, "{status}");
    assert!(
        status["problems"]
            .to_string()
            .contains("leads out of the project"),
        "{status}"
    );
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.worker();
    assert!(
        env.reasons()[0].contains("leads out of the project"),
        "{:?}",
        env.reasons()
    );
    assert_eq!(fs::read(&target).ok(), before, "neither written nor made");

    // Trusted, it is followed, and said once and never again.
    env.cli(&["trust"]).ok();
    assert!(env.cli(&["show"]).ok().contains("run the tests"));
    let (context, said) = told(&env, "s2");
    assert!(
        context && said.contains("leads out of the project"),
        "{said}"
    );
    env.set("PLAYBOOK_NOW", "2026-11-28T12:00:00Z");
    let (context, said) = told(&env, "s3");
    assert!(
        context && !said.contains("leads out of the project"),
        "{said}"
    );
    env.cli(&["jobs", "retry", "--all"]).ok();
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (1, 0));
    assert!(target.is_file() && env.project().join(".claude").join(name).is_symlink());
}

/// A hook reads the path of the transcript from stdin; a worker would read the file.
#[rstest]
#[case::elsewhere("/etc/passwd")]
#[case::relative("passwd")]
#[case::upwards("ROOT/home/.claude/projects/../../secret.jsonl")]
#[case::beside("ROOT/secret.jsonl")]
#[case::link("ROOT/home/.claude/projects/p/link.jsonl")]
fn what_is_no_transcript_of_the_clients_makes_no_job(#[case] path: &str) {
    let env = TestEnv::with_point();
    for file in [
        "secret.jsonl",
        "home/secret.jsonl",
        "home/.claude/projects/p/s.jsonl",
    ] {
        write(&env.root().join(file), "{}\n");
    }
    symlink(
        env.root().join("secret.jsonl"),
        env.home().join(".claude/projects/p/link.jsonl"),
    )
    .unwrap();
    let path = path.replace("ROOT", env.root().to_str().unwrap());
    let named = json!({"transcript_path": path, "agent_transcript_path": path});
    env.write_config("[hooks]\non_subagent_stop = true\n");
    for hook in [Hook::SessionEnd, Hook::PreCompact, Hook::SubagentStop] {
        env.hook(hook, "s1", named.clone()).silent();
    }
    _ = env.hook(Hook::SessionStart, "s2", named);
    assert!(env.spool().is_empty());
    assert!(!env.state().join("open").join("x").exists());
    let log = fs::read_to_string(env.state().join("log/hooks.log")).unwrap_or_default();
    let logs: String = fs::read_dir(env.state().join("log"))
        .map(|logs| {
            logs.flatten()
                .filter_map(|log| fs::read_to_string(log.path()).ok())
                .collect()
        })
        .unwrap_or_default();
    assert!(path == "passwd" || (log + &logs).contains("not a transcript of Claude Code"));
    env.worker();
    assert_eq!(env.marks_of("pat-001"), (0, 0));
}

#[rstest]
#[case::fifo("fifo")]
#[case::folder("folder")]
#[case::device("device")]
fn a_transcript_that_is_no_file_is_never_opened(#[case] kind: &str) {
    let env = TestEnv::with_point();
    let path = env.transcript_path("s1");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    match kind {
        "fifo" => {
            let made = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(made.unwrap().success());
        }
        "folder" => fs::create_dir(&path).unwrap(),
        _ => symlink("/dev/zero", &path).unwrap(),
    }
    env.hook(Hook::SessionEnd, "s1", json!({})).silent();
    env.worker();
    assert!(env.spool().is_empty(), "{:?}", env.spool());
    env.cli(&["reflect", path.to_str().unwrap()])
        .fails(1, &["not a regular file"]);
}

/// Names from stdin are hashed before they are a part of a path.
#[test]
fn ids_from_stdin_are_never_parts_of_paths() {
    let env = TestEnv::with_point();
    ended(&env);
    for (n, id) in [
        "../../../../pwned",
        "/pwned",
        "a/b",
        "..",
        "x\u{0}y",
        "\u{202e}",
        "-rf",
    ]
    .iter()
    .enumerate()
    {
        let named = json!({"session_id": id, "agent_id": id, "source": id, "trigger": id, "reason": id,
            "prompt_id": id, "transcript_path": env.transcript_path("s1"), "n": n});
        for hook in Hook::ALL {
            _ = env.hook(hook, "s1", named.clone());
        }
    }
    let strange = env.files().into_keys().filter(|path| {
        let path = path.to_string_lossy();
        path.contains("pwned")
            || path.contains("a/b")
            || path.contains("-rf")
            || path.contains('\u{202e}')
    });
    assert_eq!(strange.count(), 0);
    assert!(env.root().read_dir().unwrap().count() <= 6);
}
