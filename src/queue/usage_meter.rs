//! A backend that asks before each call whether it may be made, and notes what it cost.
//!
//! Each call, a second one after a useless reply included, is asked for anew: the project may
//! have been switched off, and a budget may be used up. What is held back costs nothing.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use jiff::Timestamp;
use tokio::task::block_in_place;

use super::budget::{self, BudgetOwner, Day, Hold, Usage};
use super::context::WorkerContext;
use super::job::JobId;
use super::progress::{JobInProgress, Paid};
use crate::backend::{
    Ask, Backend, BackendFailure, BackendName, BackendReply, BackendResult, FailureKind,
    PromptHash, TokenCount,
};
use crate::config::Config;
use crate::memory::{BudgetKind, ModelCall};
use crate::transcript::estimate_tokens;

/// What `claude -p` may ask and think beside our question, in tokens.
const CLIENTS_OWN: u64 = 64_000;

#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) id: String,
    pub(crate) project: PathBuf,
    pub(crate) spent: u64,
    /// Whether the user asked for it here and now: then it is done also where reflection is off.
    pub(crate) is_by_hand: bool,
    /// What the user agreed that it may spend, beside the limits of the day.
    pub(crate) agreed: Option<Usage>,
}

impl Caller {
    pub(crate) fn by_hand(project: &Path, now: Timestamp) -> Self {
        Self {
            id: JobId::new(now, rand::random()).to_string(),
            project: project.to_owned(),
            spent: 0,
            is_by_hand: true,
            agreed: None,
        }
    }

    /// Playbook itself, which does something for a project that no job asked for.
    pub(crate) fn of_worker(project: &Path, now: Timestamp) -> Self {
        Self {
            is_by_hand: false,
            ..Self::by_hand(project, now)
        }
    }

    pub(super) fn job(job: &JobInProgress) -> Self {
        let tokens = job.progress.spent.tokens();
        Self {
            id: job.ticket.id.to_string(),
            project: job.ticket.project.clone(),
            spent: tokens.input + tokens.output,
            is_by_hand: false,
            agreed: job.agreed(),
        }
    }
}

pub(crate) struct Meter<'a> {
    backend: Box<dyn Backend + 'a>,
    context: &'a WorkerContext,
    caller: Caller,
    state: Mutex<MeterState>,
}

#[derive(Default)]
struct MeterState {
    paid: Vec<Paid>,
    hold: Option<Hold>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(
        backend: Box<dyn Backend + 'a>,
        context: &'a WorkerContext,
        caller: Caller,
    ) -> Self {
        Self {
            backend,
            context,
            caller,
            state: Mutex::default(),
        }
    }

    pub(crate) fn read(self) -> (Vec<Paid>, Option<Hold>) {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        (state.paid, state.hold)
    }

    fn state(&self) -> MutexGuard<'_, MeterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whether a call may be made; it takes its place in the day's budget with that.
    fn permit(&self, ask: &Ask<'_>) -> Result<RoomTaken<'_>, Hold> {
        let config = self.context.surroundings.config_for(&self.caller.project)?;
        if !config.reflection.enabled && !self.caller.is_by_hand {
            return Err(Hold::SwitchedOff);
        }
        if is_over(ask.deadline) {
            return Err(Hold::Time { asked: false });
        }
        if self.backend.name().is_offline() {
            return Ok(RoomTaken::free());
        }
        let tokens = estimate_tokens(ask.system) + estimate_tokens(ask.prompt);
        let spent = self.caller.spent + self.state().paid.iter().map(Paid::total).sum::<u64>();
        budget::job(spent + tokens, config.budgets.tokens)?;
        if let Some(agreed) = self.caller.agreed {
            let spent = Usage::of_job(&self.context.memory(), &self.caller.id)?;
            let has_room = spent.calls < agreed.calls && spent.tokens < agreed.tokens;
            return if has_room {
                Ok(RoomTaken::free())
            } else {
                Err(Hold::Agreed)
            };
        }
        let wanted = self.wanted(&config);
        let room = |open_calls| Ok(self.room(&config, open_calls)?.min(wanted));
        self.context.open_calls.take(tokens, room)
    }

    /// Returns how many calls the day has room for, beside those under way.
    fn room(&self, config: &Config, open_calls: Usage) -> Result<u32, Hold> {
        let project = &self.caller.project;
        let day = Day::of(self.context.now());
        let memory = self.context.memory();
        let spent = memory.spending_of(BudgetKind::Day, day.start, day.end)?;
        drop(memory);
        let user = crate::config::load(&self.context.paths().config_file())?;
        let name = project.to_string_lossy();
        let all = Usage::of(&spent);
        let own = Usage::of(spent.iter().filter(|row| row.project == name));
        let calls = budget::day(all, open_calls, &user.budgets, day, BudgetOwner::All)?;
        let of_project = budget::day(own, open_calls, &config.budgets, day, BudgetOwner::Project)?;
        Ok(calls.min(of_project))
    }

    fn wanted(&self, config: &Config) -> u32 {
        match self.backend.name() {
            BackendName::Anthropic | BackendName::Openai => config.retry.attempts,
            _ => 1,
        }
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
                .then(|| PromptHash::of(ask).key().to_owned()),
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
    /// Takes a place for as many calls as there is `room` for beside those under way; what
    /// others have reserved they may not need, so it is waited for.
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

/// What a call is believed to have cost: no token is shorter than a byte. A server that says
/// more would use up the budget of the day, or of all days.
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
