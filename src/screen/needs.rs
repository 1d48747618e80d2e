//! Which patterns can match a text at all, told by words that each needs.
//!
//! To compile a pattern takes longer than to look through many texts, and most texts have
//! nothing of what most patterns look for. So from the syntax of each pattern comes a list
//! of words of which every match has at least one; where none stands in a text, the
//! pattern need not be compiled.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use crate::phrases::Phrases;

/// Shorter words are in every text.
const SHORTEST: usize = 3;
/// More words than this say nothing.
const MOST: usize = 600;

/// What is needed for some patterns to match.
#[derive(Debug)]
pub(super) struct Needs {
    words: Phrases,
    /// By pattern, whether nothing is known that it needs.
    unknown: Vec<bool>,
}

impl Needs {
    /// Reads patterns over bytes, as [`regex::bytes`] takes them without Unicode.
    pub(super) fn of<'p>(patterns: impl Iterator<Item = &'p str>) -> Self {
        let needs: Vec<Option<Vec<String>>> = patterns.map(needed).collect();
        let words = (0..).zip(&needs).flat_map(|(number, words)| {
            let words = words.iter().flatten();
            words.map(move |word| (word.clone(), number))
        });
        Self {
            words: Phrases::numbered(words),
            unknown: needs.iter().map(Option::is_none).collect(),
        }
    }

    /// By pattern, whether it can match somewhere in a text.
    pub(super) fn possible(&self, text: &str) -> Vec<bool> {
        let mut possible = self.unknown.clone();
        self.words.each(text, |number| {
            if let Some(possible) = possible.get_mut(usize::from(number)) {
                *possible = true;
            }
        });
        possible
    }
}

/// Words of which each match of a pattern has at least one.
fn needed(pattern: &str) -> Option<Vec<String>> {
    let mut parser = ParserBuilder::new().unicode(false).utf8(false).build();
    of_part(&parser.parse(pattern).ok()?)
}

fn of_part(part: &Hir) -> Option<Vec<String>> {
    match part.kind() {
        HirKind::Literal(literal) => {
            let word = String::from_utf8(literal.0.to_vec()).ok()?;
            (word.len() >= SHORTEST).then(|| vec![word])
        }
        HirKind::Capture(capture) => of_part(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => of_part(&repetition.sub),
        HirKind::Concat(parts) => parts
            .iter()
            .filter_map(of_part)
            .min_by(|a, b| commonness(a).total_cmp(&commonness(b))),
        HirKind::Alternation(parts) => {
            let mut words = Vec::new();
            for part in parts {
                words.extend(of_part(part)?);
            }
            (words.len() <= MOST).then_some(words)
        }
        _ => None,
    }
}

/// How often one of some words may stand in a text, as a measure to compare by.
fn commonness(words: &[String]) -> f64 {
    let of = |word: &String| 5.0_f64.powi(-i32::try_from(word.len().min(8)).unwrap_or(8));
    words.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::words("(?:curl|wget)", &["curl", "wget"])]
    #[case::the_rarest("(?:run|do)\\s.{0,9}?(?:downloaded|fetched)", &["downloaded", "fetched"])]
    #[case::beginnings("disabl(?:e|ing)", &["disabl"])]
    #[case::maybe("(?:curl)?x", &[])]
    #[case::short("(?:curl|rm)", &[])]
    #[case::any("\\w+", &[])]
    fn words_that_every_match_has(#[case] pattern: &str, #[case] words: &[&str]) {
        assert_eq!(needed(pattern).unwrap_or_default(), words);
    }
}
