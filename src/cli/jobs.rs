//! `playbook jobs`: what waits, why, and when it is tried again.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};

use super::session::Session;
use super::{answer, args, jobs_by_hand};
use crate::account::Account;
use crate::queue::backoff::Backoff;
use crate::queue::due;
use crate::queue::job::JobId;
use crate::queue::progress::Job;
use crate::queue::{files, spool};
use crate::redact;

pub(super) struct Row {
    pub(super) id: JobId,
    /// The job; `None` for a file that cannot be read.
    pub(super) job: Option<Job>,
    pub(super) state: JobState,
    pub(super) reason: String,
    pub(super) next: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum JobState {
    Ready,
    Waiting,
    Failed,
    /// Its file cannot be read; it is left alone.
    Unreadable,
}

pub(super) fn run(session: &Session, args: &args::Jobs) -> anyhow::Result<()> {
    match &args.action {
        None => list(session, args.json),
        Some(args::JobsAction::Retry(which)) => jobs_by_hand::retry(session, which, args.json),
        Some(args::JobsAction::Drop { id }) => jobs_by_hand::drop(session, id, args.json),
    }
}

fn list(session: &Session, as_json: bool) -> anyhow::Result<()> {
    let now = session.env.clock().now();
    let rows = rows(session, now)?;
    let strays = strays(session)?;
    let jobs: Vec<_> = rows.iter().map(|row| in_json(row, now)).collect();
    let strays: Vec<_> = strays.iter().map(|file| masked(file)).collect();
    let mut told = json!({ "jobs": jobs, "strays": strays });
    if !as_json {
        told["now"] = json!(now);
    }
    answer::give(as_json, include_str!("screens/jobs.txt"), told)
}

fn strays(session: &Session) -> anyhow::Result<Vec<PathBuf>> {
    let mut strays = Vec::new();
    for folder in [session.paths.spool(), session.paths.failed()] {
        let names = spool::strays(&folder)?.into_iter();
        strays.extend(names.map(|name| folder.join(name)));
    }
    Ok(strays)
}

/// All jobs there are, oldest first.
pub(super) fn rows(session: &Session, now: Timestamp) -> anyhow::Result<Vec<Row>> {
    let backoff = Backoff::read(&session.paths);
    let own = session.account().ok();
    let (waiting, failed) = (session.paths.spool(), session.paths.failed());
    let mut rows = Vec::new();
    for (folder, has_failed) in [(&waiting, false), (&failed, true)] {
        for id in spool::list(folder)? {
            let (state, reason, next, job) = match files::read(folder, &id) {
                Ok(job) if has_failed => {
                    let reason = job.progress.failed.clone().unwrap_or_default();
                    (JobState::Failed, reason, None, Some(job))
                }
                Ok(job) => {
                    let (state, reason, next) = standing(&job, own.as_ref(), &backoff, now);
                    (state, reason, next, Some(job))
                }
                Err(error) if error.is_missing() => continue,
                Err(error) => (JobState::Unreadable, error.to_string(), None, None),
            };
            rows.push(Row {
                id,
                job,
                state,
                reason,
                next,
            });
        }
    }
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(rows)
}

/// What a job of the spool waits for, and until when: itself, its account, or a worker of
/// another account than `own`.
fn standing(
    job: &Job,
    own: Option<&Account>,
    backoff: &Backoff,
    now: Timestamp,
) -> (JobState, String, Option<Timestamp>) {
    let parked = due::account_pause(job, backoff, now);
    let need = job.ticket.need.as_ref().filter(|_| !job.is_judged());
    let is_foreign = need.is_some_and(|need| own.is_some_and(|own| !own.answers(need, true)));
    match (&job.progress.waiting, due::own_pause(job), parked) {
        (Some(waiting), Some(next), _) => (JobState::Waiting, waiting.reason.clone(), Some(next)),
        (_, _, Some(parked)) => (JobState::Waiting, parked.reason.clone(), parked.until),
        (Some(waiting), _, None) => (JobState::Waiting, waiting.reason.clone(), Some(now)),
        _ if is_foreign => (JobState::Waiting, due::FOREIGN.to_owned(), None),
        _ => (JobState::Ready, String::new(), None),
    }
}

fn masked(path: &Path) -> String {
    redact::mask(&path.to_string_lossy()).into_owned()
}

fn in_json(row: &Row, now: Timestamp) -> Value {
    let job = row.job.as_ref();
    let ticket = job.map(|job| &job.ticket);
    let waiting = job.and_then(|job| job.progress.waiting.as_ref());
    json!({
        "id": row.id,
        "state": row.state,
        "event": ticket.map(|t| t.event.word()),
        "session": ticket.map(|t| redact::mask(&t.session)),
        "project": ticket.map(|t| masked(&t.project)),
        "transcript": ticket.map(|t| masked(&t.transcript)),
        "at": ticket.map(|t| t.at),
        "age_s": ticket.map(|t| now.duration_since(t.at).as_secs()),
        "tries": waiting.map_or(0, |w| w.tries),
        "reason": (!row.reason.is_empty()).then_some(&row.reason),
        "next": row.next,
    })
}
