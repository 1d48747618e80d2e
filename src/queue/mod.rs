//! The worker: it does the jobs that wait in the spool, each exactly once.

pub(crate) mod allowance;
mod apply;
pub(crate) mod ask;
mod at_work;
pub(crate) mod backends;
mod board;
pub(crate) mod bootstrap;
pub(crate) mod budget;
mod by_hand;
pub(crate) mod claim;
mod claims;
pub(crate) mod dream;
mod due;
pub(crate) mod edit;
pub(crate) mod evidence;
pub(crate) mod files;
pub(crate) mod foreground;
mod gate;
mod hand_edit;
pub(crate) mod hint_index;
mod look;
mod lost;
pub(crate) mod meter;
mod notices;
mod overlooked;
pub(crate) mod parking;
pub(crate) mod progress;
mod record;
pub(crate) mod recover;
mod report;
pub(crate) mod request;
pub(crate) mod screening;
mod settle;
pub(crate) mod shop;
pub(crate) mod shown;
pub(crate) mod stages;
pub(crate) mod stop;
mod tidy;
pub(crate) mod transcripts;
mod triggers;
pub(crate) mod trust_record;
mod under_way;
mod unrecorded;
pub(crate) mod waiting;
pub(crate) mod worker;

use std::time::Duration;

// What hooks use as well.
pub(crate) use playbook_core::{job, job_id, open_session, spool, status, worker_lock};

use crate::config::ConfigError;
use crate::fsx::FsError;
use crate::memory::MemoryError;
use crate::redact::PatternError;
use crate::store::StoreError;

/// How long a playbook's lock is waited for by what cannot do without it.
const LOCK_WAIT: Duration = Duration::from_secs(60);

/// What may pass: a job that meets it waits.
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
