//! `playbook jobs retry` and `playbook jobs drop`.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use super::args;
use super::output::{self, Hinted, counted, say};
use super::session::{Session, runtime};
use super::worker::start_in_background;
use crate::queue::job::JobId;
use crate::queue::request::{self, Wish};
use crate::queue::spool;
use crate::queue::worker::{WorkScope, run_if_free};

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
        let retried = match &done {
            Done::Here(retried) => Some(retried),
            Done::ByTheWorker | Done::NotYet => None,
        };
        return output::json(&json!({"done": done != Done::NotYet, "retried": retried}));
    }
    match done {
        Done::NotYet => say!("{LEFT_TO_THE_WORKER}"),
        Done::ByTheWorker => {
            say!("They are tried again; `playbook jobs` lists those that still wait.");
        }
        Done::Here(ids) if ids.is_empty() => {
            say!("No job waits for another try, and none has failed.");
        }
        Done::Here(ids) => say!(
            "{} tried again; `playbook jobs` lists those that still wait.",
            counted(ids.len(), "job")
        ),
    }
    Ok(())
}

pub(super) fn drop(session: &Session, id: &str, as_json: bool) -> anyhow::Result<()> {
    let id = existing(session, id)?;
    let is_done = carry_out(session, Wish::Drop { job: id.clone() })? != Done::NotYet;
    if is_done && is_there(session, &id) {
        return Err(Hinted::error(
            format!("could not drop job {id}"),
            "the log says why: `log/playbook.log` in the state folder",
        ));
    }
    if as_json {
        return output::json(&json!({"done": is_done, "dropped": id}));
    }
    if is_done {
        say!("Dropped job {id}: its part of the session is not learned from any more.");
    } else {
        say!("{LEFT_TO_THE_WORKER}");
    }
    Ok(())
}

/// What is said when a worker has a job in hand and has not come to the request.
const LEFT_TO_THE_WORKER: &str = "A worker is busy; it does this as soon as it can.";

#[derive(PartialEq)]
enum Done {
    /// In this process, which knows the jobs that are tried again.
    Here(Vec<JobId>),
    /// By a worker that was at it, which does not tell.
    ByTheWorker,
    NotYet,
}

/// Carries a request out, or waits a while for the worker to do so.
fn carry_out(session: &Session, wish: Wish) -> anyhow::Result<Done> {
    let context = session.context()?;
    let file = request::leave(&session.paths, session.env.clock().now(), wish)?;
    if let Some(summary) = runtime()?.block_on(run_if_free(context, &WorkScope::Requests))? {
        return Ok(Done::Here(summary.retried));
    }
    let deadline = Instant::now() + PATIENCE;
    while file.exists() {
        if Instant::now() > deadline {
            return Ok(Done::NotYet);
        }
        sleep(LOOK);
    }
    Ok(Done::ByTheWorker)
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
