//! Renders the reference of all settings, `docs/configuration.md`.

use std::fmt::Write as _;

use super::define::{KeyScope, SettingKey, TOP};
use super::keys::{Config, KEYS, SECTIONS};

const INTRODUCTION: &str = include_str!("reference_head.md");

/// The keys of the reflection specification (M10, section 3.1), with what became of each.
const SPECIFIED: &str = include_str!("reference_tail.md");

pub(crate) fn reference() -> String {
    let mut text = INTRODUCTION.to_owned();
    let defaults = Config::default();
    for (section, about) in SECTIONS {
        let title = if *section == TOP {
            "Top level"
        } else {
            section
        };
        // Writing to a string cannot fail.
        _ = write!(text, "\n## {title}\n\n{}\n\n", prose(about));
        text.push_str("| key | values | default | project | what |\n|---|---|---|---|---|\n");
        for key in KEYS.iter().filter(|key| key.section() == *section) {
            let default = key
                .shown(&defaults)
                .map_or_else(|| "unset".to_owned(), |value| format!("`{value}`"));
            _ = writeln!(
                text,
                "| `{}` | {} | {default} | {} | {} |",
                key.name,
                key.kind(),
                project(key),
                prose(key.doc)
            );
        }
    }
    text.push_str(SPECIFIED);
    text
}

fn project(key: &SettingKey) -> &'static str {
    match key.scope {
        KeyScope::User => "",
        KeyScope::Project => "yes",
        KeyScope::Lower => "lower",
    }
}

fn prose(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counterpart_is_a_key() {
        for row in SPECIFIED.lines().filter(|line| line.starts_with("| `")) {
            let here = row.split(" | ").nth(1).unwrap().trim_matches('`');
            let is_key = KEYS.iter().any(|key| key.name == here);
            assert!(here == "none" || is_key, "{row}");
        }
    }
}
