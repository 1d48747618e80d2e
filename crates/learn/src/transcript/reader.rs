//! The lines of a transcript and the records in them, in bounded memory; the bytes of it that a
//! job is about; and the client's notes of where its session comes from.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read, Seek, SeekFrom};

use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json;
use super::record::{Attachment, Keys};

/// The longest line that is read; a longer one is one bad record (DESIGN.md, Claim).
pub const MAX_LINE: u64 = 32 << 20;
/// The room that is kept for the beginning of the next line.
const MAX_KEPT: usize = 1 << 20;
/// The part that is read at a time when the last newline is looked for.
const BLOCK: u64 = 64 << 10;
/// A longer line is no note of what a hook said: the client keeps 10,000 characters of that.
const MAX_NOTE: usize = 1 << 20;
/// The kinds of notes of what a hook said, and the events at which it may have said it.
const NOTES: [&str; 2] = ["hook_additional_context", "hook_system_message"];
const STARTS: [&str; 2] = ["SessionStart", "SubagentStart"];
/// The number of texts and of sessions that are kept of the notes.
const MAX_FOUND: usize = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanStats {
    /// Records that were taken as part of the conversation.
    pub read: u64,
    /// Records and lines that were passed over, bad ones included.
    pub skipped: u64,
    pub events: BTreeMap<&'static str, u64>,
    pub masked: BTreeMap<String, u64>,
}

/// The `source` begins at `offset`. A line that is too long has no bytes.
pub(crate) fn each_line(
    mut source: impl BufRead,
    mut offset: u64,
    mut found: impl FnMut(u64, Option<&[u8]>),
) -> io::Result<()> {
    // The beginning of a line whose end the source has still to read.
    let (mut begun, mut length) = (Vec::new(), 0);
    loop {
        let bytes = match source.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let newline = memchr::memchr(b'\n', bytes);
        let is_end = newline.is_some() || bytes.is_empty();
        let part = &bytes[..newline.unwrap_or(bytes.len())];
        if bytes.is_empty() && length == 0 {
            return Ok(());
        }
        length += part.len() as u64;
        let fits = length <= MAX_LINE;
        if fits && !(is_end && begun.is_empty()) {
            begun.extend_from_slice(part);
        }
        if is_end {
            let line: &[u8] = if begun.is_empty() { part } else { &begun };
            found(offset, fits.then_some(line));
            offset += length + 1;
            begun.clear();
            begun.shrink_to(MAX_KEPT);
            length = 0;
        }
        let used = part.len() + usize::from(newline.is_some());
        source.consume(used);
    }
}

/// A bad record has no keys, and what follows it is lost. A BOM and the NUL bytes that a crash can
/// leave before a record are skipped.
pub(crate) fn records(line: &str) -> impl Iterator<Item = (usize, Option<Keys<'_>>)> {
    let text = line.trim_start_matches(['\0', '\u{feff}']);
    let mut values = serde_json::Deserializer::from_str(text).into_iter();
    std::iter::from_fn(move || {
        let rest = text[values.byte_offset()..].trim_ascii_start();
        let keys = values.next()?.ok().filter(|_| rest.starts_with('{'));
        Some((line.len() - rest.len(), keys))
    })
}

/// Returns the text of a line, with U+FFFD in place of the bytes that are not UTF-8.
pub(crate) fn text(line: &[u8]) -> Cow<'_, str> {
    simdutf8::basic::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed)
}

/// Part of a file: the bytes from `start` up to, not including, `end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Range {
    pub start: u64,
    pub end: u64,
}

impl Range {
    pub fn bytes(self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// Returns the end of the last complete line, or of whole objects after it that only lack their
/// newline. A cut tail belongs to the next range. One of more than 32 MiB counts as one bad record,
/// so it ends at the end of the file. Only the tail is read.
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

/// The notes in a transcript of what its session was given, and of where it came from.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Beginnings {
    /// The texts that hooks gave at the session's starts, each text once.
    pub given: BTreeSet<String>,
    /// The ids of the sessions whose records were copied, as a fork does.
    pub origins: BTreeSet<String>,
}

impl Beginnings {
    pub fn read(source: impl BufRead) -> io::Result<Self> {
        let mut found = Self::default();
        each_line(source, 0, |_, line| {
            let line = line.filter(|line| line.len() <= MAX_NOTE);
            found.note(line.unwrap_or_default());
        })?;
        Ok(found)
    }

