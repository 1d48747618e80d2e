//! Cuts texts at character boundaries, and measures them.

use std::borrow::Cow;

pub fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

pub fn boundary_after(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

pub fn head(text: &str, bytes: usize) -> &str {
    &text[..boundary_before(text, bytes)]
}

/// Like [`head`], with `…` appended where the text is cut.
pub fn told_head(text: &str, bytes: usize) -> Cow<'_, str> {
    match head(text, bytes) {
        all if all.len() == text.len() => all.into(),
        cut => format!("{cut}…").into(),
    }
}

/// Returns the length of a text in UTF-16 units, by which the client counts.
pub fn units(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.encode_utf16().count()
    }
}

pub fn tail(text: &str, bytes: usize) -> &str {
    &text[boundary_after(text, text.len().saturating_sub(bytes))..]
}

/// Cuts a text to a number of terminal columns, with `…` at its end where it is longer.
pub fn one_line(text: &str, columns: usize) -> String {
    let width = |c: char| if is_wide(c) { 2 } else { 1 };
    if text.chars().map(width).sum::<usize>() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += width(*c);
        used <= columns
    };
    let cut: String = text.chars().take_while(fits).collect();
    format!("{}…", cut.trim_end())
}

/// Returns `true` for Chinese, Japanese, Korean and emoji, approximately.
fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cut_text_is_as_long_as_asked_or_up_to_a_character_shorter(
            text in "\\PC{0,20}",
            bytes in 0_usize..40,
        ) {
            for cut in [head(&text, bytes), tail(&text, bytes)] {
                prop_assert!(cut.len() <= bytes);
                prop_assert!(cut.len() + 4 > bytes.min(text.len()));
            }
            prop_assert!(text.starts_with(head(&text, bytes)));
            prop_assert!(text.ends_with(tail(&text, bytes)));
        }
    }
}
