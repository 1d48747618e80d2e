//! Prepares every text of a session: masks secrets, removes blobs and control characters, shortens
//! folders, cuts to size, and counts tokens.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memmem;

use crate::clip::{boundary_after, boundary_before, head};
use crate::redact::{Counts, Masker, Secrecy};
use crate::shown::without_controls;

/// A run of this many characters without a blank is no prose.
const BLOB_RUN: usize = 400;
/// The mark where something was left out, and the end that all such marks share.
const NOTE: &str = "[… left out …]";
pub(crate) const LEFT_OUT: &str = "left out …]";
/// The part that is masked beyond what is kept, in bytes.
pub(crate) const MARGIN: usize = 1_000;
/// The part of a command that is searched for the files it names, in bytes.
const MAX_COMMAND: usize = 16 << 10;
/// The part of a text that is cleaned, in bytes; what is between its ends is never kept.
const LOOKED_AT: usize = 64_000;
const TOKEN: u64 = 7;

/// A text is masked whole, or cut first where no secret can be cut with it: at a blank or a sign
/// that is part of none, and at its tail at the start of a line.
#[derive(Debug, Default)]
pub(crate) struct Mask {
    pub secrecy: Secrecy,
    pub counts: Counts,
}

impl Mask {
    pub(crate) fn text<'t>(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        match self.secrecy.masker.mask_counting(&text, &mut self.counts) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => Cow::Owned(masked),
        }
    }

    /// Returns about the first `max` bytes of a text, masked.
    pub(crate) fn head(&mut self, text: &str, max: usize) -> String {
        let mut looked_at = head(text, max + MARGIN);
        if looked_at.len() < text.len() {
            looked_at = without_last_word(looked_at);
        }
        head(&self.text(looked_at.into()), max).to_owned()
    }

    /// Searches the text of a call's input under `key` for a file that is never to be read.
    pub(crate) fn is_private(&self, key: &str, text: &str) -> bool {
        // A path is at the start of its text; a command may be long.
        let text = head(text, MAX_COMMAND);
        match key {
            "file_path" | "notebook_path" | "path" => self.secrecy.never_read.has(text),
            "command" | "pattern" | "glob" => self.secrecy.never_read.is_named_in(text),
            _ => false,
        }
    }
}

/// Hides the values of `NAME=value` lines, and the text that an edit did not find: the error
/// of a call about a file that is never to be read is kept without what it may show of the file.
pub(crate) fn without_values(text: &str) -> String {
    let text = text.split_once("\nString: ").map_or(text, |(said, _)| said);
    let is_name = |name: &str| !name.is_empty() && !name.contains(char::is_whitespace);
    let lines = text.lines().map(|line| match line.split_once('=') {
        Some((name, _)) if is_name(name.trim().trim_start_matches("export ")) => {
            Cow::Owned(format!("{name}=[not read]"))
        }
        _ => Cow::Borrowed(line),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Drops the last word of a text that was cut, which may be half of a secret.
pub(crate) fn without_last_word(text: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || "\"'`,;&|<>(){}[]\\".contains(c);
    match text.char_indices().rev().find(|(_, c)| ends(*c)) {
        Some((at, c)) => &text[..at + c.len_utf8()],
        None => "",
    }
}

/// Prepares the texts of one session to be kept. They are masked already; one with escapes or
/// unseen characters, which may have hidden a secret, is masked once more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sanitizer {
    pub masker: Masker,
    /// The folders that are shown as `.` and `~`: the session's, and the user's home.
    folder: Option<String>,
    home: Option<String>,
}

impl Sanitizer {
    pub(crate) fn new(home: Option<&str>, masker: Masker) -> Self {
        let home = home.map(|home| home.trim_end_matches('/').to_owned());
        Self {
            masker,
            home: home.filter(|home| !home.is_empty()),
            folder: None,
        }
    }

    pub(crate) fn work_in(&mut self, folder: &str) {
        if folder.len() > 1 && folder.starts_with('/') {
            self.folder = Some(folder.trim_end_matches('/').to_owned());
        }
    }

    /// Returns what is kept of `text`, in about `max` bytes.
    pub(crate) fn text(&self, text: &str, max: usize) -> String {
        middle(self.clean(text).trim(), max).into_owned()
    }

    pub(crate) fn line(&self, text: &str, max: usize) -> String {
        one_line(&self.clean(text), max)
    }

    fn clean(&self, text: &str) -> String {
        let text = middle(text, LOOKED_AT);
        let text = match without_controls(&text) {
            Cow::Owned(bare) => self.masker.mask(&bare).into_owned(),
            Cow::Borrowed(same) => same.to_owned(),
        };
        let mut text = without_blobs(&text).into_owned();
        for (folder, short) in [(&self.folder, "."), (&self.home, "~")] {
            if let Some(folder) = folder {
                text = shortened(text, folder, short);
            }
        }
        text
    }
}

/// Writes `short` only for a whole path or the start of one; what is in `.` has no prefix.
fn shortened(text: String, folder: &str, short: &str) -> String {
    let mut out = String::new();
    let mut from = 0;
    for at in memmem::find_iter(text.as_bytes(), folder) {
        let after = &text[at + folder.len()..];
        let named_on =
            |c: char| c.is_alphanumeric() || matches!(c, '_' | '-') || (c == '.' && short == "~");
        let inside = text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '.');
        if at < from || inside || after.starts_with(named_on) {
            continue;
        }
        out.push_str(&text[from..at]);
        from = at + folder.len();
        match after.strip_prefix('/') {
            Some(name) if short == "." && name.starts_with(|c: char| !c.is_whitespace()) => {
                from += 1;
            }
            _ => out.push_str(short),
        }
    }
    if from == 0 {
        return text;
    }
    out.push_str(&text[from..]);
    out
}

/// Replaces base64, minified and other long unbroken runs by a note of their size.
fn without_blobs(text: &str) -> Cow<'_, str> {
    let is_blob = |word: &str| word.len() > BLOB_RUN && word.is_ascii();
    if !text.split(['\n', ' ']).any(is_blob) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for part in text.split_inclusive(['\n', ' ']) {
        let word = part.trim_end_matches(['\n', ' ']);
        if is_blob(word) {
            // Writing to a String cannot fail.
            _ = write!(out, "[{} bytes]{}", word.len(), &part[word.len()..]);
        } else {
            out.push_str(part);
        }
    }
    Cow::Owned(out)
}

