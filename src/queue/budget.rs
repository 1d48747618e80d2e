//! The budgets, and the consequences when they are used up: pure arithmetic on the ledger.

use std::iter::Sum;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};
use tokio::task::block_in_place;

use super::context::Worker;
use super::job::JobId;
use super::progress::{Job, Paid};
use crate::backend::{
    Ask, Backend, BackendFailure, BackendName, BackendReply, BackendResult, FailureKind,
    TokenCount, fixture_key, prompt_hash,
};
use crate::config::{Budgets, Config, ConfigError};
use crate::memory::{BudgetKind, Memory, MemoryError, ModelCall, Spending};
use crate::transcript::estimate_tokens;

/// The reason of a job that was not done in its time (spec/2, section 6).
pub(crate) const TIMEOUT: &str = "reflection_timeout";

#[derive(Debug, thiserror::Error)]
pub(crate) enum Hold {
    #[error("reflection is switched off")]
    SwitchedOff,
    #[error("{}", super::outcome::reason_of(.0))]
    Settings(#[from] ConfigError),
    #[error("{TIMEOUT}: not done within `budgets.time_ms`")]
    Time {
        /// `true` if a model was asked without a usable answer.
        asked: bool,
    },
    #[error("budget: {0}")]
    Job(String),
    #[error("budget: {reason}")]
    Day {
        reason: String,
        until: Timestamp,
        for_all: bool,
    },
    #[error(
        "budget: what you agreed to for `playbook bootstrap` is used up; run it again to agree \
         to more"
    )]
    Agreed,
    #[error(transparent)]
    Ledger(#[from] MemoryError),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) calls: u64,
    pub(crate) tokens: u64,
}

impl Usage {
    pub(crate) fn of<'a>(rows: impl IntoIterator<Item = &'a Spending>) -> Self {
        let of_row = |row: &Spending| Self {
            calls: row.attempts,
            tokens: row.input_tokens + row.output_tokens,
        };
        rows.into_iter().map(of_row).sum()
    }

    /// Returns what a job has spent on answers: a request that had none costs nothing.
    pub(super) fn of_job(memory: &Memory, job: &str) -> Result<Self, MemoryError> {
        let (calls, tokens) = memory.answered_calls(job)?;
        Ok(Self { calls, tokens })
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), |sum, more| Self {
            calls: sum.calls.saturating_add(more.calls),
            tokens: sum.tokens.saturating_add(more.tokens),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Day {
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

impl Day {
    pub(crate) fn of(now: Timestamp) -> Self {
        Self::at(now, TimeZone::system())
    }

    fn at(now: Timestamp, zone: TimeZone) -> Self {
        let today = now.to_zoned(zone);
        let start = today.start_of_day().unwrap_or_else(|_| today.clone());
        // A day may have 23 or 25 hours.
        let end = start
            .checked_add(1.day())
            .and_then(|next| next.start_of_day());
        Self {
            start: start.timestamp(),
            end: end.map_or(Timestamp::MAX, |end| end.timestamp()),
        }
    }

    pub(crate) fn back(self, days: i64) -> Timestamp {
        let start = self.start.to_zoned(TimeZone::system());
        let earlier = start.checked_sub(days.days());
        earlier.map_or(Timestamp::MIN, |earlier| earlier.timestamp())
    }
}

/// Takes `spent` from the ledger, and `pending` for calls under way. No call begins once the tokens
/// are used up; the last one may exceed them by what it costs.
fn calls_left(
    spent: Usage,
    pending: Usage,
    limits: &Budgets,
    day: Day,
    for_all: bool,
) -> Result<u32, Hold> {
    let held = |what: &str, spent: u64, limit: u64, key: &str| {
        let whose = if for_all { "" } else { " of this project" };
        Hold::Day {
            reason: format!("{spent} {what} today{whose}, `{key}` is {limit}"),
            until: day.end,
            for_all,
        }
    };
    let tokens = spent.tokens + pending.tokens;
    if let Some(limit) = limits.tokens_per_day.get()
        && tokens >= limit
    {
        return Err(held("tokens", tokens, limit, "budgets.tokens_per_day"));
    }
    let calls = spent.calls + pending.calls;
    let Some(limit) = limits.calls_per_day.get() else {
        return Ok(u32::MAX);
    };
    match limit.saturating_sub(calls) {
        0 => Err(held("calls", calls, limit, "budgets.calls_per_day")),
        left => Ok(u32::try_from(left).unwrap_or(u32::MAX)),
    }
}

/// The tokens that `claude -p` may add to our question and use for thinking.
const CLIENTS_OWN: u64 = 64_000;

#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) id: String,
    pub(crate) project: PathBuf,
    pub(crate) spent: u64,
    /// The amount that the user agreed to, in addition to the limits of the day.
    pub(crate) agreed: Option<Usage>,
}

impl Caller {
    /// Returns a caller that is no job: a command of the user's, or the gate.
    pub(crate) fn without_job(project: &Path, now: Timestamp) -> Self {
        Self {
            id: JobId::new(now, rand::random()).to_string(),
            project: project.to_owned(),
            spent: 0,
            agreed: None,
        }
    }

    pub(super) fn job(job: &Job) -> Self {
        let tokens = job.progress.spent.tokens();
        Self {
            id: job.ticket.id.to_string(),
            project: job.ticket.project.clone(),
            spent: tokens.input + tokens.output,
            agreed: job.agreed(),
        }
    }
}

/// A backend that notes the cost of each call and first asks whether it may be made. That includes
/// a second call after a useless reply: by then the project may be switched off, or a budget used
/// up. A call that is held back costs nothing.
pub(crate) struct Meter<'a> {
    backend: Box<dyn Backend + 'a>,
    context: &'a Worker,
    caller: Caller,
    state: Mutex<MeterState>,
}