    /// Searches for keys first: inside a text their quotes are escaped, so few other lines are
    /// parsed.
    fn note(&mut self, line: &[u8]) {
        let signs = [r#""hookEvent""#, r#""requestSessionId""#];
        if signs
            .iter()
            .all(|sign| memmem::find(line, sign.as_bytes()).is_none())
        {
            return;
        }
        for keys in records(&text(line)).filter_map(|(_, keys)| keys) {
            if self.given.len() < MAX_FOUND {
                self.given.extend(given_at_start(&keys).unwrap_or_default());
            }
            let origin = json::name(keys.request_session_id);
            let origin = origin.filter(|_| json::name(keys.kind) == Some("assistant"));
            if self.origins.len() < MAX_FOUND {
                self.origins.extend(origin.map(str::to_owned));
            }
        }
    }
}

/// Returns the texts that a hook gave at a start, if this is the client's note of that.
fn given_at_start(keys: &Keys<'_>) -> Option<Vec<String>> {
    let note: Attachment<'_> = json::object(keys.attachment)?;
    let is_note = json::name(keys.kind) == Some("attachment")
        && json::name(note.kind).is_some_and(|kind| NOTES.contains(&kind))
        && json::name(note.hook_event).is_some_and(|event| STARTS.contains(&event));
    let content = note.content.filter(|_| is_note);
    let texts = [content].into_iter().chain(json::items(content));
    Some(texts.filter_map(json::text).map(Cow::into_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::io::Cursor as File;

    #[test]
    fn every_line_has_its_place_and_an_endless_one_is_not_held() {
        let long = "x".repeat(usize::try_from(MAX_LINE).unwrap());
        let text = format!("a\n\n{long}\n{long}y\nb\nc");
        let mut found = Vec::new();
        let see = |at, line: Option<&[u8]>| found.push((at - 100, line.map(<[u8]>::len)));
        let source = io::BufReader::with_capacity(1_000, text.as_bytes());
        each_line(source, 100, see).unwrap();
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
    fn every_record_of_a_line_has_its_place() {
        let found = |line: &str| {
            let found = records(line);
            found
                .map(|(at, keys)| (at, keys.is_some()))
                .collect::<Vec<_>>()
        };
        assert_eq!(found("\u{feff} {}{} {"), [(4, true), (6, true), (9, false)]);
        assert_eq!(found("\0\0{}7 {}"), [(2, true), (4, false)]);
        assert_eq!(found("[1]"), [(0, false)]);
        assert_eq!(found("x"), [(0, false)]);
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
        let found = last_record_end(&mut File::new(text), from, text.len() as u64);
        assert_eq!(found.unwrap(), end);
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
        for (from, want) in [(0, size), (7, 7)] {
            let found = last_record_end(&mut File::new(&text), from, size);
            assert_eq!(found.unwrap(), want);
        }
    }

    fn of_fixture(name: &str) -> Beginnings {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/fixtures/transcripts"
        );
        let bytes = std::fs::read(format!("{folder}/{name}")).unwrap();
        Beginnings::read(&bytes[..]).unwrap()
    }

    #[test]
    fn the_real_client_notes_what_hooks_gave_and_where_a_fork_comes_from() {
        let session = of_fixture("resume-compact-auto.jsonl");
        let notes = [
            "CTX-ONE [pat-001]",
            "CTX-TWO [pat-002]",
            "CTX-COMPACT [pat-005]",
        ];
        for text in notes {
            assert!(session.given.contains(text), "{text}");
        }
        let given = of_fixture("interactive-after-clear-and-switch.jsonl").given;
        assert!(given.contains("SYSMSG-FROM-SESSIONSTART"), "{given:?}");
        assert!(session.origins.is_empty());
        let origin = "28703303-7ece-482a-b06d-373e03e54516";
        for fork in ["fork.jsonl", "fork-after-compact.jsonl"] {
            assert_eq!(Vec::from_iter(of_fixture(fork).origins), [origin], "{fork}");
        }
    }

    #[test]
    fn what_is_only_said_is_no_note_and_a_broken_line_hides_no_other() {
        let note = r#"{"type":"attachment","attachment":{"type":"hook_additional_context","hookEvent":"SessionStart","content":["[pat-001]",7]}}"#;
        let said = serde_json::json!({"type": "user", "message": {"content": note}});
        let tool = note.replace("attachment\",\"a", "user\",\"a");
        let prompt = note.replace("SessionStart", "UserPromptSubmit");
        let text = format!(
            "{said}\n{tool}\n{prompt}\n{{\"hookEvent\" \n{{\"type\":\"user\",\"requestSessionId\":\"x\"}}\n"
        );
        let read = |text: &str| Beginnings::read(text.as_bytes()).unwrap();
        assert_eq!(read(&text), Beginnings::default());
        let found = read(&format!("{text}{note}\n"));
        assert_eq!(Vec::from_iter(found.given), ["[pat-001]"]);
    }
}
