//! `playbook log`: what happened to the playbook, and why.

use serde_json::{Value, json};

use super::output::{self, Hinted};
use super::session::Session;
use super::{answer, args, change_text, history};
use crate::memory::{Entry, JobRow, Memory, Outcome};
use crate::playbook::is_own_name;
use crate::queue::job::JobId;
use crate::redact;

/// How many jobs are shown where the user does not say.
const JOBS: u64 = 20;
const SCREEN: &str = include_str!("screens/log.txt");

pub(super) fn run(session: &Session, args: &args::Log) -> anyhow::Result<()> {
    let memory = Memory::open(&session.paths.memory_db())?;
    match args.id.as_deref() {
        None => history(session, &memory, args),
        Some(id) => match JobId::parse(id) {
            Some(id) => job(&memory, &id, args.on.json),
            None if is_own_name(id) => history::run(&Session::on_own()?, &memory, id, args),
            None => history::run(session, &memory, id, args),
        },
    }
}

fn history(session: &Session, memory: &Memory, args: &args::Log) -> anyhow::Result<()> {
    let rows = memory.last_jobs(Some(&session.project_name()), args.limit.unwrap_or(JOBS))?;
    // An edit that found nothing to do is no part of the history; a session is.
    let is_told = |row: &JobRow| row.job.outcome != Outcome::Skipped || !row.job.session.is_empty();
    let jobs = rows.iter().filter(|row| is_told(row));
    let jobs = jobs.map(|row| Ok(in_json(row, &memory.changes_of(&row.job.id)?)));
    let jobs: Vec<Value> = jobs.collect::<anyhow::Result<_>>()?;
    let told = json!({"project": session.project, "jobs": jobs});
    answer::give(args.on.json, SCREEN, told)
}

fn job(memory: &Memory, id: &JobId, as_json: bool) -> anyhow::Result<()> {
    let Some(row) = memory.job(id.as_str())? else {
        return Err(Hinted::error(
            format!("no job {id} in the history"),
            "`playbook log` lists those that are done, `playbook jobs` those that wait",
        ));
    };
    let told = in_json(&row, &memory.changes_of(id.as_str())?);
    if as_json {
        return output::json(&told);
    }
    answer::show(SCREEN, json!({"jobs": [told]}))
}

fn in_json(row: &JobRow, changes: &[Entry]) -> Value {
    let job = &row.job;
    let changes: Vec<Value> = changes
        .iter()
        .map(|e| change_text::in_json(&e.change))
        .collect();
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
        "dropped": row.dropped,
    })
}
