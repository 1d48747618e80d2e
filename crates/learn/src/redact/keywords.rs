//! Where in a text the keywords of rules stand, in either case.
//!
//! One pass: a table of bits, small enough for the nearest cache, tells whether a keyword may
//! begin with three bytes; only where one may are the keywords themselves compared. It is made
//! in microseconds, as a hook needs it.

/// A keyword is no shorter; `build.rs` sees to that.
const BEGINNING: usize = 3;
/// The bits of the table, in words of 64.
const WORDS: usize = 1 << 10;

/// Keywords, each with what it belongs to.
pub(super) struct Keywords<T> {
    /// Whether a keyword has a beginning of this hash.
    begins: [u64; WORDS],
    /// The keywords with their beginnings, by the word of the table.
    by_word: Vec<Vec<(u32, &'static str, T)>>,
}

impl<T: Copy> Keywords<T> {
    pub(super) fn new(keywords: impl Iterator<Item = (&'static str, T)>) -> Self {
        let (mut begins, mut by_word) = ([0; WORDS], Vec::new());
        by_word.resize_with(WORDS, Vec::new);
        for (keyword, of) in keywords {
            let beginning = keyword.bytes().take(BEGINNING).fold(0, then);
            let (word, bit) = place(beginning);
            begins[word] |= bit;
            by_word[word].push((beginning, keyword, of));
        }
        Self { begins, by_word }
    }

    /// Calls `found` with where each keyword begins, and with what it belongs to.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(usize, T)) {
        let mut last = 0;
        for (end, byte) in text.bytes().enumerate() {
            last = then(last, byte);
            let (word, bit) = place(last);
            if self.begins[word] & bit == 0 || end + 1 < BEGINNING {
                continue;
            }
            let rest = &text.as_bytes()[end + 1 - BEGINNING..];
            for (beginning, keyword, of) in &self.by_word[word] {
                let here = rest.get(..keyword.len()).filter(|_| *beginning == last);
                if here.is_some_and(|here| here.eq_ignore_ascii_case(keyword.as_bytes())) {
                    found(end + 1 - BEGINNING, *of);
                }
            }
        }
    }
}

/// The last three bytes of a text when `byte` follows; letters count alike in either case.
fn then(last: u32, byte: u8) -> u32 {
    last >> 8 | u32::from(byte | 0x20) << 16
}

/// The word of the table and the bit in it for three bytes.
fn place(bytes: u32) -> (usize, u64) {
    let hash = bytes.wrapping_mul(0x9E37_79B1);
    (hash as usize >> 22, 1 << (hash >> 16 & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEYWORDS: [&str; 5] = ["abc", "abcd", "bca", "a@b", "-b "];

    proptest! {
        #[test]
        fn every_keyword_is_found_wherever_it_stands(text in "[abcdABC@` é-]{0,40}") {
            let keywords = Keywords::new(KEYWORDS.into_iter().zip(0..));
            let mut found = Vec::new();
            keywords.find(&text, |at, of| found.push((at, of)));
            let lower = text.to_ascii_lowercase();
            let here = |at: usize| {
                let rest = &lower.as_bytes()[at..];
                let keywords = KEYWORDS.iter().enumerate();
                keywords.filter(move |(_, keyword)| rest.starts_with(keyword.as_bytes()))
            };
            let mut want: Vec<(usize, usize)> =
                (0..text.len()).flat_map(|at| here(at).map(move |(of, _)| (at, of))).collect();
            found.sort_unstable();
            want.sort_unstable();
            prop_assert_eq!(found, want);
        }
    }
}
