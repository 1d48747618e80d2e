//! A session's JSONL file → events, facts and evidence, in one pass and bounded memory.
//!
//! `reader` streams lines, `record` reads the few keys that matter, `session` decides what counts
//! as part of the conversation. It hands each event to two readers: one collects [`Facts`] (values,
//! for rules and statistics), the other [`Evidence`] (text, for a prompt).

mod calls;
mod checks;
mod collector;
pub(crate) mod english;
mod event;
mod evidence;
mod facts;
mod json;
mod reader;
mod record;
mod session;
mod text;
mod user;

use std::collections::HashSet;
use std::io::{self, BufRead};

pub(crate) use playbook_core::errors::{self, shell, words};

use crate::redact::Secrecy;
use session::{EventSink, IsCopy, SessionReader};

pub(crate) use calls::AGENT_TOOLS;
pub use calls::is_outside;
pub use collector::Collector;
pub use errors::{error_keys, error_signature, same_error};
pub use event::{
    Call, CallFailure, CheckResult, ErrorCategory, Event, EventKind, EventPlace, Prompt, Via,
};
pub use evidence::{EventSource, Evidence, ShownEvent};
pub use facts::{Facts, GuardVerdict, RecurringError, SessionOutcome, Stakes, extract_cited_ids};
pub use reader::{Beginnings, MAX_LINE, Range, ScanStats, last_record_end};
pub use record::RecordHash;
pub use text::estimate_tokens;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lane {
    /// The session's own; lines of subagents (sidechains) do not count.
    #[default]
    Session,
    /// A subagent's own file, in which the sidechain lines are the conversation.
    Subagent,
}

#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    pub lane: Lane,
    /// The home folder, which is shown as `~`.
    pub home: Option<String>,
    /// The rules of what is masked, and the files that are never read.
    pub secrecy: Secrecy,
    /// `false` where no person attended the session; the client's marks say more otherwise.
    pub attended: Option<bool>,
    /// The prompts that later ones replaced; what follows from them is left out.
    pub replaced: HashSet<RecordHash>,
}

#[derive(Debug)]
pub struct Digest {
    pub facts: Facts,
    /// `finish(budget)` makes the evidence of it.
    pub evidence: Collector,
    pub stats: ScanStats,
    /// The prompts of the range that later ones replaced, as `/rewind` does. What follows from
    /// them is in the digest unless [`ReadOptions::replaced`] has them.
    pub replaced: HashSet<RecordHash>,
}

/// The `source` begins at `offset` of the file. `is_copy` is asked for each record of the
/// conversation that has a uuid; what it calls a copy does not count. Bad records never make the
/// scan fail: only a source that cannot be read does.
pub fn scan_reader<'a>(
    source: impl BufRead,
    offset: u64,
    options: &ReadOptions,
    is_copy: &'a mut IsCopy<'a>,
) -> io::Result<Digest> {
    let mut session = SessionReader::new(options);
    session.is_copy = Some(is_copy);
    reader::each_line(source, offset, |at, line| session.line(at, line))?;
    Ok(session.finish())
}

pub fn each_event<'a>(
    source: impl BufRead,
    options: &ReadOptions,
    sink: &'a mut EventSink<'a>,
) -> io::Result<()> {
    let mut session = SessionReader::new(options);
    session.sink = Some(sink);
    reader::each_line(source, 0, |at, line| session.line(at, line))
}
