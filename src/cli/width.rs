//! How wide the screen is, and texts that fit on it.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::env::{Env, name};

/// The width where nothing says what it is.
const USUAL: usize = 80;
/// Narrower than this nothing can be laid out.
const LEAST: usize = 40;
/// Longer lines are hard to read.
const MOST: usize = 100;

/// The width to lay out for: that of the terminal, else of `COLUMNS`.
pub(super) fn of_screen(env: &Env) -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let told = || env.get(name::COLUMNS)?.parse().ok();
    terminal
        .filter(|width| *width > 0)
        .or_else(told)
        .unwrap_or(USUAL)
        .clamp(LEAST, MOST)
}

/// How many cells a text takes.
pub(super) fn cells(text: &str) -> usize {
    text.width()
}

/// The text, its end left out where it does not fit into `width` cells.
pub(super) fn fit(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let mut fitting = String::new();
    let mut taken = 0;
    for c in text.chars() {
        taken += c.width().unwrap_or_default();
        // One cell is for the sign that something is left out.
        if taken >= width {
            break;
        }
        fitting.push(c);
    }
    format!("{}…", fitting.trim_end())
}

/// The text, its beginning left out where it does not fit: for paths.
pub(super) fn fit_end(text: &str, width: usize) -> String {
    if cells(text) <= width {
        return text.to_owned();
    }
    let mut kept = Vec::new();
    let mut taken = 0;
    for c in text.chars().rev() {
        taken += c.width().unwrap_or_default();
        if taken >= width {
            break;
        }
        kept.push(c);
    }
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

/// The text on lines of at most `width` cells, broken between words.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = fit(word, width);
        match lines.last_mut() {
            Some(line) if cells(line) + 1 + cells(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::fits("abc", 3, "abc", "abc")]
    #[case::too_long("abcdef", 4, "abc…", "…def")]
    #[case::wide("日本語文字", 5, "日本…", "…文字")]
    #[case::space_at_the_cut("ab cdef", 4, "ab…", "…def")]
    fn what_does_not_fit_is_cut_with_a_sign(
        #[case] text: &str,
        #[case] width: usize,
        #[case] start: &str,
        #[case] end: &str,
    ) {
        assert_eq!(
            (fit(text, width).as_str(), fit_end(text, width).as_str()),
            (start, end)
        );
    }

    #[rstest]
    #[case::told(&[("COLUMNS", "60")], 60)]
    #[case::too_narrow(&[("COLUMNS", "3")], LEAST)]
    #[case::too_wide(&[("COLUMNS", "5000")], MOST)]
    #[case::nonsense(&[("COLUMNS", "wide")], USUAL)]
    fn without_a_terminal_columns_counts(#[case] vars: &[(&str, &str)], #[case] width: usize) {
        // Where the tests run on a terminal, that one counts.
        if terminal_size::terminal_size().is_none() {
            assert_eq!(of_screen(&Env::from_pairs(vars.iter().copied())), width);
        }
    }

    proptest! {
        #[test]
        fn no_text_is_wider_than_its_place(text in "\\PC{0,40}", width in 1usize..30) {
            prop_assert!(cells(&fit(&text, width)) <= width);
            prop_assert!(cells(&fit_end(&text, width)) <= width);
            prop_assert!(wrap(&text, width).iter().all(|line| cells(line) <= width));
        }
    }
}
