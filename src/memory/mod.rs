//! The memory: what Playbook stores outside the playbook, in the `SQLite` file `<state>/memory.db`.
//!
//! Only the worker and the command line open it. Other modules use the plain values of
//! [`crate::reflect`]; all SQL is here. The file holds, by project:
//!
//! - how far each transcript has been claimed ([`TranscriptCursor`]) and which records are known
//!   ([`KnownRecords`]), so that every record counts once;
//! - every finished job ([`FinishedJob`]) and every change it made ([`Entry`]), so that each can
//!   be explained and undone;
//! - the highest number ever given to a key point, so that no id is given twice;
//! - the ledger of model calls ([`ModelCall`]);
//! - the votes that are not in the playbook's file (`playbook.votes = "local"`);
//! - the notes of sessions, with what the curator made of them;
//! - the texts that are held back until the user has decided on them (`Held`);
//! - the ids of the memories that wait for the database of `memory.url` ([`Memory::send_all`]);
//! - the reflections, strategies, lessons and errors
//!   ([`Learned`](crate::reflect::learned::Learned)).
//!
//! [`Memory::record`] writes all of it in one transaction that may be repeated. Hooks never open
//! the database; they read the files of [`crate::corrections`].

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
pub use learning::Taught;
pub(crate) use learning::reflection_ids;
pub(crate) use notes::{NoteLine, OutdatedNote, UnsettledQuote, WaitingNotes};
pub(crate) use recall::PartEnding;
pub use recall::{
    Answer, Evaluation, EvaluationAverage, LearnedStats, Question, RecallQuery, SeenError, words_of,
};
pub use records::{KnownRecords, RecordMark, TranscriptCursor};
