//! What of the spool is on the worker's board.

use std::io::ErrorKind;

use jiff::SignedDuration;

use super::board::Entry;
use super::job::{JOB_VERSION, JobId};
use super::progress::Job;
use super::shop::Shop;
use super::worker::Drain;
use super::{files, spool};
use crate::fsx::FsError;

const ON_DISK_BY_NOW: SignedDuration = SignedDuration::from_mins(2);

/// Why a job waits that another account is to answer, when it does not say itself.
const FOREIGN: &str = "no worker with its backend, base URL and key has run since";

impl Drain<'_> {
    /// Adds the jobs of the spool that are not on the board yet.
    ///
    /// An error is one that may pass: nothing more is begun until then.
    pub(super) fn look(&mut self) -> Result<(), FsError> {
        let spool = self.shop.paths.spool();
        for id in spool::list(&spool)? {
            if self.board.knows(&id) {
                continue;
            }
            match self.shop.job(&id) {
                Ok(job) => self.add(id, job),
                Err(error) if error.is_missing() => {}
                Err(error) if is_no_job(&error) => self.leave_alone(id, &error),
                // What it has claimed nobody knows until it can be read.
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn add(&mut self, id: JobId, job: Job) {
        let shop = self.shop;
        shop.claims().add(&job);
        let mut entry = Entry::of(&job);
        if job.ticket.v > JOB_VERSION {
            return self.board.pass_over(id, entry.since);
        }
        on_disk(shop, &job);
        if shop.is_too_old(&job) {
            return self.board.add(id, entry, None);
        }
        if !shop.serves(&job) {
            let due = shop.due(&job).unwrap_or(job.ticket.at);
            let account = job.ticket.need.as_ref().map(crate::account::Need::account);
            entry.reason.get_or_insert_with(|| FOREIGN.to_owned());
            return self
                .board
                .add_foreign(id, entry, account.unwrap_or_default(), due);
        }
        let job = shop.adopt(job);
        let due = shop.due(&job);
        if due.is_some() {
            entry.reason = self.parking_reason(&job).or(entry.reason);
        }
        self.board.add(id, entry, due);
    }

    /// A file that cannot be read as a job of ours: it stays, and what it may have claimed
    /// is not claimed again.
    fn leave_alone(&mut self, id: JobId, error: &FsError) {
        let shop = self.shop;
        shop.log(id.as_str(), &format!("left alone: {error}"));
        if let Ok(heading) = files::read_heading(&shop.paths.spool(), &id)
            && heading.v > JOB_VERSION
        {
            shop.claims().close(heading.transcript);
        }
        self.board.pass_over(id, shop.now());
    }

    pub(super) fn parking_reason(&self, job: &Job) -> Option<String> {
        let account = job.ticket.need.as_ref()?.account();
        let parking = self.shop.parking();
        parking
            .parked(&account, self.shop.now())
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
fn on_disk(shop: &Shop, job: &Job) {
    let is_fresh = shop.now().duration_since(job.ticket.at).abs() < ON_DISK_BY_NOW;
    if is_fresh && job.progress.claim.is_none() {
        let file = spool::job_file(&shop.paths.spool(), &job.ticket.id);
        shop.log_error(job.ticket.id.as_str(), crate::fsx::sync(&file));
    }
}
