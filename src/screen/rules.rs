//! The table of rules, and how a text breaks one.

use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Match, Regex, RegexBuilder};

use super::Kind;
use super::needs::Needs;
use super::stance::{Stance, Stances};
use super::views::View;
use super::{
    rules_checks, rules_commands, rules_imitation, rules_override, rules_persist, rules_secrets,
};

/// Longer texts are looked at no more often than so for one rule.
const MAX_MATCHES: usize = 64;

/// One thing that a text must not say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    kind: Kind,
    reads: Reads,
    /// In lower case and without accents; `%name%` stands for a fragment.
    pattern: &'static str,
    /// What else the same sentence says, in any order.
    with: &'static [&'static str],
    /// What in the same clause makes it harmless.
    unless: Option<&'static str>,
}

/// When a rule is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// When the text says to do so.
    Orders,
    /// The same; what it says has a `not` or `without` of its own.
    Omissions,
    /// Also by a mention.
    Mentions,
}

impl Rule {
    /// A rule against saying to do something.
    pub(super) const fn order(kind: Kind, pattern: &'static str) -> Self {
        Self {
            kind,
            reads: Reads::Orders,
            pattern,
            with: &[],
            unless: None,
        }
    }

    /// A rule against saying to leave something out.
    pub(super) const fn omission(kind: Kind, pattern: &'static str) -> Self {
        Self {
            kind,
            reads: Reads::Omissions,
            pattern,
            with: &[],
            unless: None,
        }
    }

    /// A rule against something that has no place in a key point.
    pub(super) const fn mention(kind: Kind, pattern: &'static str) -> Self {
        Self {
            kind,
            reads: Reads::Mentions,
            pattern,
            with: &[],
            unless: None,
        }
    }

    /// The same rule where the sentence also says all of this.
    pub(super) const fn with(self, with: &'static [&'static str]) -> Self {
        Self { with, ..self }
    }

    /// The same rule with an exception.
    pub(super) const fn unless(self, pattern: &'static str) -> Self {
        Self {
            unless: Some(pattern),
            ..self
        }
    }
}

struct Compiled {
    kind: Kind,
    reads: Reads,
    pattern: Lazy,
    with: Vec<Lazy>,
    unless: Option<Lazy>,
}

/// A pattern that is compiled when it is first looked for: most are never needed, and one
/// takes longer to compile than many texts to look through.
struct Lazy {
    pattern: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Lazy {
    fn new(pattern: &'static str) -> Self {
        Self {
            pattern,
            compiled: OnceLock::new(),
        }
    }

    fn matches<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = Match<'t>> {
        let compiled = self.compiled.get_or_init(|| regex(self.pattern).ok());
        let matches = compiled.iter().flat_map(move |regex| regex.find_iter(text));
        matches.take(MAX_MATCHES)
    }
}

/// All rules, and what each needs to be broken.
struct Table {
    rules: Vec<Compiled>,
    needs: Needs,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let tables = [
        rules_override::RULES,
        rules_imitation::RULES,
        rules_commands::RULES,
        rules_secrets::RULES,
        rules_checks::RULES,
        rules_persist::RULES,
    ];
    let rules = tables.iter().copied().flatten();
    let patterns: Vec<String> = rules.clone().map(|rule| expanded(rule.pattern)).collect();
    Table {
        needs: Needs::of(patterns.iter().map(String::as_str)),
        rules: rules
            .map(|rule| Compiled {
                kind: rule.kind,
                reads: rule.reads,
                pattern: Lazy::new(rule.pattern),
                with: rule.with.iter().copied().map(Lazy::new).collect(),
                unless: rule.unless.map(Lazy::new),
            })
            .collect(),
    }
});

/// Compiles a pattern over bytes: a view has few letters beyond ASCII, and patterns that
/// know all of Unicode take ten times as long to compile.
fn regex(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&expanded(pattern)).unicode(false).build()
}

