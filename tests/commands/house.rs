//! Promise: what a crate must not link it cannot, and a name says which type it is.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use rstest::rstest;

/// What reaches the world, or starts slowly.
const OUTSIDE: &[&str] = &["rusqlite", "reqwest", "tokio", "clap", "minijinja"];
/// What a hook has no time for, either.
const SLOW: &[&str] = &["regex", "regex-automata", "aho-corasick", "toml"];

/// What a hook may link of others' crates and ours; those that only run in the compiler not
/// counted.
const MOST_OF_A_HOOK: usize = 25;

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

#[test]
fn no_two_types_have_one_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for folder in ["src", "crates"] {
        types_below(&root.join(folder), &mut places);
    }
    assert!(places.contains_key("Playbook"), "no types were found");
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "{places:#?}");
}

/// Finds the types that the sources below a folder define, tests apart, and where.
fn types_below(folder: &Path, places: &mut BTreeMap<String, Vec<String>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("tests") {
            types_below(&path, places);
        } else if path.extension().is_some_and(|end| end == "rs") {
            for name in fs::read_to_string(&path)
                .unwrap()
                .lines()
                .filter_map(defined_type)
            {
                let places = places.entry(name.to_owned()).or_default();
                places.push(path.display().to_string());
            }
        }
    }
}

/// The type that a line begins to define; not the associated one of an `impl`.
fn defined_type(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().peekable();
    words.next_if(|word| word.starts_with("pub"));
    let is_alias = words.peek() == Some(&"type") && !line.starts_with(' ');
    let is_type = ["struct", "enum", "trait", "union"].contains(words.peek()?);
    words.next();
    let name = words.next().filter(|_| is_alias || is_type)?;
    let end = name
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(name.len());
    Some(&name[..end]).filter(|name| name.starts_with(char::is_uppercase))
}
