//! The sentences of what is to be learned, and of what a session holds.

use std::ops::Range;

use crate::hint::hashes as words;
use crate::screen;

/// A text with fewer words says by itself nothing of what it is about: "no, not so".
pub(super) const TELLING: usize = 3;
/// So many percent of a text's words stand in a sentence that says it.
pub(super) const SAYS_IT: usize = 60;

/// What may part two wishes of one sentence, besides its end.
const MARKS: [&str; 11] = [
    "…", "•", "|", "。", "⇒", "\u{2028}", ".**", ".]", "-", "–", "/",
];

/// A text as names are looked for in it: as it looks, in lower case, and without the marks of a pattern, which
/// what a search looked for has (`time\.Now\(\)`).
pub(super) fn plain(text: &str) -> String {
    screen::plain(text).to_lowercase().replace('\\', "")
}

/// The sentences of a text that is to be learned; one that says too little alone with the next,
/// and where all say too little the whole.
pub(super) fn parts(text: &str) -> Vec<&str> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut begin = 0;
    for (end, next) in marks(text).chain([(text.len(), text.len())]) {
        if words(&text[begin..end]).len() >= TELLING {
            parts.push(begin..end);
            begin = next;
        }
    }
    match parts.last_mut() {
        Some(last) => last.end = text.len(),
        None if text.trim().is_empty() => {}
        None => parts.push(0..text.len()),
    }
    parts.into_iter().map(|part| &text[part]).collect()
}

/// What stands between all marks of a text, also between those that part no sentence everywhere;
/// a piece may be a word or two.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let ends = |at: usize, mark: &str| {
        let is_blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let after = &text[at + mark.len()..];
        match mark {
            "-" | "–" | "/" | "|" => {
                is_blank(text[..at].chars().next_back()) && is_blank(after.chars().next())
            }
            _ => true,
        }
    };
    let others = MARKS.iter().flat_map(|mark| text.match_indices(mark));
    let others = others.filter(move |(at, mark)| ends(*at, mark));
    let others = others.map(|(at, mark)| (at, at + mark.len()));
    let mut ends: Vec<(usize, usize)> = marks(text).chain(others).collect();
    ends.push((text.len(), text.len()));
    ends.sort_unstable();
    let mut begin = 0;
    ends.into_iter().filter_map(move |(end, next)| {
        let piece = text.get(begin..end);
        begin = begin.max(next);
        piece.filter(|piece| !words(piece).is_empty())
    })
}

/// Where the marks in a text begin and end that part its sentences.
fn marks(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let is_end = |rest: &str| {
        let rest = rest.trim_start_matches(['"', '\'', ')', '`', '’', '”', '»']);
        rest.is_empty() || rest.starts_with(char::is_whitespace)
    };
    text.char_indices().filter_map(move |(at, c)| {
        let next = at + c.len_utf8();
        let is_mark = match c {
            '\n' | '→' | '—' => true,
            // `src/main.rs` goes on.
            '.' | ';' | '!' | '?' => is_end(&text[next..]),
            _ => false,
        };
        is_mark.then_some((at, next))
    })
}

/// Tells whether one of the texts says a sentence already.
pub(super) fn is_of(part: &str, texts: &[&str]) -> bool {
    let part = words(part);
    let says_it =
        |text: &&str| part.intersection(&words(text)).count() * 100 >= SAYS_IT * part.len();
    texts.iter().any(says_it)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::one("Run `src/main.rs` before each release", &["Run `src/main.rs` before each release"])]
    #[case::sentences("Format the changed files. Prettier checks all documents.", &["Format the changed files", " Prettier checks all documents."])]
    #[case::other_marks("Format changed files! Prettier checks documents; ruff checks programs", &["Format changed files", " Prettier checks documents", " ruff checks programs"])]
    #[case::quoted("It says \"format changed files.\" Prettier checks documents", &["It says \"format changed files", "\" Prettier checks documents"])]
    #[case::too_short_alone("Never skip. Format changed files. Not so.", &["Never skip. Format changed files. Not so."])]
    #[case::too_short_at_all("Not so.", &["Not so."])]
    #[case::nothing(" ", &[])]
    fn a_text_is_parted_where_a_sentence_ends(#[case] text: &str, #[case] want: &[&str]) {
        assert_eq!(parts(text), want);
    }
}
