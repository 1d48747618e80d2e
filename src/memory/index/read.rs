//! Lookups in the file, without reading it whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::{
    ENTRY_SIZE, HEADER, HEADER_SIZE, HINT, HINTS, Hint, MAGIC, POSTING, SIGNATURE, WORD, words,
};
use crate::fsx::{self, Context, FsError};
use crate::memory::kind::MemoryKind;
use crate::memory::signature::Signature;

/// A hint's text is at most so long.
const TEXT: u32 = 64 * 1024;
/// So many hints of one signature are looked at.
const OF_ONE: u32 = 64;
/// So many different words of a prompt are looked up.
const LOOKED_UP: usize = 1_000;
/// So many entries of a sorted table are read at once.
const BLOCK: u64 = 256;
/// A hint must share so many words with the prompt.
const SHARED_WORDS: u32 = 2;

/// The open file.
#[derive(Debug)]
pub struct Index {
    file: File,
    signatures: u64,
    hints: u64,
    words: u64,
    postings: u64,
}

impl Index {
    /// Opens the file; `None` when there is none, or none that this version can read: a
    /// hook is then silent, and the worker writes it anew.
    pub fn open(path: &Path) -> Result<Option<Self>, FsError> {
        let open = || {
            let file = fsx::open_regular(path)?;
            let mut header = [0; HEADER_SIZE];
            if file.metadata()?.len() < HEADER {
                return Ok(None);
            }
            file.read_exact_at(&mut header, 0)?;
            let count = |at| u64::from(u32_at(&header, at));
            let index = Self {
                signatures: count(8),
                hints: count(12),
                words: count(16),
                postings: count(20),
                file,
            };
            let length = u64_at(&header, 24);
            let whole = header[..8] == MAGIC
                && index.file.metadata()?.len() == length
                && index.texts_at() <= length;
            Ok(whole.then_some(index))
        };
        match open().context("read index", path) {
            Err(e) if e.is_missing() => Ok(None),
            other => other,
        }
    }

    /// Returns what helps against an error: first what helped when the same `names` stood
    /// in it, then by effectiveness; at least `floor` effective and at most `limit`.
    pub fn for_signature(
        &self,
        signature: Signature,
        names: &[String],
        floor: f64,
        limit: usize,
    ) -> io::Result<Vec<Hint>> {
        let Some(entry) = self.find(HEADER, self.signatures, SIGNATURE, signature.to_bits())?
        else {
            return Ok(Vec::new());
        };
        let (first, number) = (u32_at(&entry, 8), u32_at(&entry, 12));
        let mut hints = Vec::new();
        for at in 0..number.min(OF_ONE) {
            let hint = self.hint(u64::from(first) + u64::from(at))?;
            hints.extend(hint.filter(|hint| hint.effectiveness >= floor));
        }
        let shared = |hint: &Hint| {
            names
                .iter()
                .filter(|name| hint.names.contains(name))
                .count()
        };
        hints.sort_by(|a, b| {
            shared(b)
                .cmp(&shared(a))
                .then(b.effectiveness.total_cmp(&a.effectiveness))
                .then(b.last_seen.cmp(&a.last_seen))
        });
        hints.truncate(limit);
        Ok(hints)
    }

    /// Returns what fits a prompt, best first.
    ///
    /// A hint's relevance is the share of its words that the prompt has, rare words
    /// weighing more: 0 to 1. It must be at least `floor`, with two words or more shared;
    /// the order is by relevance times effectiveness.
    pub fn for_prompt(&self, prompt: &str, floor: f64, limit: usize) -> io::Result<Vec<Hint>> {
        // The hints that are found by words are the last ones, and not more than these.
        let first = self.hints.saturating_sub(HINTS);
        let count = usize::try_from(self.hints - first).unwrap_or(0);
        let mut found: Vec<(f32, u32)> = vec![(0.0, 0); count];
        for hash in words::hashes(prompt).into_iter().take(LOOKED_UP) {
            let Some(entry) = self.find(self.words_at(), self.words, WORD, hash)? else {
                continue;
            };
            let weight = f32::from_bits(u32_at(&entry, 16));
            for hint in self.postings(u32_at(&entry, 8), u32_at(&entry, 12))? {
                let place = u64::from(hint).checked_sub(first);
                let place = place.and_then(|place| usize::try_from(place).ok());
                if let Some(sum) = place.and_then(|place| found.get_mut(place)) {
                    *sum = (sum.0 + weight, sum.1 + 1);
                }
            }
        }
        if found.iter().all(|(_, shared)| *shared < SHARED_WORDS) {
            return Ok(Vec::new());
        }
        let entries = self.entries(self.hints_at() + HINT * first, count, HINT)?;
        let entries = entries.chunks_exact(ENTRY_SIZE);
        let mut fitting: Vec<(f64, u64)> = Vec::new();
        for ((at, (weight, shared)), entry) in (first..).zip(found).zip(entries) {
            let whole = f32::from_bits(u32_at(entry, 12)).max(f32::MIN_POSITIVE);
            let relevance = f64::from(weight / whole);
            if shared >= SHARED_WORDS && relevance >= floor {
                fitting.push((relevance * f64::from_bits(u64_at(entry, 16)), at));
            }
        }
        // Hints are stored best first, so of two that fit alike the better one wins.
        fitting.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut hints = Vec::new();
        for (_, hint) in fitting.into_iter().take(limit) {
            hints.extend(self.hint(hint)?);
        }
        Ok(hints)
    }

