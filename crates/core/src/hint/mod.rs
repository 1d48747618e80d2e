//! What hooks know of the memory: one small file per project that the worker writes.
//!
//! A hook must answer in about the time of `/bin/true`, so it opens no database. The file is
//! lines: a header with the version and the length of what follows, then one hint a line,
//! first those of errors as `signature hint`, then those that are found by words as `- hint`,
//! each group best first. A hint is a JSON object.

mod effect;
mod kind;
mod signature;
mod words;

use std::collections::{BTreeSet, HashMap};
use std::fmt::Display;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use words::is_stop_word;

use crate::fsx::{self, FsError};

pub use effect::{BIRTH, Effect, SHOWN_FROM, Shown};
pub use effect::{moved, moved_by_successes};
pub use kind::MemoryKind;
pub use signature::first_eight;
pub use signature::{Signature, context_hash};

/// At most so many hints are found by words.
pub const HINTS: u64 = 500;
/// At most so many hints of errors, those seen last.
pub const ERRORS: u64 = 2_000;
/// What the file begins with; the number is the version.
const MAGIC: &str = "playbook-hints 2 ";
/// A longer file is not ours.
const MAX_FILE: u64 = 16 << 20;
/// A hint must share so many words with the prompt.
const SHARED_WORDS: usize = 2;

/// Something that may help, as short as a hook shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Hint {
    /// Its id, under which its effect is noted.
    pub id: String,
    /// A lesson or a strategy; a fix counts as its error.
    pub kind: MemoryKind,
    /// What to do.
    pub text: String,
    /// How often the error struck, or how often this was learned.
    pub occurrences: u64,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub last_seen: Timestamp,
    pub effectiveness: f64,
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
        let of_errors = self
            .by_signature
            .iter()
            .flat_map(|(signature, hints)| hints.iter().map(move |hint| line(signature, hint)));
        let of_words = self.by_words.iter().map(|hint| line(&"-", hint));
        let lines: String = of_errors.chain(of_words).collect();
        let file = format!("{MAGIC}{}\n{lines}", lines.len());
        fsx::quick(path, file.as_bytes())
    }
}

/// The file as a hook has read it.
#[derive(Debug)]
pub struct Index(String);

impl Index {
    /// Reads the file; `None` when there is none, or none that this version can read: a
    /// hook is then silent, and the worker writes it anew.
    pub fn open(path: &Path) -> Result<Option<Self>, FsError> {
        let Some(bytes) = fsx::read_if_there(path, MAX_FILE)? else {
            return Ok(None);
        };
        Ok(String::from_utf8(bytes).ok().and_then(|file| {
            let (length, lines) = file.strip_prefix(MAGIC)?.split_once('\n')?;
            (length.parse() == Ok(lines.len())).then(|| Self(lines.to_owned()))
        }))
    }

    /// Returns what helps against an error, the most effective first; at least `floor`
    /// effective and at most `limit`.
    pub fn for_signature(&self, signature: Signature, floor: f64, limit: usize) -> Vec<Hint> {
        let mut hints = self.hints(&signature.to_string());
        hints.retain(|hint| hint.effectiveness >= floor);
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
        let prompt = words::hashes(prompt);
        let hints = self.hints("-");
        let words: Vec<BTreeSet<u64>> = hints.iter().map(|h| words::hashes(&h.text)).collect();
        let mut found_in: HashMap<u64, usize> = HashMap::new();
        for word in words.iter().flatten() {
            *found_in.entry(*word).or_default() += 1;
        }
        let weight = |word: &u64| weight(hints.len(), found_in.get(word).copied().unwrap_or(0));
        let mut fitting: Vec<(f64, Hint)> = Vec::new();
        for (hint, words) in hints.iter().zip(&words) {
            let shared: Vec<&u64> = words.intersection(&prompt).collect();
            let whole: f64 = words.iter().map(weight).sum();
            let relevance = shared.iter().map(|word| weight(word)).sum::<f64>() / whole;
            if shared.len() >= SHARED_WORDS && relevance >= floor {
                fitting.push((relevance * hint.effectiveness, hint.clone()));
            }
        }
        // Hints are stored best first, so of two that fit alike the better one wins.
        fitting.sort_by(|a, b| b.0.total_cmp(&a.0));
        fitting.truncate(limit);
        fitting.into_iter().map(|(_, hint)| hint).collect()
    }

    /// The hints of the lines that begin with `key`.
    fn hints(&self, key: &str) -> Vec<Hint> {
        let lines = self.0.lines().filter_map(|line| line.split_once(' '));
        let own = lines.filter(|(first, _)| *first == key);
        own.filter_map(|(_, hint)| serde_json::from_str(hint).ok())
            .collect()
    }
}

/// How much a word tells that stands in `found` of `all` hints (inverse document frequency,
/// as BM25 has it).
#[allow(clippy::cast_precision_loss)]
fn weight(all: usize, found: usize) -> f64 {
    let (all, found) = (all as f64, found as f64);
    (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
}

fn line(key: &impl Display, hint: &Hint) -> String {
    // Texts and numbers can always be written.
    let hint = serde_json::to_string(hint).unwrap_or_default();
    format!("{key} {hint}\n")
}
