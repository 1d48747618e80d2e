//! `<private>…</private>`: what the user wants to stay between them and the agent.

use std::ops::{ControlFlow, Range};

use crate::phrases::Phrases;

/// The tag that begins a private part.
const OPEN: &str = "<private>";
/// The tag that ends it.
const CLOSE: &str = "</private>";

/// How far a private part reaches that nobody closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unclosed {
    /// To the end of the text.
    ToEnd,
    /// To the end of the JSON string in which it stands.
    ToQuote,
}

/// Calls `found` with each private part, its tags included.
///
/// A part within a part belongs to it. An opening tag that is quoted as a word, and that
/// nothing closes, is talk about the tag.
pub(super) fn each(text: &str, unclosed: Unclosed, mut found: impl FnMut(Range<usize>)) {
    let both = Phrases::numbered([(OPEN, 1), (CLOSE, 0)].into_iter());
    let mut tags: Vec<(bool, Range<usize>)> = Vec::new();
    let _: Option<()> = both.search(text.as_bytes(), |opens, at, end| {
        tags.push((opens == 1, at..end));
        ControlFlow::Continue(end)
    });
    let mut tags = tags.into_iter().peekable();
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
