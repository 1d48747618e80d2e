//! The words by which a prompt and a lesson are compared.

use std::collections::BTreeSet;

use crate::errors::words::STOP_WORDS;

/// A text is looked at up to so many characters.
const TEXT: usize = 20_000;
/// Shorter words tell nothing.
pub(super) const SHORTEST: usize = 3;

/// The hashes of a text's telling words, each once, in order.
pub fn hashes(text: &str) -> BTreeSet<u64> {
    cut(text)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= SHORTEST)
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.has(word))
        .map(|word| hash(stem(&word)))
        .collect()
}

/// As much of a text as is looked at.
pub(super) fn cut(text: &str) -> &str {
    let end = text
        .char_indices()
        .nth(TEXT)
        .map_or(text.len(), |(at, _)| at);
    &text[..end]
}

/// `tests` is `test`; a longer stem would need a table.
pub(super) fn stem(word: &str) -> &str {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= SHORTEST && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => word,
    }
}

pub(super) fn hash(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_without_case_number_and_filler() {
        assert_eq!(hashes("Run the Tests, please"), hashes("test run"));
        assert_ne!(hashes("class"), hashes("clas"));
        assert!(hashes("what is it you want").is_empty());
    }
}
