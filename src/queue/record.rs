//! Records a finished job and removes it from the spool.
//!
//! Everything is keyed by the job's id, so repeating it after a stop changes nothing.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::LOCK_WAIT;
use super::apply::keep_if_missing;
use super::context::WorkerContext;
use super::edit::PlaybookEdit;
use super::evidence::SessionEvidence;
use super::job::{JOB_VERSION, JobEvent, JobId};
use super::progress::JobInProgress;
use super::report::{JudgedPart, counts};
use super::stop::{Finish, Stop};
use super::surroundings::Surroundings;
use super::usage_meter::ledger_row;
use super::{curate, files, hint_index, report, screening};
use crate::backend::BackendName;
use crate::config::Config;
use crate::memory::{self, JobCounts, JobOutcome, JobRecord, TranscriptCursor};
use crate::playbook::{Playbook, PointChange};
use crate::redact;
use crate::reflect::evaluate::evaluate;
use crate::reflect::note::NoteId;
use crate::reflect::remember::{ReflectedSession, remember};
use crate::reflect::tellable::tellable;
use crate::store::{Snapshots, Store};
use crate::tenant;

/// Records a job that was applied: its place, its records, what it changed, what its
/// session taught.
pub(super) fn applied(
    context: &WorkerContext,
    job: &JobInProgress,
    session: Option<&SessionEvidence>,
    config: &Config,
    finish: &Finish,
    took: Duration,
) -> Result<(), Stop> {
    let mut record = with_claim(&context.surroundings, job, finish, took);
    record.changes = job.progress.changes.clone().unwrap_or_default();
    record.votes.clone_from(&job.progress.votes);
    record.highest_numbers.clone_from(&job.progress.numbers);
    record.held = screening::held_of(job);
    let progress = &job.progress;
    record.points.clone_from(&progress.points);
    record.root = root_of(job);
    record.dropped = [&progress.dropped[..], &progress.refused].concat();
    record.outdated.clone_from(&progress.outdated);
    record.note_updates.clone_from(&progress.note_updates);
    record.seen_until = progress.seen_until;
    if let Some(PlaybookEdit::Undo { job }) = &job.edit {
        record.undoes = Some(job.to_string());
    }
    let rows = config.budgets.memory_rows as u64;
    if let Some(dream) = curate::dreamt(job, config) {
        record.learned = tellable(vec![dream]).0;
        record.rows = rows;
    }
    let judged = session.map(|session| JudgedPart {
        facts: &session.facts,
        evaluation: evaluate(&session.facts),
    });
    if let Some(material) = &progress.material {
        record.job.reason = curate::in_words(material);
    }
    record.evaluation = judged.as_ref().map(|judged| (&judged.evaluation).into());
    record.ended = session.map(|session| session.facts.outcome.word().to_owned());
    if let Some(session) = session {
        let is_by_rules = record.job.backend == BackendName::Rules.word();
        let of_a_model = job.progress.reflection.as_ref().filter(|_| !is_by_rules);
        let learned = remember(&ReflectedSession {
            project: &record.job.project,
            tenant: tenant::DEFAULT,
            facts: &session.facts,
            evidence: &session.evidence,
            reflection: of_a_model,
            changes: record.changes.len(),
            notes: &progress.notes,
            related: &[],
        });
        let (learned, refused) = tellable(learned);
        for refused in &refused {
            let line = format!("not remembered: {}", refused.why);
            context.log(&record.job.id, &line);
        }
        record
            .held
            .extend(screening::held_memories(job.ticket.id.as_str(), &refused));
        record.learned = learned;
        record.rows = rows;
    }
    context.memory().record(&record)?;
    if !record.learned.is_empty() {
        hint_index::refresh(context, &job.ticket.project);
    }
    remove(context, job, finish, took, judged.as_ref())
}

/// Records what was applied to the playbook of `undo` and is still in the spool: jobs that were
/// stopped between file and record, of which an undo must know.
///
/// The caller holds the project, so that none of these jobs is being worked on.
pub(super) fn unrecorded(
    context: &WorkerContext,
    undo: &JobInProgress,
    config: &Config,
) -> Result<(), Stop> {
    let project = &undo.ticket.project;
    let snapshots = Snapshots::new(&context.paths().project(project));
    let store = Store::of(context.paths(), project);
    let locked = store.lock(LOCK_WAIT)?;
    let playbook = locked.load()?;
    for job in files::all(&context.paths().spool())? {
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
        let session = session(&context.surroundings, &job);
        let finish = Finish::applied();
        let took = Duration::ZERO;
        applied(context, &job, session.as_ref(), config, &finish, took)?;
    }
    Ok(())
}

/// What the session of a job showed; a job whose evidence cannot be read teaches nothing
/// more.
fn session(surroundings: &Surroundings, job: &JobInProgress) -> Option<SessionEvidence> {
    if !job.progress.has_evidence {
        return None;
    }
    match files::read_evidence(&surroundings.paths, &job.ticket.id) {
        Ok(session) => Some(session),
        Err(error) => {
            surroundings.log(job.ticket.id.as_str(), &error.to_string());
            None
        }
    }
}

