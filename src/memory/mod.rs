//! What Playbook remembers outside the playbook itself: one `SQLite` file, `<state>/memory.db`.
//!
//! Opened by the worker and the command line only; hooks never link `SQLite`. The room
//! depends on no other room but [`crate::fsx`]: its types are plain values, and callers
//! convert. It holds, by project:
//!
//! - how far each transcript has been claimed ([`Cursor`]) and which records are known
//!   ([`KnownRecords`]), so that every record counts once;
//! - every finished job ([`Job`]) and every change it made ([`Entry`]), so that each can
//!   be explained and undone;
//! - the highest number ever given to a key point, so that no id is given twice;
//! - the ledger of model calls ([`Call`]).
//!
//! [`Memory::record`] writes all of it in one transaction that may be replayed.

mod confidence;
mod convert;
mod cursors;
mod database;
mod error;
mod history;
mod jobs;
mod ledger;
mod numbers;
mod record;
mod records;
mod schema;
mod signature;
mod totals;

pub use cursors::Cursor;
pub use database::Memory;
pub use error::MemoryError;
pub use history::{Change, Entry, HistoryQuery};
pub use jobs::{Job, JobCounts, JobRow, Outcome};
pub use ledger::Call;
pub use record::Record;
pub use records::{KnownRecords, RecordMark};
pub use signature::{Normalised, Signature, context_hash};
pub use totals::Totals;