/// Leaves about `max` bytes, in whole lines where that is possible, and a note of the rest.
pub(crate) fn middle(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let head_end = boundary_before(text, max * 3 / 5);
    let tail_start = boundary_after(text, text.len() - max * 2 / 5);
    let head = match text[..head_end].rfind('\n') {
        Some(i) if i > head_end / 2 => &text[..i],
        _ => &text[..head_end],
    };
    let tail = match text[tail_start..].find('\n') {
        Some(i) if i < (text.len() - tail_start) / 2 => &text[tail_start + i + 1..],
        _ => &text[tail_start..],
    };
    let left_out = &text[head.len()..text.len() - tail.len()];
    let glue = if left_out.contains('\n') { "\n" } else { " " };
    Cow::Owned(format!("{head}{glue}{NOTE}{glue}{tail}"))
}

/// Returns `text` on one line, blanks folded, at most about `max` bytes.
pub(crate) fn one_line(text: &str, max: usize) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.len() > max {
            out.truncate(boundary_before(&out, max));
            out.push('…');
            break;
        }
    }
    out
}

/// Leaves out the same lines at the beginning and the end.
pub(crate) fn diff(old: &str, new: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let pairs = old.iter().zip(&new);
    let same = pairs.take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let ends = old.iter().rev().zip(new.iter().rev());
    let same = ends.take_while(|(old, new)| old == new).count();
    let gone = old[..old.len() - same].iter();
    let added = new[..new.len() - same].iter();
    let lines: Vec<String> = gone
        .map(|line| format!("- {line}"))
        .chain(added.map(|line| format!("+ {line}")))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Estimates tokens: ASCII bytes / 3.5, one for each other character, two for those
/// beyond the basic plane (emoji). Real tokenizers stay below that for prose and code.
pub fn estimate_tokens(text: &str) -> u64 {
    let units = |byte: u8| match byte {
        ..0x80 => 2,
        // The first byte of a character; the others cost nothing.
        0x80..0xC0 => 0,
        0xC0..0xF0 => TOKEN,
        0xF0.. => 2 * TOKEN,
    };
    text.bytes().map(units).sum::<u64>().div_ceil(TOKEN)
}

pub(crate) fn least_tokens(bytes: usize) -> u64 {
    bytes as u64 * 2 / TOKEN
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;

    /// Wherever a text is cut, no part of a secret is left.
    #[test]
    fn a_secret_at_the_cut_of_a_head_is_gone() {
        let secret = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
        for before in 0..1_300 {
            let text = format!("{}{secret}{}", "a ".repeat(before), " b".repeat(900));
            let kept = Mask::default().head(&text, 300);
            assert!(!kept.contains("ghp_") && !kept.contains("ABCDEF"), "{kept}");
        }
        for before in 0..400 {
            let (before, after) = ("x".repeat(before), "y".repeat(2_000));
            let text = format!(r#"{{"a":"{before}","password":"hunter2hunter2","b":"{after}"}}"#);
            let kept = Mask::default().head(&text, 100);
            assert!(!kept.contains("hunter"), "{kept}");
        }
    }

    #[test]
    fn an_error_about_a_file_that_is_never_read_has_no_values() {
        let text = "Exit code 1\nexport A=b\n B = c\nenv: x=y is no name\n.env: no such file";
        let want = "Exit code 1\nexport A=[not read]\n B =[not read]\nenv: x=y is no name\n.env: no such file";
        assert_eq!(without_values(text), want);
        let edit = "String to replace not found in file.\nString: one\ntwo";
        assert_eq!(without_values(edit), "String to replace not found in file.");
    }

    #[rstest]
    #[case::inside("see /home/u/a.rs", "see ~/a.rs")]
    #[case::another_user("/home/user2/a", "/home/user2/a")]
    #[case::escapes("\u{1b}[1mbold\u{1b}[22m\u{7} done", "bold done")]
    #[case::unseen("a\u{200b}b\u{202e}c\u{e0041}", "abc")]
    #[case::secret("TOK\u{200b}EN=abcdefghijklmnop", "TOKEN=[masked env-secret]")]
    #[case::file("cat /home/u/proj/src/a.rs", "cat src/a.rs")]
    #[case::folder_itself("cd /home/u/proj && ls", "cd . && ls")]
    #[case::neighbour("/home/u/project2/a", "~/project2/a")]
    #[case::elsewhere("/mnt/home/u/proj/a", "/mnt/home/u/proj/a")]
    fn a_kept_text_shows_no_folder_no_escapes_and_no_hidden_secret(
        #[case] text: &str,
        #[case] want: &str,
    ) {
        let mut sanitizer = Sanitizer::new(Some("/home/u/"), Masker::default());
        sanitizer.work_in("/home/u/proj");
        assert_eq!(sanitizer.text(text, 1000), want);
    }

    #[test]
    fn the_middle_goes_and_lines_stay_whole() {
        let lines: Vec<String> = (0..100).map(|i| format!("line {i}\n")).collect();
        let text = lines.concat();
        let cut = middle(&text, 100);
        assert!(cut.starts_with("line 0\nline 1\n"), "{cut}");
        assert!(cut.ends_with("line 98\nline 99\n"), "{cut}");
        assert!(cut.contains(NOTE), "{cut}");
    }

    #[test]
    fn a_long_paragraph_is_no_blob_and_blobs_become_notes_of_their_size() {
        let prose = "Please leave the parser as it is and mend the writer. ".repeat(60);
        assert_eq!(without_blobs(&prose), prose);
        let blob = "iVBOR".repeat(1000);
        let text = format!("see data:image/png;base64,{blob} end\nnext");
        assert_eq!(without_blobs(&text), "see [5022 bytes] end\nnext");
    }

    #[rstest]
    #[case::empty("", 0)]
    #[case::seven_bytes_are_two("abcdefg", 2)]
    #[case::chinese("日本語", 3)]
    #[case::emoji("🙂", 2)]
    fn tokens_are_estimated(#[case] text: &str, #[case] tokens: u64) {
        assert_eq!(estimate_tokens(text), tokens);
    }

    proptest! {
        #[test]
        fn a_cut_text_is_no_longer_than_asked(text: String, max in 0_usize..200) {
            prop_assert!(middle(&text, max).len() <= max.max(text.len().min(max)) + 60);
            prop_assert!(one_line(&text, max).len() <= max + 4);
        }

        #[test]
        fn a_whole_costs_no_more_than_its_parts(a in any::<String>(), b in any::<String>()) {
            let whole = estimate_tokens(&[a.as_str(), b.as_str()].concat());
            prop_assert!(whole <= estimate_tokens(&a) + estimate_tokens(&b));
            prop_assert!(least_tokens(a.len()) <= estimate_tokens(&a));
        }
    }
}
