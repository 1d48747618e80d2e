//! Carries out what the user asks of jobs: `playbook jobs retry`, `playbook jobs drop`.

use std::path::PathBuf;
use std::sync::Arc;

use tokio::task::block_in_place;

use super::job::JobId;
use super::progress::Job;
use super::request::{self, Wish};
use super::shop::Shop;
use super::stop::{End, Finish, Stop};
use super::worker::Drain;
use super::{claim, files, record, spool, trust_record};
use crate::account::Need;
use crate::fsx::FsError;
use crate::memory::Outcome;
use crate::redact::Secrecy;

enum Fulfilled {
    Yes,
    NotYet,
}

impl Drain<'_> {
    pub(super) fn requests(&mut self) -> Result<(), FsError> {
        trust_record::requested(self.shop)?;
        for (file, wish) in request::all(&self.shop.paths)? {
            if self.shop.is_settled(&file) {
                continue;
            }
            let done = match &wish {
                Wish::Retry { job, need } => self.retry(job, need),
                Wish::RetryAll { need } => self.retry_all(need),
                Wish::Drop { job } => self.give_up(job),
            };
            match done {
                Ok(Fulfilled::Yes) => {}
                Ok(Fulfilled::NotYet) => continue,
                Err(error) => self.shop.log("worker", &error.to_string()),
            }
            self.shop.settle_request(file);
        }
        Ok(())
    }

    fn retry(&mut self, id: &JobId, need: &Need) -> Result<Fulfilled, FsError> {
        if self.is_running(id) {
            return Ok(Fulfilled::NotYet);
        }
        self.shop.release(&need.account());
        self.board.wake();
        self.bring_back(id, need)?;
        Ok(Fulfilled::Yes)
    }

    /// Jobs under way are being tried already.
    fn retry_all(&mut self, need: &Need) -> Result<Fulfilled, FsError> {
        let shop = self.shop;
        shop.release(&need.account());
        self.board.wake();
        let failed = spool::list(&shop.paths.failed())?;
        for id in failed.iter().chain(&spool::list(&shop.paths.spool())?) {
            if !self.is_running(id)
                && let Err(error) = self.bring_back(id, need)
            {
                shop.log(id.as_str(), &error.to_string());
            }
        }
        Ok(Fulfilled::Yes)
    }

    /// Makes a job that waits or has failed one that is due now, for `need` to answer.
    fn bring_back(&mut self, id: &JobId, need: &Need) -> Result<(), FsError> {
        let shop = self.shop;
        let (spool, failed) = (shop.paths.spool(), shop.paths.failed());
        let Some((folder, mut job)) = find(shop, id)? else {
            return Ok(());
        };
        let is_ready = folder == spool && job.progress.waiting.is_none();
        if is_ready && job.ticket.need.as_ref() == Some(need) {
            return Ok(());
        }
        if !job.is_judged() {
            job.ticket.need = Some(need.clone());
        }
        job.progress.waiting = None;
        job.progress.failed = None;
        job.progress.retried = Some(shop.now());
        if folder == failed {
            files::save_in(&failed, &job)?;
            files::shift(&failed, &spool, id)?;
        } else {
            shop.save(&job)?;
        }
        // Its file is looked at anew, whatever was known of it.
        self.board.forget(id);
        self.summary.retried.push(id.clone());
        Ok(())
    }

    fn give_up(&mut self, id: &JobId) -> Result<Fulfilled, FsError> {
        let shop = self.shop;
        if self.not_dropped.remove(id) {
            return Ok(Fulfilled::Yes);
        }
        if self.is_running(id) {
            return Ok(Fulfilled::NotYet);
        }
        let (folder, job) = match find(shop, id) {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(Fulfilled::Yes),
            // The user means the file: what it claimed nobody can tell.
            Err(_) => {
                for folder in [shop.paths.spool(), shop.paths.failed()] {
                    files::remove(&folder, id)?;
                }
                self.board.forget(id);
                return Ok(Fulfilled::Yes);
            }
        };
        self.board.set_aside(id);
        let task = {
            let shop = Arc::clone(shop);
            async move { drop_job(&shop, job, folder).await }
        };
        self.spawn(id.clone(), false, task);
        // Over when the job is gone.
        Ok(Fulfilled::NotYet)
    }
}

fn find(shop: &Shop, id: &JobId) -> Result<Option<(PathBuf, Job)>, FsError> {
    let (spool, failed) = (shop.paths.spool(), shop.paths.failed());
    let found = match shop.job(id) {
        Err(error) if error.is_missing() => files::read(&failed, id).map(|job| (failed, job)),
        job => job.map(|job| (spool, job)),
    };
    match found {
        Err(error) if error.is_missing() => Ok(None),
        found => found.map(Some),
    }
}

async fn drop_job(shop: &Shop, mut job: Job, folder: PathBuf) -> End {
    let project = shop.alone(&job.ticket.project);
    let _alone = project.lock().await;
    let transcript = shop.alone(&job.ticket.transcript);
    let _alone = transcript.lock().await;
    let finish = Finish {
        outcome: Outcome::Dropped,
        reason: "by the user".to_owned(),
    };
    match block_in_place(|| give_up(shop, &mut job, finish, &folder)) {
        Ok(finish) => End::Gone(finish),
        Err(why) => {
            let line = format!("not dropped: {}", why.into_reason());
            shop.log(job.ticket.id.as_str(), &line);
            End::Stays
        }
    }
}

/// Removes a job for good: its part of the transcript counts as done, its records as
/// known, so that nothing of it comes back.
pub(super) fn give_up(
    shop: &Shop,
    job: &mut Job,
    finish: Finish,
    folder: &std::path::Path,
) -> Result<Finish, Stop> {
    let id = job.ticket.id.as_str();
    if job.is_in_doubt() && job.store(&shop.paths).load()?.is_applied(id) {
        return Err(Stop::Fails("the playbook holds its changes".to_owned()));
    }
    if job.progress.claim.is_none() {
        match claim::claim(job, shop, Secrecy::default()) {
            Ok(claim::Claimed::Part(claim, _)) => job.progress.claim = Some(claim),
            // There is nothing left that could come back.
            Ok(claim::Claimed::NothingNew) | Err(claim::ClaimError::Transcript(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    job.progress.changes = None;
    record::given_up(shop, job, &finish, folder)?;
    Ok(finish)
}
