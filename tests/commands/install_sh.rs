//! Promise: install.sh installs from an archive that it has checked, can be run twice, and
//! --uninstall leaves nothing.

use crate::common::prelude::*;

const SETTINGS: &str = "{\n  \"env\": {\"GRÜSSE\": \"日本語\", \"A\":\"1\"},\n\t\"hooks\": {\n    \"SessionEnd\": [\n      {\n\t\"hooks\": [{ \"type\": \"command\", \"command\": \"say bye\" }]\n      }\n    ]\n  }\n}";

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh");

fn run(env: &TestEnv, mut command: Command) -> Output {
    command.current_dir(env.root());
    Running::start(command, b"", Stdin::Closed).finish()
}

fn install_sh(env: &TestEnv, args: &[&str]) -> Output {
    script_at(Path::new(SCRIPT), env, args)
}

fn script_at(script: &Path, env: &TestEnv, args: &[&str]) -> Output {
    let mut command = env.command("/bin/sh");
    command.arg(script).args(args);
    run(env, command)
}

fn tool(env: &TestEnv, args: &str) -> String {
    let mut command = env.command("/usr/bin/env");
    command.args(args.split(' '));
    run(env, command).ok()
}

/// Packs a release archive of this build, with scripts in place of the hooks, which are not tested
/// here.
fn archive(env: &TestEnv) -> String {
    let bin = env.root().join("pack/playbook-0.0.0/bin");
    fs::create_dir_all(&bin).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_playbook"), bin.join("playbook")).unwrap();
    for hook in Hook::ALL {
        let script = "#!/bin/sh\nexec \"${0%/*}/playbook\" hook \"${0##*/}\"\n";
        write_program(&bin.join(hook.name()), script);
    }
    tool(env, "tar -cf release.tar -C pack playbook-0.0.0");
    let sum = tool(env, "sha256sum release.tar");
    write(&env.root().join("release.tar.sha256"), sum);
    fs::remove_dir_all(env.root().join("pack")).unwrap();
    env.root().join("release.tar").display().to_string()
}

