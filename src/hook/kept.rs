//! The context of a large playbook as an earlier start made it.
//!
//! To choose among thousands of key points takes longer than the whole rest of a start,
//! and between two starts the playbook mostly stays the same.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::fsx;
use crate::playbook::context::Limits;

/// A smaller playbook is chosen from faster than a kept text is found.
const WORTH_KEEPING: u64 = 2 * 1024;
const MAX_KEPT: u64 = 256 << 10;
/// How much younger than its sources a kept text must be, in nanoseconds: a source that
/// changes twice within one tick of its file system looks the same before and after.
const SETTLED: i128 = 2_000_000_000;

#[derive(Debug)]
pub(super) struct Kept {
    file: PathBuf,
    key: String,
    newest: i128,
}

impl Kept {
    /// Where the text made of `sources` is kept, the playbook first; `None` for a
    /// playbook that is small or not there.
    ///
    /// The worth of a point changes from day to day, so a text is good for one.
    pub(super) fn of(
        project_state: &Path,
        sources: &[&Path],
        limits: Limits,
        now: Timestamp,
    ) -> Option<Self> {
        let playbook = fs::metadata(sources.first()?).ok()?;
        if playbook.len() < WORTH_KEEPING {
            return None;
        }
        let day = now.as_second().div_euclid(24 * 60 * 60);
        let (units, points) = (limits.units, limits.points);
        let mut key = vec![format!(
            "{} {units} {points} {day}",
            env!("CARGO_PKG_VERSION")
        )];
        let mut newest = 0;
        for source in sources {
            key.push(match fs::metadata(source) {
                Ok(about) => {
                    let (changed, written) = times(&about);
                    newest = newest.max(changed).max(written);
                    let (device, inode, length) = (about.dev(), about.ino(), about.len());
                    format!("{device}:{inode}:{length}:{changed}:{written}")
                }
                Err(_) => "-".to_owned(),
            });
        }
        Some(Self {
            file: project_state.join("context"),
            key: key.join(" "),
            newest,
        })
    }

    /// The kept text, when nothing has changed since it was made.
    pub(super) fn read(&self) -> Option<String> {
        let (_, written) = times(&fs::metadata(&self.file).ok()?);
        if written < self.newest + SETTLED {
            return None;
        }
        let bytes = fsx::read_if_there(&self.file, MAX_KEPT).ok()??;
        let text = String::from_utf8(bytes).ok()?;
        let (key, text) = text.split_once('\n')?;
        (key == self.key).then(|| text.to_owned())
    }

    /// Keeps a text; one that cannot be kept is made anew at the next start.
    pub(super) fn keep(&self, text: &str) {
        if let Some(folder) = self.file.parent()
            && fsx::ensure_dir(folder).is_ok()
        {
            _ = fsx::quick(&self.file, format!("{}\n{text}", self.key).as_bytes());
        }
    }
}

/// When a file's entry and its content changed, in nanoseconds.
fn times(about: &fs::Metadata) -> (i128, i128) {
    let nanoseconds = |s: i64, ns: i64| i128::from(s) * 1_000_000_000 + i128::from(ns);
    (
        nanoseconds(about.ctime(), about.ctime_nsec()),
        nanoseconds(about.mtime(), about.mtime_nsec()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    struct Case {
        dir: tempfile::TempDir,
    }

    impl Case {
        fn new(size: u64) -> Self {
            let dir = tempfile::tempdir().unwrap();
            fs::write(
                dir.path().join("playbook.json"),
                "x".repeat(usize::try_from(size).unwrap()),
            )
            .unwrap();
            Self { dir }
        }

        fn kept(&self, limits: Limits, day: i64) -> Option<Kept> {
            let (playbook, template) = (
                self.dir.path().join("playbook.json"),
                self.dir.path().join("template"),
            );
            let now = Timestamp::from_second(day * 24 * 60 * 60 + 5).unwrap();
            Kept::of(
                &self.dir.path().join("state"),
                &[&playbook, &template],
                limits,
                now,
            )
        }

        /// Keeps a text as if the playbook had last been written long before.
        fn keep_settled(&self, text: &str) {
            self.kept(Limits::FULL, 1).unwrap().keep(text);
            let later = SystemTime::now() + Duration::from_secs(5);
            let file = fs::File::options()
                .append(true)
                .open(self.dir.path().join("state/context"));
            file.unwrap().set_modified(later).unwrap();
        }

        fn read(&self) -> Option<String> {
            self.kept(Limits::FULL, 1)?.read()
        }
    }

    #[test]
    fn what_was_kept_is_given_until_something_changes() {
        let case = Case::new(WORTH_KEEPING);
        assert_eq!(case.read(), None);
        case.keep_settled("two\nlines\n");
        assert_eq!(case.read().as_deref(), Some("two\nlines\n"));
        assert_eq!(
            case.kept(Limits::FULL, 2).unwrap().read(),
            None,
            "another day"
        );
        assert_eq!(
            case.kept(Limits::COMPACT, 1).unwrap().read(),
            None,
            "other limits"
        );
        fs::write(case.dir.path().join("template"), "mine").unwrap();
        assert_eq!(case.read(), None, "a template appeared");
    }

    #[test]
    fn a_rewritten_playbook_of_the_same_length_is_seen() {
        let case = Case::new(WORTH_KEEPING);
        case.keep_settled("old");
        let file = case.dir.path().join("playbook.json");
        let bytes = fs::read(&file).unwrap();
        fs::write(case.dir.path().join("new"), bytes).unwrap();
        fs::rename(case.dir.path().join("new"), &file).unwrap();
        assert_eq!(case.read(), None);
    }

    #[test]
    fn a_text_as_young_as_its_playbook_is_not_believed() {
        let case = Case::new(WORTH_KEEPING);
        case.kept(Limits::FULL, 1).unwrap().keep("just now");
        assert_eq!(case.read(), None);
    }

    #[test]
    fn a_small_playbook_needs_no_keeping() {
        assert!(Case::new(WORTH_KEEPING - 1).kept(Limits::FULL, 1).is_none());
    }

    #[test]
    fn a_damaged_kept_text_is_no_text() {
        let case = Case::new(WORTH_KEEPING);
        for bytes in [&b""[..], b"no line", b"\xff\xfe\n", b"other key\ntext"] {
            case.keep_settled("x");
            let file = case.dir.path().join("state/context");
            let time = fs::metadata(&file).unwrap().modified().unwrap();
            fs::write(&file, bytes).unwrap();
            fs::File::options()
                .append(true)
                .open(&file)
                .unwrap()
                .set_modified(time)
                .unwrap();
            assert_eq!(case.read(), None);
        }
    }
}
