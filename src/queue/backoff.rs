//! Backends that failed: no job of such an account tries until the pause is over.
//!
//! Backend, base URL and key are parked as one. The pause doubles with each failure, up
//! to six hours, unless the server said how long to stay away. A refused key or login is
//! tried again when it changes, when the user says `playbook jobs retry`, and whenever a
//! session comes and ten minutes are over: it may work again.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::context::Worker;
use super::outcome::{Outcome, is_for_settings};
use super::progress::Job;
use super::status::Status;
use crate::backend::FailureKind;
use crate::fsx::{self, FsError};
use crate::paths::Paths;

/// The longest pause; what is due later than that was written before the clock went back.
pub(super) const MAX_PAUSE: SignedDuration = SignedDuration::from_hours(6);
/// The first pause of what fails; it doubles each time.
pub(super) const FIRST_PAUSE: SignedDuration = SignedDuration::from_mins(1);
/// The shortest pause: a server that says "now" and fails again must not be hammered.
const MIN_PAUSE: SignedDuration = SignedDuration::from_secs(1);
const REFUSED: SignedDuration = SignedDuration::from_mins(10);
const MAX_FILE: u64 = 1 << 20;
/// The number of days that a waiting job is kept before it moves to `failed/`.
pub(super) const KEEP_DAYS: i64 = 30;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Backoff {
    accounts: BTreeMap<String, Parked>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parked {
    pub(crate) reason: String,
    pub(crate) until: Timestamp,
    pub(crate) pause_ms: i64,
    pub(crate) is_budget: bool,
    pub(crate) login: Option<String>,
    /// The remedy for a refused key or login: a command and its effect.
    pub(crate) remedy: Option<(String, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The first pause, or double the last one.
    Doubling,
    Told(SignedDuration),
    /// Until then, whatever failed before: a budget of the day is used up.
    Until(Timestamp),
    Refused,
}

impl Backoff {
    pub(crate) fn read(paths: &Paths) -> Self {
        fsx::read_json(&paths.parked(), MAX_FILE).unwrap_or_default()
    }

    pub(crate) fn write(&self, paths: &Paths) -> Result<(), FsError> {
        let file = paths.parked();
        fsx::quick(&file, &fsx::to_json(&file, self)?)
    }

    pub(crate) fn parked(&self, account: &str, now: Timestamp) -> Option<&Parked> {
        let parked = self.accounts.get(account);
        parked.filter(|parked| is_ahead(parked.until, now))
    }

    /// Returns `true` if `account` may try again with one job, as it has not succeeded yet.
    pub(crate) fn is_on_trial(&self, account: &str, now: Timestamp) -> bool {
        self.accounts.contains_key(account) && self.parked(account, now).is_none()
    }

    /// Parks an account after a failure. Of several calls that fail together the first one counts.
    pub(crate) fn park(
        &mut self,
        account: &str,
        reason: &str,
        pause: Pause,
        now: Timestamp,
    ) -> Parked {
        if pause != Pause::Refused
            && let Some(parked) = self.parked(account, now)
        {
            return parked.clone();
        }
        // A used-up budget is no failure: the next pause is no longer for it.
        let is_budget = matches!(pause, Pause::Until(_));
        let is_failure = !is_budget && pause != Pause::Refused;
        let last = self.accounts.get(account).map_or(0, |p| p.pause_ms);
        let doubled = SignedDuration::from_millis(last.saturating_mul(2));
        let pause = match pause {
            Pause::Doubling => FIRST_PAUSE.max(doubled).min(MAX_PAUSE),
            Pause::Until(until) => until.duration_since(now).clamp(MIN_PAUSE, MAX_PAUSE),
            // "At once" is believed once, and then less and less.
            Pause::Told(told) => told.max(doubled).clamp(MIN_PAUSE, MAX_PAUSE),
            Pause::Refused => REFUSED,
        };
        let ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        let parked = Parked {
            reason: reason.to_owned(),
            until: now.checked_add(pause).unwrap_or(Timestamp::MAX),
            pause_ms: if is_failure { ms } else { last },
            is_budget,
            login: None,
            remedy: None,
        };
        self.accounts.insert(account.to_owned(), parked.clone());
        parked
    }

    pub(crate) fn note_refusal(
        &mut self,
        account: &str,
        login: Option<&String>,
        (command, why): (&str, &str),
    ) {
        if let Some(parked) = self.accounts.get_mut(account) {
            parked.login = login.cloned();
            parked.remedy = Some((command.to_owned(), why.to_owned()));
        }
    }

    pub(crate) fn last(&self, account: &str) -> Option<&Parked> {
        self.accounts.get(account)
    }

    /// The accounts whose key or login was refused and has not worked since.
    pub(crate) fn refused(&self) -> impl Iterator<Item = (&String, &Parked)> {
        let all = self.accounts.iter();
        all.filter(|(_, parked)| parked.remedy.is_some())
    }

    /// Lets an account try again when the client is logged in otherwise than it was refused.
    pub(crate) fn welcome(&mut self, account: &str, login: &str) {
        let is_same = |parked: &Parked| parked.login.as_deref().is_none_or(|it| it == login);
        (self.accounts).retain(|name, parked| name != account || is_same(parked));
    }

    /// Lets accounts try again that only a budget holds back, as the limit may have changed.
    pub(crate) fn ask_budgets_again(&mut self) {
        self.accounts.retain(|_, parked| !parked.is_budget);
    }

    pub(crate) fn release(&mut self, account: &str) -> bool {
        self.accounts.remove(account).is_some()
    }
}

/// Returns `true` if `due` is still to come; one too far ahead is of a clock that went back.
pub(super) fn is_ahead(due: Timestamp, now: Timestamp) -> bool {
    (SignedDuration::ZERO..=MAX_PAUSE).contains(&due.duration_since(now)) && due != now
}

/// The reason of a job that another account has to answer, unless the job has its own.
pub(crate) const FOREIGN: &str = "it was made with another key, base URL or backend; `playbook jobs retry ID` gives it those of this shell";

/// Until when a job waits for itself alone.
pub(crate) fn own_pause(job: &Job) -> Option<Timestamp> {
    let waiting = job.progress.waiting.as_ref()?;
    let is_own = !waiting.for_account && !is_for_settings(&waiting.reason);
    is_own.then_some(waiting.next)
}

/// The pause of the account that a job still has to ask.
pub(crate) fn account_pause<'b>(
    job: &Job,
    backoff: &'b Backoff,
    now: Timestamp,
) -> Option<&'b Parked> {
    let need = job.ticket.need.as_ref().filter(|_| !job.is_judged())?;
    let parked = backoff.parked(&need.account(), now)?;
    // The limits of the day are not bootstrap's own.
    let is_held = !(parked.is_budget && job.agreed().is_some());
    is_held.then_some(parked)
}

