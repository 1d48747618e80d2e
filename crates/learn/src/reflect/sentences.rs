//! The sentences of what is to be learned, and of what a session holds.

use super::learned::ARROW;
use crate::hint::hashes as words;

/// A text with fewer words says by itself nothing of what it is about: "no, not so".
pub(super) const TELLING: usize = 3;
/// So many percent of a text's words stand in a sentence that says it.
pub(super) const SAYS_IT: usize = 60;

/// A text as names are looked for in it: in lower case, and without the marks of a pattern, which
/// what a search looked for has (`time\.Now\(\)`).
pub(super) fn plain(text: &str) -> String {
    text.to_lowercase().replace('\\', "")
}

/// The sentences of a text that is to be learned which say something by themselves.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(ARROW).flat_map(|text| text.split(". "));
    let parts = parts.flat_map(|text| text.split("; "));
    parts.filter(|part| words(part).len() >= TELLING)
}

/// Tells whether one of the texts says a sentence already.
pub(super) fn is_of(part: &str, texts: &[&str]) -> bool {
    let part = words(part);
    let says_it =
        |text: &&str| part.intersection(&words(text)).count() * 100 >= SAYS_IT * part.len();
    texts.iter().any(says_it)
}

/// The sentences of a text as it stands.
pub(super) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split(". "))
}
