//! Where a word, a quotation or a call ends.

use super::words;
use crate::clip;

/// A quotation is looked for within so many characters.
const QUOTED: usize = 400;
/// A quotation of so many words is a message, not a name.
const MESSAGE_WORDS: usize = 3;

pub(super) fn is_delimiter(c: char) -> bool {
    matches!(
        c,
        ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '<' | '>'
    )
}

pub(super) fn is_quote(c: char) -> bool {
    matches!(c, '"' | '\'' | '`' | '‘' | '’' | '“' | '”' | '«' | '»')
}

/// The end of `foo<=1.0`, given where its first delimiter stands.
pub(super) fn bound_end(rest: &str, end: usize) -> usize {
    let tail = &rest[end..];
    match tail.strip_prefix("<=").or(tail.strip_prefix(">=")) {
        Some(version) if end > 0 => {
            let more = version.find(|c: char| c.is_whitespace() || is_delimiter(c) || is_quote(c));
            rest.len() - version.len() + more.unwrap_or(version.len())
        }
        _ => end,
    }
}

/// The end of a word with apostrophes, given where its first quotation mark stands.
pub(super) fn apostrophe_end(rest: &str, end: usize) -> usize {
    let tail = &rest[end..];
    let mut chars = tail.chars();
    let short =
        matches!(chars.next(), Some('\'' | '’')) && chars.next().is_some_and(char::is_alphabetic);
    if !short {
        return end;
    }
    let first = tail.chars().next().map_or(0, char::len_utf8);
    let letters = tail[first..]
        .find(|c: char| !c.is_alphanumeric())
        .unwrap_or(tail.len() - first);
    end + first + letters
}

/// The inside of the quotation that begins `rest`, and its whole length.
pub(super) fn quoted(rest: &str, open: char) -> Option<(&str, usize)> {
    let start = open.len_utf8();
    let inside = clip::head(&rest[start..], QUOTED);
    let closes = |c: char| match open {
        '`' => c == '`' || c == '\'',
        '‘' => c == '’',
        '“' => c == '”',
        '«' => c == '»',
        open => c == open,
    };
    inside
        .char_indices()
        .find(|(at, c)| {
            let next = inside[at + c.len_utf8()..].chars().next();
            // The closing mark of `'it isn't'` is not followed by a letter.
            closes(*c) && (*c != '\'' || !next.is_some_and(char::is_alphanumeric))
        })
        .map(|(at, c)| (&inside[..at], start + at + c.len_utf8()))
}

pub(super) fn is_plain_word(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// Several words, mostly of letters.
pub(super) fn is_message(text: &str) -> bool {
    let is_word = |w: &&str| {
        w.len() > 1
            && w.trim_end_matches([':', ',', '.'])
                .chars()
                .all(char::is_alphabetic)
    };
    text.split_whitespace().filter(is_word).count() >= MESSAGE_WORDS
}

/// What follows the number of a process: `[811]: …`.
pub(super) fn after_process(after: &str) -> Option<&str> {
    let (number, said) = after.strip_prefix('[')?.split_once("]:")?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(said)
}

/// The length of the brackets of a call, `(a, b)`, that follow `word` at once.
pub(super) fn call_length(word: &str, after: &str) -> Option<usize> {
    // `NewConnectionError('…')` holds a message.
    if !after.starts_with('(')
        || words::is_error_name(word)
        || !word.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    {
        return None;
    }
    let mut depth = 0_usize;
    for (at, c) in after.char_indices().take(QUOTED) {
        match c {
            '(' => depth += 1,
            ')' => {
                depth -= 1;
                if depth == 0 {
                    let inside = &after[1..at];
                    let plural = inside == "s" || inside == "es";
                    let tail = after[at + 1..]
                        .find(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | '`' | '\''))
                        .unwrap_or(after.len() - at - 1);
                    return (!plural).then_some(at + 1 + tail);
                }
            }
            _ => {}
        }
    }
    None
}
