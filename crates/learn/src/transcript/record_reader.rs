//! Brings the records of a byte range to whoever judges them.

use std::collections::HashSet;
use std::io::{self, BufRead};

use super::hash::RecordHash;
use super::json::Object;
use super::lines::Lines;
use super::record::{Keys, Record};
use super::stats::{Reason, ScanStats};

/// Calls `judge` with the place and the content of each record of `source` that may count;
/// returns the counts of everything else. `offset` is where `source` begins.
///
/// A line can hold several records. What is behind a fault in it is lost. `replaced` are prompts
/// that later ones replaced: what follows from them is marked.
pub(crate) fn each(
    source: impl BufRead,
    offset: u64,
    mut replaced: HashSet<RecordHash>,
    mut judge: impl FnMut(u64, &Record<'_>),
) -> io::Result<ScanStats> {
    let mut lines = Lines::new(source, offset);
    let mut stats = ScanStats::default();
    // The records that were read, to know one that is there again.
    let mut seen: HashSet<RecordHash> = HashSet::new();
    while let Some(line) = lines.next()? {
        let Some(whole) = line.text() else {
            stats.skip(Reason::TooLong);
            continue;
        };
        let text = without_padding(&whole);
        if text.trim_ascii().is_empty() {
            stats.skip(Reason::Blank);
        }
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Object<Keys<'_>>>();
        let mut end = 0;
        while let Some(value) = values.next() {
            let start = text.len() - text[end..].trim_ascii_start().len();
            end = values.byte_offset();
            let mut is_replaced = false;
            let record = match value {
                Ok(Object(Some(keys))) => {
                    if !replaced.is_empty() {
                        let [hash, parent] = keys.chain();
                        let has =
                            |of: Option<RecordHash>| of.is_some_and(|of| replaced.contains(&of));
                        is_replaced = has(hash) || has(parent);
                        replaced.extend(hash.filter(|_| is_replaced));
                    }
                    keys.decide()
                }
                Ok(Object(None)) => Err(Reason::NotAnObject),
                Err(_) => Err(Reason::BadJson),
            };
            match record {
                Ok(mut record) if record.hash.is_none_or(|hash| seen.insert(hash)) => {
                    record.is_replaced = is_replaced;
                    let padding = whole.len() - text.len();
                    judge(line.offset + (padding + start) as u64, &record);
                }
                Ok(_) => stats.skip(Reason::Repeated),
                Err(reason) => stats.skip(reason),
            }
        }
    }
    Ok(stats)
}

/// Returns a line without what some editors write at the start of a file, and without the
/// NUL bytes that a crash can leave before a record.
pub(crate) fn without_padding(line: &str) -> &str {
    line.trim_start_matches(['\0', '\u{feff}'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_record_has_its_place_and_every_other_line_its_reason() {
        let user = r#"{"type":"user","message":{}}"#;
        let text = format!(
            "\u{feff}{user}\n\n {user}{user}\n[1]\nx\n{{\"type\":\"mode\"}}\n\0\0{user}{{\n{user}"
        );
        let mut found = Vec::new();
        let stats = each(text.as_bytes(), 100, HashSet::new(), |at, _| found.push(at)).unwrap();
        assert_eq!(found, [103, 134, 162, 215, 245]);
        let skipped: Vec<_> = stats.skipped.into_iter().collect();
        let want = [
            (Reason::Blank, 1),
            (Reason::BadJson, 2),
            (Reason::NotAnObject, 1),
            (Reason::Bookkeeping, 1),
        ];
        assert_eq!(skipped, want);
    }

    #[test]
    fn a_failing_source_is_an_error() {
        struct Fails;
        impl io::Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        assert!(each(io::BufReader::new(Fails), 0, HashSet::new(), |_, _| {}).is_err());
    }
}
