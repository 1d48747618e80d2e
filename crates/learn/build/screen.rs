//! The rules of the screen, `data/screen.toml`, as Rust.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toml::{Table, Value};

use crate::needs::{AnyOf, PatternWord, needs};
use crate::table::strings;

/// What the table calls the ways to let a text pass, and what the code does.
const PASSING: [(&str, &str); 4] = [
    ("forbidden", "Forbidden"),
    ("forbidden_before", "ForbiddenBefore"),
    ("named", "Named"),
    ("in_doubt", "InDoubt"),
];

/// The rules as Rust: each with the words that a text must hold to break it, by their numbers.
pub(crate) fn screen(table: &Table) -> String {
    let parts = table["words"].as_table().expect("`words` is a table");
    let mut words = NeededWords::default();
    let (mut rows, mut count) = (String::new(), 0);
    for group in table["kind"].as_array().expect("`kind` is a list") {
        let kind = camel(group["kind"].as_str().expect("a kind has a name"));
        let passes = group.get("passes").map_or("forbidden", |passes| {
            passes.as_str().expect("`passes` is a word")
        });
        let passes = PASSING.iter().find(|(name, _)| *name == passes);
        let (_, passes) = passes.unwrap_or_else(|| panic!("{kind}: a text passes in no such way"));
        for pattern in strings(&kind, group.get("patterns")) {
            let pattern = filled(pattern, parts);
            let numbers = needs(&pattern)
                .into_iter()
                .map(|branch| words.numbers(branch))
                .collect::<Vec<_>>();
            let _ = writeln!(
                rows,
                "ScreenRule {{ kind: AttackKind::{kind}, passes: Passing::{passes}, needs: &{}, \
                 pattern: RulePattern::new({pattern:?}) }},",
                format!("{numbers:?}")
                    .replace('[', "&[")
                    .trim_start_matches('&'),
            );
            count += 1;
        }
    }
    let passes = table["passes"].as_table().expect("`passes` is a table");
    let passes = passes.iter().map(|(name, pattern)| {
        let pattern = pattern.as_str().expect("a pattern is a text");
        format!("{name}: RulePattern::new({pattern:?}),\n")
    });
    format!(
        "static RULES: [ScreenRule; {count}] = [{rows}];\n\
         static PASSES: Passes = Passes {{ {} }};\n\
         static WORDS: [&[u8]; {}] = [{}];\n",
        passes.collect::<String>(),
        words.all.len(),
        words.list(),
    )
}

/// All words that rules need, each once.
#[derive(Default)]
struct NeededWords {
    all: BTreeMap<PatternWord, usize>,
}

impl NeededWords {
    fn numbers(&mut self, needs: Vec<AnyOf>) -> Vec<Vec<usize>> {
        let mut number = |word| {
            let next = self.all.len();
            *self.all.entry(word).or_insert(next)
        };
        let needs = needs.into_iter();
        needs
            .map(|any| any.into_iter().map(&mut number).collect())
            .collect()
    }

    fn list(&self) -> String {
        let mut words: Vec<_> = self.all.iter().collect();
        words.sort_by_key(|(_, number)| **number);
        let words = words
            .iter()
            .map(|(word, _)| format!("b\"{}\", ", word.escape_ascii()));
        words.collect()
    }
}

fn filled(pattern: &str, parts: &Table) -> String {
    let text = |part: &Value| part.as_str().expect("a part is a text").to_owned();
    parts
        .iter()
        .fold(pattern.to_owned(), |pattern, (name, part)| {
            pattern.replace(&format!("%{name}%"), &text(part))
        })
}

/// `checks_off` as `ChecksOff`.
fn camel(name: &str) -> String {
    let parts = name.split('_').map(|part| {
        let (first, rest) = part.split_at(1);
        first.to_uppercase() + rest
    });
    parts.collect()
}
