//! The curator's run, as commands see it through and show it; `playbook dream`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::answer;
use super::session::{NamedSession, PATIENCE};
use crate::queue::context::WorkerContext;
use crate::queue::curate::{self, CuratorWish};
use crate::queue::job::JobId;
use crate::reflect::curator::NoteState;

/// Enqueues a run that the user wishes, sees it through and shows what came of it.
pub(super) fn give(session: &NamedSession, wish: CuratorWish, as_json: bool) -> anyhow::Result<()> {
    let context = session.context()?;
    let before = Before::of(session, &context)?;
    let need = context.surroundings.account.need.clone();
    // There may be nothing to look at, or no model.
    let id = curate::enqueue(&context, &session.project, (need, Some(wish)), None)?;
    let run = id.map(|id| see_through(session, &context, &id, &before));
    let screen = include_str!("screens/curator.txt");
    answer::give(as_json, screen, json!({"curator": run.transpose()?}))
}

/// The last run before a command, and the notes that were settled.
pub(super) struct Before {
    last: Option<String>,
    settled: u64,
}

impl Before {
    pub(super) fn of(session: &NamedSession, context: &WorkerContext) -> anyhow::Result<Self> {
        let (memory, project) = (context.memory(), session.project_name());
        Ok(Self {
            last: memory.last_curator_job(&project)?,
            settled: memory.notes_in(&project, NoteState::Settled)?,
        })
    }
}

/// Sees the run through that a session has made due.
pub(super) fn run_that_came_due(
    session: &NamedSession,
    context: &Arc<WorkerContext>,
    before: &Before,
) -> anyhow::Result<Option<Value>> {
    if let Some(id) = curate::waiting_run(&session.paths, &session.project)? {
        return see_through(session, context, &id, before).map(Some);
    }
    // A worker that was at it has done it by now.
    let last = context.memory().last_curator_job(&session.project_name())?;
    let last = last.filter(|last| Some(last) != before.last.as_ref());
    let last = last.and_then(|id| JobId::parse(&id));
    last.map(|id| see_through(session, context, &id, before))
        .transpose()
}

/// Sees a run to its end, and returns what came of it.
fn see_through(
    session: &NamedSession,
    context: &Arc<WorkerContext>,
    id: &JobId,
    before: &Before,
) -> anyhow::Result<Value> {
    let Some(done) = NamedSession::see_through(context, id, PATIENCE)? else {
        return Ok(json!({"job": id, "outcome": "waiting"}));
    };
    let (memory, project) = (context.memory(), session.project_name());
    let changes = memory.changes_of(id.as_str())?;
    let changes = changes.iter().map(|entry| {
        let change = &entry.change;
        json!({"kind": change.kind, "point": change.id, "reason": change.reason})
    });
    let held = memory.quarantine(&project)?;
    let held = held.iter().filter(|row| row.held.job == id.as_str());
    let row = memory.job(id.as_str())?;
    let settled = memory.notes_in(&project, NoteState::Settled)?;
    Ok(json!({
        "job": id,
        "outcome": done.outcome.word(),
        "reason": done.reason,
        "changes": changes.collect::<Vec<_>>(),
        "refused": row.map(|row| row.dropped).unwrap_or_default(),
        "held": held.count(),
        "settled": settled.saturating_sub(before.settled),
    }))
}
