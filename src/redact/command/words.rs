//! The words of a command line.

use std::ops::Range;

/// A word: where it stands without its quotes, and whether it had any.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) range: Range<usize>,
    pub(super) is_quoted: bool,
}

/// Returns the words of a line.
pub(super) fn of(line: &str) -> Vec<Word> {
    let bytes = line.as_bytes();
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        }
        let word = word_at(bytes, at);
        at = word.range.end + usize::from(word.is_quoted);
        words.push(word);
        // What cannot end a word would be read for ever.
        at = at.max(words.last().map_or(0, |w: &Word| w.range.start + 1));
    }
    words
}

/// Returns the word that begins at a place: to a blank, or to the quote that closes it.
pub(super) fn word_at(bytes: &[u8], at: usize) -> Word {
    let escapes = usize::from(bytes.get(at) == Some(&b'\\'));
    match bytes.get(at + escapes) {
        Some(quote @ (b'"' | b'\'')) => {
            let start = at + escapes + 1;
            let length = bytes[start..].iter().position(|b| b == quote);
            let end = length.map_or(bytes.len(), |length| start + length);
            Word {
                range: start..end - usize::from(escapes == 1 && length > Some(0)),
                is_quoted: true,
            }
        }
        _ => {
            let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'');
            let length = bytes[at..].iter().position(ends);
            Word {
                range: at..length.map_or(bytes.len(), |length| at + length),
                is_quoted: false,
            }
        }
    }
}