impl Worker {
    /// Returns `true` if this worker may do a job: its questions are answered, its account answers
    /// them, or it is of the worker's own project and has only an older key or none yet.
    pub(crate) fn serves(&self, job: &Job) -> bool {
        if job.is_judged() {
            return true;
        }
        let is_home = self.home_project.as_ref() == Some(&job.ticket.project);
        match &job.ticket.need {
            None => is_home,
            Some(need) => self.account.answers(need, is_home),
        }
    }

    /// Gives a job the account that is going to answer it; an answered one keeps its own.
    pub(super) fn adopt(&self, mut job: Job) -> Job {
        if job.is_judged() {
            return job;
        }
        let own = &self.account.need;
        match &mut job.ticket.need {
            None => job.ticket.need = Some(own.clone()),
            Some(need) if need.is_met_by(own) => {}
            Some(need) if need.backend == own.backend => need.key.clone_from(&own.key),
            Some(need) => need.clone_from(own),
        }
        job
    }

    /// Returns when a job may be tried; `None` for now. The job must have passed
    /// [`adopt`](Self::adopt). One that waits for its account is due as soon as that may try: other
    /// credentials are another account. One that waits for its settings is tried when it is found.
    pub(super) fn due(&self, job: &Job) -> Option<Timestamp> {
        let now = self.now();
        let own = own_pause(job).filter(|next| is_ahead(*next, now));
        own.max(self.parked_until(job))
    }

    pub(super) fn parked_until(&self, job: &Job) -> Option<Timestamp> {
        account_pause(job, &self.backoff(), self.now()).map(|parked| parked.until)
    }

    pub(super) fn parked_reason(&self, job: &Job) -> Option<String> {
        let account = job.ticket.need.as_ref()?.account();
        let backoff = self.backoff();
        Some(backoff.parked(&account, self.now())?.reason.clone())
    }

    /// Returns `true` if the account of a job has failed, and this job is the one to try it.
    pub(super) fn is_trial(&self, job: &Job) -> bool {
        let on_trial = |account: &str| self.backoff().is_on_trial(account, self.now());
        let need = job.ticket.need.as_ref();
        !job.is_judged() && need.is_some_and(|need| on_trial(&need.account()))
    }

