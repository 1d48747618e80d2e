//! The table of rules in `data/screen.toml`, and how a text breaks one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Match, Regex, RegexBuilder, RegexSet, RegexSetBuilder};
use serde::Deserialize;

use super::Kind;

/// A text is looked at no more often than so for one pattern.
const MAX_MATCHES: usize = 64;
/// How much of a text before or after a match is read, in bytes.
const NEAR: usize = 400;
/// How much behind an order to switch a check off may say that it is none, in bytes.
const NEXT: usize = 28;
/// How much memory the compiled patterns may take.
const MAX_COMPILED: usize = 64 << 20;
/// What ends a clause.
const CLAUSE_ENDS: [&str; 7] = ["\n", ";", "!", "?", ". ", ", ", ": "];
/// What a match may begin with before its first word.
const LEAD: &[u8] = b" \n.;:!?,(-`\"'";

/// The rules of the screen, compiled when the first text is judged.
pub(super) static RULES: LazyLock<Rules> = LazyLock::new(|| {
    // The table is part of the program, and a test reads it.
    Rules::read(include_str!("../../data/screen.toml")).unwrap_or_default()
});

/// The file as it is written.
#[derive(Deserialize)]
struct Table {
    /// Parts of patterns, by name.
    words: BTreeMap<String, String>,
    passes: Passes,
    kind: Vec<PatternsOfKind>,
}

#[derive(Deserialize)]
struct PatternsOfKind {
    kind: Kind,
    #[serde(default)]
    passes: Passing,
    patterns: Vec<String>,
}

/// What lets a text pass although a pattern finds something in it.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Passing {
    /// It forbids what is found ("never run ..."), or quotes it.
    #[default]
    Forbidden,
    /// The same, but only by what stands before the match: an order to hide something has a
    /// "not" of its own.
    ForbiddenBefore,
    /// It names what is found and does not use it.
    Named,
    /// The sentence does not clearly order it.
    InDoubt,
}

#[derive(Default)]
pub(super) struct Rules {
    /// Tells in one pass which patterns match at all.
    any: RegexSet,
    /// The same patterns in the same order.
    each: Vec<Rule>,
    passes: Option<Passes>,
}

/// One pattern; compiled by itself only when a text needs to know where it matches.
struct Rule {
    kind: Kind,
    passes: Passing,
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
}

/// What makes a text harmless that a pattern matches.
#[derive(Deserialize)]
struct Passes {
    /// Stands before the match in its clause: what follows is forbidden.
    forbidden: Pattern,
    /// Stands there too: it is an order after all, such as "never forget to".
    still_ordered: Pattern,
    /// Follows the match: it is said to be forbidden.
    said_forbidden: Pattern,
    /// Stands right before a match that is quoted as an example.
    quoted: Pattern,
    /// Stands around an imitation that is named and not used.
    named_before: Pattern,
    /// The same, behind it.
    named_after: Pattern,
    /// Stands in a sentence that does not clearly order a check to be switched off.
    in_doubt: Pattern,
}

#[derive(Deserialize)]
#[serde(try_from = "String")]
struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(pattern: String) -> Result<Self, regex::Error> {
        compile(&pattern).map(Self)
    }
}

impl Pattern {
    fn is_in(&self, text: &[u8]) -> bool {
        self.0.is_match(text)
    }
}

impl Rules {
    fn read(table: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let table: Table = toml::from_str(table)?;
        let mut each = Vec::new();
        for group in table.kind {
            each.extend(group.patterns.into_iter().map(|pattern| Rule {
                kind: group.kind,
                passes: group.passes,
                pattern: filled(pattern, &table.words),
                compiled: OnceLock::new(),
            }));
        }
        let any = RegexSetBuilder::new(each.iter().map(|rule| &rule.pattern))
            .unicode(false)
            .size_limit(MAX_COMPILED)
            .build()?;
        Ok(Self {
            any,
            each,
            passes: Some(table.passes),
        })
    }

    /// Returns the kinds of rules that a folded text breaks.
    pub(super) fn broken_by(&self, text: &str) -> BTreeSet<Kind> {
        let text = text.as_bytes();
        let matching = self.any.matches(text);
        let rules = matching.iter().filter_map(|at| self.each.get(at));
        rules
            .filter(|rule| self.is_broken(rule, text))
            .map(|rule| rule.kind)
            .collect()
    }

    fn is_broken(&self, rule: &Rule, text: &[u8]) -> bool {
        let compiled = rule.compiled.get_or_init(|| compile(&rule.pattern).ok());
        let (Some(pattern), Some(passes)) = (compiled, &self.passes) else {
            return false;
        };
        let mut matches = pattern.find_iter(text).take(MAX_MATCHES);
        matches.any(|found| !passes.lets_through(rule.passes, text, &found))
    }
}

impl Passes {
    fn lets_through(&self, passing: Passing, text: &[u8], found: &Match<'_>) -> bool {
        let lead = found.as_bytes().iter().take_while(|b| LEAD.contains(b));
        let start = found.start() + lead.count();
        let before = &text[start.saturating_sub(NEAR)..start];
        let after = &text[found.end()..text.len().min(found.end() + NEAR)];
        match passing {
            Passing::Named => self.named_before.is_in(before) || self.named_after.is_in(after),
            Passing::InDoubt => {
                let clause = [
                    last_part(before, &CLAUSE_ENDS),
                    &text[start..found.end()],
                    first_part(&after[..after.len().min(NEXT)], &CLAUSE_ENDS),
                ];
                self.in_doubt.is_in(&clause.concat())
            }
            Passing::Forbidden | Passing::ForbiddenBefore => {
                let own = match passing {
                    Passing::ForbiddenBefore => &[],
                    _ => &text[start..found.end()],
                };
                let clause = [last_part(before, &CLAUSE_ENDS), own].concat();
                let is_forbidden =
                    self.forbidden.is_in(&clause) && !self.still_ordered.is_in(&clause);
                is_forbidden || self.said_forbidden.is_in(after) || self.quoted.is_in(before)
            }
        }
    }
}

fn last_part<'t>(text: &'t [u8], separators: &[&str]) -> &'t [u8] {
    let ends = separators.iter().filter_map(|separator| {
        memchr::memmem::rfind(text, separator.as_bytes()).map(|at| at + separator.len())
    });
    &text[ends.max().unwrap_or(0)..]
}

/// What stands before the first of some separators.
fn first_part<'t>(text: &'t [u8], separators: &[&str]) -> &'t [u8] {
    let ends = separators
        .iter()
        .filter_map(|separator| memchr::memmem::find(text, separator.as_bytes()));
    &text[..ends.min().unwrap_or(text.len())]
}

fn filled(pattern: String, words: &BTreeMap<String, String>) -> String {
    words.iter().fold(pattern, |pattern, (name, part)| {
        pattern.replace(&format!("%{name}%"), part)
    })
}

fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(MAX_COMPILED)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_of_the_table_can_be_used() {
        let rules = Rules::read(include_str!("../../data/screen.toml")).unwrap();
        assert!(rules.each.len() > 50);
        for rule in &rules.each {
            compile(&rule.pattern).unwrap();
            assert!(!rule.pattern.contains("%f") && !rule.pattern.contains("%s"));
        }
    }
}
