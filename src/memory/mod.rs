//! What Playbook remembers outside the playbook itself: one `SQLite` file, `<state>/memory.db`.
//!
//! Opened by the worker and the command line only. What is learned and read back are
//! the plain values of [`crate::reflect`]; here they meet SQL alone. The file holds, by project:
//!
//! - how far each transcript has been claimed ([`TranscriptCursor`]) and which records are known
//!   ([`KnownRecords`]), so that every record counts once;
//! - every finished job ([`FinishedJob`]) and every change it made ([`Entry`]), so that each can
//!   be explained and undone;
//! - the highest number ever given to a key point, so that no id is given twice;
//! - the ledger of model calls ([`ModelCall`]);
//! - the votes that are not in the playbook's file (`playbook.votes = "local"`);
//! - the notes of sessions, with what the curator made of them;
//! - what is held back until the user has looked at it (`Held`);
//! - what waits to be sent to others, where the memory is shared ([`Memory::share`]);
//! - what was learned beyond the playbook ([`Learned`](crate::reflect::learned::Learned)): reflections, strategies, lessons,
//!   errors.
//!
//! [`Memory::record`] writes all of it in one transaction that may be repeated. Hooks
//! never open the database: they have [`crate::corrections`], which needs nothing of it.

mod database;
mod housekeeping;
mod jobs;
mod learning;
mod notes;
mod recall;
mod records;

pub use database::{Memory, MemoryError};
pub use housekeeping::{ForgetWhat, Forgotten, Limits};
pub(crate) use housekeeping::{Held, HeldRow, Trimmed};
pub use jobs::{
    BudgetKind, Entry, FinishedJob, JobCounts, JobOutcome, JobRecord, JobRow, ModelCall, Spending,
};
pub(crate) use learning::reflection_ids;
pub use learning::{Arrived, LogPosition, MemoryRow, records_of};
pub(crate) use notes::{NoteLine, OutdatedNote, UnsettledQuote, WaitingNotes};
pub(crate) use recall::PartEnding;
pub use recall::{Evaluation, EvaluationAverage, LearnedStats, RecallQuery, SeenError, words_of};
pub use records::{KnownRecords, RecordMark, TranscriptCursor};
