//! English in patterns: the sentences with which a person states a rule outright
//! (`data/rules.toml`), and the patterns of `data/english.toml`, each compiled when it is first
//! needed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::clip::boundary_before;

/// The longest sentence of a rule that is kept, in characters.
const MAX_CHARS: usize = 250;
/// The parts of a pattern that count only letters and digits of ASCII.
const ASCII: [(&str, &str); 5] = [
    (r"\b", r"(?-u:\b)"),
    (r"\w", r"[0-9A-Za-z_]"),
    (r"\W", r"[^0-9A-Za-z_]"),
    (r"\d", r"[0-9]"),
    // Within a clause; of a class of all signs it would be ten times the size.
    (r"[^.;:]", r"[\x00-\x2d\x2f-\x39\x3c-\x7f]"),
];

/// Compiles a pattern in which words are those of English. It is a tenth of the size, and its
/// search stays a quick one in a text that has signs of other scripts.
pub(crate) fn pattern(pattern: &str) -> Option<Regex> {
    let ascii = ASCII
        .iter()
        .fold(pattern.to_owned(), |pattern, (of_all, of_ascii)| {
            pattern.replace(of_all, of_ascii)
        });
    Regex::new(&ascii).ok()
}

pub(crate) fn written(name: &str) -> Option<Regex> {
    pattern(&format!("(?ix){}", WRITTEN.get(name)?))
}

/// A pattern of `data/english.toml`, by its name.
pub(crate) struct EnglishPattern(pub(crate) LazyLock<Option<Regex>>);

static WRITTEN: LazyLock<HashMap<String, String>> =
    LazyLock::new(|| toml::from_str(include_str!("../../data/english.toml")).unwrap_or_default());

impl EnglishPattern {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.0
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(text))
    }

    pub(crate) fn without<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let pattern = self.0.as_ref();
        pattern.map_or(text.into(), |pattern| pattern.replace_all(text, ""))
    }
}

macro_rules! patterns {
    ($($name:ident)+) => {
        $(static $name: $crate::transcript::english::EnglishPattern = $crate::transcript::english::EnglishPattern(
            std::sync::LazyLock::new(|| $crate::transcript::english::written(stringify!($name))),
        );)+
        #[cfg(test)]
        mod patterns {
            #[test]
            fn each_compiles() {
                assert!([$(&super::$name),+].iter().all(|pattern| pattern.0.is_some()));
            }
        }
    };
}
pub(crate) use patterns;

#[derive(Deserialize)]
struct Table {
    patterns: Vec<String>,
}

static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let table: Option<Table> = toml::from_str(include_str!("../../data/rules.toml")).ok();
    let patterns = table.map(|table| table.patterns).unwrap_or_default();
    let compile = |words: &String| pattern(&format!("(?i){words}"));
    patterns.iter().filter_map(compile).collect()
});

pub(crate) fn stated_rules(words: &str) -> impl Iterator<Item = String> {
    words.lines().flat_map(sentences).filter_map(|sentence| {
        let said = sentence.trim().trim_start_matches(['-', '*', ' ']);
        let is_stated = || {
            let plain = said.replace('’', "'");
            PATTERNS.iter().any(|pattern| pattern.is_match(&plain))
        };
        (!said.ends_with('?') && is_stated()).then(|| shortened(said).to_owned())
    })
}

fn shortened(sentence: &str) -> &str {
    match sentence.char_indices().nth(MAX_CHARS) {
        None => sentence,
        Some((end, _)) => {
            let head = &sentence[..boundary_before(sentence, end)];
            head.rfind(' ').map_or(head, |at| &head[..at])
        }
    }
}

pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = ['.', '!', '?'];
        let is_end = |(at, _): &(usize, &str)| {
            rest[at + 1..]
                .chars()
                .next()
                .is_none_or(char::is_whitespace)
        };
        let end = rest.match_indices(ends).find(is_end);
        let (sentence, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at + 1));
        rest = after;
        Some(sentence)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[test]
    fn every_pattern_compiles() {
        let table: Table = toml::from_str(include_str!("../../data/rules.toml")).unwrap();
        assert_eq!(PATTERNS.len(), table.patterns.len());
    }

    #[rstest]
    #[case("Fix it. Never push to main.", &["Never push to main."])]
    #[case("From now on use pnpm!", &["From now on use pnpm!"])]
    #[case("ok, and always run `make fmt` first", &["ok, and always run `make fmt` first"])]
    #[case("please don’t ever touch vendor/", &["please don’t ever touch vendor/"])]
    #[case("we use pnpm, not npm", &["we use pnpm, not npm"])]
    #[case("Remember that the tests need Docker. Go on.", &["Remember that the tests need Docker."])]
    #[case("In future, ask before you push.", &["In future, ask before you push."])]
    #[case("Whenever you change a proto, run make proto.", &["Whenever you change a proto, run make proto."])]
    #[case("you should never commit generated files", &["you should never commit generated files"])]
    #[case("As a rule, one commit per change.", &["As a rule, one commit per change."])]
    #[case("why does it always fail?", &[])]
    #[case("always returns null", &[])]
    #[case("I will remember that. It could be useful in the future.", &[])]
    #[case("the parser never resets its depth", &[])]
    #[case("mend the parser", &[])]
    fn a_rule_stated_outright_is_found(#[case] words: &str, #[case] want: &[&str]) {
        assert_eq!(stated_rules(words).collect::<Vec<_>>(), want);
    }

    #[test]
    fn a_long_sentence_is_shortened_at_a_word() {
        let long = format!("Always use {}", "tabs ".repeat(100));
        let found: Vec<String> = stated_rules(&long).collect();
        assert!(found[0].len() <= MAX_CHARS && found[0].ends_with("tabs"));
    }
}
