//! Finds the keywords of all rules in one pass.
//!
//! A table of bits tells by three bytes whether a keyword can begin there; only there one
//! is looked for. Letters count alike in either case.

/// How many bytes decide whether a keyword is looked for.
const LOOKED_AT: usize = 3;
/// Bits of the table, as a power of two.
const BITS: u32 = 16;

/// What looks for keywords.
#[derive(Debug)]
pub(super) struct Finder {
    bits: Vec<u64>,
    /// The beginning of each keyword, the keyword, and whose it is; sorted.
    keywords: Vec<(u32, &'static str, u16)>,
}

impl Finder {
    /// Prepares a search for keywords of at least three bytes, each with its owner.
    pub(super) fn new(keywords: impl Iterator<Item = (&'static str, u16)>) -> Self {
        let mut bits = vec![0; 1 << (BITS - 6)];
        let mut sorted: Vec<_> = keywords
            .filter_map(|(keyword, owner)| {
                let start = keyword.as_bytes().get(..LOOKED_AT)?;
                let start = start.iter().fold(0, |key, byte| push(key, *byte));
                let slot = slot(start);
                bits[slot >> 6] |= 1 << (slot & 63);
                Some((start, keyword, owner))
            })
            .collect();
        sorted.sort_unstable();
        Self {
            bits,
            keywords: sorted,
        }
    }

    /// Calls `found` with each keyword's owner and place, in order. What it returns is the
    /// place before which nothing more needs to be found.
    pub(super) fn each(&self, text: &[u8], mut found: impl FnMut(u16, usize, usize) -> usize) {
        let mut key = 0;
        let mut from = 0;
        for (end, byte) in text.iter().enumerate() {
            key = push(key, *byte);
            let slot = slot(key);
            if self.bits[slot >> 6] >> (slot & 63) & 1 == 0 || end + 1 < from + LOOKED_AT {
                continue;
            }
            let at = end + 1 - LOOKED_AT;
            let first = self.keywords.partition_point(|known| known.0 < key);
            let here = self.keywords[first..].iter();
            for (_, keyword, owner) in here.take_while(|known| known.0 == key) {
                if at >= from && starts_with(&text[at..], keyword.as_bytes()) {
                    from = found(*owner, at, at + keyword.len()).max(from);
                }
            }
        }
    }
}

/// The key of the last three bytes, with one more.
fn push(key: u32, byte: u8) -> u32 {
    (key << 8 | u32::from(byte | 0x20)) & 0x00FF_FFFF
}

fn slot(key: u32) -> usize {
    (key.wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

fn starts_with(text: &[u8], keyword: &[u8]) -> bool {
    text.get(..keyword.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(keyword))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(u16, usize)> {
        let finder = Finder::new([("token", 1), ("tokens", 2), ("://", 3)].into_iter());
        let mut all = Vec::new();
        finder.each(text.as_bytes(), |owner, at, _| {
            all.push((owner, at));
            0
        });
        all
    }

    #[test]
    fn keywords_are_found_in_either_case_wherever_they_stand() {
        assert_eq!(found("a TOKENS ://"), [(1, 2), (2, 2), (3, 9)]);
        assert_eq!(found("to"), []);
    }

    #[test]
    fn what_lies_before_the_returned_place_is_passed_over() {
        let finder = Finder::new([("aaa", 1)].into_iter());
        let mut places = Vec::new();
        finder.each(b"aaaaaaaaa", |_, at, _| {
            places.push(at);
            at + 4
        });
        assert_eq!(places, [0, 4]);
    }

    proptest! {
        #[test]
        fn every_occurrence_is_found(before in "\\PC{0,40}", after in "\\PC{0,40}") {
            let text = format!("{before}ToKen{after}");
            prop_assert!(found(&text).contains(&(1, before.len())));
        }
    }
}
