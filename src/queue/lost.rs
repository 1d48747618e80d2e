//! A memory that knows less than there was: deleted, moved away, or brought back from a copy.
//!
//! The playbooks keep the votes of what it knew, and the snapshots beside it tell which jobs
//! there were. What sessions said up to the last of those has counted, and never counts again.

use std::io::ErrorKind;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::QueueError;
use super::job::JobId;
use super::shop::Shop;
use super::spool::job_file;
use crate::memory::Memory;
use crate::store::{MAX_FILE_BYTES, Snapshots};

/// Notes in `memory` until when all of a project has counted, if its snapshots name a job that
/// it does not know.
pub(super) fn notice(shop: &Shop, memory: &mut Memory, project: &Path) -> Result<(), QueueError> {
    let name = project.to_string_lossy();
    if let Some(until) = lost_until(shop, memory, project)?
        && memory.begin_anew(&name, until, shop.now())?
    {
        let what = format!("the memory of {name} is new: what sessions said until {until} counted");
        shop.log("worker", &what);
    }
    Ok(())
}

/// When the newest snapshot was made whose job is neither known nor under way.
fn lost_until(
    shop: &Shop,
    memory: &Memory,
    project: &Path,
) -> Result<Option<Timestamp>, QueueError> {
    let snapshots = Snapshots::new(&shop.paths.project(project));
    let list = match snapshots.list() {
        // What is no folder holds none.
        Err(error) if error.source.kind() == ErrorKind::NotADirectory => return Ok(None),
        list => list?,
    };
    for job in list.iter().rev().map(|snapshot| &snapshot.job) {
        let id = JobId::parse(job);
        let is_under_way = id.is_some_and(|id| job_file(&shop.paths.spool(), &id).exists());
        if is_under_way || memory.job(job)?.is_some() {
            continue;
        }
        let bytes = snapshots.read(job, MAX_FILE_BYTES);
        let bytes = bytes?.unwrap_or_default();
        let playbook: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let written = playbook["last_updated"].as_str();
        if let Some(written) = written.and_then(|time| time.parse::<Timestamp>().ok()) {
            return Ok(Some(written.min(shop.now())));
        }
    }
    Ok(None)
}
