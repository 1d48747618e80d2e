//! A job in the spool: its progress, and reading and writing its file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::apply::PlaybookEdit;
use super::bootstrap::UNSTATED;
use super::budget::Usage;
use super::job::{JobEvent, JobId, Ticket};
use super::spool::{self, job_file};
use crate::backend::{AccountStep, BackendName, TokenCount};
use crate::fsx::{self, FsContext as _, FsError};
use crate::memory::RecordMark;
use crate::paths::Paths;
use crate::playbook::votes::{LocalVotes, PointInSession};
use crate::playbook::{PointChange, Skipped};
use crate::reflect::curator::{CuratorMaterial, NoteUpdate};
use crate::reflect::note::{CheckedNotes, NewNote, NewOutdated, NoteId, SessionRecord};
use crate::reflect::reply::{Curation, Reflection};
use crate::shown_record::ShownPoints;
use crate::store::Store;
use crate::transcript::{Digest, Evidence, Facts};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    #[serde(flatten)]
    pub(crate) ticket: Ticket,
    /// The user's edit; such a job has no transcript and asks no model.
    pub(crate) edit: Option<PlaybookEdit>,
    /// The order for a curator's run; such a job has no transcript.
    pub(crate) curate: Option<CuratorOrder>,
    #[serde(default)]
    pub(crate) progress: Progress,
    #[serde(skip)]
    pub(super) begun: Option<Instant>,
}

/// The notes that a curator's job is given, oldest first, and why it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CuratorOrder {
    pub(crate) notes: Vec<NoteId>,
    pub(crate) why: CuratorReason,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CuratorReason {
    Said,
    Outdated,
    FewPoints,
    /// Notes of `curator.every` sessions wait.
    Sessions,
    Waited,
    /// A batch of `playbook bootstrap` ends.
    Batch,
    Asked,
    /// Nothing waits, and what was learned lately is looked at once more.
    Dream,
}

impl Job {
    pub(crate) fn new(ticket: Ticket) -> Self {
        Self {
            ticket,
            edit: None,
            curate: None,
            progress: Progress::default(),
            begun: None,
        }
    }

    pub(super) fn took(&self) -> Duration {
        self.begun.map_or(Duration::ZERO, |begun| begun.elapsed())
    }

    /// Returns `true` if all questions have been answered: no model is needed any more.
    pub(crate) fn is_judged(&self) -> bool {
        let progress = &self.progress;
        let is_answered = match self.curate {
            Some(_) => progress.curation.is_some(),
            None => progress.reflection.is_some(),
        };
        self.edit.is_some() || progress.is_applied || is_answered
    }

    pub(crate) fn is_of_session(&self) -> bool {
        self.edit.is_none() && self.curate.is_none()
    }

    /// Returns the amount that the user agreed to, in addition to the budgets of the day.
    pub(crate) fn agreed(&self) -> Option<Usage> {
        match self.ticket.event {
            JobEvent::Bootstrap => Some(self.progress.agreed.unwrap_or(UNSTATED)),
            _ => self.progress.agreed,
        }
    }

    /// Returns `true` if the playbook may hold its changes already.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.progress.changes.is_some()
    }

    /// The store remembers whether the job has seen key points there.
    pub(crate) fn store(&self, paths: &Paths) -> Store {
        let store = Store::of(paths, &self.ticket.project);
        if self.progress.has_seen_points {
            store.that_was_seen()
        } else {
            store
        }
    }

    /// Since when it has been kept: its birth, or the user's last wish to try it again.
    pub(crate) fn kept_since(&self) -> Timestamp {
        self.progress.retried.unwrap_or(self.ticket.at)
    }
}

