//! Lists and copies folders.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

pub(crate) fn entries_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder) {
        if path.is_dir() {
            found.extend(entries_below(&path));
        } else {
            found.push(path);
        }
    }
    found
}

pub(crate) fn read(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap_or_default()
}

/// Copies `from` to `to`, with its times: hooks compare times to find what is newer.
pub(crate) fn copy(from: &Path, to: &Path) {
    _ = fs::remove_dir_all(to);
    if !from.is_dir() {
        return;
    }
    fs::create_dir_all(to).expect("a folder");
    for path in entries(from) {
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("a copy");
            keep_time(&path, &target);
        }
    }
    keep_time(from, to);
}

fn keep_time(from: &Path, to: &Path) {
    let time = fs::metadata(from).and_then(|about| about.modified());
    let kept = time.and_then(|time| fs::File::open(to)?.set_modified(time));
    kept.expect("the time of a copy");
}
