//! Finds sentences by how they begin: a few patterns of words in place of many phrases.
//!
//! A pattern is written as words with blanks between them. `a|b` is either word, `%NAME` is
//! one of a class, `a~` and `~a` are words that begin and end so, `_` is any word, `!a|b` is
//! any other word, `,` is a pause or the end, `…` are at most five words without a pause.
//! `?` after it makes one optional, `*` allows up to three.

use std::sync::LazyLock;

use crate::clip::head;

/// Words of a sentence that are looked at.
const MAX_WORDS: usize = 60;
/// Bytes of a sentence that are looked at.
const MAX_BYTES: usize = 400;
/// How many words `*` stands for at most.
const MANY: usize = 3;
/// How many words `…` stands for at most.
const GAP: usize = 5;
/// What a pause is written as.
pub(super) const PAUSE: &str = ",";

/// The words of a sentence in lower case, contractions written out, pauses as [`PAUSE`].
#[derive(Debug)]
pub(super) struct Words(String);

impl Words {
    /// Reads the beginning of a sentence.
    pub(super) fn of(sentence: &str) -> Self {
        let lower = head(sentence, MAX_BYTES).to_lowercase().replace('’', "'");
        let mut out = String::with_capacity(lower.len() + 16);
        let mut rest = lower.as_str();
        while let Some(c) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '_' | '`');
            let is_inner = |c: char| is_word(c) || matches!(c, '-' | '/' | '.' | ':');
            if is_word(c) {
                let end = rest.find(|c| !is_inner(c)).unwrap_or(rest.len());
                let word = rest[..end].trim_end_matches(['-', '/', '.', ':', '\'']);
                push_word(&mut out, word);
                rest = &rest[word.len().max(1)..];
            } else {
                if !c.is_whitespace() && !matches!(c, '"' | '*' | '(' | '#' | '•') {
                    push(&mut out, PAUSE);
                }
                rest = &rest[c.len_utf8()..];
            }
        }
        Self(out)
    }

    /// Returns the words in order.
    pub(super) fn list(&self) -> Vec<&str> {
        let mut list: Vec<&str> = self.0.split(' ').take(MAX_WORDS).collect();
        list.dedup_by(|a, b| a == b && *a == PAUSE);
        list.retain(|word| !word.is_empty());
        let start = list.iter().take_while(|word| **word == PAUSE).count();
        list.split_off(start)
    }
}

fn push(out: &mut String, word: &str) {
    if !out.is_empty() {
        out.push(' ');
    }
    out.push_str(word);
}

/// Adds a word, a contraction as the two that it is.
fn push_word(out: &mut String, word: &str) {
    const SHORT: &[(&str, &str)] = &[
        ("can't", "can not"),
        ("won't", "will not"),
        ("dont", "do not"),
        ("thats", "that is"),
        ("doesnt", "does not"),
        ("didnt", "did not"),
        ("isnt", "is not"),
        ("wasnt", "was not"),
        ("cannot", "can not"),
        ("let's", "let us"),
        ("lets", "let us"),
        ("youre", "you are"),
    ];
    const ENDS: &[(&str, &str)] = &[
        ("n't", "not"),
        ("'re", "are"),
        ("'ve", "have"),
        ("'m", "am"),
        ("'ll", "will"),
        ("'d", "would"),
    ];
    const IS: &[&str] = &[
        "it's", "that's", "this's", "what's", "there's", "here's", "he's", "she's",
    ];
    if let Some((_, long)) = SHORT.iter().find(|(short, _)| *short == word) {
        return push(out, long);
    }
    let is = IS.contains(&word).then(|| (&word[..word.len() - 2], "is"));
    let split = is.or_else(|| {
        ENDS.iter()
            .find_map(|(end, long)| Some((word.strip_suffix(end)?, *long)))
    });
    match split {
        Some((head, tail)) if !head.is_empty() => {
            push(out, head);
            push(out, tail);
        }
        _ => push(out, word),
    }
}

/// Patterns that are made ready when a sentence is first looked at.
pub(super) type LazyPatterns = LazyLock<Patterns>;

