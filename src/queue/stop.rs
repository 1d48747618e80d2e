//! How work on a job ends: it is gone, waits, or has failed, and why.

use std::path::Path;

use jiff::Timestamp;

use super::claim::ClaimError;
use super::{QueueError, waiting};
use crate::fsx::FsError;
use crate::memory::{self, JobOutcome};

/// Why a worker ended before its time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerError {
    /// It could not lock anything, and neither can another: nobody is at work.
    #[error(transparent)]
    NoLock(FsError),
    #[error(transparent)]
    Work(#[from] FsError),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It is gone from the spool, and what came of it is recorded.
    Gone(Finish),
    /// It waits until then, for this reason.
    Waits(Timestamp, String),
    Stays,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finish {
    pub(crate) outcome: JobOutcome,
    pub(crate) reason: String,
}

impl Finish {
    /// How a job ended that the memory knows.
    pub(crate) fn of(job: memory::FinishedJob) -> Self {
        Self {
            outcome: job.outcome,
            reason: job.reason,
        }
    }

    pub(super) fn applied() -> Self {
        Self {
            outcome: JobOutcome::Applied,
            reason: String::new(),
        }
    }
}

#[derive(Debug)]
pub(super) enum Stop {
    Waits { reason: String, pause: JobPause },
    Fails(String),
    Skips(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobPause {
    Doubling,
    Parked(Option<Timestamp>),
    Until(Timestamp),
}

impl Stop {
    pub(super) fn into_reason(self) -> String {
        match self {
            Self::Waits { reason, .. } | Self::Fails(reason) | Self::Skips(reason) => reason,
        }
    }

    pub(super) fn waits(reason: &impl ToString) -> Self {
        Self::Waits {
            reason: reason.to_string(),
            pause: JobPause::Doubling,
        }
    }
}

impl<E: Into<QueueError>> From<E> for Stop {
    fn from(error: E) -> Self {
        match error.into() {
            error @ (QueueError::Settings(_) | QueueError::Secrets(_)) => {
                Self::waits(&waiting::reason_of(&error))
            }
            error => Self::waits(&error),
        }
    }
}

impl From<ClaimError> for Stop {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Transcript(error) => transcript_stop(error),
            ClaimError::Passing(error) => error.into(),
            ClaimError::Closed(_) => Self::waits(&error),
        }
    }
}

/// A transcript that is gone or no file will not come back; anything else may pass. Where its
/// folder is gone, too, it may be on a drive that is not mounted now.
pub(super) fn transcript_stop(error: FsError) -> Stop {
    use std::io::ErrorKind::{IsADirectory, NotADirectory, NotFound, Other};
    let has_folder = error.path.parent().is_some_and(Path::is_dir);
    match error.source.kind() {
        NotFound if !has_folder => error.into(),
        NotFound | IsADirectory | NotADirectory | Other => Stop::Fails(error.to_string()),
        _ if error.is_link_loop() => Stop::Fails(error.to_string()),
        _ => error.into(),
    }
}
