//! The trust record of one project: its trust and the hashes of its key points.
//!
//! The format is quick for hooks to read: `MAGIC`, one byte for the trust, 16 for the checkout, the
//! number of known points (4 bytes, little-endian), then sorted hashes of 16 bytes each: first the
//! known points, then those held back.

use std::collections::HashSet;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::checkout::{self, Checkout};
use crate::fsx::{self, FsContext as _, FsError};
use crate::playbook::render::Admission;
use crate::playbook::{Due, Section};
use crate::state_guard;

const MAGIC: &[u8; 8] = b"pbtrust2";
const HEAD: usize = MAGIC.len() + 1 + checkout::BYTES + 4;
/// The bytes of a hash: too many to find two points with the same one.
const MARK_BYTES: usize = 16;
const MAX_BYTES: u64 = 16 << 20;
/// So many points may be known that have left the file, as another branch may hold them.
const ROOMY: usize = 16_384;

/// The hash of a key point: its section, name and text. The section counts because the same words
/// are a warning in one and a preference in another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TrustMark([u8; MARK_BYTES]);

impl TrustMark {
    /// Hashes the title of the section, name and text, each with a zero byte in front.
    pub(crate) fn of(section: Section, name: &str, text: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [section.title(), name, text] {
            hash.update([0]);
            hash.update(part.as_bytes());
        }
        Self::first_of(hash)
    }

    /// Hashes the name, cue and guard of a point.
    pub(crate) fn of_cue(name: &str, due: &Due) -> Self {
        let mut hash = Sha256::new();
        let when = &due.when;
        let guard = due.guard.then(|| "guard".to_owned());
        for part in [&when.command, &when.file, &when.words, &guard] {
            hash.update([u8::from(part.is_some())]);
            hash.update(part.as_deref().unwrap_or_default().len().to_le_bytes());
            hash.update(part.as_deref().unwrap_or_default());
        }
        hash.update(name);
        Self::first_of(hash)
    }

    fn first_of(hash: Sha256) -> Self {
        let mut mark = [0; MARK_BYTES];
        mark.copy_from_slice(&hash.finalize()[..MARK_BYTES]);
        Self(mark)
    }

