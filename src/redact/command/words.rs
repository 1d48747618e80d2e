//! The words of a command line.

use std::ops::Range;

/// A word: where it stands without its quotes, whether it had any, and where it ends with them.
#[derive(Debug, Clone)]
pub(super) struct Word {
    pub(super) range: Range<usize>,
    pub(super) is_quoted: bool,
    next: usize,
}

/// Returns the words of a line.
pub(super) fn of(line: &str) -> impl Iterator<Item = Word> {
    let bytes = line.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(from..)?;
        let at = from + rest.iter().position(|b| !b.is_ascii_whitespace())?;
        let word = word_at(bytes, at);
        from = word.next;
        Some(word)
    })
}

/// Returns the word that begins at a place: to a blank, or to the quote that closes it.
pub(super) fn word_at(bytes: &[u8], at: usize) -> Word {
    let escapes = usize::from(bytes.get(at) == Some(&b'\\'));
    if let Some(quote @ (b'"' | b'\'')) = bytes.get(at + escapes) {
        let start = at + escapes + 1;
        let length = bytes[start..].iter().position(|b| b == quote);
        let end = length.map_or(bytes.len(), |length| start + length);
        // In JSON the quote that closes is escaped as the first is.
        let is_escaped = escapes == 1 && end > start && bytes[end - 1] == b'\\';
        return Word {
            range: start..end - usize::from(is_escaped),
            is_quoted: true,
            next: end + 1,
        };
    }
    let ends = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\'');
    let length = bytes[at..].iter().position(ends);
    let end = length.map_or(bytes.len(), |length| at + length);
    Word {
        range: at..end,
        is_quoted: false,
        next: end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::bare("a -b c", &["a", "-b", "c"])]
    #[case::quoted("a 'b c' \"d\"", &["a", "b c", "d"])]
    #[case::escaped(r#"a \"b c\" d"#, &["a", "b c", "d"])]
    #[case::half_escaped(r#"a \"é" d"#, &["a", "é", "d"])]
    #[case::unclosed("a \"b", &["a", "b"])]
    #[case::nothing(" ", &[])]
    fn words_lose_their_quotes(#[case] line: &str, #[case] want: &[&str]) {
        let words: Vec<&str> = of(line).map(|word| &line[word.range]).collect();
        assert_eq!(words, want);
    }
}
