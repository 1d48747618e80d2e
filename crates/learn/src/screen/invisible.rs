//! Finds characters that show nothing, or reorder what is shown.

use crate::shown::is_invisible;

/// Returns true if a text holds characters that hide, reorder or smuggle text.
///
/// Allowed are joiners within an emoji or between letters of scripts that need them, direction
/// marks in a text with a script from right to left, selectors behind a character that has
/// several forms, and the blank of a text in Braille.
pub(super) fn is_in(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let is_right_to_left = chars
        .iter()
        .any(|&c| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fefc}'));
    chars.iter().enumerate().any(|(at, &c)| {
        let beside = |place: Option<usize>| place.and_then(|p| chars.get(p)).copied();
        let joins = [at.checked_sub(1), at.checked_add(1)]
            .into_iter()
            .all(|place| beside(place).is_some_and(|c| !c.is_ascii() && !is_invisible(c)));
        match c {
            '\u{200c}' | '\u{200d}' => !joins,
            '\u{200e}' | '\u{200f}' | '\u{61c}' => !is_right_to_left,
            '\u{feff}' => at > 0,
            '\u{2800}' => [at.checked_sub(1), at.checked_add(1)]
                .into_iter()
                .any(|place| beside(place).is_some_and(char::is_alphanumeric)),
            c if is_selector(c) => {
                let is_keycap = beside(at.checked_add(1)) == Some('\u{20e3}');
                let before = beside(at.checked_sub(1));
                !is_keycap && before.is_none_or(|c| !has_forms(c))
            }
            c => is_invisible(c) || (c.is_control() && !matches!(c, '\n' | '\r' | '\t')),
        }
    })
}

pub(super) fn shows_nothing(c: char) -> bool {
    is_invisible(c) || is_selector(c)
}

/// Returns true for a symbol or a character that may have several forms; letters of the
/// alphabets have one.
fn has_forms(c: char) -> bool {
    let is_letter = c.is_ascii() || (c < '\u{1000}' && c.is_alphanumeric());
    !is_letter && !c.is_whitespace() && !shows_nothing(c)
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::zero_width("ig\u{200b}nore", true)]
    #[case::bidi("abc\u{202e}def", true)]
    #[case::joiner_in_latin("i\u{200d}gnore", true)]
    #[case::family("the \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} emoji", false)]
    #[case::persian("می\u{200c}خواهم", false)]
    #[case::lines("a\n\tb", false)]
    #[case::heart("❤\u{fe0f}", false)]
    #[case::keycap("press 1\u{fe0f}\u{20e3}", false)]
    #[case::braille("⠓⠊⠀⠓⠕", false)]
    #[case::blank_pattern("do\u{2800}not tell", true)]
    #[case::selectors_in_latin("te\u{fe00}ll", true)]
    #[case::selector_of_a_blank("\u{202f}\u{fe0f}tell", true)]
    #[case::mongolian("te\u{180f}ll", true)]
    fn invisible_characters_are_found(#[case] text: &str, #[case] is: bool) {
        assert_eq!(is_in(text), is);
    }
}
