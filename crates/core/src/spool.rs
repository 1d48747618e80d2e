//! The spool: one file per job, in a folder that survives everything.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::job::{JobId, Ticket};
use crate::env::Clock;
use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::random;

/// What the names of jobs end in.
pub(crate) const JOB_SUFFIX: &str = ".json";
/// Ids are tried until one is free; two alike within a second are one in four billion, and within
/// a turn one in 65,536.
const MAX_ID_TRIES: u32 = 16;
/// How many of them depend on what the job is about, where the clock is stopped.
const SEEDED_TRIES: u32 = 8;
/// So many microseconds are one turn: a second has hardly fewer than 16 bits tell apart.
const TURN_MICROS: i32 = 16;

/// Where the last part of a new job's id comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdEntropy {
    /// The system's random numbers.
    Chance,
    /// What the job is about, so that the same run has the same ids.
    Seed(String),
    /// As `of` says, after all of the same second that had an earlier turn.
    Turn {
        /// The place among the ids of one second.
        turn: u16,
        /// Where the rest of it comes from.
        of: Box<Self>,
    },
}

impl IdEntropy {
    /// Chance; with a stopped clock what the job is `about`.
    pub fn of(clock: Clock, about: impl FnOnce() -> String) -> Self {
        match clock {
            Clock::Running => Self::Chance,
            Clock::Stopped(_) => Self::Seed(about()),
        }
    }

    /// Chance, behind what was made earlier in the same second. A stopped clock knows no earlier:
    /// there chance has all of the place, for hundreds of jobs of one moment are to differ.
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
                // Without chance the number of the try will do: no name is taken twice.
                random::bytes().map_or(attempt, u32::from_be_bytes)
            }
            Self::Turn { turn, of } => u32::from(*turn) << 16 | of.draw(attempt) >> 16,
        }
    }
}

/// Writes a new job and returns its id; it is there when this returns, whole.
///
/// No fsync: a power cut is covered by the session's mark.
pub fn put(paths: &Paths, entropy: &IdEntropy, ticket: Ticket) -> Result<JobId, FsError> {
    put_as(paths, entropy, ticket, Ticket::clone)
}

/// As [`put`], of a job that says more than its ticket.
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

/// The ids of the jobs in `folder`, oldest first; other files are passed over.
pub fn list(folder: &Path) -> Result<Vec<JobId>, FsError> {
    list_with(folder, JOB_SUFFIX)
}

/// The ids of the files in `folder` whose names end in `suffix`, oldest first.
pub fn list_with(folder: &Path, suffix: &str) -> Result<Vec<JobId>, FsError> {
    let mut ids: Vec<JobId> = fsx::list(folder)?
        .iter()
        .filter_map(|entry| id_of(entry.file_name().to_str()?, suffix))
        .collect();
    ids.sort_unstable();
    Ok(ids)
}

/// The names of the files in `folder` that look like jobs and are named as none: nobody
/// looks at them.
pub fn strays(folder: &Path) -> Result<Vec<String>, FsError> {
    let mut strays: Vec<String> = fsx::list(folder)?
        .iter()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(JOB_SUFFIX) && id_of(name, JOB_SUFFIX).is_none())
        .collect();
    strays.sort_unstable();
    Ok(strays)
}

/// The oldest job among the first `limit` entries of `folder`; `None` when none is one.
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
