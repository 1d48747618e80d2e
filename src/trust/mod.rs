//! Decides which playbooks, and which of their key points, a session may be given.
//!
//! A playbook can arrive with a clone or a pull, and an agent with a shell acts on its key points.
//! A small record outside the project therefore holds whether the project is trusted, in which
//! checkout, and which points we wrote or screened ([`TrustRecord`]). The hook reads that one file
//! ([`TrustStanding`]) and gives nothing else.
//!
//! Hooks link all of this: no regex, no database.

pub(crate) mod outside;
pub(crate) mod record;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::digest::name_of;
use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::playbook::render::Admission;
use crate::playbook::{Due, Section};
use crate::project;

pub(crate) use record::{TrustMark, TrustRecord, TrustWord};

/// What a session may be given of a project's playbook.
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
    /// Its file: who carries it out removes that first, so that who asks meanwhile asks anew.
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
