//! The record of the playbook points that a session was shown: one small file per session, which
//! session-start writes and the worker reads.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::digest::name_of;
use crate::fsx::{self, FsError};

const VERSION: u32 = 1;
const MAX_FILE: u64 = 4 << 20;
/// The number of points that are recorded per session; an injection holds a few hundred.
const MAX_POINTS: usize = 4_096;

/// The key points that a session was shown, each with the hashes of all texts it had then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ShownPoints(BTreeMap<String, BTreeSet<String>>);

impl ShownPoints {
    pub fn add(&mut self, other: Self) {
        for (name, hashes) in other.0 {
            for hash in hashes {
                self.insert(&name, hash);
            }
        }
    }

    pub fn insert(&mut self, name: &str, hash: String) {
        if self.0.len() < MAX_POINTS || self.0.contains_key(name) {
            self.0.entry(name.to_owned()).or_default().insert(hash);
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub fn keep(&mut self, wanted: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| wanted(name));
    }

    pub fn each(&self) -> impl Iterator<Item = (&String, &BTreeSet<String>)> {
        self.0.iter()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownRecord {
    v: u32,
    /// The record is kept as long as it exists.
    pub transcript: PathBuf,
    /// Set if the record starts with the session's first start, so that nothing was shown before.
    pub is_whole: bool,
    pub points: ShownPoints,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    New,
    /// A later one, or one of an unknown kind.
    Later,
}

/// Adds newly shown points to the record of a session in the project's `folder`.
pub fn add(
    folder: &Path,
    session: &str,
    transcript: &Path,
    start: Start,
    points: ShownPoints,
) -> Result<(), FsError> {
    let file = file(folder, session);
    let known = read_file(&file);
    let mut record = known.clone().unwrap_or_else(|| ShownRecord {
        v: VERSION,
        transcript: transcript.to_owned(),
        is_whole: start == Start::New,
        points: ShownPoints::default(),
    });
    record.points.add(points);
    if known.as_ref() == Some(&record) {
        return Ok(());
    }
    fsx::ensure_dir(folder)?;
    let record = fsx::to_json(&file, &record)?;
    if known.is_none() && fsx::create_new(&file, &record).is_ok_and(|is_new| is_new) {
        return Ok(());
    }
    fsx::quick(&file, &record)
}

pub fn read(folder: &Path, session: &str) -> Option<ShownRecord> {
    read_file(&file(folder, session))
}

pub fn has_transcript(file: &Path) -> bool {
    read_file(file).is_some_and(|record| record.transcript.exists())
}

fn file(folder: &Path, session: &str) -> PathBuf {
    folder.join(format!("{}.json", name_of(session.as_bytes())))
}

fn read_file(file: &Path) -> Option<ShownRecord> {
    let record: ShownRecord = fsx::read_json(file, MAX_FILE)?;
    (record.v == VERSION).then_some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_remembered_only_up_to_a_bound() {
        let mut shown = ShownPoints::default();
        for number in 0..2 * MAX_POINTS {
            shown.insert(&format!("oth-{number}"), String::new());
        }
        assert_eq!(shown.each().count(), MAX_POINTS);
    }
}
