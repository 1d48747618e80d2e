//! The patterns of fixed-form secrets: a subset of regular expressions that needs no
//! engine, so that hooks can afford it.
//!
//! A pattern is tried at one place and runs forward once: literals, `\d`, `\w`, classes,
//! `?` `*` `+` `{n}` `{n,}` `{n,m}`, `\b` at either end, and one pair of parentheses around
//! what is masked. Every part takes as much as it can and gives nothing back; no part may
//! therefore need what the one before it can take. A pattern that fails has looked at no
//! more than the shortest text that would have matched, and the whole stays linear.

use std::ops::Range;

/// A compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    parts: Vec<Part>,
    /// Which parts are masked.
    secret: Range<usize>,
    start: Start,
    ends_word: bool,
}

/// Where a pattern can begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Anywhere,
    /// Where a word does: `\b`.
    Word,
    /// The same, and not after a dash: `\<`. For what would run on over its own beginnings.
    Run,
}

#[derive(Debug, Clone, Copy)]
struct Part {
    set: Set,
    least: usize,
    most: usize,
}

/// A set of bytes.
#[derive(Debug, Clone, Copy, Default)]
struct Set([u64; 4]);

impl Set {
    fn of(byte: u8) -> Self {
        let mut set = Self::default();
        set.add(byte);
        set
    }

    fn range(&mut self, from: u8, to: u8) {
        for byte in from..=to {
            self.add(byte);
        }
    }

    fn add(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    fn has(self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] & (1 << (byte & 63)) != 0
    }

    fn not(self) -> Self {
        Self(self.0.map(|word| !word))
    }

    /// `\d` or `\w`; any other escaped character is itself.
    fn escaped(byte: u8) -> Self {
        let mut set = Self::default();
        match byte {
            b'd' => set.range(b'0', b'9'),
            b'w' => {
                set.range(b'0', b'9');
                set.range(b'A', b'Z');
                set.range(b'a', b'z');
                set.add(b'_');
            }
            other => set.add(other),
        }
        set
    }

    fn union(self, other: Self) -> Self {
        let mut words = self.0;
        for (word, more) in words.iter_mut().zip(other.0) {
            *word |= more;
        }
        Self(words)
    }
}

impl Pattern {
    /// Compiles a pattern; `None` when it says something that is not understood.
    pub(super) fn new(text: &str) -> Option<Self> {
        let (start, text) = if let Some(rest) = text.strip_prefix(r"\b") {
            (Start::Word, rest)
        } else if let Some(rest) = text.strip_prefix(r"\<") {
            (Start::Run, rest)
        } else {
            (Start::Anywhere, text)
        };
        let (ends_word, text) = match text.strip_suffix(r"\b") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let mut rest = text.as_bytes();
        let mut parts: Vec<Part> = Vec::new();
        let (mut open, mut close) = (None, None);
        while let Some((&first, after)) = rest.split_first() {
            rest = after;
            let set = match first {
                b'(' => {
                    open = Some(parts.len());
                    continue;
                }
                b')' => {
                    close = Some(parts.len());
                    continue;
                }
                b'[' => class(&mut rest)?,
                b'\\' => Set::escaped(next(&mut rest)?),
                literal => Set::of(literal),
            };
            let (least, most) = count(&mut rest)?;
            parts.push(Part { set, least, most });
        }
        let secret = open.unwrap_or(0)..close.unwrap_or(parts.len());
        (open.is_some() == close.is_some() && !secret.is_empty()).then_some(Self {
            parts,
            secret,
            start,
            ends_word,
        })
    }

    /// Returns what is to be masked when the pattern matches at `at`.
    pub(super) fn at(&self, text: &[u8], at: usize) -> Option<Range<usize>> {
        let goes_on = match self.start {
            Start::Anywhere => false,
            Start::Word => goes_on_before(text, at),
            Start::Run => goes_on_before(text, at) || (at > 0 && text[at - 1] == b'-'),
        };
        if goes_on {
            return None;
        }
        let mut end = at;
        let mut secret = at..at;
        for (index, part) in self.parts.iter().enumerate() {
            if index == self.secret.start {
                secret.start = end;
            }
            let rest = text.get(end..)?;
            let taken = rest
                .iter()
                .take(part.most)
                .take_while(|b| part.set.has(**b));
            let taken = taken.count();
            if taken < part.least {
                return None;
            }
            end += taken;
            if index + 1 == self.secret.end {
                secret.end = end;
            }
        }
        let goes_on = self.ends_word && text.get(end).is_some_and(|b| is_word(*b));
        (!goes_on).then_some(secret)
    }

