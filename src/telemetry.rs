//! Logs: plain lines for people, one JSON line per reflection for programs.

use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use crate::backend::question::Answered;
use crate::fsx;
use crate::logfile::{self, append};
use crate::paths::Paths;
use crate::redact;

/// Appends a line to the log, with secrets masked. Errors are ignored.
pub(crate) fn note(paths: &Paths, now: Timestamp, who: &str, what: &str) {
    logfile::note(paths, now, who, &redact::mask(what));
}

pub(crate) const REFLECTIONS: &str = "reflections.jsonl";
/// The bytes at the log's end that are searched for an earlier line.
const TAIL: u64 = 256 << 10;

pub(crate) fn word_of(reason: &str) -> &str {
    reason.split_once(": ").map_or(reason, |(word, _)| word)
}

/// With a `mark`, a line that an interrupted run has written already is not repeated.
pub(crate) fn reflection(paths: &Paths, line: &str, mark: Option<&str>) {
    let is_there = |mark: &str| {
        fsx::read_tail(&paths.log(REFLECTIONS), TAIL)
            .is_ok_and(|tail| memchr::memmem::find(&tail, mark.as_bytes()).is_some())
    };
    if !mark.is_some_and(is_there) {
        append(paths, REFLECTIONS, line);
    }
}

/// Returns the lines of the log of reflections, including the rotated file.
pub(crate) fn reflections(paths: &Paths) -> impl Iterator<Item = Value> {
    let log = paths.log(REFLECTIONS);
    let older = fsx::rotated(&log);
    [older, log].into_iter().flat_map(|log| {
        let bytes = fsx::read(&log, 2 * logfile::MAX_LOG).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice(line).ok());
        lines.collect::<Vec<Value>>()
    })
}

/// Writes the diagnostic mode's file (REQ-REFL-006), with masked evidence only; ignores errors.
pub(crate) fn save_diagnostic<T>(folder: &Path, name: &str, prompt: &str, result: &Answered<T>) {
    _ = fsx::ensure_dir(folder);
    let mut text = format!("=== prompt\n{prompt}\n");
    for reply in &result.replies {
        _ = writeln!(text, "=== reply\n{reply}");
    }
    if let Some(cause) = &result.cause {
        _ = writeln!(text, "=== error\n{}: {}", cause.kind.word(), cause.message);
    }
    let text = redact::Masker::default().mask_json(&text).into_owned();
    _ = fsx::quick(&folder.join(format!("{name}.txt")), text.as_bytes());
}
