//! Makes a text safe for a list of key points, when it enters the playbook and when it is shown.
//!
//! Texts come from models, users and cloned repositories, and end up in the context of later
//! sessions. Nothing in them may hide, break the line, close the client's `<system-reminder>`,
//! imitate our headings or entries, or hold a secret.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::id::Section;
use crate::clip::head;
use crate::redact;
use crate::shown::is_invisible;

pub const MAX_CHARS: usize = 500;

/// The part of a text that is cleaned, in bytes: many times what is kept of it.
const LOOKED_AT: usize = 64 << 10;
const ELLIPSIS: char = '…';
/// Tags of the client that a text must neither open nor close, without separators.
const CLIENT_TAGS: [&str; 2] = ["systemreminder", "persistedoutput"];

/// Returns one line of at most `MAX_CHARS` characters. A second cleaning changes nothing.
pub fn clean_text(text: &str) -> String {
    let masked = redact::mask(head(text, LOOKED_AT));
    if is_plain(&masked) {
        return masked.into_owned();
    }
    let mut chars = one_line(&masked, MAX_CHARS);
    if chars.len() > MAX_CHARS {
        chars.truncate(MAX_CHARS - 1);
        while chars.last() == Some(&' ') {
            chars.pop();
        }
        chars.push(ELLIPSIS);
    }
    let line = disarmed(&chars.into_iter().collect::<String>());
    // Removed invisible characters may have hidden a secret.
    redact::mask(&line).chars().take(MAX_CHARS).collect()
}

/// Like [`clean_text`], but not cut to a key point's length, for judging a text.
pub(crate) fn whole_line(text: &str) -> String {
    let masked = redact::mask(head(text, LOOKED_AT));
    one_line(&masked, LOOKED_AT).into_iter().collect()
}

/// Returns `true` quickly for the most common texts, which need no cleaning.
fn is_plain(text: &str) -> bool {
    text.len() <= MAX_CHARS
        && text
            .bytes()
            .all(|b| (b' '..=b'~').contains(&b) && !matches!(b, b'<' | b'#' | b'['))
        && !text.starts_with(' ')
        && !text.ends_with(' ')
}

/// Returns the visible characters in one line. Line breaks, tabs and controls with adjacent spaces
/// become one space; `#` at the start of a line is removed. Stops beyond `most` characters.
fn one_line(text: &str, most: usize) -> Vec<char> {
    let mut line = Vec::with_capacity(text.len().min(most + 1));
    let mut spaces = 0;
    let mut at_line_start = true;
    for c in text.chars().filter(|&c| !is_invisible(c)) {
        if line.len() > most {
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

/// Matches text that imitates a tag of the client (in any spacing), a heading of ours or an entry
/// (`[pat-001] helpful=`).
static FORGED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let spaced = |tag: &str| -> String {
        let letters = tag.chars().map(|letter| format!("[ /:_-]*{letter}"));
        letters.collect()
    };
    let tags = CLIENT_TAGS.map(spaced).join("|");
    let titles = Section::ALL.map(|section| regex::escape(section.title()));
    let slugs = Section::ALL.map(Section::slug);
    let pattern = format!(
        r"(?i)<(?:{tags})|(?<hashes>#+) *(?:{})|\[ *(?:(?:{})-|kpt_)[0-9]+ *\] *helpful=",
        titles.join("|"),
        slugs.join("|"),
    );
    Regex::new(&pattern).ok()
});

/// Replaces the characters that make a forgery by look-alikes.
fn disarmed(line: &str) -> String {
    if !line.contains(['<', '#', '[']) {
        return line.to_owned();
    }
    let Some(forged) = &*FORGED else {
        return String::new();
    };
    let disarm = |found: &Captures<'_>| {
        let text = &found[0];
        match found.name("hashes") {
            Some(hashes) => text.replacen('#', "＃", hashes.len()),
            None if text.starts_with('<') => text.replacen('<', "‹", 1),
            None => text.replacen('[', "(", 1).replacen(']', ")", 1),
        }
    };
    forged.replace_all(line, disarm).into_owned()
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
