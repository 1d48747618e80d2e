//! The playbook file: read, change under the lock, replace in one step.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::flaw::Flaw;
use super::lock::{Lock, lock_path};
use super::migrate::{Migrated, migrate};
use super::model::Playbook;
use crate::fsx::{self, FsError};

/// The largest file that is read as a playbook; ours stay far below it.
pub(crate) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Why a playbook could not be read or written. The file is as it was in each case.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error(transparent)]
    Fs(#[from] FsError),
    #[error("could not read playbook: {}: {flaw}", path.display())]
    Corrupt { path: PathBuf, flaw: Flaw },
    #[error("could not lock playbook: {}: in use by another process for {} s", path.display(), waited.as_secs())]
    Locked { path: PathBuf, waited: Duration },
}

#[derive(Debug, Clone)]
pub(crate) struct Store {
    path: PathBuf,
}

impl Store {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the playbook; a file that is not there is an empty one.
    pub(crate) fn load(&self) -> Result<Playbook, StoreError> {
        Ok(self.read()?.playbook)
    }

    /// As [`Store::load`], and tells what the file was before it was migrated.
    pub(crate) fn read(&self) -> Result<Loaded, StoreError> {
        let Some(bytes) = fsx::read_if_there(&self.path, MAX_FILE_BYTES)? else {
            return Ok(Loaded {
                playbook: Playbook::empty(),
                original: None,
            });
        };
        match migrate(&bytes) {
            Ok(Migrated { playbook, changed }) => Ok(Loaded {
                playbook,
                original: changed.then_some(bytes),
            }),
            Err(flaw) => Err(StoreError::Corrupt {
                path: self.path.clone(),
                flaw,
            }),
        }
    }

    /// Takes the lock, waiting at most `wait`; the folder is made where it is missing.
    pub(crate) fn lock(&self, wait: Duration) -> Result<Locked<'_>, StoreError> {
        if let Some(folder) = self.path.parent().filter(|f| !f.as_os_str().is_empty()) {
            fsx::ensure_dir(folder)?;
        }
        let path = lock_path(&self.path);
        match Lock::acquire(&path, wait)? {
            Some(lock) => Ok(Locked {
                store: self,
                _lock: lock,
            }),
            None => Err(StoreError::Locked { path, waited: wait }),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) playbook: Playbook,
    /// The bytes of a file of another age, which the next write replaces: worth keeping.
    pub(crate) original: Option<Vec<u8>>,
}

/// A playbook file whose lock is held until this is dropped.
#[derive(Debug)]
pub(crate) struct Locked<'a> {
    store: &'a Store,
    _lock: Lock,
}

impl Locked<'_> {
    pub(crate) fn load(&self) -> Result<Playbook, StoreError> {
        self.store.load()
    }

    /// Replaces the file by `after`, durably; nothing is written when that says the same
    /// as `before`, the playbook as it was loaded. Tells whether the file was written.
    pub(crate) fn save(&self, before: &Playbook, after: &Playbook) -> Result<bool, StoreError> {
        let bytes = after.to_bytes();
        if bytes == before.to_bytes() {
            return Ok(false);
        }
        fsx::durable(&self.store.path, &bytes)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tags::{BulletTag, Tag, apply_bullet_tags};
    use super::*;
    use std::fs;

    const WAIT: Duration = Duration::from_secs(60);

    fn helpful(name: &str) -> [BulletTag; 1] {
        [BulletTag {
            name: name.to_owned(),
            tag: Tag::Helpful,
            rationale: String::new(),
        }]
    }

    /// Changes the playbook as a job does: reload, change, write.
    fn edit(store: &Store, change: impl FnOnce(&mut Playbook)) -> Result<bool, StoreError> {
        let locked = store.lock(WAIT)?;
        let before = locked.load()?;
        let mut after = before.clone();
        change(&mut after);
        locked.save(&before, &after)
    }

    #[test]
    fn a_missing_file_is_an_empty_playbook_and_is_made_by_the_first_change() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join(".claude/playbook.json"));
        assert!(store.load().unwrap().is_empty());
        assert!(!edit(&store, |_| ()).unwrap() && !store.path().exists());
        assert!(edit(&store, |p| p.mark_applied("job")).unwrap());
        assert!(store.load().unwrap().is_applied("job"));
    }

    #[test]
    fn a_corrupt_file_is_told_with_path_and_line_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("playbook.json"));
        fs::write(store.path(), "{\n<<<<<<< HEAD").unwrap();
        let told = edit(&store, |p| p.mark_applied("job"))
            .unwrap_err()
            .to_string();
        let path = store.path().display();
        let flaw =
            format!("could not read playbook: {path}: line 2, column 1: key must be a string");
        assert_eq!(told, flaw);
        assert_eq!(fs::read_to_string(store.path()).unwrap(), "{\n<<<<<<< HEAD");
    }

    #[test]
    fn a_file_of_another_age_is_migrated_by_the_first_change_and_its_original_handed_over() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("playbook.json"));
        let old = r#"{"key_points": ["old"]}"#;
        fs::write(store.path(), old).unwrap();
        assert_eq!(store.read().unwrap().original.unwrap(), old.as_bytes());
        // Nothing is written when nothing changed, whatever the format of the file.
        edit(&store, |_| ()).unwrap();
        assert_eq!(fs::read_to_string(store.path()).unwrap(), old);
        edit(&store, |p| _ = apply_bullet_tags(p, &helpful("kpt_001"))).unwrap();
        let loaded = store.read().unwrap();
        assert_eq!(loaded.original, None);
        assert_eq!(loaded.playbook.points().next().unwrap().helpful, 1);
    }

    #[test]
    fn a_lock_held_too_long_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("playbook.json"));
        let _held = store.lock(WAIT).unwrap();
        let error = store.lock(Duration::ZERO).unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }));
        assert!(error.to_string().contains("playbook.json.lock"));
    }

    #[test]
    fn changes_from_many_threads_at_once_lose_nothing() {
        const THREADS: usize = 8;
        const EDITS: usize = 25;
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("playbook.json"));
        let point = |n| serde_json::json!({"name": format!("oth-{n:03}"), "text": "a point"});
        let points: Vec<_> = (1..=THREADS).map(point).collect();
        let file = serde_json::json!({"sections": {"OTHERS": points}});
        fs::write(store.path(), file.to_string()).unwrap();
        std::thread::scope(|scope| {
            for thread in 1..=THREADS {
                let store = &store;
                scope.spawn(move || {
                    let tags = helpful(&format!("oth-{thread:03}"));
                    for _ in 0..EDITS {
                        edit(store, |p| _ = apply_bullet_tags(p, &tags)).unwrap();
                    }
                });
            }
        });
        let playbook = store.load().unwrap();
        assert!(playbook.points().all(|point| point.helpful == EDITS as u64));
        assert_eq!(playbook.points().count(), THREADS);
    }
}
