//! The private parts of a key in JSON: `d`, `p`, `q` and the like, and a symmetric key's `k`.

use std::ops::Range;

use memchr::memmem;

/// How far from a part the type of its key stands, in bytes.
const MAX_KEY: usize = 3_000;
/// A shorter part of a symmetric key is none.
const MIN_SYMMETRIC: usize = 16;
/// A shorter part of a pair of keys is none.
const MIN_PAIR: usize = 40;

/// Looks at the name of a private part.
pub(super) fn look(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let sign = |b: &&u8| matches!(**b, b'\\' | b'"' | b':' | b' ');
    let start = at.end + bytes[at.end..].iter().take(12).take_while(sign).count();
    let part = |b: &&u8| b.is_ascii_alphanumeric() || matches!(**b, b'_' | b'-');
    let length = bytes[start..].iter().take_while(part).count();
    let least = match bytes[at.start + 1] {
        b'k' => MIN_SYMMETRIC,
        _ => MIN_PAIR,
    };
    let around =
        &bytes[at.start.saturating_sub(MAX_KEY)..bytes.len().min(start + length + MAX_KEY)];
    if length >= least && memmem::find(around, b"\"kty").is_some() {
        found(start..start + length);
    }
}
