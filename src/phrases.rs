//! Looks for many phrases in one pass; ASCII letters count alike in either case.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Input, MatchKind};

/// A shorter phrase is never found: it would be everywhere.
const SHORTEST: usize = 3;

/// Phrases, each with a number of its own or a shared one.
#[derive(Debug)]
pub(crate) struct Phrases {
    /// Each phrase with its number, as the automaton counts them.
    known: Vec<(Cow<'static, str>, u16)>,
    /// `None` where there is nothing to find.
    automaton: Option<AhoCorasick>,
}

/// Phrases that are made ready when one is first looked for.
pub(crate) type LazyPhrases = LazyLock<Phrases>;

impl Phrases {
    /// Prepares a search for phrases of at least three bytes, numbered as they come.
    pub(crate) fn new(phrases: &[&'static str]) -> Self {
        Self::numbered(phrases.iter().copied().zip(0..))
    }

    /// Prepares a search for phrases of at least three bytes with numbers.
    pub(crate) fn numbered<P: Into<Cow<'static, str>>>(
        phrases: impl Iterator<Item = (P, u16)>,
    ) -> Self {
        let phrases = phrases.map(|(phrase, number)| (phrase.into(), number));
        let mut known: Vec<_> = phrases.filter(|(p, _)| p.len() >= SHORTEST).collect();
        known.sort_unstable();
        // A table may say one several times, which is to be found once.
        known.dedup();
        let automaton = AhoCorasickBuilder::new()
            .match_kind(MatchKind::Standard)
            .ascii_case_insensitive(true)
            .build(known.iter().map(|(phrase, _)| phrase.as_bytes()));
        Self {
            automaton: automaton.ok().filter(|_| !known.is_empty()),
            known,
        }
    }

    /// Calls `found` with the number of each phrase in `text` and its place, in order of the
    /// places, until it breaks. It returns the place before which nothing more needs to be
    /// found.
    pub(crate) fn search<B>(
        &self,
        text: &[u8],
        mut found: impl FnMut(u16, usize, usize) -> ControlFlow<B, usize>,
    ) -> Option<B> {
        let mut places: Vec<_> = self
            .overlapping(text)
            .map(|(index, at, end)| (at, index, end))
            .collect();
        places.sort_unstable();
        let mut from = 0;
        for (at, index, end) in places {
            if at < from {
                continue;
            }
            match found(self.known[index].1, at, end) {
                ControlFlow::Continue(next) => from = next.max(from),
                ControlFlow::Break(result) => return Some(result),
            }
        }
        None
    }

    /// Calls `found` with the number of each phrase in `text`, as often as it stands there.
    pub(crate) fn each(&self, text: &str, mut found: impl FnMut(u16)) {
        let places = self.overlapping(text.as_bytes());
        places.for_each(|(index, ..)| found(self.known[index].1));
    }

    /// Returns where the first phrase stands in `text`.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        let places = self.overlapping(text.as_bytes());
        places.map(|(_, at, _)| at).min()
    }

    /// Tells whether a phrase is anywhere in `text`.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.automaton.as_ref().is_some_and(|a| a.is_match(text))
    }

    /// Tells whether a phrase is in `text` as whole words.
    pub(crate) fn are_said_in(&self, text: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric();
        self.overlapping(text.as_bytes())
            .any(|(_, at, end)| !text[..at].ends_with(is_word) && !text[end..].starts_with(is_word))
    }

    /// Returns the phrases that `text` begins with.
    pub(crate) fn begin(&self, text: &str) -> impl Iterator<Item = &str> {
        let text = text.as_bytes();
        let phrases = self.known.iter().map(|(phrase, _)| phrase.as_ref());
        phrases.filter(move |phrase| {
            let start = text.get(..phrase.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(phrase.as_bytes()))
        })
    }

    /// All phrases in `text`: which one, and where it begins and ends.
    fn overlapping<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = (usize, usize, usize)> {
        let found = self.automaton.iter();
        found.flat_map(move |automaton| {
            let places = automaton.find_overlapping_iter(Input::new(text));
            places.map(|place| (place.pattern().as_usize(), place.start(), place.end()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(u16, usize)> {
        let phrases = Phrases::numbered([("token", 1), ("tokens", 2), ("://", 3)].into_iter());
        let mut all = Vec::new();
        let _: Option<()> = phrases.search(text.as_bytes(), |number, at, _| {
            all.push((number, at));
            ControlFlow::Continue(0)
        });
        all
    }

    #[test]
    fn phrases_are_found_in_either_case_wherever_they_stand() {
        assert_eq!(found("a TOKENS ://"), [(1, 2), (2, 2), (3, 9)]);
        assert_eq!(found("to"), []);
    }

    #[test]
    fn what_lies_before_the_returned_place_is_passed_over() {
        let phrases = Phrases::new(&["aaa"]);
        let mut places = Vec::new();
        let _: Option<()> = phrases.search(b"aaaaaaaaa", |_, at, _| {
            places.push(at);
            ControlFlow::Continue(at + 4)
        });
        assert_eq!(places, [0, 4]);
    }

    #[test]
    fn phrases_are_asked_for_in_several_ways() {
        let phrases = Phrases::new(&["not found", "no such", "größe"]);
        assert_eq!(phrases.find("file not found: no such file"), Some(5));
        assert_eq!(phrases.find("the größe"), Some(4));
        assert!(!phrases.are_in("not fou"));
        assert!(phrases.begin("no such file").eq(["no such"]));
        assert!(phrases.begin("no").next().is_none());
        assert!(phrases.are_said_in("not founder, not found"));
        assert!(!phrases.are_said_in("not founder, xno such"));
    }

    proptest! {
        #[test]
        fn every_occurrence_is_found(before in "\\PC{0,40}", after in "\\PC{0,40}") {
            let text = format!("{before}ToKen{after}");
            prop_assert!(found(&text).contains(&(1, before.len())));
        }
    }
}
