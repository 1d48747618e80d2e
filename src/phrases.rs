//! Looks for many phrases in one pass, without a pattern engine.
//!
//! A table of bits tells by three bytes whether a phrase can begin there; only there one is
//! looked for. ASCII letters count alike in either case.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::LazyLock;

/// How many bytes decide whether a phrase is looked for.
const LOOKED_AT: usize = 3;
/// Bits of the table, as a power of two.
const BITS: u32 = 16;
/// How many buckets of phrases there are: about one a phrase, so that none is searched for.
const BUCKETS: usize = 1 << 12;
/// As many words make the table.
const WORDS: usize = 1 << (BITS - 6);

/// Phrases, each with a number of its own or a shared one.
#[derive(Debug)]
pub(crate) struct Phrases {
    bits: Box<[u64; WORDS]>,
    /// Where in `sorted` the phrases of each bucket begin.
    firsts: Box<[u16; BUCKETS]>,
    /// The key of each phrase's beginning, the phrase, and its number; by bucket, sorted.
    sorted: Vec<(u32, Cow<'static, str>, u16)>,
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
        let mut bits = Box::new([0; WORDS]);
        let mut sorted: Vec<_> = phrases
            .filter_map(|(phrase, number)| {
                let phrase = phrase.into();
                let start = key(phrase.as_bytes())?;
                bits[slot(start) >> 6] |= 1 << (slot(start) & 63);
                Some((start, phrase, number))
            })
            .collect();
        sorted.sort_unstable_by(|a, b| (bucket(a.0), a).cmp(&(bucket(b.0), b)));
        // A table may say one several times, which is to be found once.
        sorted.dedup();
        let mut firsts = Box::new([u16::MAX; BUCKETS]);
        for (at, (start, ..)) in (0..).zip(&sorted) {
            let first = &mut firsts[bucket(*start)];
            *first = at.min(*first);
        }
        Self {
            bits,
            firsts,
            sorted,
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
        let mut from = 0;
        for (at, window) in text.windows(LOOKED_AT).enumerate() {
            let start = key_of(window);
            let slot = slot(start);
            if self.bits[slot >> 6] >> (slot & 63) & 1 == 0 || at < from {
                continue;
            }
            for (_, phrase, number) in self.beginning(start) {
                if starts_with(&text[at..], phrase.as_bytes()) {
                    match found(*number, at, at + phrase.len()) {
                        ControlFlow::Continue(next) => from = next.max(from),
                        ControlFlow::Break(result) => return Some(result),
                    }
                }
            }
        }
        None
    }

    /// Calls `found` with the number of each phrase in `text`, as often as it stands there.
    pub(crate) fn each(&self, text: &str, mut found: impl FnMut(u16)) {
        let _: Option<()> = self.search(text.as_bytes(), |number, _, _| {
            found(number);
            ControlFlow::Continue(0)
        });
    }

    /// Returns where the first phrase stands in `text`.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        self.search(text.as_bytes(), |_, at, _| ControlFlow::Break(at))
    }

    /// Tells whether a phrase is anywhere in `text`.
    pub(crate) fn are_in(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// Tells whether a phrase is in `text` as whole words.
    pub(crate) fn are_said_in(&self, text: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric();
        let said = self.search(text.as_bytes(), |_, at, end| {
            if text[..at].ends_with(is_word) || text[end..].starts_with(is_word) {
                ControlFlow::Continue(0)
            } else {
                ControlFlow::Break(())
            }
        });
        said.is_some()
    }

    /// Returns the phrases that `text` begins with.
    pub(crate) fn begin(&self, text: &str) -> impl Iterator<Item = &str> {
        let start = key(text.as_bytes());
        let here = start.map_or(&[][..], |start| self.beginning(start));
        here.iter()
            .map(|(_, phrase, _)| phrase.as_ref())
            .filter(|phrase| starts_with(text.as_bytes(), phrase.as_bytes()))
    }

    /// The phrases whose beginning has this key.
    fn beginning(&self, start: u32) -> &[(u32, Cow<'static, str>, u16)] {
        let first = usize::from(self.firsts[bucket(start)]);
        let known = self.sorted.get(first..).unwrap_or_default();
        // Phrases of one key stand together, in a bucket of few.
        let others = known
            .iter()
            .take_while(|known| known.0 != start && bucket(known.0) == bucket(start));
        let first = first + others.count();
        let same = self.sorted.get(first..).unwrap_or_default();
        let count = same.iter().take_while(|known| known.0 == start).count();
        &same[..count]
    }
}

/// The key of a text's first bytes.
fn key(text: &[u8]) -> Option<u32> {
    let start = text.get(..LOOKED_AT)?;
    Some(key_of(start))
}

/// The key of three bytes, the same for either case.
fn key_of(start: &[u8]) -> u32 {
    start
        .iter()
        .fold(0, |key, byte| key << 8 | u32::from(byte | 0x20))
}

fn slot(key: u32) -> usize {
    (key.wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

fn bucket(key: u32) -> usize {
    (slot(key) * BUCKETS) >> BITS
}

fn starts_with(text: &[u8], phrase: &[u8]) -> bool {
    text.get(..phrase.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(phrase))
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
