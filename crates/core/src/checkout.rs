//! Identifies a git checkout by inode, so that trust given to one does not carry over to another at
//! the same path.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

use crate::project;

pub const BYTES: usize = 16;

/// The inode of a checkout's `.git` and the inode's creation time; without git, those of the
/// project's folder.
///
/// A pull, another branch or a commit changes neither. The device is left out: many file systems
/// get another number at each boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkout([u8; BYTES]);

impl Checkout {
    pub fn of(project: &Path) -> Option<Self> {
        Self::by_git(project).or_else(|| Self::by_folder(project))
    }

    /// Returns `true` if git has put something else at `project`; `false` without git.
    ///
    /// A folder that was known before `git init` counts as the same after it.
    pub fn is_replaced(self, project: &Path) -> bool {
        Self::by_git(project)
            .is_some_and(|now| now != self && Self::by_folder(project) != Some(self))
    }

    /// Returns `true` if the file system records creation times: an inode alone is reused.
    pub fn is_certain(self) -> bool {
        self.0[8..] != [0; 8]
    }

    fn by_git(project: &Path) -> Option<Self> {
        let git = project::git_above(project)?;
        Some(Self::by_metadata(&fs::symlink_metadata(git).ok()?))
    }

    fn by_folder(project: &Path) -> Option<Self> {
        Some(Self::by_metadata(&fs::metadata(project).ok()?))
    }

    fn by_metadata(about: &Metadata) -> Self {
        let made = about.created().ok();
        let made = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
        let nanoseconds = made.and_then(|made| u64::try_from(made.as_nanos()).ok());
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&about.ino().to_le_bytes());
        bytes[8..].copy_from_slice(&nanoseconds.unwrap_or_default().to_le_bytes());
        Self(bytes)
    }

    pub fn from_bytes(bytes: [u8; BYTES]) -> Option<Self> {
        (bytes != [0; BYTES]).then_some(Self(bytes))
    }

    /// Zeros stand for no checkout.
    pub fn to_bytes(checkout: Option<Self>) -> [u8; BYTES] {
        checkout.map_or([0; BYTES], |checkout| checkout.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::path::PathBuf;

    struct Case {
        _keep: tempfile::TempDir,
        project: PathBuf,
    }

    impl Case {
        fn new(has_git: bool) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let case = Self {
                project: dir.path().join("project"),
                _keep: dir,
            };
            fs::create_dir(&case.project).unwrap();
            if has_git {
                case.init();
            }
            case
        }

        fn init(&self) {
            fs::create_dir(self.project.join(".git")).unwrap();
        }

        fn remove_git(&self) {
            fs::remove_dir_all(self.project.join(".git")).unwrap();
        }

        fn replace(&self) {
            fs::remove_dir_all(&self.project).unwrap();
            fs::create_dir(&self.project).unwrap();
        }
    }

    #[rstest]
    #[case::files_changed(true, |case: &Case| fs::write(case.project.join(".git/HEAD"), "x").unwrap(), false)]
    #[case::moved_away_and_back(true, |case: &Case| {
        let aside = case.project.with_file_name("aside");
        fs::rename(&case.project, &aside).unwrap();
        fs::rename(&aside, &case.project).unwrap();
    }, false)]
    #[case::git_begun_anew(true, |case: &Case| { case.remove_git(); case.init(); }, true)]
    #[case::a_clone_over_what_had_no_git(false, |case: &Case| { case.replace(); case.init(); }, true)]
    #[case::git_begun(false, Case::init, false)]
    #[case::another_folder_without_git(false, Case::replace, false)]
    fn a_checkout_is_told_from_what_replaces_it(
        #[case] has_git: bool,
        #[case] happens: fn(&Case),
        #[case] is_replaced: bool,
    ) {
        let case = Case::new(has_git);
        let before = Checkout::of(&case.project).unwrap();
        assert!(!before.is_replaced(&case.project));
        happens(&case);
        assert_eq!(before.is_replaced(&case.project), is_replaced);
    }

    #[test]
    fn a_folder_within_a_checkout_is_of_it() {
        let case = Case::new(true);
        let below = case.project.join("a/b");
        fs::create_dir_all(&below).unwrap();
        assert_eq!(Checkout::of(&below), Checkout::of(&case.project));
    }
}
