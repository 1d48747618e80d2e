//! `playbook jobs`: what waits, why, and when it is tried again.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::json;

use super::args;
use super::jobs_by_hand;
use super::output::{self, BAD, BOLD, DIM, NAME, plain, say};
use super::session::Session;
use crate::queue::job::JobId;
use crate::queue::parking::Parking;
use crate::queue::progress::Job;
use crate::queue::{files, spool};
use crate::redact;

pub(super) struct Row {
    id: JobId,
    /// The job; `None` for a file that cannot be read.
    pub(super) job: Option<Job>,
    pub(super) state: State,
    reason: String,
    next: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Ready,
    Waiting,
    Failed,
    /// Its file cannot be read; it is left alone.
    Unreadable,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Waiting => "waiting",
            Self::Failed => "failed",
            Self::Unreadable => "unreadable",
        }
    }
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
    if as_json {
        return print_json(&rows, &strays, now);
    }
    if rows.is_empty() {
        say!("No jobs: every session so far has been worked through.");
    }
    for row in &rows {
        let colour = if row.state == State::Failed { BAD } else { DIM };
        say!(
            "{NAME}{}{NAME:#}  {colour}{:<10}{colour:#} {BOLD}{}{BOLD:#}",
            row.id,
            row.state.word(),
            row.job.as_ref().map_or_else(String::new, describe),
        );
        if let Some(job) = &row.job {
            say!("    {DIM}{}{DIM:#}", history(job, row.next, now));
        }
        if !row.reason.is_empty() {
            say!("    {}", plain(&row.reason));
        }
    }
    for stray in &strays {
        let file = plain(&masked(stray));
        say!("{DIM}No job, and left alone: {file}{DIM:#}");
    }
    Ok(())
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
    let parking = Parking::read(&session.paths);
    let (waiting, failed) = (session.paths.spool(), session.paths.failed());
    let mut rows = Vec::new();
    for (folder, has_failed) in [(&waiting, false), (&failed, true)] {
        for id in spool::list(folder)? {
            let (state, reason, next, job) = match files::read(folder, &id) {
                Ok(job) if has_failed => {
                    let reason = job.progress.failed.clone().unwrap_or_default();
                    (State::Failed, reason, None, Some(job))
                }
                Ok(job) => {
                    let (state, reason, next) = standing(&job, &parking, now);
                    (state, reason, next, Some(job))
                }
                Err(error) if error.is_missing() => continue,
                Err(error) => (State::Unreadable, error.to_string(), None, None),
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

/// What a job of the spool waits for, and until when: itself, or its account.
fn standing(job: &Job, parking: &Parking, now: Timestamp) -> (State, String, Option<Timestamp>) {
    let need = job.ticket.need.as_ref();
    let parked = need.and_then(|need| parking.parked(&need.account(), now));
    match (&job.progress.waiting, parked) {
        (Some(waiting), None) if waiting.for_account => {
            (State::Waiting, waiting.reason.clone(), Some(now))
        }
        (Some(waiting), parked) if parked.is_none() || !waiting.for_account => {
            (State::Waiting, waiting.reason.clone(), Some(waiting.next))
        }
        (_, Some(parked)) => (State::Waiting, parked.reason.clone(), parked.until),
        (_, None) => (State::Ready, String::new(), None),
    }
}

/// How old it is, how often it was tried, and when that happens again.
fn history(job: &Job, next: Option<Timestamp>, now: Timestamp) -> String {
    let tries = job.progress.waiting.as_ref().map_or(0, |w| w.tries);
    let parts = [
        Some(format!("made {}", when(job.ticket.at, now))),
        (tries > 0).then(|| format!("put off {tries} times")),
        next.map(|next| format!("next try {}", when(next, now))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn describe(job: &Job) -> String {
    let ticket = &job.ticket;
    let of = if ticket.session.is_empty() {
        ""
    } else {
        " of "
    };
    let (event, project) = (ticket.event.word(), ticket.project.display());
    let told = format!("{event}{of}{} in {project}", ticket.session);
    plain(&redact::mask(&told))
}

/// A time as seen from now: `in 5m`, `3h ago`.
fn when(at: Timestamp, now: Timestamp) -> String {
    let distance = at.duration_since(now);
    let text = match distance.abs().as_secs() {
        s if s < 60 => format!("{s}s"),
        s if s < 3600 => format!("{}m", s / 60),
        s if s < 2 * 86400 => format!("{}h", s / 3600),
        s => format!("{}d", s / 86400),
    };
    if distance.is_negative() {
        format!("{text} ago")
    } else {
        format!("in {text}")
    }
}

fn masked(path: &Path) -> String {
    redact::mask(&path.to_string_lossy()).into_owned()
}

fn print_json(rows: &[Row], strays: &[PathBuf], now: Timestamp) -> anyhow::Result<()> {
    let jobs: Vec<_> = rows
        .iter()
        .map(|row| {
            let ticket = row.job.as_ref().map(|job| &job.ticket);
            let waiting = row
                .job
                .as_ref()
                .and_then(|job| job.progress.waiting.as_ref());
            json!({
                "id": row.id,
                "state": row.state.word(),
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
        })
        .collect();
    let strays: Vec<_> = strays.iter().map(|file| masked(file)).collect();
    output::json(&json!({ "jobs": jobs, "strays": strays }))
}