    pub(crate) fn hex(&self) -> String {
        crate::digest::hex(&self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustWord {
    Trusted,
    Untrusted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustRecord {
    pub(crate) word: TrustWord,
    /// The checkout for which the record was written; `None` outside git.
    checkout: Option<Checkout>,
    known: Vec<TrustMark>,
    held: Vec<TrustMark>,
}

impl TrustRecord {
    pub(crate) fn new(word: TrustWord) -> Self {
        Self {
            word,
            checkout: None,
            known: Vec::new(),
            held: Vec::new(),
        }
    }

    /// Parses a record; `None` if the bytes are not one.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        let (magic, rest) = bytes.split_first_chunk()?;
        let (word, rest) = rest.split_first()?;
        if magic != MAGIC {
            return None;
        }
        let (checkout, rest) = rest.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let (marks, surplus) = rest.as_chunks();
        let word = match word {
            b'T' => TrustWord::Trusted,
            b'U' => TrustWord::Untrusted,
            _ => return None,
        };
        if !surplus.is_empty() {
            return None;
        }
        let marks: Vec<TrustMark> = marks.iter().copied().map(TrustMark).collect();
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (known, held) = marks.split_at_checked(count)?;
        Some(Self {
            word,
            checkout: Checkout::from_bytes(*checkout),
            known: known.to_vec(),
            held: held.to_vec(),
        })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let marks = self.known.len() + self.held.len();
        let mut bytes = Vec::with_capacity(HEAD + marks * MARK_BYTES);
        bytes.extend(MAGIC);
        bytes.push(match self.word {
            TrustWord::Trusted => b'T',
            TrustWord::Untrusted => b'U',
        });
        bytes.extend(Checkout::to_bytes(self.checkout));
        let known = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        bytes.extend(known.to_le_bytes());
        for mark in self.known.iter().chain(&self.held) {
            bytes.extend(mark.0);
        }
        bytes
    }

    /// Reads the file; one that is no record, or that others can have written, is an error.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, FsError> {
        let Some(bytes) = fsx::read_if_there(path, MAX_BYTES)? else {
            return Ok(None);
        };
        state_guard::check_trust_record(path)?;
        Self::parse(&bytes)
            .map(Some)
            .ok_or_else(|| std::io::Error::other("not a record of ours"))
            .context("read trust record", path)
    }

    /// Writes the file durably; makes its folders private first if others can write there.
    pub(crate) fn write(&self, path: &Path) -> Result<(), FsError> {
        if let Some(folder) = path.parent() {
            fsx::ensure_dir(folder)?;
        }
        if state_guard::check_trust_record(path).is_err() {
            state_guard::close_trust_record(path)?;
        }
        fsx::durable(path, &self.to_bytes())
    }

    pub(crate) fn bind(&mut self, project: &Path) {
        self.checkout = Checkout::of(project);
    }

    pub(crate) fn checkout(&self) -> Option<Checkout> {
        self.checkout
    }

    /// Returns `true` if `project` is another checkout than the record's.
    pub(crate) fn is_of_another(&self, project: &Path) -> bool {
        self.checkout
            .is_some_and(|checkout| checkout.is_replaced(project))
    }

    /// Decides whether a point may be given: we wrote it or found it harmless.
    pub(crate) fn admits(&self, section: Section, name: &str, text: &str) -> Admission {
        self.says(&TrustMark::of(section, name, text))
    }

    pub(crate) fn says(&self, mark: &TrustMark) -> Admission {
        if self.known.binary_search(mark).is_ok() {
            Admission::Given
        } else if self.held.binary_search(mark).is_ok() {
            Admission::Held
        } else {
            Admission::Unknown
        }
    }

    pub(crate) fn know(&mut self, marks: &[TrustMark]) {
        self.forget(&marks.iter().collect());
        add(&mut self.known, marks);
    }

    /// Holds back these points and no others.
    pub(crate) fn hold(&mut self, marks: &[TrustMark]) {
        self.held.clear();
        self.forget(&marks.iter().collect());
        add(&mut self.held, marks);
    }

    pub(crate) fn knows_some(&self) -> bool {
        !self.known.is_empty()
    }

    pub(crate) fn count_of_held(&self) -> usize {
        self.held.len()
    }

    pub(crate) fn forget(&mut self, marks: &HashSet<&TrustMark>) {
        self.retain(|mark| !marks.contains(mark));
    }

    /// Drops points that are not `present`, once there are more than `ROOMY`.
    pub(crate) fn forget_absent(&mut self, present: &HashSet<&TrustMark>) {
        if self.known.len() + self.held.len() > ROOMY {
            self.retain(|mark| present.contains(mark));
        }
    }

    fn retain(&mut self, stays: impl Fn(&TrustMark) -> bool) {
        self.known.retain(&stays);
        self.held.retain(&stays);
    }
}

fn add(marks: &mut Vec<TrustMark>, more: &[TrustMark]) {
    marks.extend_from_slice(more);
    marks.sort_unstable();
    marks.dedup();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_record_is_refused() {
        let good = TrustRecord::new(TrustWord::Untrusted).to_bytes();
        assert!(TrustRecord::parse(&good).is_some());
        let grown = [&good[..], b"x"].concat();
        for bytes in [
            &b""[..],
            b"pbtrust2",
            b"pbtrust2T\0\0\0\0",
            &[b"pbtrust1", &good[MAGIC.len()..]].concat(),
            &[b"pbtrust2X", &good[MAGIC.len() + 1..]].concat(),
            &[&good[..HEAD - 4], b"\x01\0\0\0"].concat(),
            &good[..good.len() - 1],
            &grown,
        ] {
            assert_eq!(TrustRecord::parse(bytes), None, "{bytes:?}");
        }
    }
}
