//! The file of a session: opened here, read by [`transcript`].

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Take};
use std::path::Path;

use jiff::Timestamp;

use crate::fsx::{self, FsContext as _, FsError};
use crate::transcript::{
    self, Beginnings, Digest, Range, ReadOptions, RecordHash, TranscriptSource,
};

const ACTION: &str = "read transcript";
/// How much of a transcript is looked through for what its session was given.
const MAX_READ: u64 = 256 << 20;

/// Reads a range of a transcript in one pass, as [`transcript::scan`] does.
pub fn scan(
    path: &Path,
    range: Range,
    options: &ReadOptions,
    is_copy: &mut dyn FnMut(RecordHash, Option<Timestamp>) -> bool,
) -> Result<Digest, FsError> {
    let part = FilePart::open(path, range);
    part.and_then(|part| transcript::scan(part, range, options, is_copy))
        .context(ACTION, path)
}

/// Reads a whole transcript and tells each event in it, as [`transcript::each_event`] does.
pub fn each_event(
    path: &Path,
    options: &ReadOptions,
    told: &mut dyn FnMut(&transcript::Event<'_>),
) -> Result<(), FsError> {
    let end = complete_end(path, 0)?;
    let part = FilePart::open(path, Range { start: 0, end });
    part.and_then(|part| transcript::each_event(part, 0, options, told))
        .context(ACTION, path)?;
    Ok(())
}

/// Returns the end of the last complete record of a transcript, at least `from`; only the
/// tail is read.
pub fn complete_end(path: &Path, from: u64) -> Result<u64, FsError> {
    let find = || {
        let mut file = fsx::open_regular(path)?;
        let size = file.metadata()?.len();
        transcript::last_record_end(&mut file, from, size)
    };
    find().context(ACTION, path)
}

/// Reads what the client notes of a session's beginnings in the first `end` bytes.
pub(crate) fn beginnings(path: &Path, end: u64) -> Result<Beginnings, FsError> {
    beginnings_in(path, Range { start: 0, end })
}

/// As [`beginnings`], in a part that begins with a record.
pub(crate) fn beginnings_in(path: &Path, range: Range) -> Result<Beginnings, FsError> {
    let range = Range {
        end: range.end.min(range.start.saturating_add(MAX_READ)),
        ..range
    };
    let part = FilePart::open(path, range);
    part.and_then(Beginnings::read).context(ACTION, path)
}

struct FilePart {
    file: Take<File>,
    end: u64,
}

impl FilePart {
    fn open(path: &Path, range: Range) -> io::Result<Self> {
        let mut file = fsx::open_regular(path)?;
        file.seek(SeekFrom::Start(range.start))?;
        Ok(Self {
            file: file.take(range.bytes()),
            end: range.end,
        })
    }
}

impl Read for FilePart {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.file.read(to)
    }
}

impl TranscriptSource for FilePart {
    fn skip_hole(&mut self) -> io::Result<u64> {
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
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"before").unwrap();
        file.seek(SeekFrom::Start(HOLE)).unwrap();
        file.write_all(b"after").unwrap();
        let range = Range {
            start: HOLE / 2,
            end: HOLE + 3,
        };
        let mut part = FilePart::open(file.path(), range).unwrap();
        let skipped = part.skip_hole().unwrap();
        let mut rest = Vec::new();
        part.read_to_end(&mut rest).unwrap();
        assert_eq!(skipped + rest.len() as u64, range.bytes());
        assert!(rest.ends_with(b"aft"));
        assert_eq!(part.skip_hole().unwrap(), 0, "at the end");
    }
}
