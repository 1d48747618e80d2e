//! The built-in rules, and where in a text what they know stands.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input, MatchKind};
use regex_automata::meta::Regex;

use super::private::{self, Unclosed};
use super::rule::{Place, Proof, Row, Rule, any_of};

// `build.rs` makes these of `data/secrets.toml`: `RULES`, `FILLERS`, `PLACEHOLDERS` and, for
// the tests, `EXAMPLES`.
include!(concat!(env!("OUT_DIR"), "/secrets.rs"));

/// What `<private>…</private>` counts as.
pub(super) const PRIVATE: &str = "private";
/// The tag that begins a private part.
const PRIVATE_TAG: &str = "<private>";

/// A secret: where it stands, and the rule that knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Span<'r> {
    pub(super) range: Range<usize>,
    pub(super) id: &'r str,
}

/// The keywords of all rules, and whose each of them is.
struct Keywords {
    automaton: AhoCorasick,
    /// The rule of each keyword; the last keyword is the tag, which no rule has.
    owners: Vec<usize>,
}

static KEYWORDS: LazyLock<Option<Keywords>> = LazyLock::new(|| {
    let rules = RULES.iter().enumerate();
    let (owners, mut keywords): (Vec<_>, Vec<_>) = rules
        .flat_map(|(owner, rule)| rule.keywords.iter().map(move |keyword| (owner, *keyword)))
        .unzip();
    keywords.push(PRIVATE_TAG);
    let automaton = AhoCorasickBuilder::new()
        .match_kind(MatchKind::Standard)
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .ascii_case_insensitive(true)
        .build(keywords);
    let automaton = automaton.ok()?;
    Some(Keywords { automaton, owners })
});

/// Finds the secrets of a text, in no order; they may overlap.
pub(super) fn find(text: &str, unclosed: Unclosed) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let Some(Keywords { automaton, owners }) = &*KEYWORDS else {
        return spans;
    };
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    let mut is_private = false;
    for keyword in automaton.find_overlapping_iter(Input::new(text)) {
        match owners.get(keyword.pattern().as_usize()) {
            Some(owner) => candidates.push((*owner, keyword.start())),
            None => is_private = true,
        }
    }
    candidates.sort_unstable();
    for of_one in candidates.chunk_by(|a, b| a.0 == b.0) {
        let rule = &RULES[of_one[0].0];
        let places: Vec<usize> = of_one.iter().map(|(_, at)| *at).collect();
        rule.find(text, &places, &mut |range| {
            spans.push(Span {
                range,
                id: &rule.id,
            });
        });
    }
    if is_private {
        private::each(text, unclosed, |range| {
            spans.push(Span { range, id: PRIVATE });
        });
    }
    spans
}

/// The names of all built-in rules, each once, sorted.
pub(super) fn ids() -> Vec<&'static str> {
    let rules = RULES.iter().map(|rule| &*rule.id);
    let mut ids: Vec<_> = rules.chain([PRIVATE]).collect();
    ids.sort_unstable();
    ids
}

/// Tells whether a text says of itself that it is no secret: `xoxb-your-token-here`.
pub(super) fn is_filler(text: &str) -> bool {
    static FILLER: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(FILLERS).ok());
    FILLER.as_ref().is_some_and(|regex| regex.is_match(text))
}

/// Tells whether a value only stands for a secret: `<your-key>`, `$TOKEN`, `your_api_key`.
pub(super) fn is_placeholder(value: &str) -> bool {
    static PLACEHOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| any_of(PLACEHOLDERS).ok());
    PLACEHOLDER
        .as_ref()
        .is_some_and(|regex| regex.is_match(value))
}