#[derive(Default)]
struct MeterState {
    paid: Vec<Paid>,
    hold: Option<Hold>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(backend: Box<dyn Backend + 'a>, context: &'a Worker, caller: Caller) -> Self {
        Self {
            backend,
            context,
            caller,
            state: Mutex::default(),
        }
    }

    pub(crate) fn read(self) -> (Vec<Paid>, Option<Hold>) {
        let state = self.state.into_inner();
        let state = state.unwrap_or_else(PoisonError::into_inner);
        (state.paid, state.hold)
    }

    fn state(&self) -> MutexGuard<'_, MeterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whether a call may be made; it takes its place in the day's budget with that.
    fn permit(&self, ask: &Ask<'_>) -> Result<RoomTaken<'_>, Hold> {
        let config = self.context.config_for(&self.caller.project)?;
        if is_over(ask.deadline) {
            return Err(Hold::Time { asked: false });
        }
        if self.backend.name().is_offline() {
            return Ok(RoomTaken::free());
        }
        if !config.reflection.enabled {
            return Err(Hold::SwitchedOff);
        }
        let tokens = estimate_tokens(ask.system) + estimate_tokens(ask.prompt);
        let spent = self.caller.spent + self.state().paid.iter().map(Paid::total).sum::<u64>();
        let (limit, would) = (config.budgets.tokens, spent + tokens);
        if !limit.allows(would) {
            let limit = limit.get().unwrap_or_default();
            let why = format!("the job would take {would} tokens, `budgets.tokens` is {limit}");
            return Err(Hold::Job(why));
        }
        if let Some(agreed) = self.caller.agreed {
            let spent = Usage::of_job(&self.context.memory(), &self.caller.id)?;
            let has_room = spent.calls < agreed.calls && spent.tokens < agreed.tokens;
            return has_room.then(RoomTaken::free).ok_or(Hold::Agreed);
        }
        let wanted = match self.backend.name() {
            BackendName::Anthropic | BackendName::Openai => config.retry.attempts,
            _ => 1,
        };
        let room = |open_calls| Ok(self.room(&config, open_calls)?.min(wanted));
        self.context.open_calls.take(tokens, room)
    }

    fn room(&self, config: &Config, open_calls: Usage) -> Result<u32, Hold> {
        let project = &self.caller.project;
        let day = Day::of(self.context.now());
        let memory = self.context.memory();
        let spent = memory.spending(BudgetKind::Day, day.start, day.end)?;
        drop(memory);
        let user = crate::config::load(&self.context.paths().config_file())?;
        let name = project.to_string_lossy();
        let all = Usage::of(&spent);
        let own = Usage::of(spent.iter().filter(|row| row.project == name));
        let calls = calls_left(all, open_calls, &user.budgets, day, true)?;
        let of_project = calls_left(own, open_calls, &config.budgets, day, false)?;
        Ok(calls.min(of_project))
    }

    fn note(&self, ask: &Ask<'_>, result: &Result<BackendReply, BackendFailure>, now: Timestamp) {
        let (model, tokens, attempts) = match result {
            Ok(reply) => (reply.model.as_str(), reply.tokens, reply.attempts),
            Err(failure) => (ask.model, failure.tokens, failure.attempts),
        };
        if attempts == 0 {
            return;
        }
        let backend = self.backend.name();
        let tokens = believed(ask, backend, tokens);
        let mut paid = Paid {
            seq: 0,
            step: ask.step,
            time: now,
            backend,
            model: model.to_owned(),
            attempts,
            tokens,
            fixture_key: (backend == BackendName::Fixtures)
                .then(|| fixture_key(&prompt_hash(ask)).to_owned()),
        };
        if !backend.is_offline()
            && let Err(error) = self.enter(&mut paid)
        {
            // The job's own record brings it once more.
            self.context.log(&self.caller.id, &error.to_string());
        }
        self.state().paid.push(paid);
    }

    fn enter(&self, paid: &mut Paid) -> Result<(), crate::memory::MemoryError> {
        let mut memory = self.context.memory();
        paid.seq = memory.next_call(&self.caller.id)?;
        let project = self.caller.project.to_string_lossy();
        let agreed = self.caller.agreed;
        memory.add_call(&ledger_row(&self.caller.id, &project, agreed, paid))
    }
}

impl Backend for Meter<'_> {
    fn name(&self) -> BackendName {
        self.backend.name()
    }

