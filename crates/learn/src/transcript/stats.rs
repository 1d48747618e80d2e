//! What a scan read and what it passed over, and why.

use std::collections::BTreeMap;

use serde::Serialize;

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
