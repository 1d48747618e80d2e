//! The table of rules, and how a text breaks one.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use memchr::memmem;
use regex::bytes::{Match, Regex, RegexBuilder};

use super::AttackKind;

// The build script makes these of `data/screen.toml`: `RULES`, `PASSES` and `WORDS`.
include!(concat!(env!("OUT_DIR"), "/screen.rs"));

/// A text is looked at no more often than so for one pattern.
const MAX_MATCHES: usize = 64;
/// How much of a text before or after a match is read, in bytes.
const NEAR: usize = 400;
/// How much behind an order to switch a check off may say that it is none, in bytes.
const NEXT: usize = 28;
/// How much memory a compiled pattern may take.
const MAX_COMPILED: usize = 64 << 20;
/// How many texts are looked at before it pays to make the finder, and how long they may be.
const FEW: usize = 4;
const SHORT: usize = 2_048;
const CLAUSE_ENDS: [&str; 7] = ["\n", ";", "!", "?", ". ", ", ", ": "];
/// What a match may begin with before its first word.
const LEAD: &[u8] = b" \n.;:!?,(-`\"'";

/// Finds the words that rules need.
static FINDER: LazyLock<Option<AhoCorasick>> =
    LazyLock::new(|| AhoCorasick::new(WORDS.iter()).ok());

/// What lets a text pass although a pattern finds something in it.
#[derive(Debug, Clone, Copy)]
enum Passing {
    /// It forbids what is found ("never run ..."), or quotes it.
    Forbidden,
    /// The same, but only by what stands before the match: an order to hide something has a
    /// "not" of its own.
    ForbiddenBefore,
    /// It names what is found and does not use it.
    Named,
    /// The sentence does not clearly order it.
    InDoubt,
}

/// One pattern; compiled only when a text holds the words that it needs.
struct ScreenRule {
    kind: AttackKind,
    passes: Passing,
    /// By the branches of the pattern, numbers in [`WORDS`]: of each list of one branch, one word
    /// at least stands in a text that it matches.
    needs: &'static [&'static [&'static [u16]]],
    pattern: RulePattern,
}

/// What makes a text harmless that a pattern matches.
struct Passes {
    /// Stands before the match in its clause: what follows is forbidden.
    forbidden: RulePattern,
    /// Stands there too: it is an order after all, such as "never forget to".
    still_ordered: RulePattern,
    /// Follows the match: it is said to be forbidden.
    said_forbidden: RulePattern,
    /// Stands right before a match that is quoted as an example.
    quoted: RulePattern,
    /// Stands around an imitation that is named and not used.
    named_before: RulePattern,
    /// The same, behind it.
    named_after: RulePattern,
    /// Stands in a sentence that does not clearly order a check to be switched off.
    in_doubt: RulePattern,
}

struct RulePattern {
    text: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl RulePattern {
    const fn new(text: &'static str) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }

    /// A test compiles each.
    fn regex(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| compile(self.text).ok());
        compiled.as_ref()
    }

    fn is_in(&self, text: &[u8]) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }
}

/// Returns the kinds of rules that a folded text breaks.
pub(super) fn broken_by(text: &str) -> BTreeSet<AttackKind> {
    let text = text.as_bytes();
    let words = words_of(text);
    let rules = RULES.iter().filter(|rule| rule.may_match(&words));
    rules
        .filter(|rule| rule.is_broken_by(text))
        .map(|rule| rule.kind)
        .collect()
}

/// Which of [`WORDS`] a text holds. To make the finder takes as long as to look for each word in
/// some short texts, and a hook has only one.
fn words_of(text: &[u8]) -> Vec<bool> {
    static LOOKED_AT: AtomicUsize = AtomicUsize::new(0);
    if text.len() <= SHORT && LOOKED_AT.fetch_add(1, Ordering::Relaxed) < FEW {
        let is_in = |word: &&[u8]| memmem::find(text, word).is_some();
        return WORDS.iter().map(is_in).collect();
    }
    let Some(finder) = &*FINDER else {
        return vec![true; WORDS.len()];
    };
    let mut words = vec![false; WORDS.len()];
    for found in finder.find_overlapping_iter(text) {
        words[found.pattern()] = true;
    }
    words
}

impl ScreenRule {
    fn may_match(&self, words: &[bool]) -> bool {
        let is_there = |word: &u16| words[usize::from(*word)];
        let mut branches = self.needs.iter();
        branches.any(|needs| needs.iter().all(|any| any.iter().any(is_there)))
    }

    fn is_broken_by(&self, text: &[u8]) -> bool {
        let Some(pattern) = self.pattern.regex() else {
            return false;
        };
        let mut matches = pattern.find_iter(text).take(MAX_MATCHES);
        matches.any(|found| !PASSES.lets_through(self.passes, text, &found))
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

fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .unicode(false)
        .size_limit(MAX_COMPILED)
        .build()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::string::bytes_regex_parsed;
    use regex_syntax::ParserBuilder;
    use regex_syntax::hir::{Hir, HirKind, Repetition};

    use super::*;

    #[test]
    fn each_pattern_of_the_table_can_be_used() {
        assert!(RULES.len() > 50);
        for rule in &RULES {
            compile(rule.pattern.text).unwrap();
            assert!(!rule.pattern.text.contains("%f") && !rule.pattern.text.contains("%s"));
        }
        let Passes {
            forbidden,
            still_ordered,
            said_forbidden,
            quoted,
            named_before,
            named_after,
            in_doubt,
        } = &PASSES;
        let before = [forbidden, still_ordered, quoted, named_before];
        for pattern in before
            .into_iter()
            .chain([said_forbidden, named_after, in_doubt])
        {
            compile(pattern.text).unwrap();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// What a pattern could match holds the words that it needs, whichever of its branches
        /// it takes.
        #[test]
        fn no_rule_is_left_out_that_a_text_may_break(texts in what_rules_match()) {
            for (rule, text) in RULES.iter().zip(&texts) {
                let shown = text.escape_ascii();
                prop_assert!(rule.may_match(&words_of(text)), "{shown}: {}", rule.pattern.text);
            }
        }
    }

    /// A text for each rule.
    fn what_rules_match() -> Vec<BoxedStrategy<Vec<u8>>> {
        let rules = RULES.iter().map(|rule| {
            let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
            let hir = parser.parse(rule.pattern.text).unwrap();
            bytes_regex_parsed(&without_looks(&hir)).unwrap().boxed()
        });
        rules.collect()
    }

    /// A pattern without what is only looked at, which the generator does not know.
    fn without_looks(hir: &Hir) -> Hir {
        let all = |parts: &[Hir]| parts.iter().map(without_looks).collect();
        match hir.kind() {
            HirKind::Look(_) => Hir::empty(),
            HirKind::Capture(capture) => without_looks(&capture.sub),
            HirKind::Repetition(repeated) => Hir::repetition(Repetition {
                sub: Box::new(without_looks(&repeated.sub)),
                ..repeated.clone()
            }),
            HirKind::Concat(parts) => Hir::concat(all(parts)),
            HirKind::Alternation(branches) => Hir::alternation(all(branches)),
            _ => hir.clone(),
        }
    }
}
