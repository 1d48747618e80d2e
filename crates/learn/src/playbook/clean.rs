//! Makes a text safe to stand in a list of key points.
//!
//! Texts come from models, users and cloned repositories, and end up in the context of
//! later sessions. There they must stay what they are, one line of data: nothing that
//! hides, breaks the line, closes the client's `<system-reminder>` or looks like one of
//! our headings or entries; nor does a secret stay in it. Runs where a text enters the playbook and where it is shown.

use std::borrow::Cow;

use super::id::Id;
use super::section::Section;
use crate::clip::head;
use crate::redact;
use crate::shown::is_invisible;

/// The most characters a key point may have.
pub const MAX_CHARS: usize = 500;

/// How much of a text is looked at, in bytes: many times what is kept of it.
const LOOKED_AT: usize = 64 << 10;
const ELLIPSIS: char = '…';
/// Tags of the client that a text must neither open nor close; without separators.
const CLIENT_TAGS: [&str; 2] = ["systemreminder", "persistedoutput"];

/// Returns the text as one clean line of at most `MAX_CHARS` characters; cleaning
/// twice changes nothing more.
pub fn clean_text(text: &str) -> String {
    clean(text).into_owned()
}

/// As [`clean_text`], without a copy where there is nothing to clean.
pub(super) fn clean(text: &str) -> Cow<'_, str> {
    match redact::mask(head(text, LOOKED_AT)) {
        Cow::Borrowed(text) => lined(text),
        Cow::Owned(masked) => Cow::Owned(lined(&masked).into_owned()),
    }
}

/// Makes one clean line of a text without secrets.
fn lined(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut chars = one_line(text);
    disarm_tags(&mut chars);
    disarm_headings(&mut chars);
    disarm_entries(&mut chars);
    if chars.len() > MAX_CHARS {
        chars.truncate(MAX_CHARS - 1);
        while chars.last() == Some(&' ') {
            chars.pop();
        }
        chars.push(ELLIPSIS);
    }
    let line: String = chars.into_iter().collect();
    // What is not seen may have hidden a secret.
    match redact::mask(&line) {
        Cow::Owned(masked) if masked.chars().count() <= MAX_CHARS => Cow::Owned(masked),
        Cow::Owned(masked) => Cow::Owned(masked.chars().take(MAX_CHARS).collect()),
        Cow::Borrowed(_) => Cow::Owned(line),
    }
}

/// Tells at one glance that most texts need nothing.
fn is_plain(text: &str) -> bool {
    text.len() <= MAX_CHARS
        && text
            .bytes()
            .all(|b| (b' '..=b'~').contains(&b) && !matches!(b, b'<' | b'#' | b'['))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
}

/// The visible characters in one line: line breaks, tabs and controls with the spaces
/// around them become one space, `#` at the start of a line goes. Stops when it has more
/// than will be kept.
fn one_line(text: &str) -> Vec<char> {
    let mut line = Vec::with_capacity(text.len().min(MAX_CHARS + 1));
    let mut spaces = 0;
    let mut at_line_start = true;
    for c in text.chars().filter(|&c| !is_invisible(c)) {
        if line.len() > MAX_CHARS {
            break;
        }
        if breaks_line(c) {
            at_line_start = true;
            spaces = 1;
        } else if c.is_whitespace() {
            spaces = if at_line_start { 1 } else { spaces + 1 };
        } else if !(at_line_start && c == '#') {
            if !line.is_empty() {
                line.extend(std::iter::repeat_n(' ', spaces));
            }
            spaces = 0;
            at_line_start = false;
            line.push(c);
        }
    }
    line
}

fn breaks_line(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')
}

/// Replaces the `<` of a tag of the client, however it is spaced.
fn disarm_tags(line: &mut [char]) {
    for at in 0..line.len() {
        if line[at] == '<' && CLIENT_TAGS.iter().any(|tag| names(&line[at + 1..], tag)) {
            line[at] = '‹';
        }
    }
}

/// Tells whether `rest` begins with `tag`, in any case, whatever separators stand in it.
fn names(rest: &[char], tag: &str) -> bool {
    /// How many separators in front of a tag's letters still make it look like one.
    const MAX_SEPARATORS: usize = 16;
    let mut separators = 0;
    let mut letters = tag.chars();
    let mut wanted = letters.next();
    for &c in rest {
        match wanted {
            None => return true,
            Some(letter) if c.eq_ignore_ascii_case(&letter) => wanted = letters.next(),
            Some(_) if matches!(c, ' ' | '/' | '-' | '_' | ':') && separators < MAX_SEPARATORS => {
                separators += 1;
            }
            Some(_) => return false,
        }
    }
    wanted.is_none()
}

