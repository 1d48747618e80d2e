//! The lines of a byte range, streamed in bounded memory.
//!
//! Bytes come in blocks; a line is handed out as a slice of its block, and only one that
//! goes over a block's end is put together in a buffer. In a large range the blocks
//! are read ahead by a thread of their own.

use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use super::range::MAX_LINE;

/// How much is read at a time: small enough to stay in the processor's cache.
const BLOCK: usize = 256 << 10;
/// How many blocks are read ahead.
const AHEAD: usize = 4;

/// One line of the file, without its newline.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// Where it begins in the file.
    pub(crate) offset: u64,
    /// Its bytes; `None` when it is longer than [`MAX_LINE`].
    pub(crate) bytes: Option<&'a [u8]>,
}

/// Calls `take` with each line of `source`, which stands at `offset` of its file.
pub(crate) fn each(
    source: impl Read,
    offset: u64,
    mut take: impl FnMut(&Line<'_>),
) -> io::Result<()> {
    let mut reader = Reader(source);
    let mut lines = Lines::new(offset);
    let mut block = Vec::new();
    loop {
        block = reader.fill(block)?;
        if block.is_empty() {
            lines.end(&mut take);
            return Ok(());
        }
        lines.block(&block, &mut take);
    }
}

/// As [`each`], with a thread that reads ahead.
pub(crate) fn each_ahead(
    source: impl Read + Send,
    offset: u64,
    mut take: impl FnMut(&Line<'_>),
) -> io::Result<()> {
    let (give, used) = mpsc::channel();
    let (filled, blocks) = mpsc::sync_channel(AHEAD);
    for _ in 0..AHEAD {
        // Cannot fail: both ends are here.
        _ = give.send(Vec::new());
    }
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut reader = Reader(source);
            for block in used {
                let block = reader.fill(block);
                let more = block.as_ref().is_ok_and(|b| !b.is_empty());
                if filled.send(block).is_err() || !more {
                    return;
                }
            }
        });
        drain(&blocks, &give, offset, &mut take)
    })
}

fn drain(
    blocks: &Receiver<io::Result<Vec<u8>>>,
    give: &Sender<Vec<u8>>,
    offset: u64,
    take: &mut impl FnMut(&Line<'_>),
) -> io::Result<()> {
    let mut lines = Lines::new(offset);
    for block in blocks {
        let block = block?;
        lines.block(&block, take);
        // The reader may have come to the end.
        _ = give.send(block);
    }
    lines.end(take);
    Ok(())
}

/// Reads blocks.
struct Reader<R>(R);

impl<R: Read> Reader<R> {
    /// Fills a used block; an empty one is the end.
    fn fill(&mut self, mut block: Vec<u8>) -> io::Result<Vec<u8>> {
        block.resize(BLOCK, 0);
        loop {
            match self.0.read(&mut block) {
                Ok(n) => {
                    block.truncate(n);
                    return Ok(block);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }
}

/// Finds lines in blocks that follow each other.
struct Lines {
    /// Where the next line begins in the file.
    offset: u64,
    /// The beginning of a line that went over the end of its block.
    begun: Vec<u8>,
    /// How long that beginning is; more than `begun` holds when the line is too long.
    begun_length: usize,
    limit: usize,
}

impl Lines {
    fn new(offset: u64) -> Self {
        Self {
            offset,
            begun: Vec::new(),
            begun_length: 0,
            limit: usize::try_from(MAX_LINE).unwrap_or(usize::MAX),
        }
    }

    fn block(&mut self, block: &[u8], take: &mut impl FnMut(&Line<'_>)) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', block) {
            let part = &block[start..end];
            if self.begun_length == 0 {
                self.hand_out(
                    Some(part).filter(|p| p.len() <= self.limit),
                    part.len(),
                    take,
                );
            } else {
                self.begin(part);
                self.end_line(take);
            }
            self.offset += 1;
            start = end + 1;
        }
        self.begin(&block[start..]);
    }

    /// Takes part of a line whose end is not yet known.
    fn begin(&mut self, part: &[u8]) {
        self.begun_length += part.len();
        if self.begun_length <= self.limit {
            self.begun.extend_from_slice(part);
        }
    }

    fn end_line(&mut self, take: &mut impl FnMut(&Line<'_>)) {
        let begun = std::mem::take(&mut self.begun);
        let length = std::mem::take(&mut self.begun_length);
        self.hand_out(
            Some(&begun[..]).filter(|_| length <= self.limit),
            length,
            take,
        );
        if begun.capacity() <= BLOCK {
            self.begun = begun;
            self.begun.clear();
        }
    }

    fn hand_out(&mut self, bytes: Option<&[u8]>, length: usize, take: &mut impl FnMut(&Line<'_>)) {
        let offset = self.offset;
        self.offset += length as u64;
        take(&Line { offset, bytes });
    }

    /// Hands out what stands after the last newline.
    fn end(&mut self, take: &mut impl FnMut(&Line<'_>)) {
        if self.begun_length > 0 {
            self.end_line(take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Found = Vec<(u64, Option<Vec<u8>>)>;

    /// Finds lines in blocks of `size` bytes.
    fn found(text: &[u8], limit: usize, size: usize) -> Found {
        let mut lines = Lines::new(100);
        lines.limit = limit;
        let mut out = Found::new();
        let mut take = |line: &Line<'_>| out.push((line.offset, line.bytes.map(<[u8]>::to_vec)));
        for block in text.chunks(size) {
            lines.block(block, &mut take);
        }
        lines.end(&mut take);
        out
    }

    #[test]
    fn a_line_that_is_too_long_is_named_and_the_next_is_read() {
        let want = vec![
            (100, Some(b"ab".to_vec())),
            (103, None),
            (115, Some(Vec::new())),
            (116, Some(b"cd".to_vec())),
        ];
        for size in 1..20 {
            assert_eq!(found(b"ab\nabcdefghijk\n\ncd", 4, size), want, "{size}");
        }
    }

    #[test]
    fn reading_ahead_gives_the_same_lines() {
        let text = "a line of some length\n\n".repeat(40_000) + "tail";
        let (mut plain, mut ahead) = (Found::new(), Found::new());
        each(text.as_bytes(), 7, |l| {
            plain.push((l.offset, l.bytes.map(<[u8]>::to_vec)));
        })
        .unwrap();
        each_ahead(text.as_bytes(), 7, |l| {
            ahead.push((l.offset, l.bytes.map(<[u8]>::to_vec)));
        })
        .unwrap();
        assert_eq!(plain.len(), 80_001);
        assert!(plain == ahead);
    }

    #[test]
    fn a_failing_source_is_an_error_and_ends_the_thread() {
        struct Fails;
        impl Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        assert!(each(Fails, 0, |_| {}).is_err());
        assert!(each_ahead(Fails, 0, |_| {}).is_err());
    }

    proptest! {
        #[test]
        fn lines_are_what_split_gives(text in "[ab\n]{0,60}", size in 1_usize..9, limit in 1_usize..9) {
            let mut want = Found::new();
            let mut offset = 100;
            for part in text.split_inclusive('\n') {
                let line = part.trim_end_matches('\n').as_bytes();
                want.push((offset, (line.len() <= limit).then(|| line.to_vec())));
                offset += part.len() as u64;
            }
            prop_assert_eq!(found(text.as_bytes(), limit, size), want);
        }
    }
}
