//! Private keys in PEM, and static keys of `OpenVPN`: whole, cut off at either end, with escaped line breaks, with line
//! numbers or quotation marks before their lines.

use std::ops::Range;

use memchr::memmem;

/// What a header looks like at its start, and at the start of the one that ends it.
const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";
const DASHES: &[u8] = b"-----";
/// What a header calls a key that nobody else may have.
const SECRET_KEYS: [&[u8]; 2] = [b"PRIVATE KEY", b"Static key"];
/// How long a header may be.
const MAX_HEADER: usize = 80;
/// How far from its beginning a key's end is looked for.
const MAX_KEY: usize = 32 << 10;
/// A shorter run of letters and digits is no line of a key, unless it is the last one.
const MIN_LINE: usize = 16;

/// Looks at `-----BEGIN`.
pub(super) fn look_begin(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let Some(header) = header(bytes, at.start, BEGIN) else {
        return;
    };
    let window = &bytes[header..bytes.len().min(header + MAX_KEY)];
    // Nothing of a key has five dashes.
    let end = memmem::find(window, DASHES);
    let end = end.and_then(|end| self::header(bytes, header + end, END));
    let end = end.or_else(|| body(&bytes[header..], Direction::On).map(|length| header + length));
    if let Some(end) = end {
        found(at.start..end);
    }
}

/// Looks at `-----END`: the end of a key whose beginning was cut off.
pub(super) fn look_end(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let Some(end) = header(bytes, at.start, END) else {
        return;
    };
    if let Some(length) = body(&bytes[..at.start], Direction::Back) {
        found(at.start - length..end);
    }
}

/// Looks at the `Private-Lines:` of a key as `PuTTY` writes it.
pub(super) fn look_putty(text: &str, at: Range<usize>, found: &mut dyn FnMut(Range<usize>)) {
    let rest = &text.as_bytes()[at.end..];
    if let Some(length) = body(rest, Direction::On) {
        found(at.end..at.end + length);
    }
}

/// Returns where a header of a private key ends that begins at `at`.
fn header(bytes: &[u8], at: usize, start: &[u8]) -> Option<usize> {
    let header = bytes.get(at..bytes.len().min(at + MAX_HEADER))?;
    let name = header.strip_prefix(start)?;
    let length = name
        .iter()
        .position(|b| !(b.is_ascii_alphanumeric() || *b == b' '))?;
    let named = |kind: &&[u8]| memmem::find(&name[..length], kind).is_some();
    let is_key = SECRET_KEYS.iter().any(named);
    let closed = name[length..].starts_with(DASHES);
    (is_key && closed).then_some(at + start.len() + length + DASHES.len())
}

/// Which way the lines of a key are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    On,
    Back,
}

/// Returns how much of what follows (or precedes) is lines of a key; `None` when nothing is.
fn body(bytes: &[u8], direction: Direction) -> Option<usize> {
    let byte = |at: usize| match direction {
        Direction::On => bytes.get(at),
        Direction::Back => bytes.get(bytes.len().checked_sub(at + 1)?),
    };
    let is_key = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let (mut at, mut end) = (0, 0);
    loop {
        let mut dashes = 0;
        while let Some(b) = byte(at).filter(|b| !is_key(b)) {
            dashes = if *b == b'-' { dashes + 1 } else { 0 };
            // Nothing but blanks, escapes and marks of quotation stands between lines.
            if matches!(b, b'(' | b')' | b'{' | b'}' | b';' | b'<') || dashes == DASHES.len() {
                return (end > 0).then_some(end);
            }
            at += 1;
        }
        let start = at;
        while byte(at).is_some_and(is_key) {
            at += 1;
        }
        let run = at - start;
        let is_number = (start..at).all(|i| byte(i).is_some_and(u8::is_ascii_digit));
        let is_escape = run == 1;
        if run >= MIN_LINE {
            end = at;
        } else if run == 0 || !(is_number || is_escape || end == 0 || byte(at).is_none()) {
            // The last line of a key may be short.
            let is_last = run > 0 && end > 0 && start - end <= 4;
            let end = if is_last { at } else { end };
            return (end > 0).then_some(end);
        } else if end == 0 && start > 400 {
            return None;
        }
    }
}
