//! The table of rules, and how a text breaks one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use memchr::memmem;
use regex::bytes::{Match, Regex, RegexBuilder};
use serde::Deserialize;

use super::AttackKind;

const TABLE_TEXT: &str = include_str!("../../data/screen.toml");

/// A text is searched for no more matches of one pattern.
const MAX_MATCHES: usize = 64;
/// The part of a text before or after a match that is read.
const NEAR_BYTES: usize = 400;
/// The part of the text after an order to switch a check off that is searched for a word of doubt.
const DOUBT_BYTES: usize = 28;
const MAX_COMPILED_BYTES: usize = 64 << 20;
const CLAUSE_ENDS: [&str; 7] = ["\n", ";", "!", "?", ". ", ", ", ": "];
/// Bytes that a match may have before its first word.
const LEAD: &[u8] = b" \n.;:!?,(-`\"'";

static TABLE: LazyLock<ScreenTable> =
    LazyLock::new(|| toml::from_str(TABLE_TEXT).unwrap_or_default());

static FINDER: LazyLock<RuleFinder> = LazyLock::new(RuleFinder::new);

/// The content of `data/screen.toml`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScreenTable {
    /// The parts of patterns, by the name used for them.
    words: BTreeMap<String, String>,
    passes: Passes,
    kind: Vec<RuleGroup>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleGroup {
    kind: AttackKind,
    #[serde(default)]
    passes: Passing,
    patterns: Vec<ScreenRule>,
}

/// Lets a text pass although a pattern matches it.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Passing {
    /// The text forbids what is found ("never run ..."), or quotes it.
    #[default]
    Forbidden,
    /// The same, but only by the words before the match: an order to hide something has a
    /// "not" of its own.
    ForbiddenBefore,
    /// The text names what is found and does not use it.
    Named,
    /// The sentence does not clearly order it.
    InDoubt,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ScreenRule {
    /// Every match holds one of them. Compiling all patterns takes 0.2 seconds and 150 MB.
    keywords: Vec<String>,
    regex: RulePattern,
}

/// Patterns of what makes a text harmless.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Passes {
    /// Found before the match in its clause: what follows is forbidden.
    forbidden: RulePattern,
    /// Found there too: it is an order after all, such as "never forget to".
    still_ordered: RulePattern,
    /// Follows the match: it is said to be forbidden.
    said_forbidden: RulePattern,
    /// Found right before a match that is quoted as an example.
    quoted: RulePattern,
    /// Found right before an imitation that is named and not used.
    named_before: RulePattern,
    /// Found right after one.
    named_after: RulePattern,
    /// Found in a sentence that does not clearly order a check to be switched off.
    in_doubt: RulePattern,
}

#[derive(Default, Deserialize)]
#[serde(transparent)]
struct RulePattern {
    text: String,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

impl RulePattern {
    fn regex(&self) -> Option<&Regex> {
        let compile = || compile(&self.text, &TABLE.words).ok();
        self.compiled.get_or_init(compile).as_ref()
    }

    fn is_in(&self, text: &[u8]) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }
}

/// Finds the keywords of all rules in one pass.
struct RuleFinder {
    rules: Vec<(&'static RuleGroup, &'static ScreenRule)>,
    keywords: Option<AhoCorasick>,
    /// The rule of each keyword.
    owners: Vec<usize>,
}

impl RuleFinder {
    fn new() -> Self {
        let rules = |group: &'static RuleGroup| group.patterns.iter().map(move |r| (group, r));
        let rules: Vec<_> = TABLE.kind.iter().flat_map(rules).collect();
        let owned = rules.iter().enumerate();
        let owned =
            owned.flat_map(|(owner, (_, rule))| rule.keywords.iter().map(move |k| (owner, k)));
        let (owners, keywords): (_, Vec<_>) = owned.unzip();
        Self {
            rules,
            keywords: AhoCorasick::new(keywords).ok(),
            owners,
        }
    }

    /// Returns for each rule if a text has one of its keywords.
    fn has_keyword(&self, text: &[u8]) -> Vec<bool> {
        let Some(keywords) = &self.keywords else {
            return vec![true; self.rules.len()];
        };
        let mut has = vec![false; self.rules.len()];
        for found in keywords.find_overlapping_iter(text) {
            has[self.owners[found.pattern()]] = true;
        }
        has
    }
}

/// Expects a folded text.
pub(super) fn broken_by(text: &str) -> BTreeSet<AttackKind> {
    let text = text.as_bytes();
    let rules = FINDER.rules.iter().zip(FINDER.has_keyword(text));
    rules
        .filter(|((group, rule), has_keyword)| {
            *has_keyword && rule.is_broken_by(text, group.passes)
        })
        .map(|((group, _), _)| group.kind)
        .collect()
}

