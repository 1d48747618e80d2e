//! What the user changed in the file itself between two jobs: it is kept, and recorded
//! as a job of its own.

use super::context::WorkerContext;
use super::job::JobId;
use super::progress::Job;
use super::record;
use super::spool::job_file;
use super::stop::Stop;
use super::surroundings::Surroundings;
use crate::playbook::diff::diff;
use crate::playbook::{Change, Playbook};
use crate::store::Snapshots;

const REASON: &str = "edited in the file";

/// Records what is different from what we left behind, before `job` changes more.
///
/// What is recorded becomes a snapshot, so that it is found once. The name it is recorded
/// under is with the job before, so that a restart records it once.
pub(super) fn notice(
    context: &WorkerContext,
    job: &mut Job,
    playbook: &Playbook,
    snapshots: &Snapshots,
    kept: usize,
) -> Result<(), Stop> {
    let changes = since_last_time(&context.surroundings, playbook, snapshots)?;
    if changes.is_empty() {
        return Ok(());
    }
    let earlier = match job.progress.hand_edit.take() {
        Some(id) if snapshots.read(id.as_str())?.is_none() => Some(id),
        _ => None,
    };
    let id = earlier.unwrap_or_else(|| JobId::new(context.now(), rand::random()));
    job.progress.hand_edit = Some(id.clone());
    context.save(job)?;
    record::hand_edit(context, job, &id, playbook, &changes)?;
    snapshots.keep(id.as_str(), &playbook.to_bytes(), kept)?;
    Ok(())
}

fn since_last_time(
    surroundings: &Surroundings,
    playbook: &Playbook,
    snapshots: &Snapshots,
) -> Result<Vec<Change>, Stop> {
    let Some(last) = snapshots.last_playbook()? else {
        return Ok(Vec::new());
    };
    // A job that was stopped between file and snapshot was not the user. One that is not
    // in the spool came with the file: from a colleague, by a checkout.
    let spool = surroundings.paths.spool();
    let mut since = playbook.applied().filter(|job| !last.is_applied(job));
    if since.any(|job| JobId::parse(job).is_some_and(|job| job_file(&spool, &job).exists())) {
        return Ok(Vec::new());
    }
    Ok(diff(&last, playbook, REASON, surroundings.now()))
}
