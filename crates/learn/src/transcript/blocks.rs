//! A byte range in blocks of whole lines, in bounded memory.

use std::io;

use super::range::MAX_LINE;
use super::source::TranscriptSource;

/// How much is read at a time: small enough to stay in the processor's cache.
const CHUNK: usize = 512 << 10;

const KEPT: usize = 4;

/// Whole lines that follow each other in the file.
#[derive(Debug, Default)]
pub(crate) struct LineBlock {
    /// Where the first begins in the file.
    pub offset: u64,
    buffer: Vec<u8>,
    length: usize,
    /// How many lines before these were too long to be read.
    pub too_long: u64,
}

impl LineBlock {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

pub(crate) struct Blocks<R> {
    source: R,
    /// Where the next block begins in the file.
    offset: u64,
    /// What was read beyond the last whole line.
    tail: Vec<u8>,
    ended: bool,
    /// Whether the tail is the rest of a line that is too long.
    skipping: bool,
    limit: usize,
    chunk: usize,
}

impl<R: TranscriptSource> Blocks<R> {
    /// Starts with `source`, which stands at `offset` of its file; holes are jumped over in a
    /// line that is too long anyway.
    pub(crate) fn new(source: R, offset: u64) -> Self {
        Self {
            source,
            offset,
            tail: Vec::new(),
            ended: false,
            skipping: false,
            limit: usize::try_from(MAX_LINE).unwrap_or(usize::MAX),
            chunk: CHUNK,
        }
    }

    /// Fills a used block with the next lines; `None` at the end.
    pub(crate) fn fill(&mut self, used: LineBlock) -> io::Result<Option<LineBlock>> {
        let mut buffer = used.buffer;
        if buffer.len() > KEPT * self.chunk {
            buffer = Vec::new();
        }
        let mut too_long = 0;
        let mut length = self.tail.len();
        buffer.resize(buffer.len().max(length), 0);
        buffer[..length].copy_from_slice(&self.tail);
        self.tail.clear();
        while !self.ended {
            if self.skipping {
                self.offset += self.source.skip_hole()?;
            }
            if buffer.len() < length + self.chunk {
                buffer.resize(length + self.chunk, 0);
            }
            let read = self.read(&mut buffer[length..])?;
            self.ended = read == 0;
            let (old, all) = (length, length + read);
            length = all;
            if self.skipping {
                length = self.skip(&mut buffer, all);
            }
            if let Some(i) = memchr::memrchr(b'\n', &buffer[old.min(length)..length]) {
                let end = old.min(length) + i + 1;
                self.tail.extend_from_slice(&buffer[end..length]);
                length = end;
                break;
            }
            if length > self.limit {
                too_long += 1;
                self.skipping = true;
                self.offset += length as u64;
                length = 0;
            }
        }
        if length == 0 && too_long == 0 {
            return Ok(None);
        }
        let offset = self.offset;
        self.offset += length as u64;
        Ok(Some(LineBlock {
            offset,
            buffer,
            length,
            too_long,
        }))
    }

    /// Drops the rest of a line that is too long from the buffer's start; returns what
    /// is left in it.
    fn skip(&mut self, buffer: &mut [u8], length: usize) -> usize {
        let rest = memchr::memchr(b'\n', &buffer[..length]).map_or(length, |i| i + 1);
        self.skipping = rest == length && buffer[..length].last() != Some(&b'\n');
        self.offset += rest as u64;
        buffer.copy_within(rest..length, 0);
        length - rest
    }

    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.source.read(buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                other => return other,
            }
        }
    }
}

#[cfg(test)]
mod tests {
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

    impl TranscriptSource for Drip<'_> {}

    /// Returns the lines found with their places, and how many were too long.
    fn found(text: &[u8], limit: usize, chunk: usize) -> (Vec<(u64, Vec<u8>)>, u64) {
        let mut blocks = Blocks::new(Drip(text), 100);
        (blocks.limit, blocks.chunk) = (limit, chunk);
        let (mut lines, mut too_long) = (Vec::new(), 0);
        let mut used = LineBlock::default();
        while let Some(block) = blocks.fill(used).unwrap() {
            too_long += block.too_long;
            let mut offset = block.offset;
            for line in block.bytes().split_inclusive(|&b| b == b'\n') {
                lines.push((offset, line.to_vec()));
                offset += line.len() as u64;
            }
            used = block;
        }
        (lines, too_long)
    }

    proptest! {
        #[test]
        fn lines_are_what_split_gives(text in "[ab\n]{0,80}", chunk in 1_usize..12, limit in 1_usize..9) {
            let (lines, too_long) = found(text.as_bytes(), limit, chunk);
            let mut want = Vec::new();
            let mut offset = 100;
            for line in text.as_bytes().split_inclusive(|&b| b == b'\n') {
                want.push((offset, line.to_vec()));
                offset += line.len() as u64;
            }
            let all = lines.len() as u64 + too_long;
            prop_assert_eq!(all, want.len() as u64);
            // A line over the limit may be read all the same when it fits into a chunk.
            for line in want.iter().filter(|(_, line)| line.len() <= limit) {
                prop_assert!(lines.contains(line), "{:?}", line);
            }
            prop_assert!(lines.iter().all(|line| want.contains(line)));
        }
    }
}
