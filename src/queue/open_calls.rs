//! What the calls under way take of the budgets, before the ledger knows what they cost.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};

use super::budget::{Hold, Usage};

/// What the calls under way take: of the day's budgets under `None`, of what was agreed to for
/// bootstrap under its project.
#[derive(Debug, Default)]
pub(super) struct OpenCalls {
    taken: Mutex<HashMap<Option<PathBuf>, Usage>>,
    given_back: Condvar,
}

impl OpenCalls {
    /// Takes a place for as many calls as there is `room` for beside those under way; what
    /// others have reserved they may not need, so it is waited for.
    pub(super) fn take(
        &self,
        whose: Option<PathBuf>,
        tokens: u64,
        room: impl Fn(Usage) -> Result<u32, Hold>,
    ) -> Result<RoomTaken<'_>, Hold> {
        // Held until the place is taken: two calls must not see the same room.
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = loop {
            let usage = taken.get(&whose).copied().unwrap_or_default();
            match room(usage) {
                Ok(calls) => break calls,
                Err(Hold::Day { .. } | Hold::Agreed) if usage.calls > 0 => {
                    let woken = self.given_back.wait(taken);
                    taken = woken.unwrap_or_else(PoisonError::into_inner);
                }
                Err(hold) => return Err(hold),
            }
        };
        let usage = taken.entry(whose.clone()).or_default();
        usage.calls += u64::from(calls);
        usage.tokens += tokens;
        Ok(RoomTaken {
            of: Some((self, whose)),
            calls,
            tokens,
        })
    }
}

/// A place in the budget that pays; given back when the call has been noted.
pub(super) struct RoomTaken<'a> {
    of: Option<(&'a OpenCalls, Option<PathBuf>)>,
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
        let Some((open_calls, whose)) = &self.of else {
            return;
        };
        let mut taken = open_calls
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(usage) = taken.get_mut(whose) {
            usage.calls -= u64::from(self.calls);
            usage.tokens -= self.tokens;
        }
        open_calls.given_back.notify_all();
    }
}
