//! What a session was shown of the playbook: names of key points, with hashes of their texts.
//!
//! It is read back from the text that the session was given, so a hook's own answer and the
//! client's note of it in a transcript say the same.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::clean::clean;
use super::render::read_line;
use crate::digest::name_of;

/// How many points are remembered of one session; an injection holds a few hundred.
const MAX_POINTS: usize = 4_096;

/// The key points that a session was shown, each with the hashes of all texts it had then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownPoints(BTreeMap<String, BTreeSet<String>>);

impl ShownPoints {
    /// Reads the key points in a text that a session was given, whatever the template around
    /// them says.
    pub fn in_text(text: &str) -> Self {
        let mut shown = Self::default();
        for (name, text) in text.lines().filter_map(read_line) {
            shown.insert(name, name_of(text.as_bytes()));
        }
        shown
    }

    /// Adds what another injection of the same session showed.
    pub fn add(&mut self, other: Self) {
        for (name, hashes) in other.0 {
            for hash in hashes {
                self.insert(&name, hash);
            }
        }
    }

    /// Leaves only the points whose names are `wanted`.
    pub fn keep(&mut self, wanted: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| wanted(name));
    }

    /// Returns each name, and a way to ask whether a text was shown under it.
    pub(super) fn each(&self) -> impl Iterator<Item = (&str, impl Fn(&str) -> bool)> {
        self.0.iter().map(|(name, hashes)| {
            let was_shown = |text: &str| hashes.contains(&name_of(clean(text).as_bytes()));
            (name.as_str(), was_shown)
        })
    }

    fn insert(&mut self, name: &str, hash: String) {
        if self.0.len() < MAX_POINTS || self.0.contains_key(name) {
            self.0.entry(name.to_owned()).or_default().insert(hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_key_points_are_read() {
        let text = "cite its ID, e.g. [pat-001].\n[pat-002] helpful=x harmful=0 :: a\n \
                    [pat-003] helpful=0 harmful=0 :: a\n[a b] helpful=0 harmful=0 :: a\n\
                    [pat-004] helpful=0 harmful=0: a";
        assert_eq!(ShownPoints::in_text(text), ShownPoints::default());
    }

    #[test]
    fn a_session_is_remembered_only_up_to_a_bound() {
        let lines: Vec<String> = (0..2 * MAX_POINTS)
            .map(|n| format!("[oth-{n}] helpful=0 harmful=0 :: t"))
            .collect();
        let shown = ShownPoints::in_text(&lines.join("\n"));
        assert_eq!(shown.0.len(), MAX_POINTS);
    }
}