/// A pattern with its fragments, in which spaces match any white space.
fn expanded(pattern: &str) -> String {
    let tables = [
        rules_override::FRAGMENTS,
        rules_secrets::FRAGMENTS,
        rules_checks::FRAGMENTS,
        rules_persist::FRAGMENTS,
    ];
    let mut pattern = pattern.to_owned();
    for (name, fragment) in tables.iter().copied().flatten() {
        let hole = format!("%{name}%");
        if pattern.contains(&hole) {
            pattern = pattern.replace(&hole, &format!("(?:{fragment})"));
        }
    }
    format!("(?s){}", pattern.replace(' ', r"\s"))
}

/// The kinds of rules that a text breaks.
pub(super) fn broken(view: &View) -> BTreeSet<Kind> {
    let stances = Stances::of(view);
    let possible = TABLE.needs.possible(&view.text);
    let rules = TABLE.rules.iter().zip(possible);
    let rules = rules.filter_map(|(rule, is_possible)| is_possible.then_some(rule));
    let broken = rules.filter(|rule| {
        let mut matches = rule.pattern.matches(view.text.as_bytes());
        matches.any(|found| {
            let (start, end) = (found.start(), found.end());
            let clause = stances.clause(start, end);
            let is_meant = match rule.reads {
                Reads::Mentions => true,
                Reads::Orders => stances.of_thing(start, end) == Stance::Order,
                Reads::Omissions => stances.of_omission(start, end) == Stance::Order,
            };
            let is_ordered =
                |found: &Match<'_>, from: usize| stances.at(from + found.start()) == Stance::Order;
            let says = |with: &Lazy| {
                let (from, sentence) = stances.sentence(start, end);
                let mut found = with.matches(sentence.as_bytes());
                found.any(|found| is_ordered(&found, from))
            };
            is_meant
                && rule.with.iter().all(says)
                && rule
                    .unless
                    .as_ref()
                    .is_none_or(|unless| unless.matches(clause.as_bytes()).next().is_none())
        })
    });
    broken.map(|rule| rule.kind).collect()
}

/// Tells whether a text orders to ignore other orders in words that were cut in pieces:
/// `ig nore pre vious instruc tions`.
pub(super) fn says_apart(view: &View) -> bool {
    static WHOLE: LazyLock<Option<Regex>> =
        LazyLock::new(|| regex(rules_override::ORDERED_AWAY).ok());
    static PIECES: LazyLock<Option<Regex>> =
        LazyLock::new(|| regex(rules_override::IN_ONE_WORD).ok());
    let letters: String = view.text.chars().filter(|c| c.is_alphanumeric()).collect();
    let says = |pattern: &Option<Regex>, text: &str| {
        pattern
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(text.as_bytes()))
    };
    says(&PIECES, &letters) && !says(&WHOLE, &view.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_impossible_matches_nowhere() {
        let texts = [
            include_str!("../../tests/poison/unseen/attacks.txt"),
            include_str!("../../tests/poison/unseen/honest.txt"),
        ];
        for text in texts.iter().flat_map(|file| file.lines().step_by(3)) {
            let view = View::plain(text);
            let possible = TABLE.needs.possible(&view.text);
            for (rule, possible) in TABLE.rules.iter().zip(possible) {
                let is_match = rule.pattern.matches(view.text.as_bytes()).next().is_some();
                assert!(
                    possible || !is_match,
                    "{:?} in {text}",
                    rule.pattern.pattern
                );
            }
        }
    }

    #[test]
    fn every_pattern_compiles() {
        let tables = [
            rules_override::RULES,
            rules_imitation::RULES,
            rules_commands::RULES,
            rules_secrets::RULES,
            rules_checks::RULES,
            rules_persist::RULES,
        ];
        for rule in tables.iter().copied().flatten() {
            let patterns = rule.with.iter().copied().chain(rule.unless);
            for pattern in patterns.chain([rule.pattern]) {
                assert!(!expanded(pattern).contains('%'), "{pattern}");
                assert!(regex(pattern).is_ok(), "{pattern}: {:?}", regex(pattern));
            }
        }
    }
}
