//! Makes texts small: middle cuts at line boundaries, notes in place of blobs.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::clip::{boundary_after, boundary_before};

/// A run of this many characters without a blank is no prose.
const BLOB_RUN: usize = 400;
/// What stands where something was left out, and what all such notes end with.
const NOTE: &str = "[… left out …]";
pub(crate) const LEFT_OUT: &str = "left out …]";

/// Replaces base64, minified and other long unbroken runs by a note of their size.
pub(crate) fn without_blobs(text: &str) -> Cow<'_, str> {
    let is_blob = |word: &str| word.len() > BLOB_RUN && word.is_ascii();
    if !text.split(['\n', ' ']).any(is_blob) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(1 << 16));
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

/// Cuts out the middle so that at most about `max` bytes are left; whole lines where
/// that is possible, and a note of what is missing.
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

/// Returns what a change takes away and adds, line by line, without the lines that stay at its
/// beginning and end; of a text without an old one that text.
pub(crate) fn diff(old: &str, new: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = old
        .iter()
        .zip(&new)
        .take_while(|(old, new)| old == new)
        .count();
    let (old, new) = (&old[same..], &new[same..]);
    let ends = old.iter().rev().zip(new.iter().rev());
    let same = ends.take_while(|(old, new)| old == new).count();
    let gone = old[..old.len() - same]
        .iter()
        .map(|line| format!("- {line}"));
    let added = new[..new.len() - same]
        .iter()
        .map(|line| format!("+ {line}"));
    let lines: Vec<String> = gone.chain(added).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let text = format!(
            "see data:image/png;base64,{} end\nnext",
            "iVBOR".repeat(1000)
        );
        assert_eq!(without_blobs(&text), "see [5022 bytes] end\nnext");
    }

    proptest! {
        #[test]
        fn a_cut_text_is_no_longer_than_asked(text: String, max in 0_usize..200) {
            prop_assert!(middle(&text, max).len() <= max.max(text.len().min(max)) + 60);
            prop_assert!(one_line(&text, max).len() <= max + 4);
        }
    }
}
