//! What the log of reflections says of a job.

use std::time::Duration;

use super::job::Event;
use super::progress::Job;
use super::record;
use super::shop::Shop;
use super::stop::Finish;
use crate::memory::Outcome;
use crate::redact;
use crate::reflect::evaluate::Evaluation;
use crate::telemetry::{self, ReflectionLine};
use crate::transcript::{ErrorCategory, Facts};

const MAIN_AGENT: &str = "main";
const WAITING: &str = "waiting";

pub(super) struct Judged<'a> {
    pub(super) facts: &'a Facts,
    pub(super) evaluation: Evaluation,
}

/// Logs a finished job, unless it was an edit of the user's; a second line of the same end
/// is not written.
pub(super) fn finished(
    shop: &Shop,
    job: &Job,
    finish: &Finish,
    took: Duration,
    judged: Option<&Judged<'_>>,
) {
    if job.ticket.edit.is_some() {
        return;
    }
    let line = line(
        shop,
        job,
        finish.outcome.word(),
        &finish.reason,
        took,
        judged,
    );
    telemetry::reflection_once(&shop.paths, &line);
}

pub(super) fn waits(shop: &Shop, job: &Job, reason: &str, took: Duration) {
    if job.ticket.edit.is_some() {
        return;
    }
    let line = line(shop, job, WAITING, reason, took, None);
    telemetry::reflection(&shop.paths, &line);
}

fn line<'a>(
    shop: &'a Shop,
    job: &'a Job,
    outcome: &'a str,
    reason: &'a str,
    took: Duration,
    judged: Option<&'a Judged<'_>>,
) -> ReflectionLine<'a> {
    let facts = judged.map(|judged| judged.facts);
    let ticket = &job.ticket;
    let progress = &job.progress;
    let changes = progress.changes.as_deref().unwrap_or_default();
    let is_applied = outcome == Outcome::Applied.word();
    let written = if is_applied { changes } else { &[] };
    let counts = record::counts(written);
    let reflection = progress.reflection.as_ref();
    let calls = &progress.spent.calls;
    let tokens = progress.spent.tokens();
    let subagent = (ticket.event == Event::SubagentStop).then_some(ticket.reason.as_deref());
    ReflectionLine {
        // The client's words, or whoever's that called the hook.
        turn: redact::mask(&ticket.session),
        agent: redact::mask(subagent.flatten().unwrap_or(MAIN_AGENT)),
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
        tags: counts.tags,
        operations: counts.operations,
        skipped: progress.skipped,
        session_outcome: facts.map(|facts| facts.outcome.name()),
        error_category: facts
            .and_then(|facts| facts.category)
            .map(ErrorCategory::name),
        evaluation: judged.map(|judged| &judged.evaluation),
    }
}
