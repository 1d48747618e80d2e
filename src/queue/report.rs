//! What the log of reflections says of a job.

use std::time::Duration;

use serde_json::{Value, json};

use super::job::JobEvent;
use super::progress::JobInProgress;
use super::stop::Finish;
use super::surroundings::Surroundings;
use crate::account::BackendName;
use crate::env::{Env, name};
use crate::memory::{JobCounts, JobOutcome};
use crate::paths::Paths;
use crate::playbook::{ChangeKind, PointChange};
use crate::redact;
use crate::reflect::evaluate::{EvaluatorReply, evaluate};
use crate::reflect::learned::LearnedFrom;
use crate::reflect::reply::Reflection;
use crate::telemetry;
use crate::transcript::{ErrorCategory, Facts};

const MAIN_AGENT: &str = "main";
const WAITING: &str = "waiting";
/// Fields that a line does not have where there is nothing to say; the others are `null`.
const OPTIONAL: [&str; 4] = [
    "fixture_key",
    "session_outcome",
    "error_category",
    "evaluation",
];

pub(super) struct JudgedPart<'a> {
    pub(super) facts: &'a Facts,
    pub(super) evaluation: EvaluatorReply,
}

/// Logs a finished job, unless it was an edit of the user's; a second line of the same end
/// is not written.
pub(super) fn finished(
    surroundings: &Surroundings,
    job: &JobInProgress,
    finish: &Finish,
    took: Duration,
    judged: Option<&JudgedPart<'_>>,
) {
    let outcome = finish.outcome.word();
    if job.edit.is_none() {
        let mark = json!({
            "job": job.ticket.id,
            "outcome": outcome,
            "attempts": job.progress.spent.attempts(),
        });
        let mark = format!("{},", mark.to_string().trim_matches(['{', '}']));
        let line = line(surroundings, job, outcome, &finish.reason, took, judged);
        telemetry::reflection(&surroundings.paths, &line.to_string(), Some(&mark));
    }
}

pub(super) fn waits(
    surroundings: &Surroundings,
    job: &JobInProgress,
    reason: &str,
    took: Duration,
) {
    if job.edit.is_none() {
        let line = line(surroundings, job, WAITING, reason, took, None);
        telemetry::reflection(&surroundings.paths, &line.to_string(), None);
    }
}

/// One line of the log: first the fields of spec/2, section 5.1, where `turn` is the session,
/// then ours. It holds no word of the session.
fn line(
    surroundings: &Surroundings,
    job: &JobInProgress,
    outcome: &str,
    reason: &str,
    took: Duration,
    judged: Option<&JudgedPart<'_>>,
) -> Value {
    let ticket = &job.ticket;
    let progress = &job.progress;
    let changes = progress.changes.as_deref().unwrap_or_default();
    let is_applied = outcome == JobOutcome::Applied.word();
    let written = if is_applied { changes } else { &[] };
    let counts = counts(written);
    let reflection = progress.reflection.as_ref();
    let calls = &progress.spent.calls;
    let tokens = progress.spent.tokens();
    let subagent = (ticket.event == JobEvent::SubagentStop).then_some(ticket.reason.as_deref());
    let ms = took.as_secs_f64() * 1_000.0;
    let mut line = json!({
        // The client's words, or whoever's that called the hook.
        "turn": redact::mask(&ticket.session),
        "agent": redact::mask(subagent.flatten().unwrap_or(MAIN_AGENT)),
        "backend": ticket.need.as_ref().unwrap_or(&surroundings.account.need).backend,
        "summary_len": reflection.map_or(0, |r| r.analysis.split_whitespace().count()),
        "ops_written": counts.operations,
        // Nothing is embedded.
        "embed": false,
        "ms": if surroundings.is_ci { 0.0 } else { ms },
        "reason": (!reason.is_empty()).then(|| telemetry::word_of(reason)),
        "fixture_key": calls.iter().find_map(|call| call.fixture_key.as_deref()),
        "time": surroundings.now(),
        "job": ticket.id,
        "outcome": outcome,
        "attempts": progress.spent.attempts(),
        "project": ticket.project.to_string_lossy(),
        "event": ticket.event.word(),
        "trigger": progress.trigger,
        "model": calls.last().map(|call| &call.model),
        "tokens_in": tokens.input,
        "tokens_out": tokens.output,
        "tags": counts.tags,
        "operations": counts.operations,
        "skipped": progress.skipped,
        "session_outcome": judged.map(|judged| judged.facts.outcome.word()),
        "error_category": judged
            .and_then(|judged| judged.facts.category)
            .map(ErrorCategory::word),
        "evaluation": judged.map(|judged| &judged.evaluation),
    });
    if let Some(line) = line.as_object_mut() {
        line.retain(|field, value| !(value.is_null() && OPTIONAL.contains(&field.as_str())));
    }
    line
}

/// What `playbook generate --store` did.
pub(crate) struct Generated<'a> {
    pub(crate) surroundings: (&'a Paths, &'a Env),
    pub(crate) source: &'a LearnedFrom,
    pub(crate) backend: BackendName,
    pub(crate) said: &'a Reflection,
    pub(crate) facts: &'a Facts,
    /// Why nothing is stored.
    pub(crate) problem: Option<&'a str>,
    pub(crate) took: Duration,
}

/// Logs what `playbook generate --store` did, as a line of a job that changed no key point.
pub(crate) fn generated(done: &Generated<'_>) {
    let (paths, env) = done.surroundings;
    let ms = done.took.as_secs_f64() * 1_000.0;
    let outcome = match done.problem {
        None => JobOutcome::Applied,
        Some(_) => JobOutcome::Failed,
    };
    let line = json!({
        "turn": done.source.session,
        "agent": MAIN_AGENT,
        "backend": done.backend,
        "summary_len": done.said.analysis.split_whitespace().count(),
        "ops_written": 0,
        "embed": false,
        "ms": if env.is_on(name::CI) { 0.0 } else { ms },
        "reason": done.problem.map(telemetry::word_of),
        "time": done.source.time,
        "job": done.source.job,
        "outcome": outcome.word(),
        "project": done.source.project,
        "event": "generate",
        "session_outcome": done.facts.outcome.word(),
        "evaluation": evaluate(done.facts),
    });
    telemetry::reflection(paths, &line.to_string(), None);
}

/// How many votes and how many operations a list of changes is.
pub(super) fn counts(changes: &[PointChange]) -> JobCounts {
    let is_vote =
        |change: &&PointChange| matches!(change.kind, ChangeKind::Helpful | ChangeKind::Harmful);
    let tags = changes.iter().filter(is_vote).count() as u64;
    JobCounts {
        tags,
        operations: changes.len() as u64 - tags,
        ..JobCounts::default()
    }
}
