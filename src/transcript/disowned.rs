//! Whether a session says of a key point that it failed, is outdated or did not help.

use super::facts::Facts;
use crate::playbook::Id;

/// What says so in the sentence around a citation.
const WORDS: [&str; 12] = [
    "does not work",
    "doesn't work",
    "did not work",
    "didn't work",
    "does not apply",
    "doesn't apply",
    "did not help",
    "didn't help",
    "outdated",
    "out of date",
    "no longer",
    "is wrong",
];

/// Tells whether a sentence that cites `id` says that it failed, is outdated or did not help.
pub fn is_disowned(facts: &Facts, id: &Id) -> bool {
    let quotes = facts.uses.iter().filter(|cited| cited.id == *id);
    quotes
        .map(|cited| cited.quote.to_lowercase())
        .any(|quote| WORDS.iter().any(|words| quote.contains(words)))
}
