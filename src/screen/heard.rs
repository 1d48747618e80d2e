//! The places that the user named: a text may lead there.

use serde::{Deserialize, Serialize};

use super::hosts::{Place, places};

/// How many places are kept; nobody names more by hand.
const MAX_PLACES: usize = 256;
/// How much of one prompt is looked at, in bytes: a pasted log is not the user's own words.
const MAX_PROMPT: usize = 64 << 10;

/// Hosts and addresses in the user's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Heard(Vec<String>);

impl Heard {
    /// Takes note of the places in something the user said.
    pub fn listen(&mut self, words: &str) {
        if !words.contains(['.', '@', ':']) {
            return;
        }
        let end = (0..=words.len().min(MAX_PROMPT))
            .rev()
            .find(|&at| words.is_char_boundary(at));
        let words = &words[..end.unwrap_or(0)];
        for place in places(words) {
            let name = place.name();
            if self.0.len() < MAX_PLACES && !self.0.contains(&name) {
                self.0.push(name);
            }
        }
    }

    /// Tells whether the user has named a place: the host, and where anybody can put
    /// anything, also the first part of its path.
    pub(super) fn knows(&self, place: &Place) -> bool {
        let name = place.name();
        let host = |name: &str| name.split_once('/').map(|(host, _)| host.to_owned());
        self.0
            .iter()
            .any(|known| *known == name || (!place.is_shared() && host(known) == host(&name)))
    }
}