    fn answer<'a>(&'a self, ask: &'a Ask<'a>) -> BackendResult<'a> {
        Box::pin(async move {
            let permit = match block_in_place(|| self.permit(ask)) {
                Ok(permit) => permit,
                Err(hold) => {
                    let failure = BackendFailure {
                        attempts: 0,
                        ..BackendFailure::new(FailureKind::Held, hold.to_string())
                    };
                    self.state().hold = Some(hold);
                    return Err(failure);
                }
            };
            let attempts = permit.calls.min(ask.attempts);
            let result = self.backend.answer(&Ask { attempts, ..*ask }).await;
            block_in_place(|| self.note(ask, &result, self.context.now()));
            drop(permit);
            if let Err(failure) = &result
                && failure.kind == FailureKind::Timeout
                && is_over(ask.deadline)
            {
                self.state().hold = Some(Hold::Time { asked: true });
            }
            result
        })
    }
}

/// The part of the day's budgets that calls under way take, until the ledger has their cost.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    taken: Mutex<Usage>,
    given_back: Condvar,
}

impl OpenCalls {
    /// Takes a place for as many calls as there is `room` for; waits for what others may not need.
    pub(super) fn take(
        &self,
        tokens: u64,
        room: impl Fn(Usage) -> Result<u32, Hold>,
    ) -> Result<RoomTaken<'_>, Hold> {
        // Held until the place is taken: two calls must not see the same room.
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = loop {
            match room(*taken) {
                Ok(calls) => break calls,
                Err(Hold::Day { .. }) if taken.calls > 0 => {
                    let woken = self.given_back.wait(taken);
                    taken = woken.unwrap_or_else(PoisonError::into_inner);
                }
                Err(hold) => return Err(hold),
            }
        };
        taken.calls += u64::from(calls);
        taken.tokens += tokens;
        Ok(RoomTaken {
            of: Some(self),
            calls,
            tokens,
        })
    }
}

