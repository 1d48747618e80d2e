//! The record of what the gate said in a session: one small file each. The hook writes it before it
//! says anything.

use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::digest::name_of;
use crate::fsx::{self, FsContext as _, FsError};
use crate::paths::Paths;

const VERSION: u32 = 1;
const MAX_FILE: u64 = 1 << 20;
/// The most turns that are remembered of a session; after that the gate is silent.
const MAX_TURNS: usize = 200;

/// The stops of a session at which the gate was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct StopRecord {
    v: u32,
    asked: u64,
    not_passed: u64,
    spoken: Vec<Spoken>,
    models_asked: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Spoken {
    pub(super) at: Timestamp,
    /// The id of the turn's prompt.
    pub(super) prompt: String,
    pub(super) score: f64,
    pub(super) findings: Vec<String>,
    pub(super) said: String,
    pub(super) should_retry: bool,
    /// `true` if the next stop of the same prompt scored better; `None` before there is one.
    pub(super) improved: Option<bool>,
}

impl Default for StopRecord {
    fn default() -> Self {
        Self {
            v: VERSION,
            asked: 0,
            not_passed: 0,
            spoken: Vec::new(),
            models_asked: Vec::new(),
        }
    }
}

impl StopRecord {
    /// Reads the record of a session; returns an empty one if there is no file.
    pub(super) fn read(paths: &Paths, project: &Path, session: &str) -> Result<Self, FsError> {
        let file = file(paths, project, session);
        if !file.exists() {
            return Ok(Self::default());
        }
        read_file(&file)
            .ok_or_else(|| io::Error::other("not a record of the gate's"))
            .context("read", &file)
    }

    /// Counts a stop, and records whether the guidance before it improved the score.
    pub(super) fn count(&mut self, prompt: &str, score: f64, threshold: f64) {
        self.asked += 1;
        self.not_passed += u64::from(score < threshold);
        if let Some(last) = self.spoken.last_mut()
            && last.prompt == prompt
            && last.should_retry
        {
            last.improved.get_or_insert(score > last.score);
        }
    }

    pub(super) fn may_ask(&self, prompt: &str, per_step: usize) -> bool {
        let of_prompt = self.models_asked.iter().filter(|asked| *asked == prompt);
        self.models_asked.len() < MAX_TURNS && of_prompt.count() < per_step
    }

    pub(super) fn asks(&mut self, prompt: &str) {
        self.models_asked.push(prompt.to_owned());
    }

    /// Returns `true` if any finding is new and the prompt's limit is not reached.
    pub(super) fn may_say(&self, prompt: &str, findings: &[String], per_step: usize) -> bool {
        let of_prompt = self.spoken.iter().filter(|spoken| spoken.prompt == prompt);
        let is_said = |key: &String| self.spoken.iter().any(|said| said.findings.contains(key));
        self.spoken.len() < MAX_TURNS
            && of_prompt.count() < per_step
            && !findings.iter().all(is_said)
    }

    pub(super) fn add(&mut self, spoken: Spoken) {
        self.spoken.push(spoken);
    }

    pub(super) fn write(
        &self,
        paths: &Paths,
        project: &Path,
        session: &str,
    ) -> Result<(), FsError> {
        let file = file(paths, project, session);
        fsx::ensure_dir(&paths.gate(project))?;
        fsx::quick(&file, &fsx::to_json(&file, self)?)
    }
}

/// The gate's figures over sessions (spec/4 `get_stats`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    pub(crate) asked: u64,
    pub(crate) not_passed: u64,
    pub(crate) models_asked: u64,
    pub(crate) retried: u64,
    pub(crate) improved: u64,
}

impl Figures {
    pub(crate) fn of(paths: &Paths, project: Option<&Path>) -> Result<Self, FsError> {
        let folders: Vec<PathBuf> = match project {
            Some(project) => vec![paths.gate(project)],
            None => paths.all_gates().collect(),
        };
        let mut figures = Self::default();
        for folder in folders {
            let entries = fsx::list(&folder)?;
            let records = entries.iter().filter_map(|entry| read_file(&entry.path()));
            records.for_each(|record| figures.add(&record));
        }
        Ok(figures)
    }

    fn add(&mut self, record: &StopRecord) {
        let retried = || record.spoken.iter().filter(|spoken| spoken.should_retry);
        let improved = retried().filter(|spoken| spoken.improved == Some(true));
        self.asked += record.asked;
        self.not_passed += record.not_passed;
        self.models_asked += record.models_asked.len() as u64;
        self.retried += retried().count() as u64;
        self.improved += improved.count() as u64;
    }
}

fn file(paths: &Paths, project: &Path, session: &str) -> PathBuf {
    paths
        .gate(project)
        .join(format!("{}.json", name_of(session.as_bytes())))
}

fn read_file(file: &Path) -> Option<StopRecord> {
    let record: StopRecord = fsx::read_json(file, MAX_FILE)?;
    (record.v == VERSION).then_some(record)
}
