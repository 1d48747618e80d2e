//! The lines of a transcript and the records in them, in bounded memory; the bytes of it that a
//! job is about; and the client's notes of where its session comes from.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json;
use super::record::{Attachment, Keys};

/// The longest line that is read; a longer one is one bad record (DESIGN.md, Claim).
pub const MAX_LINE: u64 = 32 << 20;
/// A larger buffer is not kept for the next line, in bytes.
const MAX_KEPT: usize = 1 << 20;
/// The part that is read at a time when the last newline is looked for.
const BLOCK: u64 = 64 << 10;
/// A longer line is no note of what a hook said: the client keeps 10,000 characters of that.
const MAX_NOTE: usize = 1 << 20;
/// The number of texts and of sessions that are kept of the notes.
const MAX_FOUND: usize = 1_000;

/// Counts of a scan: every record is read or skipped with a reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScanStats {
    /// Records, bad ones included; a line can hold two.
    pub records: u64,
    /// Records that were taken as part of the conversation.
    pub read: u64,
    /// Records that were passed over, by reason.
    pub skipped: BTreeMap<Reason, u64>,
    pub events: BTreeMap<&'static str, u64>,
    pub masked: BTreeMap<String, u64>,
}

/// Why a record was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    Blank,
    /// It is not valid JSON, or was cut off.
    BadJson,
    NotAnObject,
    /// The line is longer than 32 MiB.
    TooLong,
    /// It has no `type`, or a message of another form than the client writes.
    NoMessage,
    /// Its uuid stood in this range before.
    Repeated,
    /// It belongs to another session or job: a copy by a fork or a resume.
    Copy,
    /// It follows from a prompt that a later one replaced.
    Replaced,
    /// It belongs to a subagent, or, in a subagent's file, to its parent.
    OtherLane,
    /// The client wrote it: meta lines, echoes of commands, notes.
    Meta,
    Summary,
    /// It is no part of the conversation: attachments, snapshots, progress.
    Bookkeeping,
}

impl ScanStats {
    pub(crate) fn skip(&mut self, reason: Reason) {
        *self.skipped.entry(reason).or_default() += 1;
    }
}

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

/// What the beginning of a transcript says of what the session was given, and of where it came
/// from.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Beginnings {
    /// What hooks gave at the session's starts, each text once.
    pub given: BTreeSet<String>,
    /// The ids of the sessions whose records were copied, as a fork does.
    pub origins: BTreeSet<String>,
}

impl Beginnings {
    /// Reads what a transcript says from its beginning on.
    pub fn read(source: impl BufRead) -> io::Result<Self> {
        let mut found = Self::default();
        each_line(source, 0, |_, line| {
            found.note(
                line.filter(|line| line.len() <= MAX_NOTE)
                    .unwrap_or_default(),
            );
        })?;
        Ok(found)
    }

    /// Notes what a line says. Inside of a text the quotes of a key are escaped, so few
    /// lines are parsed that are no notes.
    fn note(&mut self, line: &str) {
        if !line.contains(r#""hookEvent""#) && !line.contains(r#""requestSessionId""#) {
            return;
        }
        for keys in records(line).filter_map(|(_, record)| record.ok()) {
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

/// Returns the texts that a hook gave at the start of a session, or of the subagent whose
/// transcript this is, to the model or to the user, if this is the client's note of that.
fn given_at_start(keys: &Keys<'_>) -> Option<Vec<String>> {
    let note: Attachment<'_> = json::object(keys.attachment)?;
    let is_one_of =
        |value, names: [&str; 2]| json::name(value).is_some_and(|it| names.contains(&it));
    let is_note = json::name(keys.kind) == Some("attachment")
        && is_one_of(
            note.kind,
            ["hook_additional_context", "hook_system_message"],
        )
        && is_one_of(note.hook_event, ["SessionStart", "SubagentStart"]);
    let content = note.content.filter(|_| is_note)?;
    let texts = [content].into_iter().chain(json::items(Some(content)));
    let texts = texts.filter_map(|text| json::text(Some(text)));
    Some(texts.map(Cow::into_owned).collect())
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
        for text in [
            "CTX-ONE [pat-001]",
            "CTX-TWO [pat-002]",
            "CTX-COMPACT [pat-005]",
        ] {
            assert!(session.given.contains(text), "{text}");
        }
        let told = of_fixture("interactive-after-clear-and-switch.jsonl").given;
        assert!(told.contains("SYSMSG-FROM-SESSIONSTART"), "{told:?}");
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
