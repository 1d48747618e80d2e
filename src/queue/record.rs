//! Records a finished job and removes it from the spool.
//!
//! Everything is keyed by the job's id, so repeating it after a stop changes nothing.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::apply::{PlaybookEdit, keep_if_missing};
use super::budget::ledger_row;
use super::context::Worker;
use super::job::{JOB_VERSION, JobEvent, JobId};
use super::outcome::{Finish, Step};
use super::progress::{self, Job, SessionEvidence};
use super::{LOCK_WAIT, curate, screening};
use crate::backend::BackendName;
use crate::config::Config;
use crate::env::{Env, name};
use crate::memory::{self, JobCounts, JobOutcome, JobRecord, TranscriptCursor};
use crate::paths::Paths;
use crate::playbook::{ChangeKind, Playbook, PointChange};
use crate::reflect::evaluate::evaluate;
use crate::reflect::learned::LearnedFrom;
use crate::reflect::note::NoteId;
use crate::reflect::remember::{ReflectedSession, remember};
use crate::reflect::reply::{Reflection, Score};
use crate::reflect::tellable::tellable;
use crate::store::{Snapshots, Store};
use crate::transcript::{ErrorCategory, Facts};
use crate::{redact, telemetry, tenant};

pub(super) fn applied(
    context: &Worker,
    job: &Job,
    session: Option<&SessionEvidence>,
    config: &Config,
) -> Step {
    let finish = &Finish::new(JobOutcome::Applied, "");
    let progress = &job.progress;
    let mut record = with_claim(context, job, finish);
    record.changes = progress.changes.clone().unwrap_or_default();
    record.votes.clone_from(&progress.votes);
    record.highest_numbers.clone_from(&progress.numbers);
    record.held = screening::held_of(job);
    record.points.clone_from(&progress.points);
    record.root = root_of(job);
    record.dropped = [&progress.dropped[..], &progress.refused].concat();
    record.outdated.clone_from(&progress.outdated);
    record.note_updates.clone_from(&progress.note_updates);
    record.seen_until = progress.seen_until;
    if let Some(PlaybookEdit::Undo { job }) = &job.edit {
        record.undoes = Some(job.to_string());
    }
    if let Some(material) = &progress.material {
        record.job.reason = curate::in_words(material);
    }
    let dream = curate::dreamt(job, config);
    record.learned = tellable(dream.into_iter().collect()).0;
    let facts = session.map(|session| &session.facts);
    record.evaluation = facts.map(|facts| (&evaluate(facts)).into());
    record.ended = facts.map(|facts| facts.outcome.word().to_owned());
    if let Some(session) = session {
        record.guards.clone_from(&session.facts.guards);
        let is_by_rules = record.job.backend == BackendName::Rules.word();
        let learned = remember(&ReflectedSession {
            project: &record.job.project,
            tenant: tenant::DEFAULT,
            facts: &session.facts,
            evidence: &session.evidence,
            reflection: progress.reflection.as_ref().filter(|_| !is_by_rules),
            changes: record.changes.len(),
            notes: &progress.notes,
            related: &[],
        });
        let (learned, refused) = tellable(learned);
        for refused in &refused {
            let line = format!("not remembered: {}", refused.why);
            context.log(&record.job.id, &line);
        }
        let held = screening::held_memories(job.ticket.id.as_str(), &refused);
        record.held.extend(held);
        record.learned = learned;
    }
    context.memory().record(&record)?;
    remove(context, job, finish, facts)
}

/// Records the playbook's applied jobs that were stopped between file and record: an undo must know
/// them. The caller holds the project, so that no worker is at these jobs.
pub(super) fn unrecorded(context: &Worker, undo: &Job, config: &Config) -> Step {
    let project = &undo.ticket.project;
    let snapshots = Snapshots::new(&context.paths().project(project));
    let store = Store::of(context.paths(), project);
    let locked = store.lock(LOCK_WAIT)?;
    let playbook = locked.load()?;
    for job in progress::all(&context.paths().spool())? {
        let id = &job.ticket.id;
        let is_ours = job.ticket.v <= JOB_VERSION && job.ticket.project == *project;
        if !is_ours || *id == undo.ticket.id {
            continue;
        }
        if playbook.is_applied(id.as_str()) {
            keep_if_missing(&snapshots, id.as_str(), &playbook)?;
        } else if !job.progress.is_applied {
            continue;
        }
        let session = session(context, &job);
        applied(context, &job, session.as_ref(), config)?;
    }
    Ok(())
}

