//! The built-in rules, and where in a text what they know stands.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use regex_automata::meta::Regex;

use super::keywords::Keywords;
use super::private::{self, Unclosed};
use super::rule::{MaskPlace, SecretProof, SecretRule, any_of};

// The build script makes these of `data/secrets.toml`: `RULES`, `FILLERS`, `PLACEHOLDERS` and, for
// the tests, `EXAMPLES`.
include!(concat!(env!("OUT_DIR"), "/secrets.rs"));

/// What `<private>…</private>` counts as.
pub(super) const PRIVATE: &str = "private";
/// The tag that begins a private part.
const PRIVATE_TAG: &str = "<private>";

/// A secret: where it stands, and the rule that knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MaskSpan<'r> {
    pub(super) range: Range<usize>,
    pub(super) id: &'r str,
}

/// The keywords of all rules, each with its rule, and the tag, which has none.
static KEYWORDS: LazyLock<Keywords<Option<usize>>> = LazyLock::new(|| {
    let rules = RULES.iter().enumerate();
    let keywords =
        rules.flat_map(|(owner, rule)| rule.keywords.iter().map(move |k| (*k, Some(owner))));
    Keywords::new(keywords.chain([(PRIVATE_TAG, None)]))
});

/// Finds the secrets of a text that rules know, without those in `off`, in no order; they may
/// overlap.
pub(super) fn find(text: &str, unclosed: Unclosed, off: &[&str]) -> Vec<MaskSpan<'static>> {
    let mut spans = Vec::new();
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    let mut is_private = false;
    KEYWORDS.find(text, |at, owner| match owner {
        Some(owner) => candidates.push((owner, at)),
        None => is_private = true,
    });
    candidates.sort_unstable();
    for of_one in candidates.chunk_by(|a, b| a.0 == b.0) {
        let rule = &RULES[of_one[0].0];
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

/// The rules that go by a name, or did before one was split into them.
pub(super) fn named(name: &str) -> impl Iterator<Item = &'static str> {
    let rules = RULES
        .iter()
        .filter(move |rule| rule.id == name || rule.formerly == Some(name));
    let private = (name == PRIVATE).then_some(PRIVATE);
    rules.map(|rule| &*rule.id).chain(private)
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
