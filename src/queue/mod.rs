//! The worker: it does the jobs that wait in the spool, each exactly once.

pub(crate) mod apply;
pub(crate) mod ask;
pub(crate) mod backoff;
pub(crate) mod bootstrap;
pub(crate) mod budget;
pub(crate) mod claim;
pub(crate) mod context;
pub(crate) mod curate;
pub(crate) mod notices;
pub(crate) mod outcome;
pub(crate) mod progress;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod requests;
mod schedule;
pub(crate) mod screening;
pub(crate) mod stages;
pub(crate) mod transcripts;
pub(crate) mod worker;

use std::time::Duration;

// What hooks use as well.
pub(crate) use playbook_core::{job, open_session, spool, status, worker_lock};

use crate::config::ConfigError;
use crate::fsx::FsError;
use crate::memory::MemoryError;
use crate::redact::PatternError;
use crate::store::StoreError;

/// The longest wait for a playbook's lock by a step that needs it.
const LOCK_WAIT: Duration = Duration::from_secs(60);

pub(crate) type Result<T = (), E = QueueError> = std::result::Result<T, E>;

/// An error that may pass: a job that meets it waits.
#[derive(Debug, thiserror::Error)]
pub(crate) enum QueueError {
    #[error(transparent)]
    File(#[from] FsError),
    #[error(transparent)]
    Playbook(#[from] StoreError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Settings(#[from] ConfigError),
    #[error(transparent)]
    Secrets(#[from] PatternError),
}
