//! Which bytes of a transcript a job is about.

use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The longest line that is read; a longer one is one bad record (DESIGN.md, Claim).
pub const MAX_LINE: u64 = 32 << 20;
/// How much is read at a time when the last newline is looked for.
const BLOCK: u64 = 64 << 10;

/// Part of a file: the bytes from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

impl Range {
    /// Returns how many bytes the range has.
    pub fn bytes(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// Returns the end of the last complete record of a transcript of `size` bytes, at least
/// `from`.
///
/// That is the end of the last complete line, or of whole objects after it that only
/// lack their newline (an object is complete with its last brace). A cut tail belongs
/// to the next range; one of more than 32 MiB counts as one bad record, so it ends at
/// the end of the file. Only the tail is read.
pub fn last_record_end(file: &mut (impl Read + Seek), from: u64, size: u64) -> io::Result<u64> {
    let lowest = from.max(size.saturating_sub(MAX_LINE + 1));
    let line_end = last_newline(file, lowest, size)?.map_or(from, |at| at + 1);
    let tail = size.saturating_sub(line_end);
    if tail > MAX_LINE {
        return Ok(size);
    }
    let mut bytes = Vec::new();
    if tail > 0 {
        file.seek(SeekFrom::Start(line_end))?;
        file.take(tail).read_to_end(&mut bytes)?;
    }
    Ok(line_end + whole_objects(&bytes) as u64)
}

/// Returns where the last newline between `lowest` and `end` stands.
fn last_newline(
    file: &mut (impl Read + Seek),
    lowest: u64,
    mut end: u64,
) -> io::Result<Option<u64>> {
    let mut block = Vec::new();
    while end > lowest {
        let start = lowest.max(end.saturating_sub(BLOCK));
        file.seek(SeekFrom::Start(start))?;
        block.clear();
        file.take(end - start).read_to_end(&mut block)?;
        if let Some(i) = memchr::memrchr(b'\n', &block) {
            return Ok(Some(start + i as u64));
        }
        end = start;
    }
    Ok(None)
}

/// Returns the length of the whole objects that `bytes` begins with.
fn whole_objects(bytes: &[u8]) -> usize {
    let padding = bytes.iter().take_while(|byte| **byte == 0).count();
    let values = serde_json::Deserializer::from_slice(&bytes[padding..]);
    let mut values = values.into_iter::<Map<String, Value>>();
    let mut end = 0;
    while let Some(Ok(_)) = values.next() {
        end = padding + values.byte_offset();
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::io::Cursor as File;

    #[rstest]
    #[case::whole("a\nb\n", 0, 4)]
    #[case::cut_tail("a\nbc", 0, 2)]
    #[case::whole_object("a\n{\"b\":1}", 0, 9)]
    #[case::cut_object("{}{\"b\":1", 0, 2)]
    #[case::object_behind_nuls("a\n\0\0{}", 0, 6)]
    #[case::a_number_may_go_on("a\n42", 0, 2)]
    #[case::nothing_new("a\nb\n", 4, 4)]
    #[case::shrunk_file("a\n", 9, 9)]
    fn a_range_ends_after_the_last_whole_line(
        #[case] text: &str,
        #[case] from: u64,
        #[case] end: u64,
    ) {
        let mut file = File::new(text.as_bytes());
        assert_eq!(
            last_record_end(&mut file, from, text.len() as u64).unwrap(),
            end
        );
    }

    #[test]
    fn a_newline_far_from_the_end_is_found() {
        let mut text = vec![b'x'; 1_000_000];
        text[10] = b'\n';
        let size = text.len() as u64;
        assert_eq!(last_record_end(&mut File::new(text), 0, size).unwrap(), 11);
    }

    #[test]
    fn an_endless_tail_is_one_bad_record() {
        let size = MAX_LINE + 7;
        let text = vec![b'x'; usize::try_from(size).unwrap()];
        assert_eq!(
            last_record_end(&mut File::new(&text), 0, size).unwrap(),
            size
        );
        assert_eq!(last_record_end(&mut File::new(&text), 7, size).unwrap(), 7);
    }
}
