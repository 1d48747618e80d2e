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

    const LARGE: usize = 2 * 1024;

    fn kept(dir: &Path, limits: Limits, day: i64) -> Option<Kept> {
        let sources = [dir.join("playbook.json"), dir.join("template")];
        let now = Timestamp::from_second(day * 24 * 60 * 60 + 5).unwrap();
        Kept::of(dir, &[&sources[0], &sources[1]], limits, now)
    }

    fn read(dir: &Path, limits: Limits, day: i64) -> Option<String> {
        kept(dir, limits, day)?.read()
    }

    #[test]
    fn what_was_kept_is_given_until_something_changes_and_only_when_it_is_worth_it() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let file = |name: &str| dir.join(name);
        let age = |name: &str| {
            let later = SystemTime::now() + Duration::from_secs(5);
            let opened = fs::File::options().append(true).open(file(name));
            opened.unwrap().set_modified(later).unwrap();
        };
        fs::write(file("playbook.json"), "x".repeat(LARGE - 1)).unwrap();
        assert!(kept(dir, Limits::FULL, 1).is_none(), "a small playbook");
        fs::write(file("playbook.json"), "x".repeat(LARGE)).unwrap();
        assert_eq!(read(dir, Limits::FULL, 1), None);
        kept(dir, Limits::FULL, 1).unwrap().keep("two\nlines\n");
        assert_eq!(read(dir, Limits::FULL, 1), None, "as young as its playbook");
        age("context");
        assert_eq!(read(dir, Limits::FULL, 1).as_deref(), Some("two\nlines\n"));
        assert_eq!(read(dir, Limits::FULL, 2), None, "another day");
        assert_eq!(read(dir, Limits::COMPACT, 1), None, "other limits");
        let whole = fs::read(file("context")).unwrap();
        for bytes in [&b""[..], b"no line", b"\xff\xfe\n", b"other key\ntext"] {
            fs::write(file("context"), bytes).unwrap();
            age("context");
            assert_eq!(read(dir, Limits::FULL, 1), None);
        }
        fs::write(file("context"), whole).unwrap();
        age("context");
        assert!(read(dir, Limits::FULL, 1).is_some());
        fs::copy(file("playbook.json"), file("new")).unwrap();
        fs::rename(file("new"), file("playbook.json")).unwrap();
        assert_eq!(
            read(dir, Limits::FULL, 1),
            None,
            "replaced, of the same length"
        );
        kept(dir, Limits::FULL, 1).unwrap().keep("text");
        age("context");
        fs::write(file("template"), "mine").unwrap();
        assert_eq!(read(dir, Limits::FULL, 1), None, "a template appeared");
    }
}
