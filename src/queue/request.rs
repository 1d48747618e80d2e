//! What the user asks of waiting and failed jobs: tried again, or dropped.
//!
//! Job files belong to the worker, and one may be at it. So a request is a file of its
//! own, which the worker that holds the lock carries out; often that is the process that
//! made the request.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::budget::Usage;
use super::job::JobId;
use super::spool;
use crate::account::Need;
use crate::fsx::{self, FsError};
use crate::paths::Paths;

const REQUEST_VERSION: u32 = 1;
const MAX_FILE: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobRequest {
    v: u32,
    pub(crate) wish: Wish,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wish {
    Retry {
        job: JobId,
        need: Need,
        /// What a bootstrap job may spend beyond what it has spent.
        #[serde(default)]
        more: Usage,
    },
    RetryAll {
        need: Need,
    },
    Drop {
        job: JobId,
    },
}

/// Leaves a request; returns its file, which is gone when it has been carried out.
pub(crate) fn leave(paths: &Paths, now: Timestamp, wish: Wish) -> Result<PathBuf, FsError> {
    let folder = paths.requests();
    fsx::ensure_dir(&folder)?;
    let file = spool::job_file(&folder, &JobId::new(now, rand::random()));
    let request = JobRequest {
        v: REQUEST_VERSION,
        wish,
    };
    fsx::durable(&file, &fsx::to_json(&file, &request)?)?;
    Ok(file)
}

/// The requests that are there, oldest first, with their files; what is none is passed over.
pub(super) fn all(paths: &Paths) -> Result<Vec<(PathBuf, Wish)>, FsError> {
    let folder = paths.requests();
    let mut requests = Vec::new();
    for id in spool::list(&folder)? {
        let file = spool::job_file(&folder, &id);
        let request: Option<JobRequest> = fsx::read_json(&file, MAX_FILE);
        if let Some(request) = request.filter(|r| r.v == REQUEST_VERSION) {
            requests.push((file, request.wish));
        }
    }
    Ok(requests)
}
