//! What hooks know of the memory: one small file per project that the worker writes.
//!
//! A hook must answer in about the time of `/bin/true`, so it opens no database, and reads of
//! the file no more than it asks for. A header with the version and the lengths of the parts is
//! followed by the parts, all numbers little-endian:
//!
//! - errors, sorted: signature (8 bytes), place and length of a hint (4 each);
//! - hints that are found by words, best first: place and length (4 each), and what all of its
//!   words weigh (8);
//! - words, and the terms that a lesson is touched by, sorted: hash (8), number of a hint that
//!   has it (4);
//! - the hints themselves, each a JSON object.

mod effect;
mod particular;
mod signature;
mod terms;
mod words;

use std::cmp::Reverse;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use crate::errors::words::STOP_WORDS;
pub use terms::{PromptTerms, Term, telling, terms};
pub use words::hashes;

use crate::fsx::{self, FsContext as _, FsError};
use crate::worded;

pub use effect::{BIRTH, Effect, EffectWhenShown, SHOWN_FROM, moved};
pub use signature::{ID_PREFIXES, Signature, first_eight, is_memory_id};

/// At most so many hints are found by words.
pub const HINTS: u64 = 500;
/// At most so many hints of errors, those seen last.
pub const ERRORS: u64 = 2_000;
/// What the file begins with: the format's version, and ours, as another one may mask
/// otherwise.
pub const MAGIC: &str = concat!("playbook-hints 4 ", env!("CARGO_PKG_VERSION"), " ");
/// A longer file is not ours.
const MAX_FILE: u64 = 16 << 20;
/// A hint must share so many words with the prompt.
const SHARED_WORDS: u32 = 2;

worded! {
    /// The kind of memory that a hint comes from.
    pub enum MemoryKind {
        /// What happened and why.
        Reflection = "reflection",
        /// A way to go about a like case.
        Strategy = "strategy",
        /// A mistake and its correction.
        Lesson = "lesson",
        Error = "error",
    }
}

/// Something that may help, as short as a hook shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hint {
    /// Its id, under which its effect is noted.
    pub id: String,
    /// A lesson or a strategy.
    pub kind: MemoryKind,
    pub text: String,
    /// How often the error struck, or how often this was learned.
    pub occurrences: u64,
    #[serde(with = "crate::millis")]
    pub last_seen: Timestamp,
    /// How well it has helped so far, from 0 to 1.
    pub effectiveness: f64,
}

/// How many bytes an entry of each table has.
const ERROR_BYTES: usize = 16;
const HINT_BYTES: usize = 16;
const WORD_BYTES: usize = 12;
/// A longer header is not ours.
const MAX_HEADER: usize = 128;

/// The file, opened; its parts are read as they are asked for.
#[derive(Debug)]
pub struct Index {
    file: File,
    errors: Range<u64>,
    by_words: Range<u64>,
    words: Range<u64>,
    hints: Range<u64>,
}

