//! Finds `<private>…</private>`, which the user keeps between them and the agent.

use std::ops::Range;

use crate::clip::tail;

/// The tag that begins a private part.
const OPEN: &str = "<private>";
/// The tag that ends it.
const CLOSE: &str = "</private>";

/// Returns the tags of a text in order, in either case. True marks one that opens a part.
fn tags(text: &str) -> impl Iterator<Item = (bool, Range<usize>)> {
    let begins = memchr::memchr_iter(b'<', text.as_bytes());
    begins.filter_map(|at| {
        let mut tags = [(true, OPEN), (false, CLOSE)].into_iter();
        tags.find_map(|(opens, tag)| {
            let place = at..at + tag.len();
            let here = text.as_bytes().get(place.clone())?;
            let is_it = here.eq_ignore_ascii_case(tag.as_bytes());
            is_it.then_some((opens, place))
        })
    })
}

/// The end of a private part that is never closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclosed {
    ToEnd,
    /// The end of the JSON string that holds it.
    ToQuote,
}

/// Calls `found` with each private part, its tags included.
///
/// A part within a part belongs to it. An opening tag that is quoted as a word, and that
/// nothing closes, is talk about the tag.
pub(super) fn each(text: &str, unclosed: Unclosed, mut found: impl FnMut(Range<usize>)) {
    let mut tags = tags(text).peekable();
    while let Some((opens, tag)) = tags.next() {
        if !opens {
            continue;
        }
        let limit = match unclosed {
            Unclosed::ToEnd => text.len(),
            Unclosed::ToQuote => string_end(text.as_bytes(), tag.end),
        };
        let mut depth = 1_usize;
        let mut closed = None;
        while let Some((opens, inner)) = tags.next_if(|(_, inner)| inner.start < limit) {
            depth = if opens { depth + 1 } else { depth - 1 };
            if depth == 0 {
                closed = Some(inner.end);
                break;
            }
        }
        if let Some(end) = closed {
            found(tag.start..end);
            continue;
        }
        let is_quoted = matches!(text.as_bytes().get(tag.end), Some(b'`' | b'"' | b'\''));
        let is_talk = is_quoted && unclosed == Unclosed::ToEnd;
        if !is_talk && !text[tag.end..limit].trim().is_empty() {
            found(tag.start..limit);
        }
    }
}

/// Follows tags through a text that goes on within `depth` private parts; returns where the
/// outermost ends.
pub(super) fn close(text: &str, depth: &mut usize) -> Option<usize> {
    tags(text).find_map(|(opens, tag)| {
        *depth = if opens {
            *depth + 1
        } else {
            depth.saturating_sub(1)
        };
        (*depth == 0).then_some(tag.end)
    })
}

/// Returns the end of a text that may be the beginning of a tag.
pub(super) fn begun_tag(text: &str) -> &str {
    let end = tail(text, CLOSE.len() - 1);
    let begun = end.rfind('<').map(|at| &end[at..]);
    begun
        .filter(|begun| !begun.contains('>'))
        .unwrap_or_default()
}

/// Returns where the JSON string ends that goes on at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at = (at + 2).min(bytes.len()),
            b'"' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}
