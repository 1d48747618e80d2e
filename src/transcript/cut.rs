//! Makes texts small: middle cuts at line boundaries, notes in place of blobs.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::clip::{boundary_after, boundary_before, head, tail};

/// A run of this many characters without a blank is no prose.
const BLOB_RUN: usize = 400;
/// A line longer than this that is no prose is minified or generated.
const LONG_LINE: usize = 2_000;
/// How much of a long line is shown at its start and its end.
const LONG_LINE_SHOWN: usize = 300;

/// In prose a blank follows after so many bytes, on average.
const PROSE_WORD: usize = 12;

/// What stands around how much was left out.
const NOTE: (&str, &str) = ("[… ", " left out …]");
/// No such note is longer after its beginning, in bytes.
const LONGEST_NOTE: usize = 50;

/// Replaces base64, minified and other long unbroken runs by a note of their size.
pub(crate) fn without_blobs(text: &str) -> Cow<'_, str> {
    if !text.split(['\n', ' ']).any(|word| word.len() > BLOB_RUN) && !text.lines().any(is_minified)
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
        if is_minified(&out[start..]) {
            let short = middle_of_line(&out[start..], 2 * LONG_LINE_SHOWN).into_owned();
            out.truncate(start);
            out.push_str(&short);
        }
        out.push_str(newline);
    }
    Cow::Owned(out)
}

/// Tells whether a line is long, and has neither the blanks of prose nor the letters of a
/// script that needs none.
fn is_minified(line: &str) -> bool {
    line.len() > LONG_LINE && {
        let blanks = memchr::memchr_iter(b' ', line.as_bytes()).count();
        let ascii = line.bytes().filter(u8::is_ascii).count();
        blanks * PROSE_WORD < line.len() && ascii * 2 > line.len()
    }
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
    let (lines, bytes) = left_out_of(left_out);
    let glue = if left_out.contains('\n') { "\n" } else { " " };
    let what = if lines > 1 {
        format!("{lines} lines")
    } else {
        format!("{bytes} bytes")
    };
    Cow::Owned(format!(
        "{head}{glue}{}{what}{}{glue}{tail}",
        NOTE.0, NOTE.1
    ))
}

/// Counts the lines and the bytes of what is left out; where something was left out of that
/// before, what its note says counts.
fn left_out_of(text: &str) -> (usize, usize) {
    // The breaks at either end belong to what is shown.
    let inside = text.strip_prefix('\n').unwrap_or(text);
    let inside = inside.strip_suffix('\n').unwrap_or(inside);
    let mut lines = memchr::memchr_iter(b'\n', inside.as_bytes()).count() + 1;
    let mut bytes = text.len();
    for (start, _) in text.match_indices(NOTE.0) {
        let note = &text[start + NOTE.0.len()..];
        let note = head(note, LONGEST_NOTE);
        let Some((count, what)) = note.split_once(NOTE.1).and_then(|(n, _)| n.split_once(' '))
        else {
            continue;
        };
        match (count.parse::<usize>(), what) {
            (Ok(count), "lines") => lines = lines.saturating_add(count) - 1,
            (Ok(count), "bytes") => bytes = bytes.saturating_add(count),
            _ => {}
        }
    }
    (lines, bytes)
}

/// As [`middle`], on one line, to about `max` bytes.
pub(crate) fn middle_of_line(text: &str, max: usize) -> Cow<'_, str> {
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (head(text, max * 3 / 5), tail(text, max * 2 / 5));
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
    fn what_is_cut_twice_is_counted_whole() {
        let text = (0..3_000)
            .map(|i| format!("line {i}\n"))
            .collect::<Vec<_>>()
            .concat();
        let cut = middle(&text, 8_000).into_owned();
        let again = middle(&cut, 400);
        let shown = again
            .lines()
            .filter(|line| line.starts_with("line"))
            .count();
        let note = format!("[… {} lines left out …]", 3_000 - shown);
        assert!(again.contains(&note), "{again}");
        let cut = middle(&"x".repeat(9_000), 500).into_owned();
        assert!(middle(&cut, 100).contains("[… 89"));
    }

    #[test]
    fn a_long_paragraph_is_no_minified_text() {
        let prose = "Please leave the parser as it is and mend the writer. ".repeat(60);
        assert_eq!(without_blobs(&prose), prose);
        let chinese = "请不要修改这个文件，".repeat(300);
        assert_eq!(without_blobs(&chinese), chinese);
        let minified = "a.b(c,d){e:f} ".repeat(300);
        assert!(without_blobs(&minified).len() < 1_000);
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
