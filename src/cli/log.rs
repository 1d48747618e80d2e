//! `playbook log`: what happened to the playbook, and why.

use serde_json::{Value, json};

use super::args;
use super::output::{self, BAD, BOLD, DIM, Hinted, NAME, plain, say};
use super::session::Session;
use super::{story, tell};
use crate::memory::{Entry, JobRow, Memory, Outcome};
use crate::queue::job::JobId;
use crate::redact;

/// How many jobs are shown where the user does not say.
const JOBS: u64 = 20;

pub(super) fn run(session: &Session, args: &args::Log) -> anyhow::Result<()> {
    let memory = Memory::open(&session.paths.memory_db())?;
    match args.id.as_deref() {
        None => history(session, &memory, args),
        Some(id) => match JobId::parse(id) {
            Some(id) => job(&memory, &id, args.on.json),
            None => story::run(session, &memory, id, args),
        },
    }
}

fn history(session: &Session, memory: &Memory, args: &args::Log) -> anyhow::Result<()> {
    let rows = memory.last_jobs(Some(&session.project_name()), args.limit.unwrap_or(JOBS))?;
    // An edit that found nothing to do is no part of the history; a session is.
    let is_told = |row: &JobRow| row.job.outcome != Outcome::Skipped || !row.job.session.is_empty();
    let jobs = rows
        .into_iter()
        .filter(is_told)
        .map(|row| Ok((memory.changes_of(&row.job.id)?, row)));
    let jobs: Vec<(Vec<Entry>, JobRow)> = jobs.collect::<anyhow::Result<_>>()?;
    if args.on.json {
        let jobs: Vec<Value> = jobs.iter().map(|(made, row)| in_json(row, made)).collect();
        return output::json(&json!({"project": session.project, "jobs": jobs}));
    }
    if jobs.is_empty() {
        say!("Nothing happened here yet: {}", session.project.display());
        say!("{DIM}The history grows as sessions end; `playbook demo` shows how.{DIM:#}");
    }
    for (changes, row) in &jobs {
        show(row, changes)?;
    }
    Ok(())
}

fn job(memory: &Memory, id: &JobId, as_json: bool) -> anyhow::Result<()> {
    let Some(row) = memory.job(id.as_str())? else {
        return Err(Hinted::error(
            format!("no job {id} in the history"),
            "`playbook log` lists those that are done, `playbook jobs` those that wait",
        ));
    };
    let changes = memory.changes_of(id.as_str())?;
    if as_json {
        return output::json(&in_json(&row, &changes));
    }
    show(&row, &changes)
}

fn show(row: &JobRow, changes: &[Entry]) -> anyhow::Result<()> {
    let job = &row.job;
    let actor = tell::actor(&job.event, &job.session, &job.backend);
    let (id, time) = (plain(&job.id), tell::time(job.finished));
    say!("{DIM}{id}{DIM:#}  {BOLD}{time}  {actor}{BOLD:#}");
    if job.outcome != Outcome::Applied || !job.reason.is_empty() {
        let colon = if job.reason.is_empty() { "" } else { ": " };
        let (word, reason) = (job.outcome.word(), plain(&job.reason));
        say!("  {BAD}{word}{colon}{reason}{BAD:#}");
    }
    if let Some(by) = &row.undone_by {
        say!("  {DIM}undone by {}{DIM:#}", plain(by));
    }
    let common = common_reason(changes);
    if let Some(reason) = common.filter(|reason| *reason != actor) {
        say!("  {DIM}{}{DIM:#}", plain(reason));
    }
    for entry in changes {
        let point = plain(&entry.change.point);
        say!("  {NAME}{point:<9}{NAME:#} {}", tell::remembered(entry));
        if common.is_none() && !entry.change.reason.is_empty() {
            say!("            {DIM}{}{DIM:#}", plain(&entry.change.reason));
        }
    }
    if changes.is_empty() && job.outcome == Outcome::Applied {
        say!("  {DIM}changed nothing{DIM:#}");
    }
    Ok(())
}

/// The reason of all changes, when it is the same: it is told once.
fn common_reason(changes: &[Entry]) -> Option<&str> {
    let (first, others) = changes.split_first()?;
    let reason = first.change.reason.as_str();
    let is_common = others.iter().all(|entry| entry.change.reason == reason);
    is_common.then_some(reason)
}

fn in_json(row: &JobRow, changes: &[Entry]) -> Value {
    let job = &row.job;
    let changes: Vec<Value> = changes.iter().map(|e| tell::in_json(&e.change)).collect();
    json!({
        "job": job.id,
        "project": job.project,
        "time": job.finished,
        "event": job.event,
        "session": job.session,
        "transcript": redact::mask(&job.transcript),
        "backend": job.backend,
        "outcome": job.outcome.word(),
        "reason": job.reason,
        "undone_by": row.undone_by,
        "changes": changes,
    })
}
