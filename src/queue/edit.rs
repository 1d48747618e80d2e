//! What a user does to a playbook by a command: a job like any other, so that it is
//! applied once, recorded, and can be undone.

use jiff::Timestamp;

use super::job_id::JobId;
use crate::account::Need;
use crate::backend::BackendName;
use crate::config::Config;
use crate::memory::{Memory, MemoryError};
use crate::playbook::change::Applied;
use crate::playbook::learn::{Caps, enforce};
pub(crate) use crate::playbook::ops::PlaybookEdit;
use crate::playbook::ops::RefusedEdit;
use crate::playbook::undo::diff;
use crate::playbook::undo::undo;
use crate::playbook::{Playbook, PointChange};
use crate::store::Snapshots;

/// What an edit needs to be answered: any worker does it.
pub(crate) const NOBODY: Need = Need::bare(BackendName::Rules);

#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    #[error(transparent)]
    Refused(#[from] RefusedEdit),
    #[error("{0}")]
    Nothing(String),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Snapshot(#[from] crate::fsx::FsError),
}

/// What an edit may look at beside the playbook.
#[derive(Clone, Copy)]
pub(crate) struct Sources<'a> {
    pub(crate) project: &'a str,
    pub(crate) memory: &'a Memory,
    pub(crate) snapshots: &'a Snapshots,
    pub(crate) caps: Caps,
}

pub(crate) fn caps(config: &Config) -> Caps {
    Caps {
        points: config.playbook.max_points,
        bytes: config.playbook.max_bytes,
    }
}

pub(crate) fn apply(
    edit: &PlaybookEdit,
    playbook: &mut Playbook,
    sources: Sources<'_>,
    now: Timestamp,
) -> Result<Applied, EditError> {
    let before = playbook.clone();
    let mut changes = match edit {
        PlaybookEdit::Undo { job } => return take_back(playbook, job, sources, now),
        PlaybookEdit::Restore { snapshot } => restore(playbook, snapshot, sources, now)?,
        of_points => of_points.by_hand(playbook, now)?,
    };
    // Only what the user brings in is held to the caps, not what comes back.
    if edit.text().is_some() || matches!(edit, PlaybookEdit::Change { .. }) {
        changes.extend(enforce(playbook, &before, sources.caps, now));
    }
    Ok(Applied {
        changes,
        skipped: Vec::new(),
    })
}

/// Undoes a job; one that was undone already is left as it is.
fn take_back(
    playbook: &mut Playbook,
    job: &JobId,
    sources: Sources<'_>,
    now: Timestamp,
) -> Result<Applied, EditError> {
    let refused = |why: String| EditError::from(RefusedEdit::Told(why));
    let row = sources.memory.job(job.as_str())?;
    let row = row.ok_or_else(|| refused(format!("no job {job} in the history")))?;
    if row.job.project != sources.project {
        let other = row.job.project;
        return Err(refused(format!("job {job} is of another project: {other}")));
    }
    if let Some(by) = row.undone_by {
        let why = format!("job {job} was undone already, by {by}");
        return Err(EditError::Nothing(why));
    }
    let entries = sources.memory.changes_of(job.as_str())?;
    let counts = row.job.counts;
    let is_cut = match entries.first() {
        Some(first) => first.seq > 0,
        None => counts.tags + counts.operations > 0,
    };
    if is_cut {
        let why = format!("what job {job} did is no longer in the history");
        return Err(refused(why));
    }
    if entries.is_empty() {
        return Err(EditError::Nothing(format!("job {job} changed nothing")));
    }
    let changes: Vec<PointChange> = entries.into_iter().map(|entry| entry.change).collect();
    Ok(undo(playbook, &changes, &format!("undo of {job}"), now))
}

/// Makes the playbook what a snapshot holds; what it knows of numbers, names and jobs
/// stays, so that no id is given twice.
fn restore(
    playbook: &mut Playbook,
    snapshot: &str,
    sources: Sources<'_>,
    now: Timestamp,
) -> Result<Vec<PointChange>, EditError> {
    let unknown = || RefusedEdit::Told(format!("no snapshot {snapshot}"));
    let bytes = sources.snapshots.read(snapshot)?.ok_or_else(unknown)?;
    let old = Playbook::parse(&bytes)
        .map_err(|flaw| RefusedEdit::Told(format!("snapshot {snapshot} cannot be read: {flaw}")))?;
    let old = old.with_votes(&sources.memory.votes(sources.project)?);
    let changes = diff(playbook, &old, &format!("restored {snapshot}"), now);
    playbook.take_sections(old);
    Ok(changes)
}
