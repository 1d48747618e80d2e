//! The reference of all settings, as `docs/configuration.md` holds it.

use std::fmt::Write as _;

use super::define::{Key, Scope, TOP};
use super::keys::{Config, KEYS, SECTIONS};

const INTRODUCTION: &str = "\
# Settings

This file is made by `playbook config reference`; a test fails when it differs.

The user's settings stand in `config.toml` (`playbook config path` says where), those of one
project in its `.claude/playbook.toml`. Both are TOML and strict: an unknown key, a wrong
type or a value out of range is an error that names the file, the line and the nearest key.
With settings that cannot be used nothing is sent anywhere: sessions still leave their job,
which waits with the reason, and the next session says so.

A value is taken from the first of: our environment variables (`AGENTIC_CONTEXT_*`,
`PLAYBOOK_*`), the project's file, the user's file, the client's variables
(`ANTHROPIC_*`), the default.

```sh
playbook config list             # every key, its value, and who set it
playbook config get budgets.calls_per_day
playbook config set backend rules   # keeps your comments
playbook config check            # exit status 1 when something is wrong
```

The column *project* says whether a project may set the key for itself: `yes`, `lower` (only
below what the user allows; 0 where it means no limit is above everything), or no. A
project that was cloned can therefore neither send anything elsewhere nor spend more.

`PLAYBOOK_DISABLE=1` switches everything off, without any file.
";

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
