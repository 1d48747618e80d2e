//! Logs: plain lines for people, one JSON line per reflection for programs.

use std::path::Path;

use jiff::Timestamp;

use crate::fsx;
use crate::paths::Paths;
use crate::reflect::pipeline::Answered;

/// A log over this many bytes is rotated once.
pub const MAX_LOG: u64 = 10 << 20;
/// The log of hooks and worker.
pub const LOG: &str = "playbook.log";

/// Writes a line to the log: time, who, what. A log that cannot be written is no error.
pub fn note(paths: &Paths, now: Timestamp, who: &str, what: &str) {
    let what = what.replace(['\n', '\r'], " ");
    let file = paths.log(LOG);
    if let Some(folder) = file.parent() {
        // Without the folder the append below fails as well, and a log is no job.
        _ = fsx::ensure_dir(folder);
    }
    _ = fsx::append_line(&file, &format!("{now:.3} {who}: {what}"), MAX_LOG);
}

/// The log of reflections, one JSON line each.
pub const REFLECTIONS: &str = "reflections.jsonl";
/// How much of the log's end is looked at for a line that stands there already.
const TAIL: u64 = 256 << 10;

/// Writes the line of a finished job, unless it was written before a stop.
pub fn reflection(paths: &Paths, job: &str, line: &serde_json::Value) {
    let file = paths.log(REFLECTIONS);
    if let Some(folder) = file.parent() {
        _ = fsx::ensure_dir(folder);
    }
    if !stands_in_tail(&file, job) {
        // Errors in logging never touch the job.
        _ = fsx::append_line(&file, &line.to_string(), MAX_LOG);
    }
}

fn stands_in_tail(file: &Path, job: &str) -> bool {
    fsx::read_tail(file, TAIL)
        .is_ok_and(|tail| memchr::memmem::find(&tail, job.as_bytes()).is_some())
}

/// Keeps a prompt and what came of it in `folder`: the diagnostic mode of REQ-REFL-006.
///
/// The prompt holds masked evidence only. A folder that cannot be written is no error.
pub fn save_diagnostic<T>(folder: &Path, name: &str, prompt: &str, result: &Answered<T>) {
    _ = fsx::ensure_dir(folder);
    let cause = result
        .cause
        .as_ref()
        .map(|c| format!("{}: {}", c.word, c.message));
    let mut text = format!("=== prompt\n{prompt}\n");
    for reply in &result.replies {
        text.push_str("=== reply\n");
        text.push_str(reply);
        text.push('\n');
    }
    if let Some(cause) = cause {
        text.push_str("=== error\n");
        text.push_str(&cause);
        text.push('\n');
    }
    _ = fsx::quick(&folder.join(format!("{name}.txt")), text.as_bytes());
}
