//! The built-in rules, and where in a text what they know stands.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, Input, MatchKind};
use regex_automata::meta::Regex;

use super::private::{self, Unclosed};
use super::rule::{Place, Proof, Rule, any_of};

// `build.rs` makes these of `data/secrets.toml`: `RULES`, `FILLERS`, `PLACEHOLDERS` and, for
// the tests, `EXAMPLES`.
include!(concat!(env!("OUT_DIR"), "/secrets.rs"));

/// What `<private>…</private>` counts as.
pub(super) const PRIVATE: &str = "private";
/// After how many bytes the quick form of the keywords has earned the time it takes to make.
const MUCH: usize = 512 << 10;
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

impl Keywords {
    fn new(kind: AhoCorasickKind) -> Option<Self> {
        let rules = RULES.iter().enumerate();
        let (owners, mut keywords): (Vec<_>, Vec<_>) = rules
            .flat_map(|(owner, rule)| rule.keywords.iter().map(move |keyword| (owner, *keyword)))
            .unzip();
        keywords.push(PRIVATE_TAG);
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::Standard)
            .kind(Some(kind))
            .ascii_case_insensitive(true)
            .build(keywords);
        let automaton = automaton.ok()?;
        Some(Self { automaton, owners })
    }

    /// The keywords in the form that suits a process that has `length` more bytes to search:
    /// the quick one takes milliseconds to make, which a hook does not have.
    fn for_text(length: usize) -> Option<&'static Self> {
        static SEARCHED: AtomicUsize = AtomicUsize::new(0);
        static SMALL: LazyLock<Option<Keywords>> =
            LazyLock::new(|| Keywords::new(AhoCorasickKind::ContiguousNFA));
        static QUICK: LazyLock<Option<Keywords>> =
            LazyLock::new(|| Keywords::new(AhoCorasickKind::DFA));
        let searched = SEARCHED.fetch_add(length, Ordering::Relaxed);
        let keywords = if searched < MUCH { &SMALL } else { &QUICK };
        keywords.as_ref()
    }
}

/// Finds the secrets of a text that rules know, without those in `off`, in no order; they may
/// overlap.
pub(super) fn find(text: &str, unclosed: Unclosed, off: &[&str]) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let Some(Keywords { automaton, owners }) = Keywords::for_text(text.len()) else {
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
        if off.contains(&&*rule.id) {
            continue;
        }
        let places: Vec<usize> = of_one.iter().map(|(_, at)| *at).collect();
        rule.find(text, &places, &mut |range| {
            spans.push(Span {
                range,
                id: &rule.id,
            });
        });
    }
    if is_private && !off.contains(&PRIVATE) {
        private::each(text, unclosed, |range| {
            spans.push(Span { range, id: PRIVATE });
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
