//! The spool: a folder with one file per job.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::job::{JobId, Ticket};
use crate::env::Clock;
use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::random;

pub(crate) const JOB_SUFFIX: &str = ".json";
/// The number of ids tried until one is free. The chance of a collision is 1 in four billion within
/// a second, and 1 in 65,536 within a turn.
const MAX_ID_TRIES: u32 = 16;
/// The number of tries that depend on the job's content while the clock is stopped.
const SEEDED_TRIES: u32 = 8;
/// The 16 bits of a turn just cover a second.
const TURN_MICROS: i32 = 16;

/// The source of the last part of a new job's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdEntropy {
    Chance,
    /// The job's content, so that a repeated run has the same ids.
    Seed(String),
    /// Like `of`, sorted after all ids of earlier turns in the same second.
    Turn {
        turn: u16,
        of: Box<Self>,
    },
}

impl IdEntropy {
    /// Returns the random source, or with a stopped clock the seed `about`.
    pub fn of(clock: Clock, about: impl FnOnce() -> String) -> Self {
        match clock {
            Clock::Running => Self::Chance,
            Clock::Stopped(_) => Self::Seed(about()),
        }
    }

    /// Sorts by turn within the second. Under a stopped clock all bits are random, since hundreds
    /// of jobs of one moment must differ.
    pub fn in_order(clock: Clock, at: Timestamp) -> Self {
        match clock {
            Clock::Running => Self::Turn {
                turn: u16::try_from(at.subsec_microsecond() / TURN_MICROS).unwrap_or_default(),
                of: Box::new(Self::Chance),
            },
            Clock::Stopped(_) => Self::Chance,
        }
    }

    fn draw(&self, attempt: u32) -> u32 {
        match self {
            Self::Seed(seed) if attempt < SEEDED_TRIES => {
                let hash = Sha256::digest(format!("{attempt}\n{seed}"));
                hash.first_chunk()
                    .map_or(attempt, |first| u32::from_be_bytes(*first))
            }
            Self::Chance | Self::Seed(_) => {
                // Without randomness the try's number is sufficient: no name is taken twice.
                random::bytes().map_or(attempt, u32::from_be_bytes)
            }
            Self::Turn { turn, of } => u32::from(*turn) << 16 | of.draw(attempt) >> 16,
        }
    }
}

/// Does not wait for the disk: the session's mark covers a power cut.
pub fn put(paths: &Paths, entropy: &IdEntropy, ticket: Ticket) -> Result<JobId, FsError> {
    put_as(paths, entropy, ticket, Ticket::clone)
}

/// Like [`put`], for a job with more fields than its ticket.
pub fn put_as<J: Serialize>(
    paths: &Paths,
    entropy: &IdEntropy,
    mut ticket: Ticket,
    job: impl Fn(&Ticket) -> J,
) -> Result<JobId, FsError> {
    let spool = paths.spool();
    fsx::ensure_dir(&spool)?;
    for attempt in 0..MAX_ID_TRIES {
        ticket.id = JobId::new(ticket.at, entropy.draw(attempt));
        let file = job_file(&spool, &ticket.id);
        let is_free = !job_file(&paths.failed(), &ticket.id).exists();
        if is_free && fsx::create_new(&file, &fsx::to_json(&file, &job(&ticket))?)? {
            return Ok(ticket.id);
        }
    }
    Err(FsError {
        action: "find a free job id in".to_owned(),
        path: spool,
        source: std::io::ErrorKind::AlreadyExists.into(),
    })
}

pub fn job_file(folder: &Path, id: &JobId) -> PathBuf {
    folder.join(format!("{id}{JOB_SUFFIX}"))
}

/// Lists the oldest first, and skips other files.
pub fn list(folder: &Path) -> Result<Vec<JobId>, FsError> {
    list_with(folder, JOB_SUFFIX)
}

/// Lists the oldest first.
pub fn list_with(folder: &Path, suffix: &str) -> Result<Vec<JobId>, FsError> {
    let mut ids: Vec<JobId> = fsx::list(folder)?
        .iter()
        .filter_map(|entry| id_of(entry.file_name().to_str()?, suffix))
        .collect();
    ids.sort_unstable();
    Ok(ids)
}

/// Returns file names that look like jobs but have no valid id, so that no worker reads them.
pub fn strays(folder: &Path) -> Result<Vec<String>, FsError> {
    let mut strays: Vec<String> = fsx::list(folder)?
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(JOB_SUFFIX) && id_of(name, JOB_SUFFIX).is_none())
        .collect();
    strays.sort_unstable();
    Ok(strays)
}

pub fn oldest_of_first(folder: &Path, limit: usize) -> Option<JobId> {
    let entries = std::fs::read_dir(folder).ok()?;
    entries
        .take(limit)
        .flatten()
        .filter_map(|entry| id_of(entry.file_name().to_str()?, JOB_SUFFIX))
        .min()
}

fn id_of(name: &str, suffix: &str) -> Option<JobId> {
    JobId::parse(name.strip_suffix(suffix)?)
}
