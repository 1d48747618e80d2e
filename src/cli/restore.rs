//! `playbook undo --to`: restores an earlier playbook, or replaces a broken one.

use std::sync::Arc;

use super::edit_commands::{self, Checked};
use super::prelude::*;
use crate::queue::apply::PlaybookEdit;
use crate::queue::context::Worker;
use crate::queue::{backoff, progress, spool};
use crate::store::StoreError;

/// The total time that a running worker has to let us resume the waiting jobs.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) fn run(
    session: &NamedSession,
    snapshot: Option<&str>,
    as_json: bool,
) -> anyhow::Result<()> {
    let kept = kept(session)?;
    let found = match session.store().load() {
        Ok(playbook) => Some(playbook),
        Err(StoreError::Corrupt { .. } | StoreError::Away { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let snapshot = match (snapshot, &found) {
        (Some(snapshot), _) => snapshot.to_owned(),
        (None, None) => last_good(session, kept)?,
        (None, Some(playbook)) => return list(session, playbook, &kept, as_json),
    };
    let context = session.context()?;
    let edit = PlaybookEdit::Restore { snapshot };
    let is_broken = found.is_none();
    let is_away = !session.store().path().exists();
    let copy = found.unwrap_or_else(Playbook::empty);
    if let Checked::Nothing { why, .. } = edit_commands::check(session, &context, &edit, copy)?
        && !is_broken
    {
        return edit_commands::tell_nothing(&why, as_json);
    }
    let mut answer = edit_commands::carry_out(session, &context, &edit)?;
    let resumed = resume(session, &context)?.into_iter();
    let resumed = resumed.map(|(id, outcome)| {
        let outcome = outcome.map_or("waiting", JobOutcome::word);
        json!({"job": id, "outcome": outcome})
    });
    answer["mended"] = is_broken.into();
    answer["resumed"] = resumed.collect();
    if !as_json {
        answer["back"] = is_away.into();
    }
    answer::give(as_json, include_str!("screens/restored.txt"), answer)
}

/// Returns the readable snapshots, oldest first: each one's job and number of key points.
fn kept(session: &NamedSession) -> anyhow::Result<Vec<(String, usize)>> {
    let snapshots = session.snapshots();
    let mut kept = Vec::new();
    for snapshot in snapshots.list()? {
        let bytes = snapshots.read(&snapshot.job)?;
        let playbook = bytes.and_then(|bytes| Playbook::parse(&bytes).ok());
        kept.extend(playbook.map(|playbook| (snapshot.job, playbook.points().count())));
    }
    Ok(kept)
}

fn last_good(session: &NamedSession, mut kept: Vec<(String, usize)>) -> anyhow::Result<String> {
    if let Some((last, _)) = kept.pop() {
        return Ok(last);
    }
    let flaw = session.store().load().err().map(anyhow::Error::from);
    let flaw = flaw.context("the playbook can be read again")?;
    Err(flaw.context(Hinted {
        what: "there is no snapshot of this playbook".to_owned(),
        hint: "mend the file by hand or from version control; jobs wait",
    }))
}

fn list(
    session: &NamedSession,
    playbook: &Playbook,
    kept: &[(String, usize)],
    as_json: bool,
) -> anyhow::Result<()> {
    let memory = Memory::open(&session.paths.memory_db())?;
    let points = playbook.points().count();
    let snapshots = kept.iter().rev().map(|(snapshot, points)| {
        let job = memory.job(snapshot)?.map(|row| row.job);
        Ok(json!({
            "snapshot": snapshot,
            "time": job.as_ref().map(|job| job.finished),
            "event": job.as_ref().map(|job| &job.event),
            "session": job.as_ref().map(|job| &job.session),
            "backend": job.as_ref().map(|job| &job.backend),
            "points": points,
        }))
    });
    let snapshots: Vec<Value> = snapshots.collect::<anyhow::Result<_>>()?;
    let path = session.store().path().to_owned();
    let answer = json!({"playbook": path, "points": points, "snapshots": snapshots});
    answer::give(as_json, include_str!("screens/restore.txt"), answer)
}

/// Retries the project's waiting jobs, oldest first: they may have waited only for the playbook.
/// Jobs of another account, or of a paused one, keep waiting and have no outcome.
fn resume(
    session: &NamedSession,
    context: &Arc<Worker>,
) -> anyhow::Result<Vec<(JobId, Option<JobOutcome>)>> {
    let spool = session.paths.spool();
    let deadline = Instant::now() + PATIENCE;
    let mut resumed = Vec::new();
    for id in spool::list(&spool)? {
        // A file that is no job is left alone.
        let Ok(job) = progress::read(&spool, &id) else {
            continue;
        };
        if job.ticket.project != session.project || job.progress.waiting.is_none() {
            continue;
        }
        let is_parked = backoff::account_pause(&job, &context.backoff(), context.now()).is_some();
        let outcome = if context.serves(&job) && !is_parked {
            let patience = deadline.saturating_duration_since(Instant::now());
            NamedSession::see_through(context, &id, patience)?.map(|job| job.outcome)
        } else {
            None
        };
        resumed.push((id, outcome));
    }
    Ok(resumed)
}
