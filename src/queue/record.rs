//! Records a finished job and removes it from the spool.
//!
//! Everything is keyed by the job's id, so repeating it after a stop changes nothing.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::json;

use super::edit::Edit;
use super::files;
use super::job::Event;
use super::progress::{ByHand, Job};
use super::shop::Shop;
use super::stages::{Finish, Stop};
use crate::memory::{self, Cursor, JobCounts, Outcome, Record, RecordMark};
use crate::paths::playbook_file;
use crate::playbook::store::Store;
use crate::playbook::{Change, PointState};
use crate::telemetry;

/// Records a job that was applied: its place, its records, what it changed.
pub(super) fn applied(shop: &Shop, job: &Job, finish: &Finish, took: Duration) -> Result<(), Stop> {
    let now = shop.now();
    let mut record = Record::new(row(shop, job, finish, took, now));
    let transcript = job.ticket.transcript.to_string_lossy().into_owned();
    if let Some(claim) = &job.progress.claim {
        record.cursor = Some(Cursor {
            transcript,
            generation: claim.generation,
            end: claim.end,
            first_record: claim.first_record,
            updated: now,
        });
        let reflection = job.progress.reflection.as_ref();
        record.confidence = reflection.and_then(|r| r.confidence).map(f64::from);
        record.records = claim
            .records
            .iter()
            .map(|r| RecordMark {
                hash: r.hash,
                time: r.time.and_then(|ms| Timestamp::from_millisecond(ms).ok()),
            })
            .collect();
    }
    record.changes = entries(job.progress.changes.as_deref().unwrap_or_default());
    let store = Store::new(playbook_file(&job.ticket.project));
    record.highest_numbers = store.load()?.highest_numbers();
    if let Some(Edit::Undo { job }) = &job.ticket.edit {
        record.undoes = Some(job.to_string());
    }
    if let Some(by_hand) = &job.progress.by_hand {
        shop.memory().record(&hand_record(job, by_hand, now))?;
    }
    finish_off(shop, job, &record, finish, took)
}

/// What the user changed in the file itself, as a job of its own.
fn hand_record(job: &Job, by_hand: &ByHand, now: Timestamp) -> Record {
    let mut record = Record::new(memory::Job {
        id: by_hand.id.to_string(),
        project: job.ticket.project.to_string_lossy().into_owned(),
        session: String::new(),
        transcript: String::new(),
        event: Event::HandEdit.word().to_owned(),
        backend: String::new(),
        outcome: Outcome::Applied,
        reason: String::new(),
        counts: JobCounts::default(),
        finished: now,
    });
    record.changes = entries(&by_hand.changes);
    record
}

/// Records a job that changed nothing and claimed nothing.
pub(super) fn ended(shop: &Shop, job: &Job, finish: &Finish, took: Duration) -> Result<(), Stop> {
    let record = Record::new(row(shop, job, finish, took, shop.now()));
    finish_off(shop, job, &record, finish, took)
}

/// Moves a job to `failed/`, where its claim keeps counting.
pub(super) fn failed(
    shop: &Shop,
    job: &mut Job,
    finish: &Finish,
    took: Duration,
) -> Result<(), Stop> {
    job.progress.failed = Some(finish.reason.clone());
    job.progress.waiting = None;
    files::save(&shop.paths, job)?;
    let record = Record::new(row(shop, job, finish, took, shop.now()));
    shop.memory().record(&record)?;
    log(shop, job, finish, took);
    files::shift(&shop.paths.spool(), &shop.paths.failed(), &job.ticket.id)?;
    Ok(())
}

fn finish_off(
    shop: &Shop,
    job: &Job,
    record: &Record,
    finish: &Finish,
    took: Duration,
) -> Result<(), Stop> {
    shop.memory().record(record)?;
    log(shop, job, finish, took);
    files::remove(&shop.paths, &job.ticket.id)?;
    shop.claims().remove(job);
    Ok(())
}

fn row(
    shop: &Shop,
    job: &Job,
    finish: &Finish,
    took: Duration,
    finished: Timestamp,
) -> memory::Job {
    let ticket = &job.ticket;
    let changes = job.progress.changes.as_deref().unwrap_or_default();
    memory::Job {
        id: ticket.id.to_string(),
        project: ticket.project.to_string_lossy().into_owned(),
        session: ticket.session.clone(),
        transcript: ticket.transcript.to_string_lossy().into_owned(),
        event: ticket.event.word().to_owned(),
        backend: backend(shop, job).to_owned(),
        outcome: finish.outcome,
        reason: finish.reason.clone(),
        counts: JobCounts {
            tags: changes.len() as u64,
            operations: 0,
            skipped: job.progress.skipped,
            input_tokens: job.progress.spent.tokens.input,
            output_tokens: job.progress.spent.tokens.output,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        },
        finished,
    }
}

fn backend(shop: &Shop, job: &Job) -> &'static str {
    let need = job.ticket.need.as_ref().unwrap_or(&shop.account.need);
    need.backend.as_str()
}

fn entries(changes: &[Change]) -> Vec<memory::Change> {
    (0..)
        .zip(changes)
        .map(|(seq, change)| entry(seq, change))
        .collect()
}

fn entry(seq: u64, change: &Change) -> memory::Change {
    let state = |state: &Option<PointState>| {
        state
            .as_ref()
            .and_then(|state| serde_json::to_value(state).ok())
    };
    memory::Change {
        seq,
        kind: change.kind.word().to_owned(),
        point: change.id.clone(),
        before: state(&change.before),
        after: state(&change.after),
        into: change.into.clone(),
        reason: change.reason.clone(),
    }
}

/// One JSON line for the reflection, unless it stands there already.
fn log(shop: &Shop, job: &Job, finish: &Finish, took: Duration) {
    let ticket = &job.ticket;
    let spent = &job.progress.spent;
    let changes = job.progress.changes.as_deref().unwrap_or_default();
    let analysis = job
        .progress
        .reflection
        .as_ref()
        .map_or("", |r| r.analysis.as_str());
    let reason = (!finish.reason.is_empty()).then_some(&finish.reason);
    let line = json!({
        "time": shop.now().to_string(),
        "turn": ticket.session,
        "job": ticket.id.as_str(),
        "project": ticket.project,
        "event": ticket.event.word(),
        "backend": backend(shop, job),
        "outcome": finish.outcome.word(),
        "trigger": job.progress.trigger,
        "ops_written": if finish.outcome == Outcome::Applied { changes.len() } else { 0 },
        "summary_len": analysis.split_whitespace().count(),
        "tags": changes.len(),
        "tokens_in": spent.tokens.input,
        "tokens_out": spent.tokens.output,
        "attempts": spent.attempts,
        "ms": if shop.is_ci { 0.0 } else { took.as_secs_f64() * 1000.0 },
        "reason": reason,
    });
    telemetry::reflection(&shop.paths, ticket.id.as_str(), &line);
}
