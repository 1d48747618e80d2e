//! Promise: a crate cannot link what it must not.

use std::collections::BTreeSet;
use std::process::Command;

use rstest::rstest;

/// The crates that do I/O or start slowly.
const OUTSIDE: &[&str] = &["rusqlite", "reqwest", "tokio", "clap", "minijinja"];
/// The crates that also take too long for a hook.
const SLOW: &[&str] = &["regex", "regex-automata", "aho-corasick", "toml"];

/// The most crates that a hook may link, except those that only run in the compiler.
const MOST_OF_A_HOOK: usize = 27;

#[rstest]
#[case::hooks("playbook-hooks", &[OUTSIDE, SLOW, &["playbook-learn", "rand", "tempfile"]])]
#[case::core("playbook-core", &[OUTSIDE, SLOW])]
#[case::learn("playbook-learn", &[OUTSIDE])]
fn a_crate_links_nothing_that_is_not_its_own(#[case] package: &str, #[case] forbidden: &[&[&str]]) {
    let linked = linked_by(package);
    for name in forbidden.iter().copied().flatten() {
        let lib = name.replace('-', "_");
        assert!(!linked.contains(&lib), "{package} links {name}");
    }
}

#[test]
fn a_hook_links_few_crates() {
    let linked = linked_by("playbook-hooks");
    assert!(linked.len() <= MOST_OF_A_HOOK, "{linked:?}");
}

fn linked_by(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--no-dedupe"])
        .args(["--edges", "normal,no-proc-macro", "--prefix", "none"])
        .args(["--format", "{lib}", "--package", package])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && told.contains("serde"), "{told}");
    told.lines().map(|line| line.trim().to_owned()).collect()
}