impl Index {
    /// Opens the file; `None` when there is none, or none that this version can read: a
    /// hook is then silent, and the worker writes it anew.
    pub fn open(path: &Path) -> Result<Option<Self>, FsError> {
        match fsx::open_regular(path).and_then(Self::of) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            index => index.context("read", path),
        }
    }

    fn of(file: File) -> io::Result<Option<Self>> {
        let length = file.metadata()?.len();
        let mut header = vec![0; MAX_HEADER.min(usize::try_from(length).unwrap_or(MAX_HEADER))];
        file.read_exact_at(&mut header, 0)?;
        let Some([errors, by_words, words, hints]) = parts(&header) else {
            return Ok(None);
        };
        let is_whole = hints.end == length && length <= MAX_FILE;
        Ok(is_whole.then_some(Self {
            file,
            errors,
            by_words,
            words,
            hints,
        }))
    }

    /// Returns what helps against an error, the most effective first; at least `floor`
    /// effective and at most `limit`.
    pub fn for_signature(&self, signature: Signature, floor: f64, limit: usize) -> Vec<Hint> {
        let errors = self.part(&self.errors);
        let own = equal(errors.as_chunks().0, signature.to_bits());
        let mut hints: Vec<Hint> = own
            .iter()
            .filter_map(|entry: &[u8; ERROR_BYTES]| self.hint(number(entry, 8), number(entry, 12)))
            .filter(|hint| hint.effectiveness >= floor)
            .collect();
        hints.sort_by(|a, b| {
            let by_effect = b.effectiveness.total_cmp(&a.effectiveness);
            by_effect.then(b.last_seen.cmp(&a.last_seen))
        });
        hints.truncate(limit);
        hints
    }

    /// Returns what fits a prompt, best first.
    ///
    /// A hint's relevance is the share of its words that the prompt has, rare words
    /// weighing more: 0 to 1. It must be at least `floor`, with two words or more shared;
    /// the order is by relevance times effectiveness.
    pub fn for_prompt(&self, prompt: &str, floor: f64, limit: usize) -> Vec<Hint> {
        let (by_words, words) = (self.part(&self.by_words), self.part(&self.words));
        let (by_words, _): (&[[u8; HINT_BYTES]], _) = by_words.as_chunks();
        let mut shared = vec![(0, 0.0); by_words.len()];
        for word in words::hashes(prompt) {
            let having: &[[u8; WORD_BYTES]] = equal(words.as_chunks().0, word);
            let weight = weight(by_words.len(), having.len());
            for entry in having {
                if let Some((count, weighs)) = shared.get_mut(number(entry, 8) as usize) {
                    *count += 1;
                    *weighs += weight;
                }
            }
        }
        let mut fitting: Vec<(f64, Hint)> = Vec::new();
        for (entry, (count, weighs)) in by_words.iter().zip(shared) {
            let relevance = weighs / f64::from_bits(key(&entry[8..]));
            if count >= SHARED_WORDS
                && relevance >= floor
                && let Some(hint) = self.hint(number(entry, 0), number(entry, 4))
            {
                fitting.push((relevance * hint.effectiveness, hint));
            }
        }
        // Hints are stored best first, so of two that fit alike the better one wins.
        fitting.sort_by(|a, b| b.0.total_cmp(&a.0));
        fitting.truncate(limit);
        fitting.into_iter().map(|(_, hint)| hint).collect()
    }

    /// Returns the lessons that a prompt touches for certain, each with how well, best first.
    pub fn touched_by(&self, prompt: &PromptTerms) -> Vec<(u32, Hint)> {
        let (by_words, words) = (self.part(&self.by_words), self.part(&self.words));
        let (by_words, _): (&[[u8; HINT_BYTES]], _) = by_words.as_chunks();
        let mut shared = vec![Vec::new(); by_words.len()];
        for term in prompt.all() {
            let having: &[[u8; WORD_BYTES]] = equal(words.as_chunks().0, term.to_bits());
            for entry in having {
                if let Some(shared) = shared.get_mut(number(entry, 8) as usize) {
                    shared.push(term);
                }
            }
        }
        let touched = by_words.iter().zip(shared).filter_map(|(entry, shared)| {
            let touch = prompt.touch(&shared)?;
            Some((touch, self.hint(number(entry, 0), number(entry, 4))?))
        });
        let mut touched: Vec<(u32, Hint)> = touched.collect();
        touched.sort_by_key(|(touch, _)| Reverse(*touch));
        touched
    }

    /// Returns `true` if a prompt can bring anything.
    pub fn has_words(&self) -> bool {
        !self.by_words.is_empty()
    }

    fn hint(&self, place: u32, length: u32) -> Option<Hint> {
        let start = self.hints.start + u64::from(place);
        let hint = self.part(&(start..(start + u64::from(length)).min(self.hints.end)));
        serde_json::from_slice(&hint).ok()
    }

    /// Reads a part of the file; one that cannot be read holds nothing.
    fn part(&self, part: &Range<u64>) -> Vec<u8> {
        let length = part.end.saturating_sub(part.start).min(MAX_FILE);
        let mut bytes = vec![0; usize::try_from(length).unwrap_or_default()];
        match self.file.read_exact_at(&mut bytes, part.start) {
            Ok(()) => bytes,
            Err(_) => Vec::new(),
        }
    }
}

fn parts(header: &[u8]) -> Option<[Range<u64>; 4]> {
    let line = header.split(|byte| *byte == b'\n').next()?;
    let lengths = std::str::from_utf8(line).ok()?.strip_prefix(MAGIC)?;
    let mut lengths = lengths.split(' ').map(str::parse::<u32>);
    let mut start = line.len() as u64 + 1;
    let mut next = || {
        let end = start + u64::from(lengths.next()?.ok()?);
        Some(std::mem::replace(&mut start, end)..end)
    };
    Some([next()?, next()?, next()?, next()?])
}

/// The entries of a sorted table that begin with `wanted`.
fn equal<const N: usize>(table: &[[u8; N]], wanted: u64) -> &[[u8; N]] {
    let from = table.partition_point(|entry| key(entry) < wanted);
    let rest = &table[from..];
    &rest[..rest.partition_point(|entry| key(entry) == wanted)]
}

fn key(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

fn number(entry: &[u8], at: usize) -> u32 {
    let bytes = entry.get(at..).and_then(<[u8]>::first_chunk);
    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// How much a word tells that stands in `found` of `all` hints (inverse document frequency,
/// as BM25 has it).
#[allow(clippy::cast_precision_loss)]
pub fn weight(all: usize, found: usize) -> f64 {
    let (all, found) = (all as f64, found as f64);
    (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
}
