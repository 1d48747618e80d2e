//! Logs: plain lines for people, one JSON line per reflection for programs.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::backend::Name;
use crate::fsx;
use crate::paths::Paths;
use crate::redact;
use crate::reflect::evaluate::Evaluation;
use crate::reflect::pipeline::Answered;

pub(crate) const MAX_LOG: u64 = 10 << 20;
pub(crate) const LOG: &str = "playbook.log";

/// Writes a line to the log: time, who, what. A log that cannot be written is no error.
pub(crate) fn note(paths: &Paths, now: Timestamp, who: &str, what: &str) {
    note_of_ours(paths, now, who, &redact::mask(what));
}

/// As [`note`], for words of our own and names of our own files, in which no secret can be: so
/// a hook that only writes a job carries no masks, which are half of its size.
pub(crate) fn note_of_ours(paths: &Paths, now: Timestamp, who: &str, what: &str) {
    let what = what.replace(['\n', '\r'], " ");
    append(paths, LOG, &format!("{now:.3} {who}: {what}"));
}

pub(crate) const REFLECTIONS: &str = "reflections.jsonl";
/// How much of the log's end is looked at for a line that stands there already.
const TAIL: u64 = 256 << 10;

/// One reflection, as a line of the log: first the fields of spec/2, section 5.1, where
/// `turn` is the session, then ours. It holds no word of the session.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ReflectionLine<'a> {
    pub(crate) turn: Cow<'a, str>,
    /// Whose transcript it is: `main`, or the subagent's id.
    pub(crate) agent: Cow<'a, str>,
    pub(crate) backend: Name,
    pub(crate) summary_len: usize,
    pub(crate) ops_written: usize,
    /// Always false: nothing is embedded.
    pub(crate) embed: bool,
    /// How long it took in milliseconds; 0 under continuous integration.
    pub(crate) ms: f64,
    /// Why it ended so: `reflection_timeout`, `reflect_error:<Type>`, ...
    pub(crate) reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fixture_key: Option<&'a str>,
    pub(crate) time: Timestamp,
    /// The job; with the two fields after it, it tells this line from others.
    pub(crate) job: &'a str,
    /// How it ended: `applied`, `skipped`, `failed`, `waiting`.
    pub(crate) outcome: &'a str,
    pub(crate) attempts: u64,
    pub(crate) project: Cow<'a, str>,
    pub(crate) event: &'a str,
    pub(crate) trigger: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
    pub(crate) tokens_in: u64,
    pub(crate) tokens_out: u64,
    pub(crate) tags: u64,
    pub(crate) operations: u64,
    pub(crate) skipped: u64,
    /// How the session ended: `success`, `failure`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session_outcome: Option<&'a str>,
    /// What kind of error decided it: `timeout`, `not_found`, …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error_category: Option<&'a str>,
    /// How good the session was, with reasons that count and quote nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) evaluation: Option<&'a Evaluation>,
}

/// The word of a reason: what stands before its details.
pub(crate) fn word_of(reason: &str) -> &str {
    reason.split_once(": ").map_or(reason, |(word, _)| word)
}

pub(crate) fn reflection(paths: &Paths, line: &ReflectionLine<'_>) {
    if let Ok(text) = serde_json::to_string(line) {
        append(paths, REFLECTIONS, &text);
    }
}

/// Writes the line of a reflection, unless it was written before a stop.
pub(crate) fn reflection_once(paths: &Paths, line: &ReflectionLine<'_>) {
    let Ok(text) = serde_json::to_string(line) else {
        return;
    };
    let mark = format!(
        "\"job\":\"{}\",\"outcome\":\"{}\",\"attempts\":{},",
        line.job, line.outcome, line.attempts
    );
    if !stands_in_tail(&paths.log(REFLECTIONS), &mark) {
        append(paths, REFLECTIONS, &text);
    }
}

/// A log that cannot be written is no error: it is no job.
fn append(paths: &Paths, log: &str, text: &str) {
    _ = fsx::ensure_dir(&paths.logs());
    _ = fsx::append_line(&paths.log(log), text, MAX_LOG);
}

fn stands_in_tail(file: &Path, mark: &str) -> bool {
    fsx::read_tail(file, TAIL)
        .is_ok_and(|tail| memchr::memmem::find(&tail, mark.as_bytes()).is_some())
}

/// Keeps a prompt and what came of it in `folder`: the diagnostic mode of REQ-REFL-006.
///
/// The prompt holds masked evidence only. A folder that cannot be written is no error.
pub(crate) fn save_diagnostic<T>(folder: &Path, name: &str, prompt: &str, result: &Answered<T>) {
    _ = fsx::ensure_dir(folder);
    let mut text = format!("=== prompt\n{prompt}\n");
    for reply in &result.replies {
        _ = writeln!(text, "=== reply\n{reply}");
    }
    if let Some(cause) = &result.cause {
        _ = writeln!(text, "=== error\n{}: {}", cause.word, cause.message);
    }
    let text = redact::Masker::default().mask_json(&text).into_owned();
    _ = fsx::quick(&folder.join(format!("{name}.txt")), text.as_bytes());
}
