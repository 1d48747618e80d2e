//! `playbook jobs retry` and `playbook jobs drop`.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use super::args;
use super::output::{self, Hinted, say};
use super::session::{Session, runtime};
use super::worker::start_in_background;
use crate::queue::job::JobId;
use crate::queue::request::{self, Wish};
use crate::queue::spool;
use crate::queue::worker::{Scope, run_if_free};

/// How long we wait for a worker that is at it to see what is wanted.
const PATIENCE: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn retry(session: &Session, args: &args::Retry, as_json: bool) -> anyhow::Result<()> {
    let need = session.account()?.need;
    let wish = match &args.id {
        Some(id) => Wish::Retry {
            job: existing(session, id)?,
            need,
        },
        None => Wish::RetryAll { need },
    };
    let done = carry_out(session, wish)?;
    start_in_background(session)?;
    if as_json {
        let retried = done.as_ref().map(|done| &done.retried);
        return output::json(&json!({"done": done.is_some(), "retried": retried}));
    }
    match done.map(|done| done.retried) {
        None => say!("{LEFT_TO_THE_WORKER}"),
        // A worker that was at it has done it, and does not tell how many.
        Some(None) => say!("They are tried again; `playbook jobs` says how they fare."),
        Some(Some(ids)) if ids.is_empty() => say!("No job waits, and none has failed."),
        Some(Some(ids)) => {
            let jobs = if ids.len() == 1 { "job is" } else { "jobs are" };
            say!(
                "{} {jobs} tried again; `playbook jobs` says how they fare.",
                ids.len()
            );
        }
    }
    Ok(())
}

pub(super) fn drop(session: &Session, id: &str, as_json: bool) -> anyhow::Result<()> {
    let id = existing(session, id)?;
    let done = carry_out(session, Wish::Drop { job: id.clone() })?;
    let is_left = is_there(session, &id);
    if done.is_some() && is_left {
        return Err(Hinted::error(
            format!("could not drop job {id}"),
            "the log says why: `log/playbook.log` in the state folder",
        ));
    }
    if as_json {
        return output::json(&json!({"done": done.is_some(), "dropped": id}));
    }
    if done.is_some() {
        say!("Dropped job {id}: its part of the session counts as done.");
    } else {
        say!("{LEFT_TO_THE_WORKER}");
    }
    Ok(())
}

/// What is said when a worker has a job in hand and has not come to the request.
const LEFT_TO_THE_WORKER: &str = "A worker is busy; it does this as soon as it can.";

struct Done {
    /// The jobs that are tried again, where this process knows.
    retried: Option<Vec<JobId>>,
}

/// Carries a request out, or waits for the worker to do so; `None` when that takes long.
fn carry_out(session: &Session, wish: Wish) -> anyhow::Result<Option<Done>> {
    let shop = session.shop()?;
    let file = request::leave(&session.paths, session.env.clock().now(), wish)?;
    let summary = runtime()?.block_on(run_if_free(shop, &Scope::Requests))?;
    if let Some(summary) = summary {
        return Ok(Some(Done {
            retried: Some(summary.retried),
        }));
    }
    Ok(wait_for_its_end(&file).then_some(Done { retried: None }))
}

fn wait_for_its_end(file: &Path) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while file.exists() {
        if Instant::now() > deadline {
            return false;
        }
        sleep(LOOK);
    }
    true
}

fn existing(session: &Session, id: &str) -> anyhow::Result<JobId> {
    let known = JobId::parse(id).filter(|id| is_there(session, id));
    known.ok_or_else(|| {
        let what = format!("no such job: {}", output::plain(id));
        let hint = "`playbook jobs` lists them";
        Hinted::error(what, hint)
    })
}

fn is_there(session: &Session, id: &JobId) -> bool {
    let folders = [session.paths.spool(), session.paths.failed()];
    folders
        .iter()
        .any(|folder| spool::job_file(folder, id).exists())
}
