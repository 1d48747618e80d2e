//! Characters that show nothing, or reorder what is shown.

/// Tells whether a text holds characters that hide, reorder or smuggle text.
///
/// Joiners between letters of scripts that need them, or within an emoji, are none; nor are
/// direction marks beside a script that is written from right to left.
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
            c => is_invisible(c) || (c.is_control() && !matches!(c, '\n' | '\r' | '\t')),
        }
    })
}

/// Tells whether a character shows nothing.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::zero_width("ig\u{200b}nore", true)]
    #[case::bidi("abc\u{202e}def", true)]
    #[case::tags("x\u{e0041}\u{e0042}", true)]
    #[case::joiner_in_latin("i\u{200d}gnore", true)]
    #[case::escape("a\u{1b}[2J", true)]
    #[case::family("the \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} emoji", false)]
    #[case::persian("می\u{200c}خواهم", false)]
    #[case::arabic("نص\u{200f} abc", false)]
    #[case::lines("a\n\tb", false)]
    #[case::heart("❤\u{fe0f}", false)]
    fn what_cannot_be_seen_is_told(#[case] text: &str, #[case] is: bool) {
        assert_eq!(is_in(text), is);
    }
}
