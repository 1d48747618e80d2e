//! When a job may be tried, and by which worker.

use jiff::{SignedDuration, Timestamp};

use super::backoff::{Backoff, Parked, Pause, is_ahead};
use super::context::WorkerContext;
use super::progress::JobInProgress;
use super::status::Status;
use super::waiting::is_for_settings;
use crate::backend::FailureKind;

/// Why a job waits that another account is to answer, when it does not say itself.
pub(crate) const FOREIGN: &str = "it was made with another key, base URL or backend; `playbook jobs retry` gives it those of this shell";

/// Until when a job waits for itself alone.
pub(crate) fn own_pause(job: &JobInProgress) -> Option<Timestamp> {
    let waiting = job.progress.waiting.as_ref()?;
    let is_own = !waiting.for_account && !is_for_settings(waiting);
    is_own.then_some(waiting.next)
}

/// The pause of the account that a job still has to ask.
pub(crate) fn account_pause<'b>(
    job: &JobInProgress,
    backoff: &'b Backoff,
    now: Timestamp,
) -> Option<&'b Parked> {
    let need = job.ticket.need.as_ref().filter(|_| !job.is_judged())?;
    let parked = backoff.parked(&need.account(), now)?;
    // The limits of the day are not bootstrap's own.
    let is_held = !(parked.is_budget && job.agreed().is_some());
    is_held.then_some(parked)
}

impl WorkerContext {
    /// Tells whether this worker may do a job: nobody is asked any more, its account answers
    /// it, or it is a job of the worker's own project that only has an older key, or none yet.
    pub(crate) fn serves(&self, job: &JobInProgress) -> bool {
        if job.is_judged() {
            return true;
        }
        let is_home = self.surroundings.home_project.as_ref() == Some(&job.ticket.project);
        match &job.ticket.need {
            None => is_home,
            Some(need) => self.surroundings.account.answers(need, is_home),
        }
    }

    /// Gives a job the account that is going to answer it; what is judged keeps the one that
    /// did.
    pub(super) fn adopt(&self, mut job: JobInProgress) -> JobInProgress {
        if job.is_judged() {
            return job;
        }
        let own = &self.surroundings.account.need;
        match &mut job.ticket.need {
            None => job.ticket.need = Some(own.clone()),
            Some(need) if need.is_met_by(own) => {}
            Some(need) if need.backend == own.backend => need.key.clone_from(&own.key),
            Some(need) => need.clone_from(own),
        }
        job
    }

    /// When a job may be tried; `None` when that is now.
    ///
    /// The job is one that [`adopt`](Self::adopt) has seen. What waits for its account is
    /// due as soon as that may try: other credentials are another account. What waits for
    /// its settings is tried whenever a worker finds it.
    pub(super) fn due(&self, job: &JobInProgress) -> Option<Timestamp> {
        let now = self.now();
        let own = own_pause(job).filter(|next| is_ahead(*next, now));
        own.max(self.parked_until(job))
    }

    pub(super) fn parked_until(&self, job: &JobInProgress) -> Option<Timestamp> {
        account_pause(job, &self.backoff(), self.now()).map(|parked| parked.until)
    }

    /// Tells whether the account of a job has failed, and this job is the one to try it.
    pub(super) fn is_trial(&self, job: &JobInProgress) -> bool {
        let on_trial = |account: &str| self.backoff().is_on_trial(account, self.now());
        let need = job.ticket.need.as_ref();
        !job.is_judged() && need.is_some_and(|need| on_trial(&need.account()))
    }

    /// Tells whether a job was kept for as long as one is, by a clock that has not leapt.
    pub(super) fn is_too_old(&self, job: &JobInProgress) -> bool {
        let days = i64::from(self.surroundings.config.worker.keep_days);
        let now = self.now();
        let is_over =
            |since: Timestamp| now.duration_since(since) > SignedDuration::from_hours(24 * days);
        is_over(job.kept_since())
            && !job.is_in_doubt()
            && is_over(Status::clock_goes_since(self.paths(), now))
    }

    /// Why a job has failed that is too old, and last waited for `reason`.
    pub(super) fn too_long(&self, reason: Option<&str>) -> String {
        let days = self.surroundings.config.worker.keep_days;
        let reason = reason.map(|reason| format!(": {reason}"));
        format!("waited for {days} days{}", reason.unwrap_or_default())
    }

    pub(super) fn park_account(
        &self,
        job: &JobInProgress,
        reason: &str,
        pause: Pause,
    ) -> Option<Timestamp> {
        let account = job.ticket.need.as_ref()?.account();
        let mut backoff = self.backoff();
        let parked = backoff.park(&account, reason, pause, self.now());
        self.surroundings
            .log_error("worker", backoff.write(self.paths()));
        Some(parked.until)
    }

    /// Notes with the account of a job what helps against its failure, which is then told
    /// until it works.
    pub(super) fn note_remedy(&self, job: &JobInProgress, kind: FailureKind) {
        let need = job.ticket.need.as_ref();
        if let Some(need) = need
            && let Some(remedy) = kind.remedy(need.backend)
        {
            let mut backoff = self.backoff();
            backoff.note_refusal(&need.account(), self.surroundings.login.as_ref(), remedy);
            self.surroundings
                .log_error("worker", backoff.write(self.paths()));
        }
    }

    pub(super) fn release_account(&self, job: &JobInProgress) {
        let Some(need) = &job.ticket.need else {
            return;
        };
        let account = need.account();
        let is_held_by_day = self
            .backoff()
            .parked(&account, self.now())
            .is_some_and(|parked| parked.is_budget);
        // What bootstrap was allowed says nothing of the limits of the day.
        if !(is_held_by_day && job.agreed().is_some()) {
            self.release(&account);
        }
    }

    pub(super) fn release(&self, account: &str) {
        let mut backoff = self.backoff();
        if backoff.release(account) {
            self.surroundings
                .log_error("worker", backoff.write(self.paths()));
        }
    }
}
