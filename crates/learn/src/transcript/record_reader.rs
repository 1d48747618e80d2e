//! Brings the records of a byte range, parsed, to whoever judges them.
//!
//! In a large range a thread of its own does all that a record needs without those before it:
//! it reads the outline and the texts, ahead of the thread that judges them in order.

use std::collections::HashSet;
use std::io;
use std::panic;
use std::sync::mpsc;
use std::thread;

use super::blocks::{Blocks, LineBlock};
use super::hash::{Hashed, RecordHash};
use super::json::JsonCursor;
use super::outline;
use super::record::TranscriptRecord;
use super::source::TranscriptSource;
use super::stats::{Reason, ScanStats};
use super::text::{Span, Str};
use super::texts::Texts;
use crate::redact::Masker;

/// How many blocks may wait to be judged.
const AHEAD: usize = 2;
/// How many objects of one line are read; the client writes one, by mishap two.
const MAX_ON_A_LINE: usize = 1_000;
/// What some editors write at the start of a file.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// A block of lines and the records in it that may count.
#[derive(Default)]
struct Batch {
    lines: LineBlock,
    records: Vec<(u64, TranscriptRecord<Span>, Texts)>,
}

impl Batch {
    fn judge(&self, judge: &mut impl FnMut(u64, &TranscriptRecord<Str<'_>>, &Texts)) {
        for (offset, record, texts) in &self.records {
            judge(*offset, &record.on(self.lines.bytes()), texts);
        }
    }
}

/// Calls `judge` with the offset, the outline and the texts of each record of `source` that
/// may count, in which `masker` looks for secrets; returns the counts of everything else.
/// `offset` is where `source` begins.
pub(crate) fn each(
    source: impl TranscriptSource,
    offset: u64,
    masker: &Masker,
    mut judge: impl FnMut(u64, &TranscriptRecord<Str<'_>>, &Texts),
) -> io::Result<ScanStats> {
    let mut parser = Parser::new(source, offset, masker);
    let mut batch = Batch::default();
    while let Some(next) = parser.next(batch)? {
        next.judge(&mut judge);
        batch = next;
    }
    Ok(parser.stats)
}

/// As [`each`], with a thread that reads and parses ahead.
pub(crate) fn each_ahead(
    source: impl TranscriptSource + Send,
    offset: u64,
    masker: &Masker,
    mut judge: impl FnMut(u64, &TranscriptRecord<Str<'_>>, &Texts),
) -> io::Result<ScanStats> {
    let (give_back, used) = mpsc::channel();
    let (parsed, batches) = mpsc::sync_channel(AHEAD);
    thread::scope(|scope| {
        let parsing = scope.spawn(move || {
            let mut parser = Parser::new(source, offset, masker);
            while let Some(mut batch) = parser.next(used.try_recv().unwrap_or_default())? {
                for (_, record, texts) in &mut batch.records {
                    texts.look_for_orders(record.kind);
                }
                if parsed.send(batch).is_err() {
                    break;
                }
            }
            Ok(parser.stats)
        });
        for batch in batches {
            batch.judge(&mut judge);
            // Only fails when everything is read.
            _ = give_back.send(batch);
        }
        parsing.join().unwrap_or_else(|e| panic::resume_unwind(e))
    })
}

struct Parser<'m, R> {
    blocks: Blocks<R>,
    stats: ScanStats,
    masker: &'m Masker,
    /// The records that were read, to know one that stands there again.
    seen: HashSet<RecordHash, Hashed>,
}

impl<'m, R: TranscriptSource> Parser<'m, R> {
    fn new(source: R, offset: u64, masker: &'m Masker) -> Self {
        Self {
            blocks: Blocks::new(source, offset),
            stats: ScanStats::default(),
            masker,
            seen: HashSet::default(),
        }
    }

    fn next(&mut self, used: Batch) -> io::Result<Option<Batch>> {
        let Batch { lines, mut records } = used;
        let Some(lines) = self.blocks.fill(lines)? else {
            return Ok(None);
        };
        records.clear();
        for _ in 0..lines.too_long {
            self.pass_over(Reason::TooLong);
        }
        let bytes = lines.bytes();
        let mut start = 0;
        let newlines = memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]);
        for end in newlines.filter(|&end| end < bytes.len() || !bytes.ends_with(b"\n")) {
            self.line(bytes, start, end, lines.offset, &mut records);
            start = end + 1;
        }
        Ok(Some(Batch { lines, records }))
    }