fn session(context: &Worker, job: &Job) -> Option<SessionEvidence> {
    if !job.progress.has_evidence {
        return None;
    }
    match progress::read_evidence(context.paths(), &job.ticket.id) {
        Ok(session) => Some(session),
        Err(error) => {
            context.log(job.ticket.id.as_str(), &error.to_string());
            None
        }
    }
}

pub(super) fn hand_edit(
    context: &Worker,
    job: &Job,
    id: &JobId,
    playbook: &Playbook,
    changes: &[PointChange],
) -> Step {
    let mut record = JobRecord::new(memory::FinishedJob {
        id: id.to_string(),
        project: job.ticket.project.to_string_lossy().into_owned(),
        event: JobEvent::HandEdit.word().to_owned(),
        outcome: JobOutcome::Applied,
        counts: counts(changes),
        finished: context.now(),
        ..memory::FinishedJob::default()
    });
    record.changes = changes.to_vec();
    record.highest_numbers = playbook.highest_numbers();
    Ok(context.memory().record(&record)?)
}

/// Records a job without a result; its part of the transcript can be claimed again.
pub(super) fn ended(context: &Worker, job: &Job, finish: &Finish) -> Step {
    let record = record_of(context, job, finish);
    context.memory().record(&record)?;
    remove(context, job, finish, None)
}

fn with_claim(context: &Worker, job: &Job, finish: &Finish) -> JobRecord {
    let mut record = record_of(context, job, finish);
    if let Some(claim) = &job.progress.claim {
        record.cursor = Some(TranscriptCursor {
            transcript: job.ticket.transcript.to_string_lossy().into_owned(),
            generation: claim.generation,
            end: claim.end,
            first_record: claim.first_record,
            updated: record.recorded,
        });
        let reflection = job.progress.reflection.as_ref();
        record.confidence = reflection.and_then(|r| r.confidence).map(Score::get);
        record.records.clone_from(&claim.records);
    }
    record
}

/// Removes a job that is given up from `folder`; its claim keeps counting.
pub(super) fn given_up(context: &Worker, job: &Job, finish: &Finish, folder: &Path) -> Step {
    record_given_up(context, job, finish)?;
    progress::remove(folder, &job.ticket.id)?;
    context.has_left(job);
    Ok(())
}

/// Moves a job to `failed/`; its claim keeps counting, in the database.
pub(super) fn failed(context: &Worker, job: &mut Job, finish: &Finish) -> Step {
    job.progress.failed = Some(finish.reason.clone());
    job.progress.waiting = None;
    context.save(job)?;
    record_given_up(context, job, finish)?;
    let paths = context.paths();
    progress::shift(&paths.spool(), &paths.failed(), &job.ticket.id)?;
    context.has_left(job);
    Ok(())
}

/// Records a job that is given up; the notes of a curator's go to the notebook.
fn record_given_up(context: &Worker, job: &Job, finish: &Finish) -> Step {
    let mut record = with_claim(context, job, finish);
    record.note_updates = curate::given_back(job);
    record.seen_until = NoteId(u64::MAX);
    context.memory().record(&record)?;
    finished(context, job, finish, None);
    curate::after_job(context, job)
}

fn remove(context: &Worker, job: &Job, finish: &Finish, facts: Option<&Facts>) -> Step {
    finished(context, job, finish, facts);
    curate::after_job(context, job)?;
    progress::remove(&context.paths().spool(), &job.ticket.id)?;
    context.has_left(job);
    Ok(())
}

pub(super) fn root_of(job: &Job) -> String {
    let root = job.progress.root.as_ref().unwrap_or(&job.ticket.session);
    redact::mask(root).into_owned()
}

/// Returns when a job's session was: its last record for a past one, else now.
pub(super) fn happened(job: &Job, now: Timestamp) -> Timestamp {
    let was_there_before = matches!(job.ticket.event, JobEvent::Bootstrap | JobEvent::Reflect);
    let claim = job.progress.claim.as_ref().filter(|_| was_there_before);
    let last = claim.and_then(|claim| claim.records.iter().filter_map(|record| record.time).max());
    last.map_or(now, |last| last.min(now))
}

