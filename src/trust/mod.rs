//! Which playbooks, and which of their key points, a session may be given.
//!
//! A playbook can arrive with a clone or a pull, and each of its key points becomes a word
//! in the ear of an agent with a shell. So a small record outside of the project says
//! whether the project is trusted, in which checkout of it, and which points our worker or
//! command line wrote or screened ([`TrustRecord`]). The hook reads that one file ([`TrustStanding`]) and gives nothing else.
//!
//! Hooks use all of this: no regex, no database.

pub(crate) mod outside;
pub(crate) mod record;
pub(crate) mod request;

use std::path::Path;

pub(crate) use record::{TrustMark, TrustRecord, TrustWord};

use crate::fsx::FsError;
use crate::paths::Paths;
use crate::playbook::render::Admission;
use crate::playbook::{Due, Section};
use crate::project;

/// What a session may be given of a project's playbook.
#[derive(Debug)]
pub(crate) enum TrustStanding {
    /// The points that the record knows.
    Recorded(TrustRecord),
    /// All: no git work tree could have brought the file, or it is the user's own, and the worker
    /// has made no record yet.
    Born,
    /// Nothing: the file may have come with a clone.
    Foreign,
    /// Nothing: the same, though another checkout was trusted at this path.
    Replaced,
    /// Nothing: the user said so.
    Untrusted,
    /// Nothing: the record cannot be read.
    Unreadable(FsError),
}

impl TrustStanding {
    /// Finds out about `project`: one small file, and a look for `.git`.
    pub(crate) fn of(paths: &Paths, project: &Path) -> Self {
        // What stands beside the settings is the user's own, whatever brought it there.
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

    /// How many of its points wait for the user.
    pub(crate) fn count_of_held(&self) -> usize {
        match self {
            Self::Recorded(record) => record.count_of_held(),
            _ => 0,
        }
    }

    /// Decides if a cue may be used: we wrote it, or the user agreed to it.
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
