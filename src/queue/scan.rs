//! Reads the spool: which of its jobs the worker has to schedule.

use std::io::ErrorKind;

use jiff::SignedDuration;

use super::drain::Drain;
use super::due::FOREIGN;
use super::job::{JOB_VERSION, JobId};
use super::progress::JobInProgress;
use super::schedule::ScheduledJob;
use super::surroundings::Surroundings;
use super::{files, spool};
use crate::fsx::FsError;

const ON_DISK_BY_NOW: SignedDuration = SignedDuration::from_mins(2);

impl Drain<'_> {
    /// Adds the jobs of the spool that are not on the schedule yet.
    ///
    /// An error is one that may pass: nothing more is begun until then.
    pub(super) fn look(&mut self) -> Result<(), FsError> {
        let spool = self.context.paths().spool();
        for id in spool::list(&spool)? {
            if self.schedule.knows(&id) {
                continue;
            }
            match self.context.job(&id) {
                Ok(job) => self.add(id, job),
                Err(error) if error.is_missing() => {}
                Err(error) if is_no_job(&error) => self.leave_alone(id, &error),
                // What it has claimed nobody knows until it can be read.
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn add(&mut self, id: JobId, job: JobInProgress) {
        let context = self.context;
        context.claims().add(&job);
        let mut entry = ScheduledJob::of(&job);
        if job.ticket.v > JOB_VERSION {
            return self.schedule.pass_over(id, entry.since);
        }
        if self.scope.wanted().is_none_or(|wanted| *wanted == id) {
            on_disk(&context.surroundings, &job);
        }
        if context.is_too_old(&job) {
            return self.schedule.add(id, entry, None);
        }
        if !context.serves(&job) {
            let due = context.due(&job).unwrap_or(job.ticket.at);
            let account = job.ticket.need.as_ref().map(crate::account::Need::account);
            entry.reason.get_or_insert_with(|| FOREIGN.to_owned());
            return self
                .schedule
                .add_foreign(id, entry, account.unwrap_or_default(), due);
        }
        let job = context.adopt(job);
        let due = context.due(&job);
        if due.is_some() {
            entry.reason = self.backoff_reason(&job).or(entry.reason);
        }
        self.schedule.add(id, entry, due);
    }

    /// A file that cannot be read as a job of ours: it stays, and what it may have claimed
    /// is not claimed again.
    fn leave_alone(&mut self, id: JobId, error: &FsError) {
        let context = self.context;
        context.log(id.as_str(), &format!("left alone: {error}"));
        if let Ok(heading) = files::read_heading(&context.paths().spool(), &id)
            && heading.v > JOB_VERSION
        {
            context.claims().close(heading.transcript);
        }
        self.schedule.pass_over(id, context.now());
    }

    pub(super) fn backoff_reason(&self, job: &JobInProgress) -> Option<String> {
        let account = job.ticket.need.as_ref()?.account();
        let backoff = self.context.backoff();
        backoff
            .parked(&account, self.context.now())
            .map(|parked| parked.reason.clone())
    }
}

/// Tells whether a file is no job of this user's, and will not become one by itself; what
/// else keeps it from being read may pass.
fn is_no_job(error: &FsError) -> bool {
    use ErrorKind::{InvalidData, IsADirectory, Other, PermissionDenied, UnexpectedEof};
    let kind = error.source.kind();
    let is_known = [
        InvalidData,
        UnexpectedEof,
        Other,
        IsADirectory,
        PermissionDenied,
    ];
    is_known.contains(&kind) || error.is_link_loop()
}

/// Sees to it that a new job is on the disk: the hook that wrote it did not wait for that,
/// and took the session's mark away.
fn on_disk(surroundings: &Surroundings, job: &JobInProgress) {
    let is_fresh = surroundings.now().duration_since(job.ticket.at).abs() < ON_DISK_BY_NOW;
    if is_fresh && job.progress.claim.is_none() {
        let file = spool::job_file(&surroundings.paths.spool(), &job.ticket.id);
        surroundings.log_error(job.ticket.id.as_str(), crate::fsx::sync(&file));
    }
}
