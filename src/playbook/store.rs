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
    /// The file is no playbook; it is left alone.
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
    /// Names the file; nothing is touched.
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

    /// Changes the playbook under the lock: reload, `change`, write. Tells whether the
    /// file was written.
    pub(crate) fn edit<R>(
        &self,
        wait: Duration,
        change: impl FnOnce(&mut Playbook) -> R,
    ) -> Result<(R, bool), StoreError> {
        let locked = self.lock(wait)?;
        let before = locked.load()?;
        let mut after = before.clone();
        let result = change(&mut after);
        let written = locked.save(&before, &after)?;
        Ok((result, written))
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

    /// As [`Store::read`], while the lock is held.
    pub(crate) fn read(&self) -> Result<Loaded, StoreError> {
        self.store.read()
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
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    const WAIT: Duration = Duration::from_secs(60);

    fn helpful(name: &str) -> [BulletTag; 1] {
        [BulletTag {
            name: name.to_owned(),
            tag: Tag::Helpful,
            rationale: String::new(),
        }]
    }

    fn with_points(path: &Path, count: usize) -> Store {
        let points: Vec<_> = (1..=count)
            .map(|n| serde_json::json!({"name": format!("oth-{n:03}"), "text": format!("point {n}")}))
            .collect();
        let file = serde_json::json!({"sections": {"OTHERS": points}});
        fs::write(path, file.to_string()).unwrap();
        Store::new(path)
    }

    #[test]
    fn a_missing_file_is_an_empty_playbook_and_is_made_by_the_first_change() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join(".claude/playbook.json"));
        assert!(store.load().unwrap().is_empty());
        let ((), written) = store.edit(WAIT, |_| ()).unwrap();
        assert!(!written && !store.path().exists());
        let ((), written) = store.edit(WAIT, |p| p.mark_applied("job")).unwrap();
        assert!(written && store.load().unwrap().is_applied("job"));
    }

    #[test]
    fn a_corrupt_file_is_told_with_path_and_line_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("playbook.json"));
        fs::write(store.path(), "{\n<<<<<<< HEAD").unwrap();
        let error = store.edit(WAIT, |p| p.mark_applied("job")).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "could not read playbook: {}: line 2, column 1: key must be a string",
                store.path().display()
            )
        );
        assert_eq!(fs::read_to_string(store.path()).unwrap(), "{\n<<<<<<< HEAD");
    }

    #[test]
    fn a_file_of_another_age_is_migrated_by_the_first_change_and_its_original_handed_over() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("playbook.json"));
        let old = r#"{"key_points": ["old"]}"#;
        fs::write(store.path(), old).unwrap();
        assert_eq!(store.read().unwrap().original.unwrap(), old.as_bytes());
        store.edit(WAIT, |_| ()).unwrap();
        assert_eq!(fs::read_to_string(store.path()).unwrap(), old);
        store
            .edit(WAIT, |p| apply_bullet_tags(p, &helpful("kpt_001")))
            .unwrap();
        let loaded = store.read().unwrap();
        assert_eq!(loaded.original, None);
        assert_eq!(loaded.playbook.points().next().unwrap().helpful, 1);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path());
        let error = store.load().unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
        assert!(error.contains(&dir.path().display().to_string()), "{error}");
    }

    #[test]
    fn nothing_is_written_when_nothing_changed_whatever_the_format_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let store = with_points(&dir.path().join("playbook.json"), 3);
        let before = fs::metadata(store.path()).unwrap().ino();
        store.edit(WAIT, |p| p.points().count()).unwrap();
        assert_eq!(fs::metadata(store.path()).unwrap().ino(), before);
    }

    #[test]
    fn a_symlink_stays_and_the_file_behind_it_keeps_its_mode() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (
            dir.path().join("shared.json"),
            dir.path().join("playbook.json"),
        );
        with_points(&file, 1);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink("shared.json", &link).unwrap();
        Store::new(&link)
            .edit(WAIT, |p| p.mark_applied("job"))
            .unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o644
        );
        assert!(Store::new(&file).load().unwrap().is_applied("job"));
    }

    #[test]
    fn a_lock_held_too_long_is_an_error_that_names_it() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().join("playbook.json"));
        let _held = store.lock(WAIT).unwrap();
        let error = store.edit(Duration::ZERO, |_| ()).unwrap_err();
        assert!(matches!(error, StoreError::Locked { .. }));
        assert!(error.to_string().contains("playbook.json.lock"));
    }

    #[test]
    fn changes_from_many_threads_at_once_lose_nothing() {
        const THREADS: usize = 8;
        const EDITS: usize = 25;
        let dir = tempfile::tempdir().unwrap();
        let store = with_points(&dir.path().join("playbook.json"), THREADS);
        std::thread::scope(|scope| {
            for thread in 1..=THREADS {
                let store = &store;
                scope.spawn(move || {
                    let tags = helpful(&format!("oth-{thread:03}"));
                    for _ in 0..EDITS {
                        store.edit(WAIT, |p| apply_bullet_tags(p, &tags)).unwrap();
                    }
                });
            }
        });
        let playbook = store.load().unwrap();
        assert!(playbook.points().all(|point| point.helpful == EDITS as u64));
        assert_eq!(playbook.points().count(), THREADS);
    }
}