#[test]
fn from_an_archive_and_back_without_a_trace() {
    let mut env = TestEnv::without_worker();
    let claude = env.home().join("a claude's dir");
    env.set("CLAUDE_CONFIG_DIR", &claude);
    write(&claude.join("settings.json"), SETTINGS);
    write(&env.playbook_path(), "{}");
    let from = ["--from", &archive(&env)];
    let before = env.files();
    let folders = folders(env.root());

    let told = install_sh(&env, &from).ok();
    has!(told, "registered", "Backend", "Next: start Claude Code");
    has!(told, "playbook bootstrap\n");
    let once = env.files();
    let second = install_sh(&env, &from);
    assert_eq!(second.code, Some(0), "{second:?}");
    assert_eq!(env.changed_since(&once), Vec::<PathBuf>::new());

    // The registered command works as the client runs it.
    let settings = fs::read_to_string(claude.join("settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let command = &settings["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    env.write_playbook(&[("pat-001", "run the tests")]);
    let mut sh = env.command("/bin/sh");
    sh.args(["-c", command.as_str().unwrap()]);
    let event = env.event(Hook::SessionStart, "s1").to_string();
    let started = Running::start(sh, event.as_bytes(), Stdin::Closed).finish();
    has!(started.context(), "[pat-001]");
    write(&env.playbook_path(), "{}");

    install_sh(&env, &["--uninstall", "--purge"]).ok();
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    assert_eq!(self::folders(env.root()), folders);
    let nothing = install_sh(&env, &["--uninstall"]).ok();
    has!(nothing, "nothing to remove");
}

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
    let sum = format!("{}  x\n", "0".repeat(64));
    write(&env.root().join("release.tar.gz.sha256"), sum);
    install_sh(&env, &from).fails(1, &["its SHA-256 is not the one", "hint:"]);
    assert!(!env.home().join(".claude").exists());
}

#[rstest]
#[case::as_sha256sum_writes_it(|sum: &str| format!("{sum}  release.tar\n"), true)]
#[case::bare(|sum: &str| format!("{sum}\n"), true)]
#[case::bare_without_a_line_end(|sum: &str| sum.to_owned(), true)]
#[case::upper_case_and_carriage_return(|sum: &str| format!("{}\r\n", sum.to_uppercase()), true)]
#[case::of_an_escaped_name(|sum: &str| format!("\\{sum}  a\\\\b.tar\n"), true)]
#[case::empty(|_: &str| String::new(), false)]
#[case::no_sum(|_: &str| "release.tar\n".to_owned(), false)]
#[case::cut_off(|sum: &str| sum[..63].to_owned(), false)]
#[case::too_long(|sum: &str| format!("{sum}0\n"), false)]
#[case::on_another_line(|sum: &str| format!("\n{sum}\n"), false)]
fn only_all_digits_of_a_sum_are_one(#[case] text: fn(&str) -> String, #[case] accepted: bool) {
    let env = TestEnv::without_worker();
    // sha256sum escapes this name and marks that before the sum.
    let folder = env.root().join("down\\loads");
    let archive = archive(&env);
    let sum = fs::read_to_string(env.root().join("release.tar.sha256")).unwrap();
    write(&folder.join("release.tar.sha256"), text(&sum[..64]));
    fs::rename(archive, folder.join("release.tar")).unwrap();
    let from = folder.join("release.tar");
    let told = install_sh(&env, &["--from", from.to_str().unwrap(), "--dry-run"]);
    if accepted {
        told.ok();
    } else {
        let words = ["release.tar.sha256: does not begin with a SHA-256", "hint:"];
        told.fails(1, &words);
    }
}

#[test]
fn without_a_program_for_sums_no_archive_is_used() {
    let mut env = TestEnv::without_worker();
    let archive = archive(&env);
    write(&env.root().join("release.tar.sha256"), "");
    let tools = env.root().join("tools");
    fs::create_dir(&tools).unwrap();
    for tool in "sh dirname mktemp sed tr rm cat tar uname".split(' ') {
        let found = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
        let found = found.into_iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(found, tools.join(tool)).unwrap();
    }
    env.set("PATH", &tools);
    let from = ["--from", &archive];
    install_sh(&env, &from).fails(1, &["does not begin with a SHA-256"]);
    write(&env.root().join("release.tar.sha256"), "0".repeat(64));
    install_sh(&env, &from).fails(1, &["neither sha256sum nor shasum is there"]);
}

#[test]
fn a_dry_run_shows_what_would_come_and_go_and_does_nothing() {
    let env = TestEnv::without_worker();
    let from = ["--from", &archive(&env), "--dry-run"];
    write(&env.home().join(".claude/settings.json"), SETTINGS);
    let before = env.files();
    let said = install_sh(&env, &from).ok();
    has!(said, "would install ", ".local/bin/playbook\n");
    has!(said, "playbook/bin/session-end\n", "man1/playbook.1\n");
    has!(said, "\n+++ ", ".claude/playbook/bin/session-start\"\n");
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    let scope = ["--scope", "project"];
    let told = install_sh(&env, &[&from[..], &scope].concat()).ok();
    has!(told, &format!("+++ {}", env.root().display()));

    install_sh(&env, &from[..2]).ok();
    let before = env.files();
    let leaving =
        |more: &[&str]| install_sh(&env, &[&["--uninstall", "--dry-run"][..], more].concat());
    has!(leaving(&[]).ok(), "would remove ");
    lacks!(leaving(&["--scope=user"]).ok(), "would remove ");
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    install_sh(&env, &["--plugin", "--dry-run"]).fails(2, &["go with an installation"]);
    install_sh(&env, &["--scope", "world"]).fails(2, &["unknown scope"]);
}

#[test]
fn a_dry_run_before_anything_is_built_builds_nothing() {
    let mut env = TestEnv::without_worker();
    let target = env.root().join("target");
    env.set("CARGO_TARGET_DIR", &target);
    let before = env.files();
    let told = install_sh(&env, &["--dry-run"]).ok();
    has!(told, "would build the programs");
    has!(told, "scope user:\n  SessionStart\n");
    has!(told, ".local/bin/playbook\n");
    for hook in Hook::ALL {
        let event = format!("\n  {}\n", hook.client_name());
        assert_eq!(told.contains(&event), Hook::REGISTERED.contains(&hook));
        has!(told, &*format!("playbook/bin/{}\n", hook.name()));
    }
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    assert!(!target.exists());
}

#[test]
fn to_uninstall_no_program_of_someone_else_is_run() {
    let env = TestEnv::without_worker();
    for place in [".local/bin/playbook", ".claude/playbook/bin/playbook"] {
        write_program(&env.home().join(place), "#!/bin/sh\necho FOREIGN\n");
    }
    let told = install_sh(&env, &["--uninstall"]).ok();
    assert!(told.starts_with("nothing to remove"), "{told}");
}

#[test]
fn what_an_uninstallation_left_is_named_and_can_still_be_purged() {
    let env = TestEnv::without_worker();
    let from = ["--from", &archive(&env)];
    let before = env.files();
    install_sh(&env, &from).ok();
    env.cli(&["config", "set", "retry.attempts", "5"]).ok();
    let told = install_sh(&env, &["--uninstall"]).ok();
    let config = env.config_dir().display().to_string();
    has!(told, &config);

    let unpacked = env.root().join("unpacked");
    let script = unpacked.join("install.sh");
    write(&script, fs::read(SCRIPT).unwrap());
    let told = script_at(&script, &env, &["--uninstall"]).ok();
    has!(told, &format!("still there: {config}"));
    script_at(&script, &env, &["--uninstall", "--purge"])
        .fails(1, &["no `playbook` of ours", "hint: install it again"]);
    // The script needs no installation if its programs are next to it.
    fs::create_dir(unpacked.join("bin")).unwrap();
    let program = unpacked.join("bin/playbook");
    fs::copy(env!("CARGO_BIN_EXE_playbook"), program).unwrap();
    script_at(&script, &env, &["--uninstall", "--purge"]).ok();
    fs::remove_dir_all(unpacked).unwrap();
    assert_eq!(env.changed_since(&before), Vec::<PathBuf>::new());
    assert!(!env.config_dir().exists() && !env.state().exists());
}

#[test]
fn a_release_archive_has_all_that_its_readme_links_to() {
    let env = TestEnv::without_worker();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let unpacked = env.root().join("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let mut copy = env.command("/bin/cp");
    copy.arg("-R");
    for part in fs::read_dir(root).unwrap() {
        let part = part.unwrap();
        let name = part.file_name();
        let others = ".git target fuzz src tests bin Cargo.toml";
        if !others.split(' ').any(|other| name == other) {
            copy.arg(part.path());
        }
    }
    copy.arg(&unpacked);
    run(&env, copy).ok();
    // Scripts replace the programs, which take long to compress.
    let program = "#!/bin/sh\n[ \"$1\" = hook ] && echo session-start || echo playbook 0.0.0\n";
    for name in ["playbook", "session-start"] {
        write_program(&unpacked.join("bin").join(name), program);
    }

    let script = unpacked.join("install.sh");
    script_at(&script, &env, &["--archive", "out.tar.gz"]).ok();
    let out = env.root().join("out");
    fs::create_dir(&out).unwrap();
    tool(&env, "tar -xzf out.tar.gz -C out --strip-components=1");
    let readme = fs::read_to_string(out.join("README.md")).unwrap();
    for link in readme.split("](").skip(1) {
        let target = link.split([')', '#']).next().unwrap();
        let is_there = target.starts_with("http") || out.join(target).exists();
        assert!(is_there, "{target}");
    }
    assert!(out.join(".claude-plugin/icon.png").exists());
}

#[test]
fn what_someone_else_put_there_is_not_overwritten() {
    let env = TestEnv::without_worker();
    let theirs = env.home().join(".local/bin/playbook");
    write(&theirs, "ansible's\n");
    let words = ["is there already and not from this script", "--prefix"];
    install_sh(&env, &[]).fails(1, &words);
    assert_eq!(fs::read_to_string(theirs).unwrap(), "ansible's\n");
}

#[test]
fn settings_that_cannot_be_parsed_fail_with_the_line_and_stay() {
    let env = TestEnv::without_worker();
    let settings = env.home().join(".claude/settings.json");
    write(&settings, "{\n// mine\n}");
    let told = install_sh(&env, &["--from", &archive(&env)]);
    assert_eq!(told.code, Some(1), "{told:?}");
    has!(told.stderr, "could not edit settings");
    has!(told.stderr, "settings.json: line 2", "hint: mend that line");
    assert!(!env.home().join(".local").exists(), "nothing was installed");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\n// mine\n}");
    let listed = env.cli(&["hook", "--list"]).ok();
    assert!(listed.lines().eq(Hook::ALL.map(Hook::name)), "{listed}");
}
