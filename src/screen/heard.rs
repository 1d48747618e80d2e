//! The places that the user named: a text may lead there.

use serde::{Deserialize, Serialize};

use super::hosts::{Place, places, words_with_places};
use crate::clip::head;

/// How many words are kept; nobody names more places by hand.
const MAX_WORDS: usize = 256;
/// How much of one word is kept, in bytes.
const MAX_WORD: usize = 512;
/// How much of one prompt is looked at, in bytes: a pasted log is not the user's own words.
const MAX_PROMPT: usize = 64 << 10;

/// The user's own words that may name hosts and addresses; they are read as such when a
/// text leads somewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Heard(Vec<String>);

impl Heard {
    /// Takes note of the places in something the user said.
    pub fn listen(&mut self, words: &str) {
        for word in words_with_places(head(words, MAX_PROMPT)) {
            let word = head(word, MAX_WORD);
            if self.0.len() < MAX_WORDS && !self.0.iter().any(|known| known == word) {
                self.0.push(word.to_owned());
            }
        }
    }

    /// Tells whether the user has named a place: the host, and where anybody can put
    /// anything, also the first part of its path.
    pub(super) fn knows(&self, place: &Place) -> bool {
        let name = place.name();
        let host = |name: &str| name.split_once('/').map(|(host, _)| host.to_owned());
        self.0.iter().flat_map(|word| places(word)).any(|known| {
            let known = known.name();
            known == name || (!place.is_shared() && host(&known) == host(&name))
        })
    }
}