    /// Returns where a match that ends at `end` begins; only of a pattern of one part.
    pub(super) fn back_from(&self, text: &[u8], end: usize) -> Option<usize> {
        let part = self.parts.first()?;
        let before = text[..end].iter().rev().take(part.most);
        let taken = before.take_while(|b| part.set.has(**b)).count();
        (taken >= part.least).then(|| end - taken)
    }
}

/// Tells whether what stands at `at` continues a word; after an escape such as `\n`, as it
/// stands in JSON within JSON, a word begins.
pub(super) fn goes_on_before(text: &[u8], at: usize) -> bool {
    let Some(&before) = at.checked_sub(1).and_then(|i| text.get(i)) else {
        return false;
    };
    let escaped = matches!(before, b'n' | b'r' | b't') && at >= 2 && text[at - 2] == b'\\';
    is_word(before) && !escaped
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn next(rest: &mut &[u8]) -> Option<u8> {
    let (&first, after) = rest.split_first()?;
    *rest = after;
    Some(first)
}

/// Reads a class after its `[`.
fn class(rest: &mut &[u8]) -> Option<Set> {
    let negated = rest.first() == Some(&b'^');
    if negated {
        next(rest);
    }
    let mut set = Set::default();
    loop {
        match next(rest)? {
            b']' => return Some(if negated { set.not() } else { set }),
            b'\\' => set = set.union(Set::escaped(next(rest)?)),
            from => match **rest {
                [b'-', to, ..] if to != b']' => {
                    *rest = &rest[2..];
                    set.range(from, to);
                }
                _ => set.add(from),
            },
        }
    }
}

/// Reads how often a part may occur.
fn count(rest: &mut &[u8]) -> Option<(usize, usize)> {
    let counts = match rest.first() {
        Some(b'?') => (0, 1),
        Some(b'*') => (0, usize::MAX),
        Some(b'+') => (1, usize::MAX),
        Some(b'{') => {
            let end = rest.iter().position(|b| *b == b'}')?;
            let text = std::str::from_utf8(&rest[1..end]).ok()?;
            *rest = &rest[end..];
            match text.split_once(',') {
                None => (text.parse().ok()?, text.parse().ok()?),
                Some((least, "")) => (least.parse().ok()?, usize::MAX),
                Some((least, most)) => (least.parse().ok()?, most.parse().ok()?),
            }
        }
        _ => return Some((1, 1)),
    };
    next(rest);
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::literal("ab", "abc", Some(0..2))]
    #[case::class("[a-c-]{2}", "a-c", Some(0..2))]
    #[case::negated("[^b]+", "aab", Some(0..2))]
    #[case::escape(r"\d+\.", "12.3", Some(0..3))]
    #[case::group("a(b+)c", "abbc", Some(1..3))]
    #[case::too_few("a{3,}", "aab", None)]
    #[case::open_end("a{2,}", "aaab", Some(0..3))]
    #[case::word_end(r"ab\b", "abc", None)]
    fn patterns_match_as_regular_expressions_do(
        #[case] pattern: &str,
        #[case] text: &str,
        #[case] want: Option<Range<usize>>,
    ) {
        assert_eq!(Pattern::new(pattern).unwrap().at(text.as_bytes(), 0), want);
    }

    #[rstest]
    #[case::start("ab", 0, false)]
    #[case::inside("xab", 1, true)]
    #[case::after_escape("\\nab", 2, false)]
    #[case::after_dash("-ab", 1, false)]
    fn a_word_begins_where_none_goes_on(#[case] text: &str, #[case] at: usize, #[case] on: bool) {
        assert_eq!(goes_on_before(text.as_bytes(), at), on);
    }

    #[rstest]
    #[case::unclosed_class("[ab")]
    #[case::unclosed_count("a{2")]
    #[case::half_a_group("(ab")]
    #[case::nothing("")]
    fn a_broken_pattern_is_refused(#[case] pattern: &str) {
        assert!(Pattern::new(pattern).is_none());
    }

    proptest! {
        #[test]
        fn any_text_compiles_or_not_and_never_panics(pattern in ".{0,30}", text in ".{0,30}") {
            if let Some(pattern) = Pattern::new(&pattern) {
                pattern.at(text.as_bytes(), 0);
            }
        }
    }
}
