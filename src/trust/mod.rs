//! Decides which playbooks, and which of their key points, a session may be given.
//!
//! A playbook can arrive with a clone or a pull, and an agent with a shell acts on its key points.
//! A small record outside the project therefore holds whether the project is trusted, in which
//! checkout, and which points we wrote or screened ([`TrustRecord`]). The hook reads that one file
//! ([`TrustStanding`]) and gives nothing else.
//!
//! Hooks link all of this: no regex, no database.

pub(crate) mod outside;

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::checkout::{self, Checkout};
use crate::digest::name_of;
use crate::fsx::{self, FsContext as _, FsError};
use crate::paths::Paths;
use crate::playbook::render::Admission;
use crate::playbook::{Due, Section};
use crate::{project, state_guard};

/// The share of a project's playbook that a session may be given.
#[derive(Debug)]
pub(crate) enum TrustStanding {
    /// The points that the record lists as known.
    Recorded(TrustRecord),
    /// All: the file came with no clone, or is the user's own, and there is no record yet.
    Born,
    /// Nothing: the file may have come with a clone.
    Foreign,
    /// Nothing: another checkout was trusted at this path.
    Replaced,
    Untrusted,
    Unreadable(FsError),
}

impl TrustStanding {
    /// Determines the trust in `project` from one small file and a search for `.git`.
    pub(crate) fn of(paths: &Paths, project: &Path) -> Self {
        // The playbook in the settings folder is the user's own, however it got there.
        let is_own = project == paths.own();
        match TrustRecord::read(&paths.trust_record(project)) {
            Ok(Some(record)) if record.word == TrustWord::Untrusted => Self::Untrusted,
            Ok(Some(record)) if !is_own && record.is_of_another(project) => Self::Replaced,
            Ok(Some(record)) => Self::Recorded(record),
            Ok(None) if !is_own && project::git_above(project).is_some() => Self::Foreign,
            Ok(None) => Self::Born,
            Err(error) => Self::Unreadable(error),
        }
    }

    pub(crate) fn is_trusted(&self) -> bool {
        matches!(self, Self::Recorded(_) | Self::Born)
    }

    pub(crate) fn count_of_held(&self) -> usize {
        match self {
            Self::Recorded(record) => record.count_of_held(),
            _ => 0,
        }
    }

    /// Decides whether a cue may be used: we wrote it, or the user approved it.
    pub(crate) fn admits_cue(&self, name: &str, due: &Due) -> Admission {
        match self {
            Self::Born => Admission::Given,
            Self::Recorded(record) => record.says(&TrustMark::of_cue(name, due)),
            _ => Admission::Unknown,
        }
    }

    pub(crate) fn admits(&self, section: Section, name: &str, text: &str) -> Admission {
        match self {
            Self::Born => Admission::Given,
            Self::Recorded(record) => record.admits(section, name, text),
            Self::Foreign | Self::Replaced | Self::Untrusted | Self::Unreadable(_) => {
                Admission::Unknown
            }
        }
    }
}

const MAX_PATH: u64 = 64 << 10;

pub(crate) fn ask_to_screen(paths: &Paths, project: &Path) -> Result<(), FsError> {
    let bytes = project.as_os_str().as_bytes();
    let file = paths.to_screen().join(name_of(bytes));
    if file.exists() {
        return Ok(());
    }
    fsx::ensure_dir(&paths.to_screen())?;
    fsx::quick(&file, bytes)
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustRequest {
    /// Its file. The worker removes it first, so that a request in the meantime is a new one.
    pub(crate) file: PathBuf,
    pub(crate) project: Option<PathBuf>,
}

pub(crate) fn screen_requests(paths: &Paths) -> Result<Vec<TrustRequest>, FsError> {
    let mut entries = fsx::list(&paths.to_screen())?;
    // What is no file, or is named otherwise, is none of ours; nor are the temporary files of
    // hooks that are just writing.
    entries.retain(|entry| {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        is_file && name.as_bytes().iter().all(u8::is_ascii_hexdigit)
    });
    let mut files: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    files.sort();
    let read = |file: PathBuf| TrustRequest {
        project: fsx::read(&file, MAX_PATH)
            .ok()
            .map(|bytes| PathBuf::from(OsString::from_vec(bytes))),
        file,
    };
    Ok(files.into_iter().map(read).collect())
}

const MAGIC: &[u8; 8] = b"pbtrust2";
const HEAD: usize = MAGIC.len() + 1 + checkout::BYTES + 4;
/// The bytes of a hash: too many to find two points with the same one.
const MARK_BYTES: usize = 16;
const MAX_BYTES: u64 = 16 << 20;
/// The most known points that have left the file; another branch may hold them.
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

/// The record of a project. Its file holds `MAGIC`, a byte for the user's word, 16 for the checkout,
/// the number of known points (4 bytes, little-endian), and sorted hashes, the known ones first.
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
