//! A session's JSONL file → events, facts and evidence.
//!
//! One pass over a byte range, in bounded memory: [`scan_reader`] streams lines, reads the few
//! keys that matter, decides what counts as part of the conversation, and hands each
//! event to two readers: one collects [`Facts`] (values, for rules and statistics), the
//! other [`Evidence`] (text, for a prompt). Neither clock nor environment is read.

mod announcement;
pub(crate) mod bearing;
mod bounded_buffer;
mod category;
mod checks;
mod choice;
mod citations;
mod collector;
mod cut;
mod disowned;
pub(crate) mod english;
mod event;
mod evidence;
mod facts;
mod failure;
mod fixes;
mod hash;
mod hints;
mod injected;
mod item;
mod json;
mod lines;
mod mask;
mod observer;
mod outcome;
mod outside;
mod pasted;
mod range;
mod record;
mod record_reader;
mod recurring_errors;
mod refusal;
mod sanitizer;
mod session;
pub(crate) mod standing;
mod stated;
mod stats;
mod tokens;
mod tool_answer;
mod tool_call;
mod unmended;
mod user;

use std::collections::HashSet;
use std::io::{self, BufRead};

use jiff::Timestamp;
use playbook_core::errors::{self, attempt, call, message};
pub(crate) use playbook_core::errors::{deed, shell, words};

use crate::redact::Secrecy;
use session::SessionReader;

pub use bearing::Bearing;
pub use category::ErrorCategory;
pub(crate) use checks::category_of as check_category;
pub use citations::extract_cited_ids;
pub(crate) use collector::Collector;
pub use disowned::is_disowned;
pub use errors::{error_of_subject, error_signature};
pub use event::{
    Call, CallFailure, CheckResult, Cite, Event, EventKind, EventPlace, Fix, KnownBy, Prompt, Via,
};
pub use evidence::{EventSource, Evidence, ShownEvent};
pub use facts::{CitationUse, Facts, FollowUp, Replacement, SaidKind, Stakes, Stance, UserRemark};
pub use hash::RecordHash;
pub use injected::Beginnings;
pub use outcome::SessionOutcome;
pub use range::{MAX_LINE, Range, last_record_end};
pub(crate) use recurring_errors::{RecurringError, Way};
pub use stats::{Reason, ScanStats};
pub use tokens::estimate as estimate_tokens;
pub(crate) use tool_call::AGENT_TOOLS;

/// Whose conversation a file's range is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lane {
    /// The session's own; lines of subagents (sidechains) do not count.
    #[default]
    Session,
    /// A subagent's own file, in which the sidechain lines are the conversation.
    Subagent,
}

/// How the user's words are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UserWords {
    /// Which of them are the user's own, and which are meant to hold from now on.
    #[default]
    Weighed,
    /// Only that they were said: what tells more costs milliseconds to make ready.
    Heard,
}

#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    pub lane: Lane,
    /// How the user's words are read.
    pub words: UserWords,
    /// The home folder, which is shown as `~`.
    pub home: Option<String>,
    /// What is masked, and which files are never read.
    pub secrecy: Secrecy,
    /// `false` where no person attended the session; the client's marks say more otherwise.
    pub attended: Option<bool>,
    /// The prompts that later ones replaced; what follows from them is left out.
    pub replaced: HashSet<RecordHash>,
}

/// What a scan found.
#[derive(Debug)]
pub struct Digest {
    /// What the range shows, as values.
    pub facts: Facts,
    /// What may be shown of it; `finish(budget)` makes the evidence.
    pub evidence: Collector,
    /// What was read and what was passed over.
    pub stats: ScanStats,
    /// The prompts of the range that later ones replaced, as `/rewind` does. What follows from
    /// them is in the digest unless [`ReadOptions::replaced`] has them.
    pub replaced: HashSet<RecordHash>,
}

/// Reads a part of a transcript in one pass: what `source` holds, which begins at `offset`
/// of the file.
///
/// `is_copy` is asked for each record of the conversation that has a uuid; what it calls
/// a copy does not count. Bad records never make the scan fail: only a source that cannot
/// be read does.
pub fn scan_reader(
    source: impl BufRead,
    offset: u64,
    options: &ReadOptions,
    is_copy: &mut dyn FnMut(RecordHash, Option<Timestamp>) -> bool,
) -> io::Result<Digest> {
    let mut session = SessionReader::new(options);
    let replaced = options.replaced.clone();
    let stats = record_reader::each(source, offset, replaced, |offset, record| {
        session.take(offset, record, is_copy);
    })?;
    Ok(session.finish(stats))
}

/// Hands over each event of a whole transcript as it happens.
pub fn each_event(
    source: impl BufRead,
    options: &ReadOptions,
    found: &mut dyn FnMut(&Event<'_>),
) -> io::Result<()> {
    let mut session = SessionReader::telling(options, found);
    record_reader::each(source, 0, HashSet::new(), |offset, record| {
        session.take(offset, record, &mut |_, _| false);
    })
    .map(drop)
}
