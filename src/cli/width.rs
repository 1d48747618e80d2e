//! The width of the screen, and texts that fit on it.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use anstream::adapter::strip_str;
use textwrap::{Options, WordSeparator, WordSplitter};
use unicode_width::UnicodeWidthChar as _;

use crate::env::{Env, name};

const USUAL: usize = 80;
const LEAST: usize = 40;
/// On a terminal narrower than this lines are left as they are.
const NARROWEST: usize = 20;
/// The distance from its beginning at which a broken line goes on.
const STEP: usize = 2;
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

/// The width of the terminal that a stream leads to; `None` where text has to stay whole.
pub(super) fn of_terminal(end: impl IsTerminal + AsFd) -> Option<usize> {
    let (width, _) = end
        .is_terminal()
        .then(|| terminal_size::terminal_size_of(end))??;
    Some(usize::from(width.0)).filter(|width| *width >= NARROWEST)
}

/// The lines of a text, those that are too wide broken between words.
///
/// The rest is put below the last column, where that begins in the first half, else a little
/// behind the line's beginning. A word that is wider than its place stays whole: it may be copied.
pub(super) fn hang(text: &str, width: usize) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| hang_line(line, width))
        .collect();
    lines.join("\n")
}

fn hang_line(line: &str, width: usize) -> String {
    if cells(line) <= width {
        return line.to_owned();
    }
    let text = line.trim_start_matches(' ');
    let beneath = " ".repeat(indent(&strip_str(line).to_string(), width / 2));
    let options = Options::new(width)
        .initial_indent(&line[..line.len() - text.len()])
        .subsequent_indent(&beneath)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation);
    textwrap::fill(text, options)
}

/// Returns the beginning of the last column, of those that begin at `most` or before: behind two
/// spaces or more.
fn indent(line: &str, most: usize) -> usize {
    let begin = line.len() - line.trim_start_matches(' ').len();
    let mut column = begin;
    let mut spaces = 0;
    let mut at = 0;
    for c in line.chars() {
        if c != ' ' && spaces > 1 && at <= most {
            column = at;
        }
        spaces = if c == ' ' { spaces + 1 } else { 0 };
        at += c.width().unwrap_or_default();
    }
    if column == begin {
        begin.min(most) + STEP
    } else {
        column
    }
}

/// Returns the width of a text on the screen, on which its colours take no place.
pub(super) fn cells(text: &str) -> usize {
    textwrap::core::display_width(text)
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

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::fits("abc", 3, "abc")]
    #[case::too_long("abcdef", 4, "abc…")]
    #[case::wide("日本語文字", 5, "日本…")]
    #[case::space_at_the_cut("ab cdef", 4, "ab…")]
    fn what_does_not_fit_is_cut_with_a_sign(
        #[case] text: &str,
        #[case] width: usize,
        #[case] fitting: &str,
    ) {
        assert_eq!(fit(text, width), fitting);
    }

    #[rstest]
    #[case::fits("ok     hooks", 12, "ok     hooks")]
    #[case::below_its_column(
        "ok     hooks are all there",
        18,
        "ok     hooks are\n       all there"
    )]
    #[case::no_column("one two three four", 9, "one two\n  three\n  four")]
    #[case::a_column_too_far_right(
        "a.long.key.name  value of it",
        18,
        "a.long.key.name\n  value of it"
    )]
    #[case::indented("    do: this and that", 14, "    do: this\n      and that")]
    #[case::a_long_word_stays_whole(
        "see /a/very/long/path here",
        12,
        "see\n  /a/very/long/path\n  here"
    )]
    #[case::colours_take_no_place(
        "\u{1b}[32mok\u{1b}[0m     hooks",
        12,
        "\u{1b}[32mok\u{1b}[0m     hooks"
    )]
    fn a_line_goes_on_below_its_last_column(
        #[case] text: &str,
        #[case] width: usize,
        #[case] expected: &str,
    ) {
        assert_eq!(hang(text, width), expected);
    }
}