/// The result of each stage, in their order; a restart goes on after the last one there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Progress {
    pub(crate) claim: Option<JobClaim>,
    pub(crate) trigger: Option<String>,
    /// The key points that the session was shown, as known when the part was claimed.
    pub(crate) shown: Option<ShownPoints>,
    /// The session that its own goes back to, where that was forked.
    pub(crate) root: Option<String>,
    /// The session's verdicts on the points that it knew, as of the changes.
    pub(crate) points: Vec<PointInSession>,
    pub(crate) has_evidence: bool,
    /// The most tokens of its evidence, if the amount in the settings was too much.
    pub(crate) evidence_tokens: Option<u64>,
    /// `true` if key points were read for it: then the playbook never counts as missing.
    pub(crate) has_seen_points: bool,
    pub(crate) reflection: Option<Reflection>,
    pub(crate) notes: Vec<NewNote>,
    pub(crate) outdated: Vec<NewOutdated>,
    pub(crate) dropped: Vec<Skipped>,
    /// The material of a curator's run; `seen_until` is the last note that existed then.
    pub(crate) material: Option<CuratorMaterial>,
    pub(crate) seen_until: NoteId,
    pub(crate) curation: Option<Curation>,
    pub(crate) refused: Vec<Skipped>,
    pub(crate) note_updates: Vec<NoteUpdate>,
    /// Under which name the user's own changes of the file are recorded that it found.
    pub(crate) hand_edit: Option<JobId>,
    /// The changes that are about to be made in the playbook, or were made.
    pub(crate) changes: Option<Vec<PointChange>>,
    pub(crate) held: Vec<HeldBack>,
    /// The votes of it that are not in the file; the memory counts them once it is recorded.
    pub(crate) votes: LocalVotes,
    /// By section slug, the highest numbers in the playbook with these changes.
    pub(crate) numbers: BTreeMap<String, u64>,
    pub(crate) is_applied: bool,
    pub(crate) skipped: u64,
    pub(crate) spent: Spent,
    pub(crate) agreed: Option<Usage>,
    /// The curator's budget after this session, the last of a batch of `playbook bootstrap`.
    pub(crate) ends_batch: Option<Usage>,
    pub(crate) waiting: Option<WaitingJob>,
    pub(crate) failed: Option<String>,
    pub(crate) retried: Option<Timestamp>,
    /// Whatever a newer version added within this format's version.
    #[serde(flatten)]
    pub(crate) other: serde_json::Map<String, Value>,
}

/// An operation of the curator's that reads like an attack, and waits for the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeldBack {
    pub(crate) seq: u64,
    pub(crate) operation: Value,
    pub(crate) reasons: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobClaim {
    /// The number of times that the transcript was started over.
    pub(crate) generation: u64,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) first_record: Option<u64>,
    /// The range's own records: those that no job claimed before.
    #[serde(serialize_with = "write_records", deserialize_with = "read_records")]
    pub(crate) records: Vec<RecordMark>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Spent {
    pub(crate) calls: Vec<Paid>,
}

impl Spent {
    pub(crate) fn tokens(&self) -> TokenCount {
        let tokens = || self.calls.iter().map(|call| call.tokens);
        TokenCount {
            input: tokens().map(|it| it.input).sum(),
            output: tokens().map(|it| it.output).sum(),
        }
    }

