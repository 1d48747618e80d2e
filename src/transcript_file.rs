//! Opens the file of a session; [`transcript`] reads it.

use std::fs;
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::fsx::{self, FsContext as _, FsError};
use crate::transcript::{
    self, Beginnings, Digest, EventKind, Lane, Range, ReadOptions, RecordHash,
};

const ACTION: &str = "read transcript";
/// The most bytes that are searched for a session's beginnings.
const MAX_READ: u64 = 256 << 20;
const BUFFER_BYTES: usize = 256 << 10;
/// The depth of folders in which subagents' transcripts are searched: `workflows/wf_…/`.
const DEPTH: usize = 3;

/// If later prompts replaced earlier ones, reads the range again without what followed those.
pub fn scan(
    path: &Path,
    range: Range,
    options: &ReadOptions,
    is_copy: &mut dyn FnMut(RecordHash, Option<Timestamp>) -> bool,
) -> Result<Digest, FsError> {
    let mut are_copies = Vec::new();
    let read = |options: &ReadOptions, is_copy: &mut dyn FnMut(RecordHash, _) -> bool| {
        part(path, range)
            .and_then(|part| transcript::scan_reader(part, range.start, options, is_copy))
            .context(ACTION, path)
    };
    let mut digest = read(options, &mut |hash, time| {
        let is_copy = is_copy(hash, time);
        are_copies.push(is_copy);
        is_copy
    })?;
    if !digest.replaced.is_empty() {
        let options = ReadOptions {
            replaced: digest.replaced,
            ..options.clone()
        };
        // The caller counts the records it is asked about, so the second pass reuses its answers.
        let mut are_copies = are_copies.into_iter();
        digest = read(&options, &mut |_, _| are_copies.next().unwrap_or(true))?;
    }
    let is_session = options.lane == Lane::Session;
    digest.facts.is_outside |= is_session && are_outside(&subagents(path), DEPTH);
    Ok(digest)
}

fn subagents(session: &Path) -> PathBuf {
    session.with_extension("").join("subagents")
}

/// Returns `true` if a subagent's transcript in a folder, or in one below it, has a call of a tool
/// that brings in outside text. Unreadable files count as `false`.
fn are_outside(folder: &Path, depth: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.map(|entry| entry.path());
    files.any(|path| {
        if path.extension() != Some("jsonl".as_ref()) {
            return depth > 0 && are_outside(&path, depth - 1);
        }
        let options = ReadOptions {
            lane: Lane::Subagent,
            ..ReadOptions::default()
        };
        let mut is_outside = false;
        let called = &mut |event: &transcript::Event<'_>| {
            if let EventKind::ToolCall(call) = &event.kind {
                is_outside |= transcript::is_outside(&call.tool);
            }
        };
        each_event(&path, &options, called).is_ok() && is_outside
    })
}

pub fn each_event(
    path: &Path,
    options: &ReadOptions,
    see: &mut dyn FnMut(&transcript::Event<'_>),
) -> Result<(), FsError> {
    let end = complete_end(path, 0)?;
    part(path, Range { start: 0, end })
        .and_then(|part| transcript::each_event(part, options, see))
        .context(ACTION, path)
}

/// Returns at least `from`. Reads only the tail.
pub fn complete_end(path: &Path, from: u64) -> Result<u64, FsError> {
    let find = || {
        let mut file = fsx::open_regular(path)?;
        let size = file.metadata()?.len();
        transcript::last_record_end(&mut file, from, size)
    };
    find().context(ACTION, path)
}

/// The `start` must be the start of a record.
pub(crate) fn beginnings(path: &Path, start: u64, end: u64) -> Result<Beginnings, FsError> {
    let end = end.min(start.saturating_add(MAX_READ));
    part(path, Range { start, end })
        .and_then(Beginnings::read)
        .context(ACTION, path)
}

fn part(path: &Path, range: Range) -> io::Result<impl BufRead> {
    let mut file = fsx::open_regular(path)?;
    file.seek(SeekFrom::Start(range.start))?;
    Ok(BufReader::with_capacity(BUFFER_BYTES, file).take(range.bytes()))
}