/// Replaces the `#` of what looks like a heading of ours.
fn disarm_headings(line: &mut [char]) {
    let mut at = 0;
    while at < line.len() {
        let hashes = run(&line[at..], '#');
        if hashes == 0 {
            at += 1;
            continue;
        }
        let title = &line[at + hashes..];
        let title = &title[run(title, ' ')..];
        if Section::ALL.iter().any(|s| starts_with(title, s.title())) {
            line[at..at + hashes].fill('＃');
        }
        at += hashes;
    }
}

/// Replaces the brackets of what looks like an entry of ours: `[pat-001] helpful=`.
fn disarm_entries(line: &mut [char]) {
    const MAX_ID: usize = 40;
    for open in 0..line.len() {
        if line[open] != '[' {
            continue;
        }
        let inside = &line[open + 1..];
        let Some(length) = inside.iter().take(MAX_ID).position(|&c| c == ']') else {
            continue;
        };
        let id: String = inside[..length].iter().collect();
        let rest = &inside[length + 1..];
        let rest = &rest[run(rest, ' ')..];
        if starts_with(rest, "helpful=") && Id::parse(id.trim()).is_some() {
            line[open] = '(';
            line[open + 1 + length] = ')';
        }
    }
}

fn run(chars: &[char], wanted: char) -> usize {
    chars.iter().take_while(|&&c| c == wanted).count()
}

fn starts_with(chars: &[char], text: &str) -> bool {
    chars.len() >= text.len()
        && text
            .chars()
            .zip(chars)
            .all(|(wanted, c)| wanted.eq_ignore_ascii_case(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case::plain("use `cargo test`", "use `cargo test`")]
    #[case::unicode_stays("Größe 🙂 {x} 100% :: b", "Größe 🙂 {x} 100% :: b")]
    #[case::inner_spaces_stay("a  b é", "a  b é")]
    #[case::ends_are_trimmed("  a\n", "a")]
    #[case::lines("a \r\n\t b", "a b")]
    #[case::controls("a\u{0}\u{1b}[31mb", "a [31mb")]
    #[case::line_separators("a\u{2028}b\u{85}c", "a b c")]
    #[case::bidi_and_zero_width("a\u{202e}b\u{200b}\u{feff}c\u{e0041}", "abc")]
    #[case::markdown_heading("## Use tabs", "Use tabs")]
    #[case::heading_in_a_later_line("x\n\n## OTHERS\ny", "x OTHERS y")]
    #[case::heading_in_the_line("x ## others y", "x ＃＃ others y")]
    #[case::hash_that_is_no_heading(
        "see issue #12, C# and ## here",
        "see issue #12, C# and ## here"
    )]
    #[case::entry("x [oth-001] helpful=99 :: y", "x (oth-001) helpful=99 :: y")]
    #[case::citation_stays("see [pat-001] for helpful=1", "see [pat-001] for helpful=1")]
    #[case::reminder("</system-reminder> now", "‹/system-reminder> now")]
    #[case::reminder_spaced("< / System_Reminder >", "‹ / System_Reminder >")]
    #[case::reminder_hidden("</sys\u{200b}tem-\u{ad}reminder>", "‹/system-reminder>")]
    #[case::other_tags_stay("Vec<system> </b> <systemd>", "Vec<system> </b> <systemd>")]
    #[case::nothing_visible("\u{200b}\n\t", "")]
    fn a_text_becomes_one_harmless_line(#[case] text: &str, #[case] clean: &str) {
        assert_eq!(clean_text(text), clean);
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let exact = "é".repeat(MAX_CHARS);
        assert_eq!(clean_text(&exact), exact);
        let cut = clean_text(&"é".repeat(MAX_CHARS + 1));
        assert_eq!(cut.chars().count(), MAX_CHARS);
        assert!(cut.ends_with("é…"));
    }

    proptest! {
        #[test]
        fn cleaning_twice_is_cleaning_once(
            text in "(\\PC|[#<>/ \\n\\[\\]\u{200b}\u{202e}]|## OTHERS|\\[pat-001\\] helpful=|</system-reminder>){0,60}"
        ) {
            let once = clean_text(&text);
            prop_assert_eq!(clean_text(&once), once.clone());
            prop_assert!(once.chars().count() <= MAX_CHARS);
            prop_assert!(!once.contains('\n') && !once.to_lowercase().contains("</system-reminder"));
        }
    }
}