/// Patterns, found by the word that a sentence begins with.
#[derive(Debug)]
pub(super) struct Patterns {
    /// A first word and a pattern that begins with it; sorted by the word.
    by_first: Vec<(&'static str, usize)>,
    /// Patterns whose first word is given by its beginning or its end.
    by_affix: Vec<usize>,
    all: Vec<Vec<Element>>,
}

impl Patterns {
    /// Reads patterns, one in a line; each begins with words of its own. `classes` are the
    /// names that may stand in them.
    pub(super) fn new(classes: &[(&str, &'static str)], text: &'static str) -> Self {
        let (mut by_first, mut by_affix) = (Vec::new(), Vec::new());
        let mut patterns: Vec<Vec<Element>> = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let pattern: Vec<_> = line
                .split(' ')
                .map(|text| Element::read(classes, text))
                .collect();
            for first in pattern.iter().take(1).flat_map(|first| &first.words) {
                if first.contains('~') {
                    by_affix.push(patterns.len());
                } else {
                    by_first.push((*first, patterns.len()));
                }
            }
            patterns.push(pattern);
        }
        by_first.sort_unstable();
        Self {
            by_first,
            by_affix,
            all: patterns,
        }
    }

    /// Tells whether `words` begin as one of the patterns says.
    pub(super) fn begin(&self, words: &[&str]) -> bool {
        let Some(first) = words.first() else {
            return false;
        };
        let start = self.by_first.partition_point(|(known, _)| known < first);
        let here = self.by_first[start..]
            .iter()
            .take_while(|(known, _)| known == first);
        here.map(|(_, pattern)| pattern)
            .chain(&self.by_affix)
            .any(|pattern| matches(&self.all[*pattern], words))
    }
}

/// One part of a pattern.
#[derive(Debug)]
struct Element {
    words: Vec<&'static str>,
    kind: Kind,
    /// How often it may stand there.
    least: usize,
    most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    OneOf,
    NoneOf,
    Any,
    Pause,
}

impl Element {
    fn read(classes: &[(&str, &'static str)], text: &'static str) -> Self {
        let (text, least, most) = match (text.strip_suffix('?'), text.strip_suffix('*'), text) {
            (_, _, "…") => ("_", 0, GAP),
            (Some(text), _, _) => (text, 0, 1),
            (_, Some(text), _) => (text, 0, MANY),
            _ => (text, 1, 1),
        };
        let (kind, text) = match (text, text.strip_prefix('!')) {
            ("_", _) => (Kind::Any, ""),
            (PAUSE, _) => (Kind::Pause, ""),
            (_, Some(text)) => (Kind::NoneOf, text),
            _ => (Kind::OneOf, text),
        };
        let of_class = |word: &'static str| -> Vec<&'static str> {
            match classes
                .iter()
                .find(|(name, _)| word.strip_prefix('%') == Some(*name))
            {
                Some((_, words)) => words.split('|').collect(),
                None => vec![word],
            }
        };
        let words = text.split('|').filter(|word| !word.is_empty());
        Self {
            words: words.flat_map(of_class).collect(),
            kind,
            least,
            most,
        }
    }

    /// Tells whether the element fits the next word, if there is one.
    fn fits(&self, word: Option<&&str>) -> bool {
        let pause = word.is_none_or(|word| *word == PAUSE);
        match self.kind {
            Kind::Pause => pause,
            Kind::Any => !pause,
            Kind::OneOf if pause => self.words.contains(&PAUSE),
            Kind::OneOf => word.is_some_and(|word| self.has(word)),
            Kind::NoneOf => !pause && word.is_some_and(|word| !self.has(word)),
        }
    }

    fn has(&self, word: &str) -> bool {
        self.words
            .iter()
            .any(|known| match known.strip_suffix('~') {
                Some(start) => word.starts_with(start),
                None => match known.strip_prefix('~') {
                    Some("s") => is_inflected(word),
                    Some(end) => word.len() > end.len() + 1 && word.ends_with(end),
                    None => *known == word,
                },
            })
    }
}

/// Tells whether an English verb stands in the third person: `fails`, not `pass` or `focus`.
fn is_inflected(word: &str) -> bool {
    word.len() > 3
        && word.ends_with('s')
        && !["ss", "us", "is"].iter().any(|end| word.ends_with(end))
}

fn matches(pattern: &[Element], words: &[&str]) -> bool {
    let Some((element, after)) = pattern.split_first() else {
        return true;
    };
    let mut rest = words;
    for count in 0..=element.most {
        if count >= element.least && matches(after, rest) {
            return true;
        }
        if count == element.most || !element.fits(rest.first()) {
            return false;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::contraction("That's wrong", "that is wrong")]
    #[case::negated("You DIDN’T, I can't", "you did not , i can not")]
    #[case::code("use `a.b`: (see src/x.rs).", "use `a.b` , see src/x.rs ,")]
    #[case::pauses("— no — no!", "no , no ,")]
    fn a_sentence_is_read_as_words(#[case] sentence: &str, #[case] want: &str) {
        assert_eq!(Words::of(sentence).list().join(" "), want);
    }

    #[rstest]
    #[case::one("go on", "go on and on", true)]
    #[case::class("%BE it", "is it", true)]
    #[case::optional("go back? to", "go to", true)]
    #[case::many("go really* on", "go really really on", true)]
    #[case::gap("put … back", "put the old one back", true)]
    #[case::gap_ends_at_a_pause("put … back", "put it there, back", false)]
    #[case::pause("stop ,", "stop, go", true)]
    #[case::end("stop ,", "stop", true)]
    #[case::pause_or_word("stop ,|it", "stop", true)]
    #[case::no_pause("stop ,", "stop it", false)]
    #[case::other("go !on", "go on", false)]
    #[case::another("go !on", "go off", true)]
    #[case::needs_one("go !on", "go", false)]
    #[case::begins("n'~ jamais", "n'utilise jamais", true)]
    #[case::ends("stop ~ing", "stop trying", true)]
    #[case::third_person("always !~s", "always fails", false)]
    #[case::imperative("always !~s", "always pass", true)]
    fn a_pattern_fits_the_beginning(
        #[case] pattern: &'static str,
        #[case] said: &str,
        #[case] fits: bool,
    ) {
        let patterns = Patterns::new(&[("BE", "is|was")], pattern);
        assert_eq!(patterns.begin(&Words::of(said).list()), fits);
    }
}
