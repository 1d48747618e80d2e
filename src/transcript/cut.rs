//! Makes texts small: middle cuts at line boundaries, notes in place of blobs.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A run of this many characters without a blank is no prose.
const BLOB_RUN: usize = 400;
/// A line longer than this is minified or generated.
const LONG_LINE: usize = 2_000;
/// How much of a long line is shown at its start and its end.
const LONG_LINE_SHOWN: usize = 300;

/// Replaces base64, minified and other long unbroken runs by a note of their size.
pub(crate) fn without_blobs(text: &str) -> Cow<'_, str> {
    if !text.split(['\n', ' ']).any(|word| word.len() > BLOB_RUN)
        && !text.lines().any(|l| l.len() > LONG_LINE)
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len().min(1 << 16));
    for line in text.split_inclusive('\n') {
        let (line, newline) = match line.strip_suffix('\n') {
            Some(line) => (line, "\n"),
            None => (line, ""),
        };
        let start = out.len();
        for word in line.split_inclusive(' ') {
            let (word, blank) = word.strip_suffix(' ').map_or((word, ""), |w| (w, " "));
            if word.len() > BLOB_RUN && word.is_ascii() {
                // Writing to a String cannot fail.
                _ = write!(out, "[{} of {} bytes]", blob_kind(word), word.len());
            } else {
                out.push_str(word);
            }
            out.push_str(blank);
        }
        if out.len() - start > LONG_LINE {
            let short = middle_of_line(&out[start..], 2 * LONG_LINE_SHOWN).into_owned();
            out.truncate(start);
            out.push_str(&short);
        }
        out.push_str(newline);
    }
    Cow::Owned(out)
}

fn blob_kind(word: &str) -> &'static str {
    let base64 = word.bytes().all(|b| {
        b.is_ascii_alphanumeric()
            || matches!(
                b,
                b'+' | b'/' | b'=' | b'-' | b'_' | b':' | b';' | b',' | b'.' | b'"' | b'\''
            )
    });
    if base64 {
        "encoded data"
    } else {
        "minified text"
    }
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
    let lines = memchr::memchr_iter(b'\n', left_out.as_bytes()).count();
    let glue = if lines > 0 { "\n" } else { " " };
    let what = if lines > 1 {
        format!("{lines} lines")
    } else {
        format!("{} bytes", left_out.len())
    };
    Cow::Owned(format!("{head}{glue}[… {what} left out …]{glue}{tail}"))
}

/// As [`middle`], on one line, to about `max` bytes.
pub(crate) fn middle_of_line(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let head = &text[..boundary_before(text, max * 3 / 5)];
    let tail = &text[boundary_after(text, text.len() - max * 2 / 5)..];
    Cow::Owned(format!("{head} … {tail}"))
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

/// Returns the last place at or before `at` where a character begins.
pub(crate) fn boundary_before(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the first place at or after `at` where a character begins.
pub(crate) fn boundary_after(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
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
        assert!(cut.contains("lines left out"), "{cut}");
    }

    #[test]
    fn blobs_become_notes_of_their_size() {
        let text = format!(
            "see data:image/png;base64,{} end\nnext",
            "iVBOR".repeat(1000)
        );
        assert_eq!(
            without_blobs(&text),
            "see [encoded data of 5022 bytes] end\nnext"
        );
        let minified = "function(a){return{b:a}}".repeat(100);
        assert_eq!(without_blobs(&minified), "[minified text of 2400 bytes]");
    }

    proptest! {
        #[test]
        fn a_cut_text_is_no_longer_than_asked(text: String, max in 0_usize..200) {
            prop_assert!(middle(&text, max).len() <= max.max(text.len().min(max)) + 60);
            prop_assert!(one_line(&text, max).len() <= max + 4);
        }

        #[test]
        fn blobs_are_found_in_any_text(text in "[a ]{0,40}", n in 0_usize..3000) {
            let text = format!("{text}{}", "x".repeat(n));
            prop_assert!(without_blobs(&text).len() <= text.len().max(LONG_LINE));
        }
    }
}