fn record_of(context: &Worker, job: &Job, finish: &Finish) -> JobRecord {
    let now = context.now();
    let ticket = &job.ticket;
    let spent = &job.progress.spent;
    let project = ticket.project.to_string_lossy().into_owned();
    let need = ticket.need.as_ref().unwrap_or(&context.account.need);
    // Nothing is asked for an edit.
    let backend = job.edit.is_none().then(|| need.backend.word());
    let mut record = JobRecord::new(memory::FinishedJob {
        id: ticket.id.to_string(),
        project: project.clone(),
        session: redact::mask(&ticket.session).into_owned(),
        transcript: ticket.transcript.to_string_lossy().into_owned(),
        event: ticket.event.word().to_owned(),
        backend: backend.unwrap_or_default().to_owned(),
        outcome: finish.outcome,
        reason: finish.reason.clone(),
        counts: JobCounts {
            skipped: job.progress.skipped,
            input_tokens: spent.tokens().input,
            output_tokens: spent.tokens().output,
            ms: u64::try_from(job.took().as_millis()).unwrap_or(u64::MAX),
            ..counts(job.progress.changes.as_deref().unwrap_or_default())
        },
        finished: happened(job, now),
    });
    record.recorded = now;
    let (id, agreed) = (ticket.id.as_str(), job.agreed());
    let paid = spent.calls.iter().filter(|call| !call.backend.is_offline());
    let rows = paid.map(|call| ledger_row(id, &project, agreed, call));
    record.calls = rows.collect();
    record
}

const MAIN_AGENT: &str = "main";
const WAITING: &str = "waiting";
/// Fields that a line does not have where there is nothing to say; the others are `null`.
const OPTIONAL: [&str; 4] = [
    "fixture_key",
    "session_outcome",
    "error_category",
    "evaluation",
];

/// Logs a finished job once; edits are not logged.
fn finished(context: &Worker, job: &Job, finish: &Finish, facts: Option<&Facts>) {
    let outcome = finish.outcome.word();
    if job.edit.is_none() {
        let mark = json!({
            "job": job.ticket.id,
            "outcome": outcome,
            "attempts": job.progress.spent.attempts(),
        });
        let mark = format!("{},", mark.to_string().trim_matches(['{', '}']));
        let line = line(context, job, outcome, &finish.reason, facts);
        telemetry::reflection(context.paths(), &line.to_string(), Some(&mark));
    }
}

pub(super) fn waits(context: &Worker, job: &Job, reason: &str) {
    if job.edit.is_none() {
        let line = line(context, job, WAITING, reason, None);
        telemetry::reflection(context.paths(), &line.to_string(), None);
    }
}

/// One line of the log: first the fields of spec/2, section 5.1, where `turn` is the session,
/// then ours. It holds no word of the session.
fn line(context: &Worker, job: &Job, outcome: &str, reason: &str, facts: Option<&Facts>) -> Value {
    let (ticket, progress) = (&job.ticket, &job.progress);
    let is_applied = outcome == JobOutcome::Applied.word();
    let written = progress.changes.as_deref().filter(|_| is_applied);
    let counts = counts(written.unwrap_or_default());
    let reflection = progress.reflection.as_ref();
    let calls = &progress.spent.calls;
    let tokens = progress.spent.tokens();
    let subagent = (ticket.event == JobEvent::SubagentStop).then_some(ticket.reason.as_deref());
    let mut line = json!({
        // The client's words, or whoever's that called the hook.
        "turn": redact::mask(&ticket.session),
        "agent": redact::mask(subagent.flatten().unwrap_or(MAIN_AGENT)),
        "backend": ticket.need.as_ref().unwrap_or(&context.account.need).backend,
        "summary_len": reflection.map_or(0, |r| r.analysis.split_whitespace().count()),
        "ops_written": counts.operations,
        // Nothing is embedded.
        "embed": false,
        "ms": ms(job.took(), context.is_ci),
        "reason": (!reason.is_empty()).then(|| telemetry::word_of(reason)),
        "fixture_key": calls.iter().find_map(|call| call.fixture_key.as_deref()),
        "time": context.now(),
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
        "session_outcome": facts.map(|facts| facts.outcome.word()),
        "error_category": facts.and_then(|facts| facts.category).map(ErrorCategory::word),
        "evaluation": facts.map(evaluate),
    });
    if let Some(line) = line.as_object_mut() {
        line.retain(|field, value| !(value.is_null() && OPTIONAL.contains(&field.as_str())));
    }
    line
}

/// Returns the milliseconds of a line, which are left out so that runs can be compared.
fn ms(took: Duration, is_ci: bool) -> f64 {
    if is_ci {
        0.0
    } else {
        took.as_secs_f64() * 1_000.0
    }
}

pub(crate) struct Generated<'a> {
    pub(crate) surroundings: (&'a Paths, &'a Env),
    pub(crate) source: &'a LearnedFrom,
    pub(crate) backend: BackendName,
    pub(crate) said: &'a Reflection,
    pub(crate) facts: &'a Facts,
    pub(crate) problem: Option<&'a str>,
    pub(crate) took: Duration,
}

/// Logs what `playbook generate --store` did, as a line of a job that changed no key point.
pub(crate) fn generated(done: &Generated<'_>) {
    let (paths, env) = done.surroundings;
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
        "ms": ms(done.took, env.is_on(name::CI)),
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