    /// Parses one line of a block, which can hold more than one record.
    fn line(
        &mut self,
        block: &[u8],
        start: usize,
        end: usize,
        offset: u64,
        records: &mut Vec<(u64, TranscriptRecord<Span>, Texts)>,
    ) {
        let line = &block[start..end];
        let line = line.strip_prefix(BOM).unwrap_or(line);
        let offset = offset + (end - line.len()) as u64;
        let mut cursor = JsonCursor::new(line);
        if cursor.peek().is_none() {
            self.pass_over(Reason::Blank);
        }
        let most = records.len() + MAX_ON_A_LINE;
        while let Some(first) = cursor.peek() {
            if records.len() == most {
                return self.pass_over(Reason::TooLong);
            }
            let start = cursor.position();
            if first != b'{' {
                match cursor.value() {
                    Ok(_) => self.pass_over(Reason::NotAnObject),
                    Err(fault) => return self.pass_over(fault.into()),
                }
                continue;
            }
            match outline::read(&mut cursor) {
                Ok(Ok(record)) if record.hash.is_none_or(|hash| self.seen.insert(hash)) => {
                    let texts = Texts::of(&record, self.masker);
                    records.push((offset + start as u64, record.in_place(block), texts));
                }
                Ok(Ok(_)) => self.pass_over(Reason::Repeated),
                Ok(Err(reason)) => self.pass_over(reason),
                Err(fault) => return self.pass_over(fault.into()),
            }
        }
    }

    fn pass_over(&mut self, reason: Reason) {
        self.stats.skip(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(text: &str) -> (Vec<u64>, ScanStats) {
        let (mut plain, mut ahead) = (Vec::new(), Vec::new());
        let (text, masker) = (text.as_bytes(), Masker::default());
        let stats = each(text, 100, &masker, |at, _, _| plain.push(at)).unwrap();
        let again = each_ahead(text, 100, &masker, |at, _, _| ahead.push(at)).unwrap();
        assert_eq!((&plain, &stats), (&ahead, &again));
        (plain, stats)
    }

    #[test]
    fn every_record_has_its_place_and_every_other_line_its_reason() {
        let user = r#"{"type":"user","message":{}}"#;
        let text =
            format!("\u{feff}{user}\n\n {user}{user}\n[1]\nx\n{{\"type\":\"mode\"}}\n{user}");
        let (found, stats) = offsets(&text);
        assert_eq!(found, [103, 134, 162, 213]);
        let skipped: Vec<_> = stats.skipped.into_iter().collect();
        let want = [
            Reason::Blank,
            Reason::BadJson,
            Reason::NotAnObject,
            Reason::Bookkeeping,
        ];
        assert_eq!(skipped, want.map(|reason| (reason, 1)));
    }

    #[test]
    fn reading_ahead_finds_the_same_in_many_blocks() {
        let line = format!(
            "{{\"type\":\"assistant\",\"message\":{{}},\"x\":\"{}\"}}\n",
            "y".repeat(999)
        );
        let (found, _) = offsets(&line.repeat(3_000));
        assert_eq!(found.len(), 3_000);
        assert!(found.windows(2).all(|w| w[1] - w[0] == line.len() as u64));
    }

    #[test]
    fn a_failing_source_is_an_error_and_ends_the_thread() {
        struct Fails;
        impl io::Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        impl TranscriptSource for Fails {}

        let masker = Masker::default();
        assert!(each(Fails, 0, &masker, |_, _, _| {}).is_err());
        assert!(each_ahead(Fails, 0, &masker, |_, _, _| {}).is_err());
    }
}