    pub(crate) fn attempts(&self) -> u64 {
        self.calls.iter().map(|call| u64::from(call.attempts)).sum()
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Paid {
    pub(crate) seq: u64,
    pub(crate) step: AccountStep,
    pub(crate) time: Timestamp,
    pub(crate) backend: BackendName,
    pub(crate) model: String,
    pub(crate) attempts: u32,
    pub(crate) tokens: TokenCount,
    pub(crate) fixture_key: Option<String>,
}

impl Paid {
    pub(crate) fn total(&self) -> u64 {
        self.tokens.input + self.tokens.output
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WaitingJob {
    pub(crate) reason: String,
    pub(crate) since: Timestamp,
    pub(crate) tries: u32,
    pub(crate) next: Timestamp,
    /// `true` if it waits only for its account: then it is due as soon as that may try.
    pub(crate) for_account: bool,
}

/// One record in text: 16 hex digits, and its time in hex after a dot, in milliseconds since 1970.
fn write_records<S: Serializer>(records: &[RecordMark], to: S) -> Result<S::Ok, S::Error> {
    let text = records.iter().map(|record| match record.time {
        Some(time) => format!("{:016x}.{:x}", record.hash, time.as_millisecond()),
        None => format!("{:016x}", record.hash),
    });
    to.serialize_str(&text.collect::<Vec<_>>().join(" "))
}

fn read_records<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<RecordMark>, D::Error> {
    let number = |digits: &str| u64::from_str_radix(digits, 16);
    let read = |word: &str| {
        let (hash, time) = word.split_once('.').unzip();
        let time = time.map(number).transpose()?;
        let time = time.map(u64::cast_signed);
        Ok(RecordMark {
            hash: number(hash.unwrap_or(word))?,
            time: time.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
        })
    };
    let words = String::deserialize(from)?;
    let records: Result<_, std::num::ParseIntError> =
        words.split_ascii_whitespace().map(read).collect();
    records.map_err(serde::de::Error::custom)
}

/// A larger job file is not ours; a claim of a million records is 30 MB.
const MAX_JOB_FILE: u64 = 256 << 20;

/// Reads a job from `folder`. A copy under another job's name is an error.
pub(crate) fn read(folder: &Path, id: &JobId) -> Result<Job, FsError> {
    let file = job_file(folder, id);
    let job: Job = read_file(&file)?;
    if job.ticket.id == *id {
        Ok(job)
    } else {
        let source = format!("holds the job {}", job.ticket.id);
        Err(FsError {
            action: "read".to_owned(),
            path: file,
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, source),
        })
    }
}

pub(crate) fn all(folder: &Path) -> Result<impl Iterator<Item = Job>, FsError> {
    let ids = spool::list(folder)?.into_iter();
    Ok(ids.filter_map(|id| read(folder, &id).ok()))
}

#[derive(Debug, serde::Deserialize)]
pub(crate) struct Heading {
    pub(crate) v: u32,
    pub(crate) transcript: PathBuf,
}

pub(crate) fn read_heading(folder: &Path, id: &JobId) -> Result<Heading, FsError> {
    read_file(&job_file(folder, id))
}

pub(crate) fn save(paths: &Paths, job: &Job) -> Result<(), FsError> {
    save_in(&paths.spool(), job)
}

pub(crate) fn save_in(folder: &Path, job: &Job) -> Result<(), FsError> {
    write_file(&job_file(folder, &job.ticket.id), job)
}

pub(crate) fn read_evidence(paths: &Paths, id: &JobId) -> Result<SessionEvidence, FsError> {
    read_file(&evidence_file(&paths.spool(), id))
}

pub(crate) fn save_evidence(
    paths: &Paths,
    id: &JobId,
    evidence: &SessionEvidence,
) -> Result<(), FsError> {
    write_file(&evidence_file(&paths.spool(), id), evidence)
}

pub(crate) fn remove(folder: &Path, id: &JobId) -> Result<(), FsError> {
    fsx::remove(&job_file(folder, id))?;
    fsx::remove(&evidence_file(folder, id))
}

/// Moves a job to another folder, its evidence first.
pub(crate) fn shift(from: &Path, to: &Path, id: &JobId) -> Result<(), FsError> {
    fsx::ensure_dir(to)?;
    match fsx::rename(&evidence_file(from, id), &evidence_file(to, id)) {
        Err(error) if !error.is_missing() => return Err(error),
        _ => {}
    }
    fsx::rename(&job_file(from, id), &job_file(to, id))
}

pub(crate) fn list_evidence(folder: &Path) -> Result<Vec<JobId>, FsError> {
    spool::list_with(folder, EVIDENCE_SUFFIX)
}

const EVIDENCE_SUFFIX: &str = ".evidence";

fn evidence_file(folder: &Path, id: &JobId) -> PathBuf {
    folder.join(format!("{id}{EVIDENCE_SUFFIX}"))
}

fn read_file<T: DeserializeOwned>(file: &Path) -> Result<T, FsError> {
    let bytes = fsx::read(file, MAX_JOB_FILE)?;
    serde_json::from_slice(&bytes)
        .map_err(std::io::Error::from)
        .context("read", file)
}

fn write_file(file: &Path, value: &impl Serialize) -> Result<(), FsError> {
    fsx::durable(file, &fsx::to_json(file, value)?)
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct SessionEvidence {
    pub(crate) facts: Facts,
    pub(crate) evidence: Evidence,
}

impl SessionEvidence {
    pub(crate) fn of(digest: Digest, tokens: u64) -> Self {
        Self {
            evidence: digest.evidence.finish(tokens),
            facts: digest.facts,
        }
    }

    pub(crate) fn check(&self, reflection: &mut Reflection) -> CheckedNotes {
        let record = SessionRecord {
            evidence: &self.evidence,
            is_outside: self.facts.is_outside,
            is_unattended: self.facts.is_unattended,
        };
        record.check(reflection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_survives_its_file() {
        let claim = JobClaim {
            generation: 1,
            start: 10,
            end: 20,
            first_record: Some(u64::MAX),
            records: [
                (7, Some(1_795_000_000_000)),
                (u64::MAX, None),
                (0, Some(-1)),
            ]
            .map(|(hash, ms)| RecordMark {
                hash,
                time: ms.map(|ms| Timestamp::from_millisecond(ms).unwrap()),
            })
            .to_vec(),
        };
        let text = serde_json::to_string(&claim).unwrap();
        assert_eq!(serde_json::from_str::<JobClaim>(&text).unwrap(), claim);
    }
}
