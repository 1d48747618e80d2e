//! What Playbook remembers outside the playbook itself: one `SQLite` file, `<state>/memory.db`.
//!
//! Opened by the worker and the command line only. The room depends on no other room but
//! [`crate::fsx`]: its types are plain values, and callers convert. It holds, by project:
//!
//! - how far each transcript has been claimed ([`Cursor`]) and which records are known
//!   ([`KnownRecords`]), so that every record counts once;
//! - every finished job ([`Job`]) and every change it made ([`Entry`]), so that each can
//!   be explained and undone;
//! - the highest number ever given to a key point, so that no id is given twice;
//! - the ledger of model calls ([`Call`]);
//! - what is held back until the user has looked at it (`Held`);
//! - what was learned beyond the playbook ([`Remembered`]): reflections, strategies, lessons,
//!   errors and their fixes.
//!
//! [`Memory::record`] writes all of it in one transaction that may be repeated. Hooks
//! never open the database: they have [`Signature`] and [`Index`], which need nothing of it.

mod caps;
mod convert;
mod cursors;
mod database;
pub(crate) mod effect;
mod error;
mod forget;
mod history;
pub(crate) mod index;
mod index_content;
mod jobs;
pub(crate) mod kind;
mod learned;
mod learning;
mod ledger;
mod memories;
mod projects;
mod quarantine;
mod recall;
mod record;
mod records;
mod remembered;
mod schema;
pub(crate) mod signature;
mod stats;
mod summary;

pub(crate) use caps::Trimmed;
pub use cursors::Cursor;
pub use database::Memory;
pub use effect::{BIRTH, Effect, SHOWN_FROM};
pub use error::MemoryError;
pub use forget::{Forget, Forgotten, Limits};
pub use history::{Change, Entry};
pub use index::{Hint, Index};
pub use index_content::IndexContent;
pub use jobs::{Job, JobCounts, JobRow, Outcome};
pub use kind::MemoryKind;
pub use learned::{
    ARROW, Correction, Learned, NewError, NewFix, NewLesson, NewReflection, Shown, Source,
};
pub use ledger::{Call, Purse, Spending};
pub(crate) use memories::{error_id, reflection_ids};
pub(crate) use quarantine::{Held, HeldRow};
pub use recall::{RecallQuery, Seen};
pub use record::Record;
pub use records::{KnownRecords, RecordMark};
pub use remembered::{Detail, Fix, Remembered};
pub use signature::{Signature, context_hash};
pub(crate) use stats::Ending;
pub use stats::{Evaluation, EvaluationAverage, Stats};
