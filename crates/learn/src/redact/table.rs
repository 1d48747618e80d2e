//! The built-in rules, and the search of a text for their keywords.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use regex_automata::meta::Regex;
use serde::Deserialize;

use super::keywords::Keywords;
use super::names::NameWords;
use super::place::{self, Tie};
use super::private::{self, Unclosed};
use super::rule::{SecretRule, any_of};

pub(super) const TABLE_TEXT: &str = include_str!("../../data/secrets.toml");

pub(super) static TABLE: LazyLock<SecretTable> =
    LazyLock::new(|| toml::from_str(TABLE_TEXT).unwrap_or_default());

/// The content of `data/secrets.toml`.
#[derive(Default, Deserialize)]
pub(super) struct SecretTable {
    pub(super) names: NameWords,
    pub(super) ties: Vec<Tie>,
    pub(super) allow: Allowed,
    #[serde(deserialize_with = "with_ids")]
    pub(super) rules: Vec<SecretRule>,
}

/// Patterns of what is masked by no rule.
#[derive(Default, Deserialize)]
pub(super) struct Allowed {
    pub(super) fillers: Vec<String>,
    pub(super) placeholders: Vec<String>,
    pub(super) stock: String,
    pub(super) message: String,
    pub(super) expressions: Vec<String>,
    pub(super) words: Vec<String>,
}

/// The name under which `<private>…</private>` is counted.
pub(super) const PRIVATE: &str = "private";
/// The tag that begins a private part.
const PRIVATE_TAG: &str = "<private>";

/// A secret, and the rule that found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MaskSpan<'r> {
    pub(super) range: Range<usize>,
    pub(super) id: &'r str,
}

/// The reason why a keyword is looked for.
#[derive(Debug, Clone, Copy)]
enum Owner {
    Rule(usize),
    Name,
    Private,
}

/// The keywords of all rules, each with its rule, those of names, and the tag.
static KEYWORDS: LazyLock<Keywords<Owner>> = LazyLock::new(|| {
    let rules = TABLE.rules.iter().enumerate();
    let rules =
        rules.flat_map(|(at, rule)| rule.keywords.iter().map(move |k| (&**k, Owner::Rule(at))));
    let seeds = TABLE.names.seeds.iter().map(|seed| (&**seed, Owner::Name));
    Keywords::new(rules.chain(seeds).chain([(PRIVATE_TAG, Owner::Private)]))
});

/// Reads the rules and gives each the name it has in the table.
fn with_ids<'de, D: serde::Deserializer<'de>>(table: D) -> Result<Vec<SecretRule>, D::Error> {
    let rules = BTreeMap::<String, SecretRule>::deserialize(table)?;
    let named = rules.into_iter().map(|(id, mut rule)| {
        rule.id = id;
        rule
    });
    Ok(named.collect())
}

/// Finds secrets by all rules but those in `off`, in no order; they may overlap.
pub(super) fn find(text: &str, unclosed: Unclosed, off: &[&str]) -> Vec<MaskSpan<'static>> {
    let mut spans = Vec::new();
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    let mut seeds: Vec<usize> = Vec::new();
    let mut is_private = false;
    KEYWORDS.find(text, |at, owner| match owner {
        Owner::Rule(owner) => candidates.push((owner, at)),
        Owner::Name => seeds.push(at),
        Owner::Private => is_private = true,
    });
    place::find(text, &seeds, &mut |range, id| {
        if !off.contains(&id) {
            spans.push(MaskSpan { range, id });
        }
    });
    candidates.sort_unstable();
    for of_one in candidates.chunk_by(|a, b| a.0 == b.0) {
        let rule = &TABLE.rules[of_one[0].0];
        if off.contains(&&*rule.id) {
            continue;
        }
        let places: Vec<usize> = of_one.iter().map(|(_, at)| *at).collect();
        rule.find(text, &places, &mut |range| {
            spans.push(MaskSpan {
                range,
                id: &rule.id,
            });
        });
    }
    if is_private && !off.contains(&PRIVATE) {
        private::each(text, unclosed, |range| {
            spans.push(MaskSpan { range, id: PRIVATE });
        });
    }
    spans
}

/// Returns the names of all built-in rules, each once, sorted.
pub(super) fn ids() -> Vec<&'static str> {
    let rules = TABLE.rules.iter().map(|rule| &*rule.id);
    let mut ids: Vec<_> = rules.chain([PRIVATE]).collect();
    ids.sort_unstable();
    ids
}

/// Returns true for a text that says it is no secret: `xoxb-your-token-here`.
pub(super) fn is_filler(text: &str) -> bool {
    static FILLER: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(&TABLE.allow.fillers).ok());
    FILLER.as_ref().is_some_and(|regex| regex.is_match(text))
}
