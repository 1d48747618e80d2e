//! Detects changes of a file, without reading it where its times are reliable.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::digest::hex;
use crate::env::Clock;
use crate::fsx;

/// The age in seconds from which a file's times are reliable. Two changes within one tick of the
/// file system look alike, so the content of a younger file is compared too.
const SETTLED_AFTER: i64 = 2;
/// A larger file is not compared.
const MAX_READ: u64 = 16 << 20;

/// The metadata of a file, or its absence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    file: Option<Look>,
    /// The hash of the content, if the file was young.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Look {
    device: u64,
    inode: u64,
    size: u64,
    /// The seconds and nanoseconds of the inode's change.
    changed: (i64, i64),
    written: (i64, i64),
}

impl Look {
    fn of(about: &Metadata) -> Self {
        Self {
            device: about.dev(),
            inode: about.ino(),
            size: about.len(),
            changed: (about.ctime(), about.ctime_nsec()),
            written: (about.mtime(), about.mtime_nsec()),
        }
    }

    fn is_settled(&self, now: i64) -> bool {
        let youngest = self.changed.0.max(self.written.0);
        youngest.saturating_add(SETTLED_AFTER) < now
    }
}

impl Stamp {
    /// Returns `None` for a file that cannot be examined.
    pub fn of(path: &Path) -> Option<Self> {
        let now = Clock::Running.now().as_second();
        let file = look(path).ok()?;
        let content = match &file {
            Some(file) if !file.is_settled(now) => Some(hash(path)?),
            _ => None,
        };
        Some(Self { file, content })
    }

    /// Returns the stamp if the file is unchanged, without the hash once its times are reliable.
    pub(crate) fn still_of(&self, path: &Path) -> Option<Self> {
        let now = Clock::Running.now().as_second();
        let file = look(path).ok()?;
        if file != self.file {
            return None;
        }
        if self.content.is_some() && self.content != hash(path) {
            return None;
        }
        let is_settled = file.as_ref().is_none_or(|file| file.is_settled(now));
        let content = self.content.clone().filter(|_| !is_settled);
        Some(Self { file, content })
    }
}

fn look(path: &Path) -> io::Result<Option<Look>> {
    match fs::metadata(path) {
        Ok(about) => Ok(Some(Look::of(&about))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn hash(path: &Path) -> Option<String> {
    let bytes = fsx::read(path, MAX_READ).ok()?;
    Some(hex(&Sha256::digest(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_young_file_is_told_by_its_content_and_a_settled_one_by_its_times() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        fs::write(&file, "one").unwrap();
        let stamp = Stamp::of(&file).unwrap();
        assert!(stamp.content.is_some());
        assert_eq!(stamp.still_of(&file).as_ref(), Some(&stamp));
        // Simulates two writes within one tick.
        fs::write(&file, "two").unwrap();
        let file_of_now = look(&file).unwrap();
        let twice = Stamp {
            file: file_of_now,
            ..stamp
        };
        assert_eq!(twice.still_of(&file), None);

        let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let settled = Stamp::of(&old).unwrap();
        assert_eq!(settled.content, None);
        let young = Stamp {
            content: hash(&old),
            ..settled.clone()
        };
        assert_eq!(young.still_of(&old), Some(settled));
    }

    #[test]
    fn what_is_not_there_is_told_too_and_what_cannot_be_looked_at_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x");
        let missing = Stamp::of(&file).unwrap();
        assert!(missing.still_of(&file).is_some());
        fs::write(&file, "").unwrap();
        assert_eq!(missing.still_of(&file), None);
        assert_eq!(Stamp::of(&file.join("y")), None);
        assert_eq!(Stamp::of(dir.path()), None, "a young folder");
    }
}