/// A place in the day's budgets; given back when the call has been noted.
pub(super) struct RoomTaken<'a> {
    of: Option<&'a OpenCalls>,
    pub(super) calls: u32,
    tokens: u64,
}

impl RoomTaken<'_> {
    pub(super) fn free() -> Self {
        Self {
            of: None,
            calls: u32::MAX,
            tokens: 0,
        }
    }
}

impl Drop for RoomTaken<'_> {
    fn drop(&mut self) {
        let Some(open_calls) = self.of else {
            return;
        };
        let taken = open_calls.taken.lock();
        let mut taken = taken.unwrap_or_else(PoisonError::into_inner);
        taken.calls -= u64::from(self.calls);
        taken.tokens -= self.tokens;
        drop(taken);
        open_calls.given_back.notify_all();
    }
}

/// Returns the cost of a call, at most one token a byte. A server that reports more would use up
/// the budget of the day, or of all days.
fn believed(ask: &Ask<'_>, backend: BackendName, said: TokenCount) -> TokenCount {
    let asked = (ask.system.len() + ask.prompt.len()) as u64;
    let of_client = match backend {
        BackendName::ClaudeCli => CLIENTS_OWN,
        _ => 0,
    };
    TokenCount {
        input: said.input.min(asked + of_client),
        output: said.output.min(u64::from(ask.max_tokens) + of_client),
    }
}

fn is_over(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

pub(super) fn ledger_row(
    job: &str,
    project: &str,
    agreed: Option<Usage>,
    paid: &Paid,
) -> ModelCall {
    ModelCall {
        job: job.to_owned(),
        seq: paid.seq,
        project: project.to_owned(),
        time: paid.time,
        backend: paid.backend.word().to_owned(),
        model: paid.model.clone(),
        attempts: u64::from(paid.attempts),
        input_tokens: paid.tokens.input,
        output_tokens: paid.tokens.output,
        budget_kind: match agreed {
            Some(_) => BudgetKind::Agreed,
            None => BudgetKind::Day,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Limit;
    use rstest::rstest;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[rstest]
    #[case::plain("2026-11-21T12:00:00Z", "2026-11-21T05:00:00Z", "2026-11-22T05:00:00Z")]
    #[case::late("2026-11-22T04:59:59Z", "2026-11-21T05:00:00Z", "2026-11-22T05:00:00Z")]
    #[case::of_25_hours("2026-11-01T12:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z")]
    fn a_day_is_the_users_own(#[case] now: &str, #[case] start: &str, #[case] end: &str) {
        let zone = TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap();
        let day = Day::at(at(now), zone);
        assert_eq!((day.start, day.end), (at(start), at(end)));
    }

    #[rstest]
    #[case::the_last_call_is_left((399, 0), (0, 0), Some(1))]
    #[case::the_last_call_is_under_way((399, 0), (1, 0), None)]
    #[case::tokens_are_left((9, 99), (0, 0), Some(391))]
    #[case::tokens_are_under_way((9, 50), (1, 50), None)]
    fn calls_under_way_take_their_room(
        #[case] spent: (u64, u64),
        #[case] pending: (u64, u64),
        #[case] left: Option<u32>,
    ) {
        let limits = Budgets {
            calls_per_day: Limit(400),
            tokens_per_day: Limit(100),
            ..Budgets::default()
        };
        let [spent, pending] = [spent, pending].map(|(calls, tokens)| Usage { calls, tokens });
        let today = Day::of(at("2026-11-21T12:00:00Z"));
        let calls = calls_left(spent, pending, &limits, today, true);
        assert_eq!(calls.ok(), left);
    }
}
