//! Whether what a key point names still stands in its project's files.
//!
//! A point names files, targets, programs and identifiers ([`names_in`]). A [`Search`] finds
//! which of them stand in the files of one commit, and the [`KnownNames`] remembers what was seen
//! there: only what was seen can be gone. Which files there are, and in which order commits
//! follow each other, is the caller's to find out; nothing here reads a file or asks the time.

mod count;
mod manifest;
mod names;
mod record;
mod search;

pub use count::Count;
pub use names::{PointName, TargetRunner, names_in};
pub use record::{Gone, KnownNames};
pub use search::{FoundIn, Search};
