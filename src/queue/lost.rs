//! A memory that knows less than there was: deleted, moved away, or brought back from a copy.
//!
//! The playbooks keep the votes of what it knew, and the snapshots beside it tell which jobs
//! there were. What sessions said up to the last of those has counted, and never counts again.
//!
//! A job that waited in the spool has not counted, whenever its session said what it said, and
//! neither has what was said in a session that is still open. Of such a session only what an
//! earlier job of its has taken counts as done; the log of reflections tells of those.

use std::io::ErrorKind;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::claim::ClaimError;
use super::context::Surroundings;
use super::job::JobId;
use super::progress::JobInProgress;
use super::spool::job_file;
use super::{QueueError, open_session};
use crate::fsx::FsError;
use crate::memory::{JobOutcome, Memory};
use crate::redact;
use crate::store::Snapshots;
use crate::telemetry;
use crate::transcript_file;

/// How the jobs ended whose part of a transcript counts as done.
const COVERS: [JobOutcome; 3] = [JobOutcome::Applied, JobOutcome::Failed, JobOutcome::Dropped];

/// Notes in `memory` until when all of a project has counted, if its snapshots name a job that
/// it does not know.
pub(super) fn notice(
    surroundings: &Surroundings,
    memory: &mut Memory,
    project: &Path,
) -> Result<(), QueueError> {
    let name = project.to_string_lossy();
    if let Some(until) = lost_until(surroundings, memory, project)?
        && memory.begin_anew(
            &name,
            until,
            &open_in(surroundings, project)?,
            surroundings.now(),
        )?
    {
        let what = format!("the memory of {name} is new: what sessions said until {until} counted");
        surroundings.log("worker", &what);
    }
    Ok(())
}

/// Until when at most what the session of a job said has counted, by a memory that is gone.
pub(super) fn counted_until(
    surroundings: &Surroundings,
    memory: &Memory,
    job: &JobInProgress,
) -> Result<Timestamp, ClaimError> {
    let ticket = &job.ticket;
    let born = ticket.at.checked_sub(SignedDuration::from_millis(1));
    let name = ticket.project.to_string_lossy();
    let lost_since = memory.begun_anew(born.unwrap_or(Timestamp::MIN))?;
    let has_waited = lost_since.iter().any(|(project, _)| *project == name);
    if !has_waited && !memory.was_open_then(&name, &ticket.session)? {
        return Ok(Timestamp::MAX);
    }
    let origins = transcript_file::beginnings(&ticket.transcript, 0, u64::MAX)
        .map_err(ClaimError::Transcript)?
        .origins;
    let sessions = std::iter::once(&ticket.session).chain(&origins);
    let sessions: Vec<String> = sessions.map(|id| redact::mask(id).into_owned()).collect();
    let last = telemetry::reflections(&surroundings.paths)
        .filter(|line| sessions.iter().any(|id| line["turn"] == id.as_str()))
        .filter(|line| {
            COVERS
                .iter()
                .any(|outcome| line["outcome"] == outcome.word())
        })
        .filter_map(|line| JobId::parse(line["job"].as_str()?)?.time())
        .max();
    // The name of a job has its second.
    let last = last.and_then(|time| time.checked_add(SignedDuration::from_secs(1)).ok());
    Ok(last.unwrap_or(Timestamp::MIN))
}

fn open_in(surroundings: &Surroundings, project: &Path) -> Result<Vec<String>, FsError> {
    let marks = open_session::all(&surroundings.paths)?.into_iter();
    let ours = marks.filter(|mark| mark.project == project);
    Ok(ours.map(|mark| mark.session).collect())
}

/// When the newest snapshot was made whose job is neither known nor under way.
fn lost_until(
    surroundings: &Surroundings,
    memory: &Memory,
    project: &Path,
) -> Result<Option<Timestamp>, QueueError> {
    let snapshots = Snapshots::new(&surroundings.paths.project(project));
    let list = match snapshots.list() {
        // What is no folder holds none.
        Err(error) if error.source.kind() == ErrorKind::NotADirectory => return Ok(None),
        list => list?,
    };
    for job in list.iter().rev().map(|snapshot| &snapshot.job) {
        let id = JobId::parse(job);
        let is_under_way = id.is_some_and(|id| job_file(&surroundings.paths.spool(), &id).exists());
        if is_under_way || memory.job(job)?.is_some() {
            continue;
        }
        let bytes = snapshots.read(job)?.unwrap_or_default();
        let playbook: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let written = playbook["last_updated"].as_str();
        if let Some(written) = written.and_then(|time| time.parse::<Timestamp>().ok()) {
            return Ok(Some(written.min(surroundings.now())));
        }
    }
    Ok(None)
}
