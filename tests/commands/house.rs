//! Promise: what a crate must not link it cannot.

use std::process::Command;

use rstest::rstest;

/// What reaches the world, or starts slowly.
const OUTSIDE: &[&str] = &["rusqlite", "reqwest", "tokio", "clap", "minijinja"];
/// What a hook has no time for, either.
const SLOW: &[&str] = &["regex", "regex-automata", "aho-corasick", "toml"];

#[rstest]
#[case::core("playbook-core", &[OUTSIDE, SLOW])]
#[case::learn("playbook-learn", &[OUTSIDE])]
fn a_crate_links_nothing_that_is_not_its_own(#[case] package: &str, #[case] forbidden: &[&[&str]]) {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--offline", "--locked", "--edges", "normal"])
        .args([
            "--prefix",
            "none",
            "--format",
            "{lib}",
            "--package",
            package,
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && told.contains("serde"), "{told}");
    let linked: Vec<&str> = told.lines().map(str::trim).collect();
    for name in forbidden.iter().copied().flatten() {
        let lib = name.replace('-', "_");
        assert!(!linked.contains(&lib.as_str()), "{package} links {name}");
    }
}
