//! Promise: nothing is sent unencrypted to other machines unless the user allows it, and nothing
//! runs through a shell.

use std::fs;
use std::path::Path;

use crate::common::env::TestEnv;

/// 192.0.2.0/24 is reserved for documentation; nothing is sent there.
#[test]
fn plain_http_elsewhere_is_refused_until_the_user_says_so() {
    let mut env = TestEnv::with_point();
    env.use_api("http://192.0.2.1", "sk-test");
    env.learn_citing("s1");
    has!(env.reasons()[0], "plain `http`");
    env.write_config("[anthropic]\nbase_url = \"http://192.0.2.1\"\n");
    let check = format!("{:?}", env.cli(&["config", "check"]));
    has!(check, "anthropic.allow_http");
    env.write_config("[anthropic]\nbase_url = \"http://192.0.2.1\"\nallow_http = true\n");
    env.cli(&["config", "check"]).ok();
}

/// Programs are started with an argument list, and certificates are always checked.
#[test]
fn the_code_starts_no_shell_and_switches_no_check_off() {
    let programs = ["sh", "bash", "/bin/sh", "env"];
    let programs = programs.map(|name| format!("Command::new(\"{name}\")"));
    let checks = [".danger_accept", ".tls_danger", "dangerous()"].map(str::to_owned);
    let nowhere = [&programs[..], &checks].concat();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
            for never in &nowhere {
                assert!(!text.contains(never), "{never} in {}", path.display());
            }
        }
    }
    assert!(files > 100);
}