pub(super) fn hand_edit(
    context: &WorkerContext,
    job: &JobInProgress,
    id: &JobId,
    playbook: &Playbook,
    changes: &[PointChange],
) -> Result<(), Stop> {
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

/// Records a job of which nothing comes; its part of the transcript stays to be claimed.
pub(super) fn ended(
    context: &WorkerContext,
    job: &JobInProgress,
    finish: &Finish,
    took: Duration,
) -> Result<(), Stop> {
    let record = record_of(&context.surroundings, job, finish, took);
    context.memory().record(&record)?;
    remove(context, job, finish, took, None)
}

/// A record of the job, its place in the transcript, and its records.
fn with_claim(
    surroundings: &Surroundings,
    job: &JobInProgress,
    finish: &Finish,
    took: Duration,
) -> JobRecord {
    let mut record = record_of(surroundings, job, finish, took);
    if let Some(claim) = &job.progress.claim {
        record.cursor = Some(TranscriptCursor {
            transcript: job.ticket.transcript.to_string_lossy().into_owned(),
            generation: claim.generation,
            end: claim.end,
            first_record: claim.first_record,
            updated: record.recorded,
        });
        let reflection = job.progress.reflection.as_ref();
        record.confidence = reflection.and_then(|r| r.confidence).map(f64::from);
        record.records.clone_from(&claim.records);
    }
    record
}

/// Removes a job that is given up from `folder`; its claim keeps counting.
pub(super) fn given_up(
    context: &WorkerContext,
    job: &JobInProgress,
    finish: &Finish,
    folder: &Path,
) -> Result<(), Stop> {
    let took = Duration::ZERO;
    let mut record = with_claim(&context.surroundings, job, finish, took);
    give_back(&mut record, job);
    context.memory().record(&record)?;
    report::finished(&context.surroundings, job, finish, took, None);
    curate::after_job(context, job)?;
    files::remove(folder, &job.ticket.id)?;
    context.has_left(job);
    Ok(())
}

/// Moves a job to `failed/`; its claim keeps counting, in the database.
pub(super) fn failed(
    context: &WorkerContext,
    job: &mut JobInProgress,
    finish: &Finish,
    took: Duration,
) -> Result<(), Stop> {
    job.progress.failed = Some(finish.reason.clone());
    job.progress.waiting = None;
    context.save(job)?;
    let mut record = with_claim(&context.surroundings, job, finish, took);
    give_back(&mut record, job);
    context.memory().record(&record)?;
    report::finished(&context.surroundings, job, finish, took, None);
    curate::after_job(context, job)?;
    let paths = context.paths();
    files::shift(&paths.spool(), &paths.failed(), &job.ticket.id)?;
    context.has_left(job);
    Ok(())
}

/// Has the notes of a curator's job that is given up go to the notebook.
fn give_back(record: &mut JobRecord, job: &JobInProgress) {
    record.note_updates = curate::given_back(job);
    record.seen_until = NoteId(u64::MAX);
}

/// Logs a job that is recorded, and removes it from the spool.
fn remove(
    context: &WorkerContext,
    job: &JobInProgress,
    finish: &Finish,
    took: Duration,
    judged: Option<&JudgedPart<'_>>,
) -> Result<(), Stop> {
    report::finished(&context.surroundings, job, finish, took, judged);
    curate::after_job(context, job)?;
    files::remove(&context.paths().spool(), &job.ticket.id)?;
    context.has_left(job);
    Ok(())
}

/// The session that a job's session goes back to, as it is recorded.
pub(super) fn root_of(job: &JobInProgress) -> String {
    let root = job.progress.root.as_ref().unwrap_or(&job.ticket.session);
    redact::mask(root).into_owned()
}

/// When that happened which a job learns from: of a session that was there before, its last
/// record; else now.
pub(super) fn happened(job: &JobInProgress, now: Timestamp) -> Timestamp {
    let was_there_before = matches!(job.ticket.event, JobEvent::Bootstrap | JobEvent::Reflect);
    let claim = job.progress.claim.as_ref().filter(|_| was_there_before);
    let last = claim.and_then(|claim| claim.records.iter().filter_map(|record| record.time).max());
    last.map_or(now, |last| last.min(now))
}

fn record_of(
    surroundings: &Surroundings,
    job: &JobInProgress,
    finish: &Finish,
    took: Duration,
) -> JobRecord {
    let now = surroundings.now();
    let ticket = &job.ticket;
    let spent = &job.progress.spent;
    let project = ticket.project.to_string_lossy().into_owned();
    let need = ticket.need.as_ref().unwrap_or(&surroundings.account.need);
    // Nothing is asked for an edit.
    let backend = if job.edit.is_some() {
        ""
    } else {
        need.backend.word()
    };
    let mut record = JobRecord::new(memory::FinishedJob {
        id: ticket.id.to_string(),
        project: project.clone(),
        session: redact::mask(&ticket.session).into_owned(),
        transcript: ticket.transcript.to_string_lossy().into_owned(),
        event: ticket.event.word().to_owned(),
        backend: backend.to_owned(),
        outcome: finish.outcome,
        reason: finish.reason.clone(),
        counts: JobCounts {
            skipped: job.progress.skipped,
            input_tokens: spent.tokens().input,
            output_tokens: spent.tokens().output,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            ..counts(job.progress.changes.as_deref().unwrap_or_default())
        },
        finished: happened(job, now),
    });
    record.recorded = now;
    record.calls = spent
        .calls
        .iter()
        .filter(|call| !call.backend.is_offline())
        .map(|call| ledger_row(ticket.id.as_str(), &project, job.agreed(), call))
        .collect();
    record
}
