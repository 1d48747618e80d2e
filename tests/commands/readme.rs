//! Promise: README says what is true: the settings in it are there, with these defaults.

use std::collections::BTreeSet;

use playbook::config::{Config, KEYS};

const README: &str = include_str!("../../README.md");

/// The rows of the table of settings: the words in backticks of the first column, and the
/// second column.
fn rows() -> Vec<(Vec<&'static str>, Vec<&'static str>)> {
    let table = README
        .split_once("In `config.toml`:")
        .map(|(_, rest)| rest.trim_start())
        .expect("the table of settings");
    table
        .lines()
        .take_while(|line| line.starts_with('|'))
        .skip(2)
        .map(|line| {
            let mut columns = line.split('|').skip(1);
            let mut quoted = || {
                let column = columns.next().unwrap_or_default();
                column.split('`').skip(1).step_by(2).collect::<Vec<_>>()
            };
            (quoted(), quoted())
        })
        .collect()
}

#[test]
fn every_setting_in_the_readme_is_one() {
    let known: BTreeSet<String> = KEYS.iter().map(playbook::config::Key::name).collect();
    let told: BTreeSet<String> = rows()
        .into_iter()
        .flat_map(|(names, _)| names)
        .map(str::to_owned)
        .collect();
    assert!(!told.is_empty());
    let strange: Vec<_> = told.difference(&known).collect();
    assert!(strange.is_empty(), "{strange:?}");
}

#[test]
fn every_default_in_the_readme_is_the_default() {
    for (names, defaults) in rows() {
        for (i, name) in names.iter().enumerate() {
            let key = KEYS.iter().find(|key| key.name() == *name);
            let shown = key.and_then(|key| Config::default().shown(key));
            // One default for all keys of a row, or one for each.
            let Some(told) = defaults.get(i).or(defaults.first()) else {
                continue;
            };
            // The three switches are unset, which means what README says.
            if let Some(shown) = shown {
                assert_eq!(shown, *told, "{name}");
            }
        }
    }
}
