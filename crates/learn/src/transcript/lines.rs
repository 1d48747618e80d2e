//! The lines of a transcript, in bounded memory.

use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};

use super::range::MAX_LINE;

/// A larger buffer is not kept for the next line, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// One line, without its newline.
pub(crate) struct Line<'l> {
    /// Where it begins in the file.
    pub offset: u64,
    /// Its bytes; `None` where they are too many to be read.
    bytes: Option<&'l [u8]>,
}

impl<'l> Line<'l> {
    /// Returns the line's text; a byte that is not UTF-8 becomes U+FFFD.
    pub(crate) fn text(&self) -> Option<Cow<'l, str>> {
        let bytes = self.bytes?;
        // The lossy reader alone is ten times slower.
        Some(std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Into::into))
    }
}

/// Reads lines one after the other.
pub(crate) struct Lines<R> {
    source: R,
    /// Where the next line begins in the file.
    offset: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Starts with `source`, which is at `offset` of its file.
    pub(crate) fn new(source: R, offset: u64) -> Self {
        Self {
            source,
            offset,
            buffer: Vec::new(),
        }
    }

    /// Reads the next line; `None` at the end. A line that is too long is not held.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        self.buffer.shrink_to(MAX_KEPT);
        let offset = self.offset;
        let mut most = self.source.by_ref().take(MAX_LINE + 1);
        let read = most.read_until(b'\n', &mut self.buffer)? as u64;
        self.offset += read;
        let is_whole = self.buffer.pop_if(|last| *last == b'\n').is_some();
        let is_too_long = !is_whole && read > MAX_LINE;
        if is_too_long {
            self.offset += self.source.skip_until(b'\n')? as u64;
        }
        Ok((read > 0).then_some(Line {
            offset,
            bytes: (!is_too_long).then_some(&self.buffer),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_place_and_an_endless_one_is_not_held() {
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap());
        let text = format!("a\n\n{long}\n{long}y\nb\nc");
        let mut lines = Lines::new(text.as_bytes(), 100);
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push((line.offset - 100, line.text().map(|text| text.len())));
        }
        let (most, length) = (MAX_LINE, long.len());
        assert_eq!(
            found,
            [
                (0, Some(1)),
                (2, Some(0)),
                (3, Some(length)),
                (4 + most, None),
                (6 + 2 * most, Some(1)),
                (8 + 2 * most, Some(1))
            ]
        );
    }
}
