//! The lines of a transcript and the records in them, in bounded memory.

use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};

use super::range::MAX_LINE;
use super::record::Keys;
use super::stats::Reason;

/// A larger buffer is not kept for the next line, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// Calls `found` with the place and the text of each line of `source`, which begins at
/// `offset`. A line that is too long has no text; a byte that is not UTF-8 becomes U+FFFD.
pub(crate) fn each_line(
    mut source: impl BufRead,
    mut offset: u64,
    mut found: impl FnMut(u64, Option<&str>),
) -> io::Result<()> {
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        buffer.shrink_to(MAX_KEPT);
        let start = offset;
        let mut most = source.by_ref().take(MAX_LINE + 1);
        offset += most.read_until(b'\n', &mut buffer)? as u64;
        if buffer.is_empty() {
            return Ok(());
        }
        let is_whole = buffer.pop_if(|last| *last == b'\n').is_some();
        if !is_whole && offset - start > MAX_LINE {
            offset += source.skip_until(b'\n')? as u64;
            found(start, None);
        } else {
            // The lossy reader alone is ten times slower.
            let text = std::str::from_utf8(&buffer).map(Cow::from);
            found(
                start,
                Some(&text.unwrap_or_else(|_| String::from_utf8_lossy(&buffer))),
            );
        }
    }
}

/// Reads the records of a line, each with its place in it, or why it is none. What is behind
/// a fault is lost, as are a BOM and the NUL bytes that a crash can leave before a record.
pub(crate) fn records(line: &str) -> impl Iterator<Item = (usize, Result<Keys<'_>, Reason>)> {
    let text = line.trim_start_matches(['\0', '\u{feff}']);
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    std::iter::from_fn(move || {
        let rest = text[values.byte_offset()..].trim_ascii_start();
        let record = match (values.next()?, rest.starts_with('{')) {
            (Ok(keys), true) => Ok(keys),
            (Err(error), is_object) if is_object || !error.is_data() => Err(Reason::BadJson),
            _ => Err(Reason::NotAnObject),
        };
        Some((line.len() - rest.len(), record))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_place_and_an_endless_one_is_not_held() {
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap());
        let text = format!("a\n\n{long}\n{long}y\nb\nc");
        let mut found = Vec::new();
        let see = |at, line: Option<&str>| found.push((at - 100, line.map(str::len)));
        each_line(text.as_bytes(), 100, see).unwrap();
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

    #[test]
    fn every_record_of_a_line_has_its_place_and_every_other_its_reason() {
        let found = |line| records(line).map(|(at, record)| (at, record.err()));
        let found = |line| found(line).collect::<Vec<_>>();
        assert_eq!(
            found("\u{feff} {}{} {"),
            [(4, None), (6, None), (9, Some(Reason::BadJson))]
        );
        assert_eq!(
            found("\0\0{}7 {}"),
            [(2, None), (4, Some(Reason::NotAnObject))]
        );
        assert_eq!(found("[1]"), [(0, Some(Reason::NotAnObject))]);
        assert_eq!(found("x"), [(0, Some(Reason::BadJson))]);
    }

    #[test]
    fn a_failing_source_is_an_error() {
        struct Fails;
        impl io::Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        assert!(each_line(io::BufReader::new(Fails), 0, |_, _| {}).is_err());
    }
}