    fn hints_at(&self) -> u64 {
        HEADER + SIGNATURE * self.signatures
    }

    fn words_at(&self) -> u64 {
        self.hints_at() + HINT * self.hints
    }

    fn postings_at(&self) -> u64 {
        self.words_at() + WORD * self.words
    }

    fn texts_at(&self) -> u64 {
        self.postings_at() + POSTING * self.postings
    }

    /// Finds the entry that begins with `key` in a sorted table.
    ///
    /// Keys are hashes, so their value says nearly where they stand: most are found with
    /// the first block that is read, all others by halving what is left.
    fn find(&self, table: u64, count: u64, size: u64, key: u64) -> io::Result<Option<Vec<u8>>> {
        let (mut low, mut high) = (0, count);
        let nearly = (u128::from(key) * u128::from(count)) >> u64::BITS;
        let mut middle = u64::try_from(nearly).unwrap_or(0);
        while low < high {
            let first = middle.saturating_sub(BLOCK / 2).clamp(low, high);
            let last = (first + BLOCK).min(high);
            let length = usize::try_from(last - first).unwrap_or(0);
            let block = self.entries(table + first * size, length, size)?;
            let entry = |at: usize| {
                let size = usize::try_from(size).unwrap_or(ENTRY_SIZE);
                block.get(at * size..(at + 1) * size).unwrap_or_default()
            };
            if key < u64_at(entry(0), 0) {
                high = first;
            } else if key > u64_at(entry(length.saturating_sub(1)), 0) {
                low = last;
            } else {
                let at = partition_point(length, |at| u64_at(entry(at), 0) < key);
                let found = entry(at);
                return Ok((u64_at(found, 0) == key).then(|| found.to_vec()));
            }
            middle = low + (high - low) / 2;
        }
        Ok(None)
    }

    /// Reads some entries of a table.
    fn entries(&self, place: u64, count: usize, size: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; count * usize::try_from(size).unwrap_or(ENTRY_SIZE)];
        self.file.read_exact_at(&mut bytes, place)?;
        Ok(bytes)
    }

    fn postings(&self, first: u32, number: u32) -> io::Result<Vec<u32>> {
        let end = u64::from(first) + u64::from(number);
        if u64::from(number) > HINTS || end > self.postings {
            return Ok(Vec::new());
        }
        let mut bytes = vec![0; number as usize * 4];
        let place = self.postings_at() + POSTING * u64::from(first);
        self.file.read_exact_at(&mut bytes, place)?;
        Ok(bytes.chunks_exact(4).map(|part| u32_at(part, 0)).collect())
    }

    fn entry_of(&self, hint: u64) -> io::Result<[u8; ENTRY_SIZE]> {
        let mut entry = [0; ENTRY_SIZE];
        if hint < self.hints {
            self.file
                .read_exact_at(&mut entry, self.hints_at() + HINT * hint)?;
        }
        Ok(entry)
    }

    fn hint(&self, hint: u64) -> io::Result<Option<Hint>> {
        let entry = self.entry_of(hint)?;
        let (place, length) = (u64_at(&entry, 0), u32_at(&entry, 8));
        if length == 0 || length > TEXT {
            return Ok(None);
        }
        let mut text = vec![0; length as usize];
        self.file.read_exact_at(&mut text, place)?;
        Ok(serde_json::from_slice(&text)
            .ok()
            .and_then(|value| from_json(&value)))
    }
}

fn from_json(value: &Value) -> Option<Hint> {
    let word = |name: &str| value.get(name)?.as_str();
    let names = value.get("names")?.as_array()?.iter();
    Some(Hint {
        id: word("id")?.to_owned(),
        kind: MemoryKind::from_word(word("kind")?)?,
        text: word("text")?.to_owned(),
        occurrences: value.get("occurrences")?.as_u64()?,
        last_seen: Timestamp::from_millisecond(value.get("last_seen")?.as_i64()?).ok()?,
        effectiveness: value.get("effectiveness")?.as_f64()?,
        names: names.filter_map(Value::as_str).map(str::to_owned).collect(),
    })
}

/// The first of `count` places for which `is_before` no longer holds.
fn partition_point(count: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let part = bytes.get(at..at + 4).and_then(|part| part.try_into().ok());
    u32::from_le_bytes(part.unwrap_or_default())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let part = bytes.get(at..at + 8).and_then(|part| part.try_into().ok());
    u64::from_le_bytes(part.unwrap_or_default())
}
