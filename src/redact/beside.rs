//! Secrets that stand beside the id of their key, without a name of their own:
//! `Session("AKIA…", "…")`, `AKIA… ⇥ …`.

use std::ops::Range;

use super::value::{is_random, is_stand_in, is_sum, is_uuid};
use crate::clip::boundary_after;

/// How far behind the id its secret is looked for, in bytes.
const MAX_BESIDE: usize = 120;
/// A shorter one is none; ids have no more characters, but for their beginning.
const MIN_SECRET: usize = 20;

/// Looks at the beginning of a key's id.
pub(super) fn look(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+' | b'=' | b'_' | b'-');
    let run = |from: usize| {
        let rest = bytes[from..].iter().take(MAX_BESIDE);
        from + rest.take_while(|b| part(b)).count()
    };
    let id = run(at.end);
    if id - at.start < MIN_SECRET - 4 {
        return;
    }
    let limit = bytes.len().min(id + MAX_BESIDE);
    let mut from = id;
    while from < limit {
        // The record ends here.
        if matches!(bytes[from], b'}' | b';') {
            return;
        }
        let end = run(from);
        let value = &text[from..end];
        let is_known = || is_sum(value) || is_uuid(value) || is_stand_in(value);
        if value.len() >= MIN_SECRET && is_random(value) && !is_known() {
            found(from..end);
            return;
        }
        from = boundary_after(text, end.max(from + 1));
    }
}
