//! `playbook undo JOB`: takes back what a job did.

use super::args;
use super::hand;
use super::output::{Hinted, plain};
use super::session::{PATIENCE, Session};
use crate::queue::edit::Edit;
use crate::queue::files;
use crate::queue::job::JobId;
use crate::store::Store;

pub(super) fn run(args: &args::Undo) -> anyhow::Result<()> {
    let id = JobId::parse(&args.job).ok_or_else(|| Hinted {
        what: format!("not a job id: {}", plain(&args.job)),
        hint: "`playbook log` lists the jobs of this project",
    })?;
    finish_first(&Session::on(&args.on)?, &id)?;
    hand::run(&args.on, &Edit::Undo { job: id })
}

/// Sees a job to its end that was applied and then stopped; one that waits is told.
fn finish_first(session: &Session, id: &JobId) -> anyhow::Result<()> {
    let Ok(job) = files::read(&session.paths.spool(), id) else {
        return Ok(());
    };
    let playbook = Store::of(&session.paths, &job.ticket.project).load()?;
    if !job.progress.is_applied && !playbook.is_applied(id.as_str()) {
        return Err(Hinted::error(
            format!("job {id} has not been applied yet"),
            "`playbook jobs` says what it waits for",
        ));
    }
    Session::see_through(session.shop()?, id, PATIENCE)?;
    Ok(())
}
