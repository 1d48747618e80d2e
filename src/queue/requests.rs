//! Carries out what the user asks of jobs: `playbook jobs retry`, `playbook jobs drop`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio::task::block_in_place;

use super::budget::Usage;
use super::context::Worker;
use super::job::JobId;
use super::outcome::{Finish, Outcome, Step};
use super::progress::{self, Job};
use super::worker::{Drain, Running};
use super::{Result, claim, record, screening, spool};
use crate::account::Need;
use crate::fsx::{self, FsError};
use crate::memory::JobOutcome;
use crate::paths::Paths;
use crate::redact::Secrecy;

impl Drain<'_> {
    pub(super) fn requests(&mut self) -> Result<(), FsError> {
        screening::requested(self.context)?;
        for (file, wish) in all(self.context.paths())? {
            if self.context.is_settled(&file) {
                continue;
            }
            match self.fulfil(&wish) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => self.context.log("worker", &error.to_string()),
            }
            self.context.settle_request(file);
        }
        Ok(())
    }

    /// Does what is wished; `false` where it is to be looked at again.
    fn fulfil(&mut self, wish: &Wish) -> Result<bool> {
        let context = self.context;
        let (jobs, need, more) = match wish {
            Wish::Drop { job } => return self.give_up(job),
            Wish::Retry { job, .. } if self.is_running(job) => return Ok(false),
            Wish::Retry { job, need, more } => (vec![job.clone()], need, *more),
            Wish::RetryAll { need } => {
                let mut jobs = spool::list(&context.paths().failed())?;
                jobs.extend(spool::list(&context.paths().spool())?);
                // Jobs under way are being tried already.
                jobs.retain(|id| !self.is_running(id));
                (jobs, need, Usage::default())
            }
        };
        context.release(&need.account());
        self.schedule.wake();
        for id in &jobs {
            if let Err(error) = self.bring_back(id, need, more) {
                context.log(id.as_str(), &error.to_string());
            }
        }
        Ok(true)
    }

    /// Makes a waiting or failed job due now for `need`. A bootstrap job may spend `more`.
    fn bring_back(&mut self, id: &JobId, need: &Need, more: Usage) -> Result {
        let context = self.context;
        let (spool, failed) = (context.paths().spool(), context.paths().failed());
        let Some((folder, mut job)) = find(context, id)? else {
            return Ok(());
        };
        let is_ready = folder == spool && job.progress.waiting.is_none();
        if is_ready && job.ticket.need.as_ref() == Some(need) {
            return Ok(());
        }
        if !job.is_judged() {
            job.ticket.need = Some(need.clone());
        }
        if more != Usage::default() {
            let spent = Usage::of_job(&context.memory(), id.as_str())?;
            job.progress.agreed = Some([spent, more].into_iter().sum());
        }
        job.progress.waiting = None;
        job.progress.failed = None;
        job.progress.retried = Some(context.now());
        if folder == failed {
            progress::save_in(&failed, &job)?;
            progress::shift(&failed, &spool, id)?;
        } else {
            context.save(&job)?;
        }
        // The user knows of the workers that ended while they were at it.
        let put_down = self.in_flight.put_down(id);
        context.log_error(id.as_str(), put_down);
        // Its file is looked at anew, whatever was known of it.
        self.schedule.forget(id);
        self.summary.retried.push(id.clone());
        Ok(())
    }

    fn give_up(&mut self, id: &JobId) -> Result<bool> {
        let context = self.context;
        if self.not_dropped.remove(id) {
            return Ok(true);
        }
        if self.is_running(id) {
            return Ok(false);
        }
        let (folder, job) = match find(context, id) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(true),
            // The user means the file: what it claimed nobody can tell.
            Err(_) => {
                for folder in [context.paths().spool(), context.paths().failed()] {
                    progress::remove(&folder, id)?;
                }
                self.schedule.forget(id);
                return Ok(true);
            }
        };
        self.schedule.set_aside(id);
        let task = {
            let context = Arc::clone(context);
            async move { drop_job(&context, job, folder).await }
        };
        let running = Running {
            id: id.clone(),
            is_trial: false,
            is_edit: false,
            is_bootstrap: false,
        };
        self.spawn(running, task);
        // Over when the job is gone.
        Ok(false)
    }
}

fn find(context: &Worker, id: &JobId) -> Result<Option<(PathBuf, Job)>, FsError> {
    let (spool, failed) = (context.paths().spool(), context.paths().failed());
    let found = match context.job(id) {
        Err(error) if error.is_missing() => progress::read(&failed, id).map(|job| (failed, job)),
        job => job.map(|job| (spool, job)),
    };
    match found {
        Err(error) if error.is_missing() => Ok(None),
        found => found.map(Some),
    }
}

async fn drop_job(context: &Worker, mut job: Job, folder: PathBuf) -> Outcome {
    let project = context.alone(&job.ticket.project);
    let _alone = project.lock().await;
    let transcript = context.alone(&job.ticket.transcript);
    let _alone = transcript.lock().await;
    match block_in_place(|| give_up(context, &mut job, &folder)) {
        Ok(finish) => Outcome::Done(finish),
        Err(why) => {
            let why = why.into_reason();
            context.log(job.ticket.id.as_str(), &format!("not dropped: {why}"));
            Outcome::Fail(why)
        }
    }
}

/// Removes a job permanently; its part of the transcript counts as done.
fn give_up(context: &Worker, job: &mut Job, folder: &Path) -> Step<Finish> {
    let id = job.ticket.id.as_str();
    if job.is_in_doubt() && job.store(context.paths()).load()?.is_applied(id) {
        return Err(Outcome::Fail("the playbook holds its changes".to_owned()));
    }
    if job.progress.claim.is_none() && job.is_of_session() {
        match claim::claim(job, context, Secrecy::default()) {
            Ok(part) => job.progress.claim = part.map(|(claim, _)| claim),
            // There is nothing left that could come back.
            Err(claim::ClaimError::Transcript(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    job.progress.changes = None;
    let finish = Finish::new(JobOutcome::Dropped, "by the user");
    record::given_up(context, job, &finish, folder)?;
    Ok(finish)
}

const REQUEST_VERSION: u32 = 1;
const MAX_FILE: u64 = 1 << 20;

/// A wish in a file of its own: job files belong to the worker, and one may be at it. The worker
/// that holds the lock carries it out, which is often the process that left it.
#[derive(Debug, Serialize, Deserialize)]
struct JobRequest {
    v: u32,
    wish: Wish,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Wish {
    Retry {
        job: JobId,
        need: Need,
        /// The budget of a bootstrap job in addition to what it has spent.
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

/// Returns the requests, oldest first, with their files; other files are passed over.
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
