//! How an agent announces the call that it makes next: "Now let me read the parser:".

use super::english::patterns;

patterns! {
    ANNOUNCES SAYS_WHY
}

/// Returns a text that stands before a call without the sentences at its end that only
/// announce it.
pub(crate) fn without(text: &str) -> &str {
    let mut left = text.trim_end();
    loop {
        let line = left.rfind('\n').map_or(0, |at| at + 1);
        let ends = left[line..].trim_end_matches(['.', ':', '!']);
        let is_end = |two: &[u8]| matches!(two, [b'.' | b'!' | b':' | b'?', b' ']);
        let sentence = ends.as_bytes().windows(2).rposition(is_end);
        let start = line + sentence.map_or(0, |at| at + 2);
        let last = left[start..].trim().trim_end_matches(['.', ':', '!']);
        if last.is_empty() || !ANNOUNCES.is(last) || SAYS_WHY.is(last) {
            return left;
        }
        left = left[..start].trim_end();
    }
}