impl ScreenRule {
    fn is_broken_by(&self, text: &[u8], passing: Passing) -> bool {
        let Some(regex) = self.regex.regex() else {
            return false;
        };
        let mut matches = regex.find_iter(text).take(MAX_MATCHES);
        matches.any(|found| !TABLE.passes.lets_through(passing, text, &found))
    }
}

impl Passes {
    fn lets_through(&self, passing: Passing, text: &[u8], found: &Match<'_>) -> bool {
        let lead = found.as_bytes().iter().take_while(|b| LEAD.contains(b));
        let start = found.start() + lead.count();
        let before = &text[start.saturating_sub(NEAR_BYTES)..start];
        let after = &text[found.end()..text.len().min(found.end() + NEAR_BYTES)];
        match passing {
            Passing::Named => self.named_before.is_in(before) || self.named_after.is_in(after),
            Passing::InDoubt => {
                let clause = [
                    last_part(before, &CLAUSE_ENDS),
                    &text[start..found.end()],
                    first_part(&after[..after.len().min(DOUBT_BYTES)], &CLAUSE_ENDS),
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

/// Returns the text after the last of some separators.
fn last_part<'t>(text: &'t [u8], separators: &[&str]) -> &'t [u8] {
    let ends = separators.iter().filter_map(|separator| {
        memmem::rfind(text, separator.as_bytes()).map(|at| at + separator.len())
    });
    &text[ends.max().unwrap_or(0)..]
}

/// Returns the text before the first of some separators.
fn first_part<'t>(text: &'t [u8], separators: &[&str]) -> &'t [u8] {
    let ends = separators
        .iter()
        .filter_map(|separator| memmem::find(text, separator.as_bytes()));
    &text[..ends.min().unwrap_or(text.len())]
}

/// Compiles a pattern after its `%name%` are replaced by the words they stand for.
fn compile(pattern: &str, words: &BTreeMap<String, String>) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&filled(pattern, words))
        .unicode(false)
        .size_limit(MAX_COMPILED_BYTES)
        .build()
}

fn filled(pattern: &str, words: &BTreeMap<String, String>) -> String {
    words
        .iter()
        .fold(pattern.to_owned(), |pattern, (name, part)| {
            pattern.replace(&format!("%{name}%"), part)
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::string::bytes_regex_parsed;
    use regex_syntax::ParserBuilder;
    use regex_syntax::hir::{Hir, HirKind, Repetition};

    use super::*;

    #[test]
    fn each_rule_of_the_table_can_be_used() {
        let ScreenTable {
            words,
            passes,
            kind,
        } = toml::from_str(TABLE_TEXT).unwrap();
        let check = |pattern: &RulePattern| {
            let text = filled(&pattern.text, &words);
            assert!(!text.contains("%f") && !text.contains("%s"), "{text}");
            compile(&pattern.text, &words).unwrap_or_else(|e| panic!("{}: {e}", pattern.text));
        };
        for rule in kind.iter().flat_map(|group| &group.patterns) {
            let is_folded = |word: &String| !word.is_empty() && *word == word.to_lowercase();
            let is_usable = !rule.keywords.is_empty() && rule.keywords.iter().all(is_folded);
            assert!(is_usable, "keywords of {}", rule.regex.text);
            check(&rule.regex);
        }
        let Passes {
            forbidden,
            still_ordered,
            said_forbidden,
            quoted,
            named_before,
            named_after,
            in_doubt,
        } = &passes;
        let before = [forbidden, still_ordered, quoted, named_before];
        let after = [said_forbidden, named_after, in_doubt];
        before.into_iter().chain(after).for_each(check);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        /// A text that a pattern could match holds one of its keywords, whichever branch it takes.
        #[test]
        fn no_rule_is_left_out_that_a_text_may_break(texts in texts_that_rules_match()) {
            for (number, text) in texts.iter().enumerate() {
                let (shown, pattern) = (text.escape_ascii(), &FINDER.rules[number].1.regex.text);
                prop_assert!(FINDER.has_keyword(text)[number], "no keyword in {shown}: {pattern}");
            }
        }
    }

    fn texts_that_rules_match() -> Vec<BoxedStrategy<Vec<u8>>> {
        let texts = FINDER.rules.iter().map(|(_, rule)| {
            let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
            let hir = parser
                .parse(&filled(&rule.regex.text, &TABLE.words))
                .unwrap();
            bytes_regex_parsed(&without_looks(&hir)).unwrap().boxed()
        });
        texts.collect()
    }

    /// Removes look-arounds, which the generator of texts does not know.
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
