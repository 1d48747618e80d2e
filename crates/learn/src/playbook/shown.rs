//! What a session was shown of the playbook, read back from the text that it was given: so a
//! hook's own answer and the client's note of it in a transcript say the same.

use super::clean::clean;
use super::render::read_line;
use crate::digest::name_of;
pub use crate::shown_record::ShownPoints;

/// Reads the key points in a text that a session was given, whatever the template around
/// them says.
pub fn in_text(text: &str) -> ShownPoints {
    let mut shown = ShownPoints::default();
    for (name, text) in text.lines().filter_map(read_line) {
        shown.insert(name, name_of(text.as_bytes()));
    }
    shown
}

/// Returns each name, and a way to ask whether a text was shown under it.
pub fn each(shown: &ShownPoints) -> impl Iterator<Item = (&str, impl Fn(&str) -> bool)> {
    shown.each().map(|(name, hashes)| {
        let was_shown = |text: &str| hashes.contains(&name_of(clean(text).as_bytes()));
        (name.as_str(), was_shown)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_of_key_points_are_read() {
        let text = "cite its ID, e.g. [pat-001].\n[pat-002] helpful=x harmful=0 :: a\n \
                    [pat-003] helpful=0 harmful=0 :: a\n[a b] helpful=0 harmful=0 :: a\n\
                    [pat-004] helpful=0 harmful=0: a";
        assert_eq!(in_text(text), ShownPoints::default());
    }
}