    /// Returns `true` if a job was kept for as long as one is, by a clock that has not leapt.
    pub(super) fn is_too_old(&self, job: &Job) -> bool {
        let now = self.now();
        let kept = SignedDuration::from_hours(24 * KEEP_DAYS);
        let is_over = |since: Timestamp| now.duration_since(since) > kept;
        is_over(job.kept_since())
            && !job.is_in_doubt()
            && is_over(Status::clock_goes_since(self.paths(), now))
    }

    pub(super) fn too_long(reason: Option<&str>) -> String {
        let reason = reason.map(|reason| format!(": {reason}"));
        format!("waited for {KEEP_DAYS} days{}", reason.unwrap_or_default())
    }

    pub(super) fn park_account(&self, job: &Job, reason: String, pause: Pause) -> Outcome {
        let need = job.ticket.need.as_ref();
        let until = need.map(|need| {
            let mut backoff = self.backoff();
            let parked = backoff.park(&need.account(), &reason, pause, self.now());
            self.keep(&backoff);
            parked.until
        });
        Outcome::Wait {
            reason,
            until,
            for_account: true,
        }
    }

    fn keep(&self, backoff: &Backoff) {
        let done = backoff.write(self.paths());
        self.log_error("worker", done);
    }

    pub(super) fn note_remedy(&self, job: &Job, kind: FailureKind) {
        let need = job.ticket.need.as_ref();
        if let Some(need) = need
            && let Some(remedy) = kind.remedy(need.backend)
        {
            let mut backoff = self.backoff();
            backoff.note_refusal(&need.account(), self.login.as_ref(), remedy);
            self.keep(&backoff);
        }
    }

    pub(super) fn release_account(&self, job: &Job) {
        let Some(need) = &job.ticket.need else {
            return;
        };
        let account = need.account();
        let backoff = self.backoff();
        let parked = backoff.parked(&account, self.now());
        let is_held_by_day = parked.is_some_and(|parked| parked.is_budget);
        drop(backoff);
        // What bootstrap was allowed says nothing of the limits of the day.
        if !(is_held_by_day && job.agreed().is_some()) {
            self.release(&account);
        }
    }

    pub(super) fn release(&self, account: &str) {
        let mut backoff = self.backoff();
        if backoff.release(account) {
            self.keep(&backoff);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_failing_account_pauses_twice_as_long_each_time_up_to_six_hours() {
        let mut backoff = Backoff::default();
        let mut now = at(0);
        let mut pauses = Vec::new();
        for _ in 0..11 {
            let parked = backoff.park("a", "down", Pause::Doubling, now);
            // Calls that fail together are one failure.
            assert_eq!(backoff.park("a", "down", Pause::Doubling, now), parked);
            let until = parked.until;
            pauses.push(until.duration_since(now).as_secs());
            assert!(backoff.parked("a", now).is_some() && !backoff.is_on_trial("a", now));
            assert!(backoff.parked("a", until).is_none() && backoff.is_on_trial("a", until));
            assert!(backoff.parked("b", now).is_none());
            now = until;
        }
        let expected = [
            60, 120, 240, 480, 960, 1920, 3840, 7680, 15360, 21600, 21600,
        ];
        assert_eq!(pauses, expected);
        assert!(backoff.release("a") && !backoff.is_on_trial("a", now));
        let again = backoff.park("a", "down", Pause::Doubling, now);
        assert_eq!(again.pause_ms, 60_000);
    }

    #[rstest]
    #[case::in_a_while(7, 7)]
    #[case::now(0, 1)]
    #[case::never(i64::MAX / 1_000_000, 21_600)]
    fn a_server_that_says_when_is_believed_within_reason(#[case] told: i64, #[case] until: i64) {
        let told = Pause::Told(SignedDuration::from_secs(told));
        let parked = Backoff::default().park("a", "busy", told, at(0));
        assert_eq!(parked.until, at(until));
    }

    #[test]
    fn a_server_that_says_at_once_for_ever_is_asked_less_and_less() {
        let mut backoff = Backoff::default();
        let told = Pause::Told(SignedDuration::ZERO);
        let pauses = [0, 1_000, 2_000].map(|now| backoff.park("a", "x", told, at(now)).pause_ms);
        assert_eq!(pauses, [1_000, 2_000, 4_000]);
    }

    #[test]
    fn a_used_up_budget_is_no_failure() {
        let mut backoff = Backoff::default();
        let parked = backoff.park("a", "budget", Pause::Until(at(10_000)), at(0));
        assert_eq!(parked.until, at(10_000));
        let mut later = backoff.clone();
        later.ask_budgets_again();
        assert!(later.parked("a", at(1)).is_none() && backoff.parked("a", at(1)).is_some());
        let parked = backoff.park("a", "down", Pause::Doubling, at(10_000));
        assert_eq!(parked.pause_ms, 60_000);
    }
}
