//! What may be spent, and what follows when it is used up: pure arithmetic on the ledger.

use std::iter::Sum;

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};

use crate::config::{Budgets, ConfigError, Limit};
use crate::memory::{Memory, MemoryError, Spending};

/// The reason of a job that was not done in its time (spec/2, section 6).
pub(crate) const TIMEOUT: &str = "reflection_timeout";

#[derive(Debug, thiserror::Error)]
pub(crate) enum Hold {
    #[error("reflection is switched off")]
    SwitchedOff,
    #[error("{}", super::waiting::reason_of(.0))]
    Settings(#[from] ConfigError),
    #[error("{TIMEOUT}: not done within `budgets.time_ms`")]
    Time {
        /// Whether a model was asked in vain.
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
        rows.into_iter().fold(Self::default(), |sum, row| Self {
            calls: sum.calls + row.attempts,
            tokens: sum.tokens + row.input_tokens + row.output_tokens,
        })
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

pub(super) fn job(tokens: u64, limit: Limit) -> Result<(), Hold> {
    if limit.allows(tokens) {
        return Ok(());
    }
    let limit = limit.get().unwrap_or_default();
    Err(Hold::Job(format!(
        "the job would take {tokens} tokens, `budgets.tokens` is {limit}"
    )))
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BudgetOwner {
    All,
    Project,
}

/// Returns how many calls the day has room for.
///
/// `spent` is in the ledger, `pending` under way. No call begins once the tokens are used
/// up; the last one may go beyond them by what it costs.
pub(super) fn day(
    spent: Usage,
    pending: Usage,
    limits: &Budgets,
    day: Day,
    whose: BudgetOwner,
) -> Result<u32, Hold> {
    let for_all = whose == BudgetOwner::All;
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

#[cfg(test)]
mod tests {
    use super::*;
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

    const NONE: Usage = Usage {
        calls: 0,
        tokens: 0,
    };

    fn left(calls: u64, tokens: u64, pending: Usage, limits: (u64, u64)) -> Option<u32> {
        let limits = Budgets {
            calls_per_day: Limit(limits.0),
            tokens_per_day: Limit(limits.1),
            ..Budgets::default()
        };
        let today = Day {
            start: at("2026-11-21T00:00:00Z"),
            end: at("2026-11-22T00:00:00Z"),
        };
        day(
            Usage { calls, tokens },
            pending,
            &limits,
            today,
            BudgetOwner::All,
        )
        .ok()
    }

    #[rstest]
    #[case::fresh(0, 0, NONE, (400, 2_000_000), Some(400))]
    #[case::one_left(399, 0, NONE, (400, 0), Some(1))]
    #[case::none_left(400, 0, NONE, (400, 0), None)]
    #[case::over(500, 0, NONE, (400, 0), None)]
    #[case::the_last_is_under_way(399, 0, Usage { calls: 1, tokens: 0 }, (400, 0), None)]
    #[case::tokens_left(9, 99, NONE, (0, 100), Some(u32::MAX))]
    #[case::no_tokens_left(9, 100, NONE, (0, 100), None)]
    #[case::tokens_under_way(9, 50, Usage { calls: 1, tokens: 50 }, (0, 100), None)]
    #[case::no_limits(u64::MAX, 1 << 60, NONE, (0, 0), Some(u32::MAX))]
    fn a_day_has_room_for_so_many_calls(
        #[case] calls: u64,
        #[case] tokens: u64,
        #[case] pending: Usage,
        #[case] limits: (u64, u64),
        #[case] room: Option<u32>,
    ) {
        assert_eq!(left(calls, tokens, pending, limits), room);
    }
}
