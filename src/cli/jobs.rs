//! `playbook jobs`: which jobs wait, why, and when they are retried; `jobs retry` and `jobs drop`.

use std::thread::sleep;

use serde::Serialize;

use super::prelude::*;
use super::worker::start_in_background;
use crate::account::Account;
use crate::queue::backoff::{self, Backoff};
use crate::queue::budget::Usage;
use crate::queue::progress::Job;
use crate::queue::requests::{self, Wish};
use crate::queue::worker::{WorkScope, run_if_free};
use crate::queue::{progress, spool};
use crate::redact;

/// The time in which a running worker should carry out a request.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

pub(super) struct Row {
    pub(super) id: JobId,
    /// `None` for an unreadable file.
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
    Unreadable,
}

pub(super) fn run(session: &NamedSession, args: &args::JobsArgs) -> anyhow::Result<()> {
    match &args.action {
        None => list(session, args.json),
        Some(args::JobsAction::Retry(which)) => retry(session, which, args.json),
        Some(args::JobsAction::Drop { id }) => drop_it(session, id, args.json),
    }
}

fn list(session: &NamedSession, as_json: bool) -> anyhow::Result<()> {
    let now = session.env.clock().now();
    let rows = rows(session, now)?;
    let jobs: Vec<_> = rows.iter().map(|row| in_json(row, now)).collect();
    let mut strays = Vec::new();
    for folder in [session.paths.spool(), session.paths.failed()] {
        let names = spool::strays(&folder)?.into_iter();
        strays.extend(names.map(|name| masked(&folder.join(name))));
    }
    let mut answer = json!({ "jobs": jobs, "strays": strays });
    if !as_json {
        answer["now"] = json!(now);
    }
    answer::give(as_json, include_str!("screens/jobs.txt"), answer)
}

pub(super) fn rows(session: &NamedSession, now: Timestamp) -> anyhow::Result<Vec<Row>> {
    let backoff = Backoff::read(&session.paths);
    let own = session.account().ok();
    let (waiting, failed) = (session.paths.spool(), session.paths.failed());
    let mut rows = Vec::new();
    for (folder, has_failed) in [(&waiting, false), (&failed, true)] {
        for id in spool::list(folder)? {
            let read = progress::read(folder, &id);
            let (state, reason, next) = match &read {
                Ok(job) if has_failed => {
                    let reason = job.progress.failed.clone();
                    (JobState::Failed, reason.unwrap_or_default(), None)
                }
                Ok(job) => standing(job, own.as_ref(), &backoff, now),
                Err(error) if error.is_missing() => continue,
                Err(error) => (JobState::Unreadable, error.to_string(), None),
            };
            rows.push(Row {
                id,
                job: read.ok(),
                state,
                reason,
                next,
            });
        }
    }
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(rows)
}

/// Returns a spooled job's state, its reason, and the time of the next try.
fn standing(
    job: &Job,
    own: Option<&Account>,
    backoff: &Backoff,
    now: Timestamp,
) -> (JobState, String, Option<Timestamp>) {
    let parked = backoff::account_pause(job, backoff, now);
    let need = job.ticket.need.as_ref().filter(|_| !job.is_judged());
    let is_foreign = need.is_some_and(|need| own.is_some_and(|own| !own.answers(need, true)));
    match (&job.progress.waiting, backoff::own_pause(job), parked) {
        (Some(waiting), Some(next), _) => (JobState::Waiting, waiting.reason.clone(), Some(next)),
        (_, _, Some(parked)) => (JobState::Waiting, parked.reason.clone(), Some(parked.until)),
        (Some(waiting), _, None) => (JobState::Waiting, waiting.reason.clone(), Some(now)),
        _ if is_foreign => (JobState::Waiting, backoff::FOREIGN.to_owned(), None),
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

fn retry(session: &NamedSession, args: &args::RetryArgs, as_json: bool) -> anyhow::Result<()> {
    let need = session.account()?.need;
    let wish = match &args.id {
        Some(id) => Wish::Retry {
            job: existing(session, id)?,
            need,
            more: Usage::default(),
        },
        None => Wish::RetryAll { need },
    };
    let (is_done, retried) = carry_out(session, wish)?;
    start_in_background(session)?;
    let answer = json!({"done": is_done, "retried": retried});
    answer::give(as_json, include_str!("screens/retried.txt"), answer)
}

fn drop_it(session: &NamedSession, id: &str, as_json: bool) -> anyhow::Result<()> {
    let id = existing(session, id)?;
    let (is_done, _) = carry_out(session, Wish::Drop { job: id.clone() })?;
    if is_done && is_there(session, &id) {
        return Err(Hinted::error(
            format!("could not drop job {id}"),
            "the log says why: `log/playbook.log` in the state folder",
        ));
    }
    let answer = json!({"done": is_done, "dropped": id});
    answer::give(as_json, include_str!("screens/dropped.txt"), answer)
}

/// Carries out a request, or waits a while for a running worker to do so. Returns whether it is
/// done, and the retried jobs if this process did it.
fn carry_out(session: &NamedSession, wish: Wish) -> anyhow::Result<(bool, Option<Vec<JobId>>)> {
    let context = session.context()?;
    let file = requests::leave(&session.paths, session.env.clock().now(), wish)?;
    if let Some(summary) = runtime()?.block_on(run_if_free(context, &WorkScope::Requests))? {
        return Ok((true, Some(summary.retried)));
    }
    let deadline = Instant::now() + PATIENCE;
    while file.exists() {
        if Instant::now() > deadline {
            return Ok((false, None));
        }
        sleep(LOOK);
    }
    Ok((true, None))
}

fn existing(session: &NamedSession, id: &str) -> anyhow::Result<JobId> {
    let known = JobId::parse(id).filter(|id| is_there(session, id));
    known.ok_or_else(|| {
        let what = format!("no such job: {}", output::plain(id));
        let hint = "`playbook jobs` lists them";
        Hinted::error(what, hint)
    })
}

fn is_there(session: &NamedSession, id: &JobId) -> bool {
    let folders = [session.paths.spool(), session.paths.failed()];
    folders
        .iter()
        .any(|folder| spool::job_file(folder, id).exists())
}
