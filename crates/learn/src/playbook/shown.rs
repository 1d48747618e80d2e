//! What a session was shown of the playbook, read back from the text that it was given: so a
//! hook's own answer and the client's note of it in a transcript say the same.

use super::render::{VOICE, read_line, read_plain_line};
use crate::digest::name_of;
pub use crate::shown_record::ShownPoints;

/// Reads the key points in a text that a session was given, whatever the template around
/// them says.
pub fn in_text(text: &str) -> ShownPoints {
    let mut shown = ShownPoints::default();
    // Any text may have lines that begin with a word in brackets.
    let is_built_in = text.trim_start().starts_with(VOICE);
    let read = |line| read_line(line).or_else(|| read_plain_line(line).filter(|_| is_built_in));
    for (name, text) in text.lines().filter_map(read) {
        shown.insert(name, name_of(text.as_bytes()));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::render::TEMPLATE;

    #[test]
    fn only_lines_of_key_points_are_read() {
        let text = "cite its ID, e.g. [pat-001].\n[pat-002] helpful=x harmful=0 :: a\n \
                    [pat-003] helpful=0 harmful=0 :: a\n[a b] helpful=0 harmful=0 :: a\n\
                    [pat-004] helpful=0 harmful=0: a";
        assert_eq!(in_text(text), ShownPoints::default());
    }

    #[test]
    fn lines_without_votes_are_read_below_the_built_in_words_alone() {
        let points = "[pat-001] run the tests\n[a b] no name\n";
        assert_eq!(in_text(points), ShownPoints::default());
        let shown = in_text(&TEMPLATE.replace("{key_points}", points));
        let names: Vec<&str> = shown.each().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["pat-001"]);
    }
}
