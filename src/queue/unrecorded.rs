//! Jobs that were stopped between apply and record: an undo must know of them.

use std::time::Duration;

use super::job::JOB_VERSION;
use super::progress::Job;
use super::shop::Shop;
use super::stages::{Finish, Stop};
use super::{files, record, spool};
use crate::paths::playbook_file;
use crate::playbook::store::Store;

/// Records what was applied to the playbook of `undo` and is still in the spool.
///
/// The caller holds the project, so that none of these jobs is being worked on.
pub(super) fn record_first(shop: &Shop, undo: &Job) -> Result<(), Stop> {
    let playbook = Store::new(playbook_file(&undo.ticket.project)).load()?;
    let spool = shop.paths.spool();
    for id in spool::list(&spool)? {
        // A file that is no job is left alone.
        let Ok(job) = files::read(&spool, &id) else {
            continue;
        };
        let is_ours = job.ticket.v <= JOB_VERSION && job.ticket.project == undo.ticket.project;
        let is_applied = job.progress.is_applied || playbook.is_applied(id.as_str());
        if is_ours && is_applied && id != undo.ticket.id {
            record::applied(shop, &job, &Finish::applied(&job), Duration::ZERO)?;
        }
    }
    Ok(())
}
