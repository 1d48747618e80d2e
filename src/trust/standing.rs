//! Whether a project is trusted: its record, or else its birth.

use std::path::Path;

use super::record::{Record, Word};
use crate::fsx::FsError;
use crate::paths::Paths;
use crate::playbook::Section;
use crate::project;

/// What a session may be given of a project's playbook.
#[derive(Debug)]
pub enum Standing {
    /// The points that the record knows.
    Recorded(Record),
    /// All: no git work tree could have brought the file, and the worker has made no
    /// record yet.
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

/// Whether one key point may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Given,
    /// It was screened and waits for the user.
    Held,
    /// It was never screened.
    Unknown,
}

impl Standing {
    /// Finds out about `project`: one small file, and a look for `.git`.
    pub fn of(paths: &Paths, project: &Path) -> Self {
        match Record::read(&paths.trust_record(project)) {
            Ok(Some(record)) if record.word == Word::Untrusted => Self::Untrusted,
            Ok(Some(record)) if record.is_of_another(project) => Self::Replaced,
            Ok(Some(record)) => Self::Recorded(record),
            Ok(None) if project::git_above(project).is_some() => Self::Foreign,
            Ok(None) => Self::Born,
            Err(error) => Self::Unreadable(error),
        }
    }

    /// Tells whether the project is trusted.
    pub fn is_trusted(&self) -> bool {
        matches!(self, Self::Recorded(_) | Self::Born)
    }

    /// How many of its points wait for the user.
    pub fn count_of_held(&self) -> usize {
        match self {
            Self::Recorded(record) => record.count_of_held(),
            _ => 0,
        }
    }

    /// Tells whether a point of the project may be given.
    pub fn admits(&self, section: Section, name: &str, text: &str) -> Admission {
        match self {
            Self::Born => Admission::Given,
            Self::Recorded(record) => record.admits(section, name, text),
            Self::Foreign | Self::Replaced | Self::Untrusted | Self::Unreadable(_) => {
                Admission::Unknown
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::{Env, name};
    use crate::trust::Mark;

    #[test]
    fn a_record_decides_and_else_the_birth() {
        let dir = tempfile::tempdir().unwrap();
        let env = Env::from_pairs([
            (name::CONFIG_DIR, "/c".as_ref()),
            (name::STATE_DIR, dir.path()),
        ]);
        let paths = Paths::resolve(&env).unwrap();
        let (plain, cloned) = (dir.path().join("plain"), dir.path().join("cloned/below"));
        std::fs::create_dir_all(&plain).unwrap();
        std::fs::create_dir_all(&cloned).unwrap();
        std::fs::create_dir(dir.path().join("cloned/.git")).unwrap();
        assert!(matches!(Standing::of(&paths, &plain), Standing::Born));
        assert!(matches!(Standing::of(&paths, &cloned), Standing::Foreign));

        let mut record = Record::new(Word::Trusted);
        let section = Section::Patterns;
        record.know(&[Mark::of(section, "pat-001", "known")]);
        record.hold(&[Mark::of(section, "pat-002", "held")]);
        record.write(&paths.trust_record(&cloned)).unwrap();
        let standing = Standing::of(&paths, &cloned);
        assert!(standing.is_trusted());
        assert_eq!(
            standing.admits(section, "pat-001", "known"),
            Admission::Given
        );
        assert_eq!(standing.admits(section, "pat-002", "held"), Admission::Held);
        assert_eq!(
            standing.admits(section, "pat-001", "held"),
            Admission::Unknown
        );

        // Another checkout at the same path; and what was recorded before that was kept.
        record.bind(&cloned);
        record.write(&paths.trust_record(&cloned)).unwrap();
        assert!(Standing::of(&paths, &cloned).is_trusted());
        let git = dir.path().join("cloned/.git");
        std::fs::remove_dir(&git).unwrap();
        assert!(
            Standing::of(&paths, &cloned).is_trusted(),
            "no git brings anything"
        );
        std::fs::create_dir(&git).unwrap();
        let standing = Standing::of(&paths, &cloned);
        assert!(matches!(standing, Standing::Replaced) && !standing.is_trusted());
        assert_eq!(
            standing.admits(section, "pat-001", "known"),
            Admission::Unknown
        );
        record.word = Word::Untrusted;
        record.write(&paths.trust_record(&cloned)).unwrap();
        assert!(matches!(Standing::of(&paths, &cloned), Standing::Untrusted));

        let no = Record::new(Word::Untrusted);
        no.write(&paths.trust_record(&plain)).unwrap();
        assert!(!Standing::of(&paths, &plain).is_trusted());
        crate::fsx::quick(&paths.trust_record(&plain), b"?").unwrap();
        let standing = Standing::of(&paths, &plain);
        assert!(matches!(standing, Standing::Unreadable(_)) && !standing.is_trusted());
    }
}
