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
//! never open the database: they have [`crate::hint`], which needs nothing of it.

mod caps;
mod convert;
mod cursors;
mod database;
mod error;
mod forget;
mod history;
mod index_content;
mod jobs;
mod learning;
mod ledger;
mod memories;
mod notes;
mod projects;
mod quarantine;
mod recall;
mod record;
mod records;
mod remembered;
mod schema;
mod sharing;
mod stats;
mod usage;
mod votes;

pub(crate) use caps::Trimmed;
pub use cursors::TranscriptCursor;
pub use database::Memory;
pub use error::MemoryError;
pub use forget::{ForgetWhat, Forgotten, Limits};
pub use history::Entry;
pub use index_content::IndexContent;
pub use jobs::{FinishedJob, JobCounts, JobOutcome, JobRow};
pub use ledger::{BudgetKind, ModelCall, Spending};
pub use memories::MemoryRow;
pub(crate) use memories::reflection_ids;
pub(crate) use notes::{NoteLine, OutdatedNote, UnsettledQuote, WaitingNotes};
pub(crate) use quarantine::{Held, HeldRow};
pub use recall::{RecallQuery, SeenError, words_of};
pub use record::JobRecord;
pub use records::{KnownRecords, RecordMark};
pub use sharing::{Arrived, LogPosition, records_of};
pub(crate) use stats::PartEnding;
pub use stats::{Evaluation, EvaluationAverage, LearnedStats};
