//! The reference of all settings, as `docs/configuration.md` holds it.

use std::fmt::Write as _;

use super::define::{Key, Scope, TOP};
use super::keys::{Config, KEYS, SECTIONS};

const INTRODUCTION: &str = include_str!("reference_head.md");

/// Keys of the reflection specification (M10, section 3.1) and what became of each.
const SPECIFIED: &[(&str, &str, &str)] = &[
    (
        "t3.allow_reflection",
        "reflection.enabled",
        "On by default: who installs the hooks wants them to work. Off means no trace at all.",
    ),
    (
        "t3.reflection.backend",
        "backend",
        "`rulebased` is `rules`, `llm` is `fixtures`; `anthropic` and `claude-cli` ask a model.",
    ),
    (
        "t3.reflection.summary_tokens",
        "reflection.summary_tokens",
        "The same.",
    ),
    (
        "t3.reflection.embed",
        "",
        "Not ours: nothing is embedded, so there is nothing to switch. The log line says \
         `\"embed\": false`.",
    ),
    (
        "t3.reflection.log",
        "",
        "Not ours: the line is always written, because it says what was spent. The log is \
         capped and holds no word of a session.",
    ),
    (
        "t3.reflection.topk_snippets",
        "reflection.topk_snippets",
        "The same.",
    ),
    (
        "scheduler.budgets.time_ms_reflection",
        "budgets.time_ms",
        "300,000 instead of 6,000: a model is asked, in the background. On expiry the reason \
         is `reflection_timeout`; nothing is written, and the job waits.",
    ),
    (
        "scheduler.budgets.ops_reflection",
        "budgets.memory_rows",
        "The same for what is remembered; `budgets.ops` limits the operations on the playbook.",
    ),
    (
        "t3.llm.fixtures.enabled",
        "",
        "Not ours: `backend = \"fixtures\"` says it.",
    ),
    (
        "t3.llm.fixtures.path",
        "fixtures.path",
        "Needed by `backend = \"fixtures\"`; an empty path is an error.",
    ),
];

/// Writes the reference in Markdown.
pub fn reference() -> String {
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
        for key in KEYS.iter().filter(|key| key.section == *section) {
            let default = defaults
                .shown(key)
                .map_or_else(|| "unset".to_owned(), |value| format!("`{value}`"));
            _ = writeln!(
                text,
                "| `{}` | {} | {default} | {} | {} |",
                key.name(),
                Config::kind_of(key),
                project(key),
                prose(key.doc)
            );
        }
    }
    text.push_str(
        "\n## Keys of the reflection specification\n\nEvery key of M10, section 3.1, and its \
         counterpart here.\n\n| there | here | |\n|---|---|---|\n",
    );
    for (there, here, why) in SPECIFIED {
        let here = if here.is_empty() {
            "none".to_owned()
        } else {
            format!("`{here}`")
        };
        _ = writeln!(text, "| `{there}` | {here} | {why} |");
    }
    text
}

fn project(key: &Key) -> &'static str {
    match key.scope {
        Scope::User => "",
        Scope::Project => "yes",
        Scope::Lower => "lower",
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
        for (there, here, _) in SPECIFIED {
            assert!(
                here.is_empty() || KEYS.iter().any(|key| key.name() == *here),
                "{there}"
            );
        }
    }
}
