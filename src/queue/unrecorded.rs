//! Jobs that were stopped between file and record: an undo must know of them.

use std::time::Duration;

use super::LOCK_WAIT;
use super::apply::keep_if_missing;
use super::context::WorkerContext;
use super::evidence::SessionEvidence;
use super::job::JOB_VERSION;
use super::progress::Job;
use super::stop::{Finish, Stop};
use super::surroundings::Surroundings;
use super::{files, record, spool};
use crate::config::Config;
use crate::store::{Snapshots, Store};

/// Records what was applied to the playbook of `undo` and is still in the spool.
///
/// The caller holds the project, so that none of these jobs is being worked on.
pub(super) fn record_first(
    context: &WorkerContext,
    undo: &Job,
    config: &Config,
) -> Result<(), Stop> {
    let project = &undo.ticket.project;
    let snapshots = Snapshots::new(&context.paths().project(project));
    let store = Store::of(context.paths(), project);
    let locked = store.lock(LOCK_WAIT)?;
    let playbook = locked.load()?;
    let spool = context.paths().spool();
    for id in spool::list(&spool)? {
        // A file that is no job is left alone.
        let Ok(job) = files::read(&spool, &id) else {
            continue;
        };
        let is_ours = job.ticket.v <= JOB_VERSION && job.ticket.project == *project;
        if !is_ours || id == undo.ticket.id {
            continue;
        }
        if playbook.is_applied(id.as_str()) {
            let kept = config.playbook.snapshots;
            keep_if_missing(&snapshots, id.as_str(), &playbook, kept)?;
        } else if !job.progress.is_applied {
            continue;
        }
        let session = session(&context.surroundings, &job);
        let finish = Finish::applied(&job);
        let took = Duration::ZERO;
        record::applied(context, &job, session.as_ref(), config, &finish, took)?;
    }
    Ok(())
}

/// What the session of a job showed; a job whose evidence cannot be read teaches nothing
/// more.
fn session(surroundings: &Surroundings, job: &Job) -> Option<SessionEvidence> {
    if !job.progress.has_evidence {
        return None;
    }
    match files::read_evidence(&surroundings.paths, &job.ticket.id) {
        Ok(session) => Some(session),
        Err(error) => {
            surroundings.log(job.ticket.id.as_str(), &error.to_string());
            None
        }
    }
}
