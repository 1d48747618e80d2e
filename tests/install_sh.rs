//! Promise: install.sh installs from an archive it has checked, twice makes no difference,
//! and --uninstall leaves nothing behind.

#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::env::{Hook, TestEnv, write};
use common::run::{Output, Running, Stdin};

const SETTINGS: &str = "{\n  \"env\": {\"GRÜSSE\": \"日本語\", \"A\":\"1\"},\n\t\"hooks\": {\n    \"SessionEnd\": [\n      {\n\t\"hooks\": [{ \"type\": \"command\", \"command\": \"say bye\" }]\n      }\n    ]\n  }\n}";

fn run(env: &TestEnv, mut command: Command) -> Output {
    command.current_dir(env.root());
    Running::start(command, b"", Stdin::Closed).finish()
}

fn install_sh(env: &TestEnv, args: &[&str]) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("install.sh");
    let mut command = env.command("/bin/sh");
    command.arg(script).args(args);
    run(env, command)
}

/// A release archive of this build, with hooks that are scripts: they are not what is tried.
fn archive(env: &TestEnv) -> PathBuf {
    let bin = env.root().join("pack/playbook-0.0.0/bin");
    let playbook = bin.join("playbook");
    write(&playbook, "");
    fs::remove_file(&playbook).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_playbook"), &playbook).unwrap();
    for hook in Hook::ALL {
        let script = "#!/bin/sh\nexec \"${0%/*}/playbook\" hook \"${0##*/}\"\n";
        write(&bin.join(hook.name()), script);
        fs::set_permissions(bin.join(hook.name()), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut tar = env.command("/usr/bin/env");
    tar.args(["tar", "-cf", "release.tar", "-C", "pack", "playbook-0.0.0"]);
    run(env, tar).silent();
    let mut sum = env.command("/usr/bin/env");
    sum.args(["sha256sum", "release.tar"]);
    write(&env.root().join("release.tar.sha256"), run(env, sum).ok());
    fs::remove_dir_all(env.root().join("pack")).unwrap();
    env.root().join("release.tar")
}

#[test]
fn from_an_archive_and_back_without_a_trace() {
    let mut env = TestEnv::without_worker();
    env.set("CLAUDE_CONFIG_DIR", env.home().join("a claude's dir"));
    let claude = env.home().join("a claude's dir");
    write(&claude.join("settings.json"), SETTINGS);
    write(&env.playbook_path(), "{}");
    let archive = archive(&env);
    let from = ["--from", archive.to_str().unwrap()];
    let before = env.files();
    let folders = folders(env.root());

    let first = install_sh(&env, &from);
    assert_eq!(
        (first.code, first.stderr.as_str()),
        (Some(0), ""),
        "{first:?}"
    );
    assert!(first.stdout.contains("registered"), "{}", first.stdout);
    assert!(
        first.stdout.contains("Backend"),
        "the doctor spoke: {}",
        first.stdout
    );
    let once = env.files();
    let second = install_sh(&env, &from);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(
        env.changed_since(&once),
        Vec::<PathBuf>::new(),
        "a second run changes nothing"
    );

    // The registered command works as the client runs it.
    let settings = fs::read_to_string(claude.join("settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let command = settings["hooks"]["SessionStart"][0]["hooks"][0]["command"]
        .as_str()
        .unwrap();
    env.write_playbook(&[("pat-001", "run the tests")]);
    let mut sh = env.command("/bin/sh");
    sh.args(["-c", command]);
    let event = env.event(Hook::SessionStart, "s1").to_string();
    let context = Running::start(sh, event.as_bytes(), Stdin::Closed)
        .finish()
        .context();
    assert!(context.contains("[pat-001]"), "{context}");
    write(&env.playbook_path(), "{}");

    let gone = install_sh(&env, &["--uninstall", "--purge"]);
    assert_eq!((gone.code, gone.stderr.as_str()), (Some(0), ""), "{gone:?}");
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    assert_eq!(self::folders(env.root()), folders);
    let nothing = install_sh(&env, &["--uninstall"]).ok();
    assert!(nothing.contains("nothing to remove"), "{nothing}");
}

/// All folders below one, in order.
fn folders(root: &Path) -> Vec<PathBuf> {
    let mut all = vec![root.to_owned()];
    let mut at = 0;
    while at < all.len() {
        let entries = fs::read_dir(&all[at]).into_iter().flatten().flatten();
        let below: Vec<_> = entries.map(|e| e.path()).filter(|p| p.is_dir()).collect();
        all.extend(below);
        at += 1;
    }
    all.sort();
    all
}

#[test]
fn an_archive_with_another_sum_is_not_even_unpacked() {
    let env = TestEnv::without_worker();
    let archive = env.root().join("release.tar.gz");
    write(&archive, "x");
    let from = ["--from", archive.to_str().unwrap()];
    install_sh(&env, &from).fails(1, &["release.tar.gz.sha256: not there", "hint:"]);
    write(
        &env.root().join("release.tar.gz.sha256"),
        format!("{}  x\n", "0".repeat(64)),
    );
    install_sh(&env, &from).fails(1, &["its SHA-256 is not the one", "hint:"]);
    assert!(!env.home().join(".claude").exists());
}

#[test]
fn what_someone_else_put_there_is_not_overwritten() {
    let env = TestEnv::without_worker();
    write(&env.home().join(".local/bin/playbook"), "ansible's\n");
    install_sh(&env, &[]).fails(
        1,
        &["is there already and not from this script", "--prefix"],
    );
    let kept = fs::read_to_string(env.home().join(".local/bin/playbook")).unwrap();
    assert_eq!(kept, "ansible's\n");
}

#[test]
fn settings_that_cannot_be_parsed_fail_with_the_line_and_stay() {
    let env = TestEnv::without_worker();
    let archive = archive(&env);
    let settings = env.home().join(".claude/settings.json");
    write(&settings, "{\n// mine\n}");
    let told = install_sh(&env, &["--from", archive.to_str().unwrap()]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.stderr.contains("settings.json: line 2"), "{told:?}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\n// mine\n}");
    let told = env.cli(&["hook", "--list"]).ok();
    assert_eq!(told.lines().collect::<Vec<_>>(), Hook::ALL.map(Hook::name));
}
