//! What hooks know of the memory: one compact file per project that the worker writes.
//!
//! A hook must answer in about the time of `/bin/true`, so it neither opens a database
//! nor reads the file whole: it looks things up by binary search in sorted tables.
//! Layout, all numbers little-endian:
//!
//! ```text
//! header      magic and version 8 · signatures u32 · hints u32 · words u32 · postings u32 · length u64
//! signatures  hash u64 · first hint u32 · number of hints u32          sorted by hash
//! hints       place in the file u64 · length u32 · weight of its words f32 · effectiveness f64
//! words       hash u64 · first posting u32 · number u32 · weight f32 · 0 u32   sorted by hash
//! postings    hint u32
//! texts       one JSON object per hint
//! ```
//!
//! The hints of the signatures come first, then those found by words, best first.

mod encode;
mod read;
mod words;

use std::path::Path;

use jiff::Timestamp;

pub use read::Index;
pub(super) use words::is_stop_word;

use super::kind::MemoryKind;
use super::signature::Signature;
use crate::fsx::{self, FsError};

/// At most so many hints are found by words.
pub(super) const HINTS: u64 = 5000;
/// At most so many signatures, those seen last.
pub(super) const SIGNATURES: u64 = 20_000;

/// The first bytes of the file; the last of them is the version.
const MAGIC: [u8; 8] = *b"plbkidx\x01";
/// Bytes of the header.
const HEADER_SIZE: usize = 32;
/// Where the tables begin.
const HEADER: u64 = HEADER_SIZE as u64;
/// Bytes of the largest entry of a table.
const ENTRY_SIZE: usize = 24;
/// Bytes of an entry of `signatures`.
const SIGNATURE: u64 = 16;
/// Bytes of an entry of `hints`.
const HINT: u64 = ENTRY_SIZE as u64;
/// Bytes of an entry of `words`.
const WORD: u64 = ENTRY_SIZE as u64;
/// Bytes of an entry of `postings`.
const POSTING: u64 = 4;

/// Something that may help, as short as a hook shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Hint {
    /// Its id, under which its effect is noted.
    pub id: String,
    /// A lesson or a strategy; a fix counts as its error.
    pub kind: MemoryKind,
    /// What to do.
    pub text: String,
    /// How often the error struck, or how often this was learned.
    pub occurrences: u64,
    /// When last.
    pub last_seen: Timestamp,
    /// 0 to 1.
    pub effectiveness: f64,
    /// The names in the error it helped against.
    pub names: Vec<String>,
}

/// What goes into the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexContent {
    /// What helps against an error, each error once.
    pub by_signature: Vec<(Signature, Vec<Hint>)>,
    /// What is found by the words of a prompt, best first.
    pub by_words: Vec<Hint>,
}

impl IndexContent {
    /// Writes the file; it can be made anew at any time, so nothing waits for the disk.
    pub fn write(&self, path: &Path) -> Result<(), FsError> {
        fsx::quick(path, &encode::encode(self))
    }
}
