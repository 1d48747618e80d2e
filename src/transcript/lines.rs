//! The lines of a byte range, streamed through a bounded buffer.

use std::io;

use super::holes::Source;
use super::range::MAX_LINE;

/// What is read at a time: small enough to stay in the processor's cache.
const CHUNK: usize = 256 << 10;

/// One line of the file, without its newline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// Its bytes; `None` when it is longer than [`MAX_LINE`].
    pub(crate) bytes: Option<&'a [u8]>,
}

/// Reads lines from `source`, holding at most one line and one chunk.
pub(crate) struct Lines<R> {
    source: R,
    buffer: Vec<u8>,
    /// The part of the buffer not yet handed out.
    start: usize,
    end: usize,
    /// Where `buffer[start]` stands in the file.
    offset: u64,
    done: bool,
    limit: usize,
}

impl<R: Source> Lines<R> {
    /// Starts at `offset`, which is where `source` stands in the file.
    pub(crate) fn new(source: R, offset: u64) -> Self {
        let limit = usize::try_from(MAX_LINE).unwrap_or(usize::MAX);
        Self::with_limit(source, offset, limit, CHUNK)
    }

    fn with_limit(source: R, offset: u64, limit: usize, chunk: usize) -> Self {
        Self {
            source,
            buffer: vec![0; chunk],
            start: 0,
            end: 0,
            offset,
            done: false,
            limit,
        }
    }

    /// Returns the next line, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let window = &self.buffer[self.start + searched..self.end];
            if let Some(i) = memchr::memchr(b'\n', window) {
                let length = searched + i;
                return Ok(Some(self.hand_out(length, 1)));
            }
            searched = self.end - self.start;
            if searched > self.limit {
                return self.skip_long().map(Some);
            }
            if self.done {
                return Ok((searched > 0).then(|| self.hand_out(searched, 0)));
            }
            self.fill()?;
        }
    }

    fn hand_out(&mut self, length: usize, newline: usize) -> Line<'_> {
        let (start, offset) = (self.start, self.offset);
        self.advance(length + newline);
        let bytes = (length <= self.limit).then(|| &self.buffer[start..start + length]);
        Line { offset, bytes }
    }

    fn advance(&mut self, by: usize) {
        self.start += by;
        self.offset += by as u64;
    }

    /// Throws away the rest of a line that is too long.
    fn skip_long(&mut self) -> io::Result<Line<'_>> {
        let offset = self.offset;
        loop {
            let window = &self.buffer[self.start..self.end];
            if let Some(i) = memchr::memchr(b'\n', window) {
                self.advance(i + 1);
                break;
            }
            self.advance(self.end - self.start);
            if self.done {
                break;
            }
            self.offset += self.source.skip_hole()?;
            self.fill()?;
        }
        Ok(Line {
            offset,
            bytes: None,
        })
    }

    /// Makes room and reads more; the buffer grows only while one line fills it.
    fn fill(&mut self) -> io::Result<()> {
        let kept = self.end - self.start;
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, kept);
        if kept == 0 && self.buffer.len() > CHUNK {
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
        } else if kept == self.buffer.len() {
            let more = kept.min(self.limit + 1 - kept.min(self.limit)).max(1);
            self.buffer.reserve_exact(more);
            self.buffer.resize(kept + more, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.done = true,
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(e),
            }
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::holes::Solid;
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;

    /// Hands out at most three bytes at a time.
    struct Drip<'a>(&'a [u8]);

    impl Read for Drip<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let part = &self.0[..self.0.len().min(3)];
            (&part[..]).read(to).inspect(|&n| self.0 = &self.0[n..])
        }
    }

    fn all(text: &[u8], limit: usize, chunk: usize) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut lines = Lines::with_limit(Solid(Drip(text)), 100, limit, chunk);
        let mut out = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            out.push((line.offset, line.bytes.map(<[u8]>::to_vec)));
        }
        out
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_the_next_is_read() {
        let got = all(b"ab\nabcdefghijk\n\ncd", 4, 2);
        let want = vec![
            (100, Some(b"ab".to_vec())),
            (103, None),
            (115, Some(Vec::new())),
            (116, Some(b"cd".to_vec())),
        ];
        assert_eq!(got, want);
    }

    proptest! {
        #[test]
        fn lines_are_what_split_gives(text in "[ab\n]{0,60}", chunk in 1_usize..9, limit in 1_usize..9) {
            let mut want = Vec::new();
            let mut offset = 100;
            for part in text.split_inclusive('\n') {
                let line = part.trim_end_matches('\n').as_bytes();
                want.push((offset, (line.len() <= limit).then(|| line.to_vec())));
                offset += part.len() as u64;
            }
            prop_assert_eq!(all(text.as_bytes(), limit, chunk), want);
        }
    }
}
