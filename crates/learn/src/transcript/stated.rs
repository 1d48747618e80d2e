//! The sentences with which a person states a rule outright, by the patterns of
//! `data/rules.toml`.

use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use super::english::pattern;
use crate::clip::boundary_before;

/// The longest sentence that is kept, in characters.
const MAX_CHARS: usize = 250;

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

/// Returns the sentences of a person's own words that state a rule.
pub(crate) fn in_words(words: &str) -> impl Iterator<Item = String> {
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

/// Splits a line behind each sign that ends a sentence.
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
        assert_eq!(in_words(words).collect::<Vec<_>>(), want);
    }

    #[test]
    fn a_long_sentence_is_shortened_at_a_word() {
        let long = format!("Always use {}", "tabs ".repeat(100));
        let found: Vec<String> = in_words(&long).collect();
        assert!(found[0].len() <= MAX_CHARS && found[0].ends_with("tabs"));
    }
}
