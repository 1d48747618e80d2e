//! A part of a file that can be read without its holes.
//!
//! A sparse file may claim to have any size. Its holes read as zeros, which are no record;
//! inside a line that is too long anyway they are jumped over instead of read.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};

use super::range::Range;

/// How a source moves to its next byte that is not in a hole; returns how many it jumped over.
pub(crate) type SkipHole<R> = fn(&mut R) -> io::Result<u64>;

/// Leaves a source where it is: it has no holes.
#[expect(clippy::unnecessary_wraps, reason = "it stands where one may fail")]
pub(crate) fn no_holes<R>(_: &mut R) -> io::Result<u64> {
    Ok(0)
}

/// A range of a file.
pub(crate) struct Part {
    file: Take<File>,
    end: u64,
}

impl Part {
    /// The part of `file` that `range` names.
    pub(crate) fn of(mut file: File, range: Range) -> io::Result<Self> {
        file.seek(SeekFrom::Start(range.start))?;
        Ok(Self {
            file: file.take(range.len()),
            end: range.end,
        })
    }
}

impl Read for Part {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.file.read(to)
    }
}

impl Part {
    /// Moves to the next byte that is not in a hole; returns how many were jumped over.
    pub(crate) fn skip_hole(&mut self) -> io::Result<u64> {
        let at = self.end - self.file.limit();
        let data = match rustix::fs::seek(self.file.get_ref(), rustix::fs::SeekFrom::Data(at)) {
            Ok(data) => data.min(self.end),
            // There is no data up to the end of the file.
            Err(rustix::io::Errno::NXIO) => self.end,
            // The file system cannot tell: then it is read.
            Err(_) => at,
        };
        self.file.get_mut().seek(SeekFrom::Start(data))?;
        self.file.set_limit(self.end - data);
        Ok(data - at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_hole_is_jumped_over_and_what_follows_is_read() {
        const HOLE: u64 = 4 << 20;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"before").unwrap();
        file.seek(SeekFrom::Start(HOLE)).unwrap();
        file.write_all(b"after").unwrap();
        let range = Range {
            start: HOLE / 2,
            end: HOLE + 3,
        };
        let mut part = Part::of(file, range).unwrap();
        let skipped = part.skip_hole().unwrap();
        let mut rest = Vec::new();
        part.read_to_end(&mut rest).unwrap();
        assert_eq!(skipped + rest.len() as u64, range.len());
        assert!(rest.ends_with(b"aft"));
        assert_eq!(part.skip_hole().unwrap(), 0, "at the end");
    }
}
