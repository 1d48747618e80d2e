//! What the log of reflections says of a job.

use std::time::Duration;

use super::job::Event;
use super::progress::Job;
use super::shop::Shop;
use super::stages::Finish;
use crate::memory::Outcome;
use crate::playbook::{Change, ChangeKind};
use crate::telemetry::{self, ReflectionLine};

/// The agent of a session that is no subagent's.
const MAIN_AGENT: &str = "main";
/// The outcome of a job that is tried again.
const WAITING: &str = "waiting";

/// What a job's changes are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Counters raised by the reflector's tags.
    pub(super) tags: u64,
    /// Operations of the curator.
    pub(super) operations: u64,
}

impl Tally {
    /// Counts the changes of a job; duplicates, pruning and the like are neither.
    pub(super) fn of(changes: &[Change]) -> Self {
        changes.iter().fold(Self::default(), |tally, change| {
            use ChangeKind::{Add, Delete, Harmful, Helpful, Merge, Move, Update};
            match change.kind {
                Helpful | Harmful => Self {
                    tags: tally.tags + 1,
                    ..tally
                },
                Add | Update | Merge | Delete | Move => Self {
                    operations: tally.operations + 1,
                    ..tally
                },
                _ => tally,
            }
        })
    }
}

/// Logs a finished job; a second line of the same end is not written.
pub(super) fn finished(shop: &Shop, job: &Job, finish: &Finish, took: Duration) {
    let line = line(shop, job, finish.outcome.word(), &finish.reason, took);
    telemetry::reflection_once(&shop.paths, &line);
}

/// Logs an attempt after which the job waits.
pub(super) fn waits(shop: &Shop, job: &Job, reason: &str, took: Duration) {
    let line = line(shop, job, WAITING, reason, took);
    telemetry::reflection(&shop.paths, &line);
}

fn line<'a>(
    shop: &'a Shop,
    job: &'a Job,
    outcome: &'a str,
    reason: &'a str,
    took: Duration,
) -> ReflectionLine<'a> {
    let ticket = &job.ticket;
    let progress = &job.progress;
    let changes = progress.changes.as_deref().unwrap_or_default();
    let is_applied = outcome == Outcome::Applied.word();
    let written = if is_applied { changes } else { &[] };
    let tally = Tally::of(written);
    let reflection = progress.reflection.as_ref();
    let calls = &progress.spent.calls;
    let tokens = progress.spent.tokens();
    let subagent = (ticket.event == Event::SubagentStop).then_some(ticket.reason.as_deref());
    ReflectionLine {
        turn: &ticket.session,
        agent: subagent.flatten().unwrap_or(MAIN_AGENT),
        backend: ticket.need.as_ref().unwrap_or(&shop.account.need).backend,
        summary_len: reflection.map_or(0, |r| r.analysis.split_whitespace().count()),
        ops_written: written.len(),
        embed: false,
        ms: if shop.is_ci {
            0.0
        } else {
            took.as_secs_f64() * 1_000.0
        },
        reason: (!reason.is_empty()).then(|| telemetry::word_of(reason)),
        fixture_key: calls.iter().find_map(|call| call.fixture_key.as_deref()),
        time: shop.now(),
        job: ticket.id.as_str(),
        outcome,
        attempts: progress.spent.attempts(),
        project: ticket.project.to_string_lossy(),
        event: ticket.event.word(),
        trigger: progress.trigger.as_deref(),
        model: calls.last().map(|call| call.model.as_str()),
        tokens_in: tokens.input,
        tokens_out: tokens.output,
        tags: tally.tags,
        operations: tally.operations,
        skipped: progress.skipped,
    }
}
