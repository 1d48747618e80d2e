//! `sk-…`: the form of keys that many providers took over, and that style sheets know too.

use std::ops::Range;

use super::pattern::goes_on_before;
use super::value::{is_placeholder, is_random};

/// A shorter one is no key.
const MIN: usize = 20;
/// How much of one tells that it is one.
const LOOKED_AT: usize = 200;
/// Words in a row, as names have them and keys have not.
const MAX_WORDS: usize = 2;

/// Looks at `sk-`.
pub(super) fn look(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    // A run that goes on over its own beginnings is looked at once.
    let is_within = at.start > 0 && bytes[at.start - 1] == b'-';
    if is_within || goes_on_before(bytes, at.start) {
        return;
    }
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    let rest = &bytes[at.end..];
    let length = rest.iter().take(LOOKED_AT).take_while(part).count();
    let value = &text[at.end..at.end + length];
    if value.starts_with("ant-") {
        // These have a rule of their own.
        return;
    }
    let words = value
        .split('-')
        .filter(|word| !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphabetic()))
        .count();
    if length >= MIN && words <= MAX_WORDS && is_random(value) && !is_placeholder(value) {
        let length = rest.iter().take_while(part).count();
        found(at.start..at.end + length);
    }
}
