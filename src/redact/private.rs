//! `<private>…</private>`: what the user wants to stay between them and the agent.

use std::ops::Range;

use super::find::Finder;

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
    if memchr::memchr(b'<', text.as_bytes()).is_none() {
        return;
    }
    let finder = Finder::new([(OPEN, 0), (CLOSE, 1)].into_iter());
    let mut open: Option<usize> = None;
    let mut depth = 0_usize;
    finder.each(text.as_bytes(), |tag, at, end| {
        match (tag, open) {
            (0, None) => (open, depth) = (Some(at), 1),
            (0, Some(_)) => depth += 1,
            (_, Some(start)) => {
                depth -= 1;
                if depth == 0 {
                    found(start..end);
                    open = None;
                }
            }
            (_, None) => {}
        }
        end
    });
    let Some(start) = open else {
        return;
    };
    let inside = start + OPEN.len();
    let is_quoted = matches!(text.as_bytes().get(inside), Some(b'`' | b'"' | b'\''));
    let end = match unclosed {
        Unclosed::ToEnd if is_quoted => return,
        Unclosed::ToEnd => text.len(),
        Unclosed::ToQuote => string_end(text.as_bytes(), inside),
    };
    if !text[inside..end].trim().is_empty() {
        found(start..end);
    }
}

/// Returns where the JSON string ends that goes on at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at,
            _ => at += 1,
        }
    }
    bytes.len()
}
