//! What a user does to a playbook by a command: a job like any other, so that it is
//! applied once, recorded, and can be undone.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::job_id::JobId;
use crate::account::Need;
use crate::backend::BackendName;
use crate::config::Config;
use crate::memory::{Memory, MemoryError};
use crate::playbook::change::Applied;
use crate::playbook::change::Editor;
use crate::playbook::diff::diff;
use crate::playbook::learn::{Caps, enforce};
use crate::playbook::manual_edit::{self, BroughtPoint, RefusedEdit, by_hand};
use crate::playbook::undo::undo;
use crate::playbook::{Playbook, PointChange, Section};
use crate::redact::Masker;
use crate::store::Snapshots;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub(crate) enum PlaybookEdit {
    Add {
        text: String,
        section: Section,
    },
    /// A point of another playbook, with its counters.
    Bring {
        point: BroughtPoint,
        /// Where it stood, in words.
        why: String,
    },
    Change {
        point: String,
        text: Option<String>,
        section: Option<Section>,
    },
    Remove {
        point: String,
        reason: Option<String>,
    },
    Merge {
        points: Vec<String>,
        text: String,
        section: Option<Section>,
    },
    Pin {
        point: String,
    },
    Unpin {
        point: String,
    },
    Undo {
        job: JobId,
    },
    /// The file as it was after a job.
    Restore {
        snapshot: String,
    },
}

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

impl PlaybookEdit {
    /// The points that it is about, as the user named them.
    pub(crate) fn points(&self) -> &[String] {
        match self {
            Self::Change { point, .. }
            | Self::Remove { point, .. }
            | Self::Pin { point }
            | Self::Unpin { point } => std::slice::from_ref(point),
            Self::Merge { points, .. } => points,
            _ => &[],
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Bring { point, .. } => Some(&point.text),
            Self::Add { text, .. } | Self::Merge { text, .. } => Some(text),
            Self::Change { text, .. } => text.as_deref(),
            _ => None,
        }
    }

    #[must_use]
    pub(crate) fn with_text(&self, words: Option<&str>) -> Self {
        let mut edit = self.clone();
        match (&mut edit, words) {
            (
                Self::Add { text, .. }
                | Self::Bring {
                    point: BroughtPoint { text, .. },
                    ..
                }
                | Self::Merge { text, .. },
                Some(words),
            ) => {
                words.clone_into(text);
            }
            (Self::Change { text, .. }, Some(words)) => *text = Some(words.to_owned()),
            _ => {}
        }
        edit
    }

    /// The same without the secrets in its words.
    ///
    /// A point whose name holds one is meant by its masked name: an edit is applied to the
    /// masked playbook.
    #[must_use]
    pub(crate) fn masked(&self, masker: &Masker) -> Self {
        let Ok(mut edit) = serde_json::to_value(self) else {
            return self.clone();
        };
        masker.mask_value(&mut edit);
        // The name of a job or snapshot is no word of the user's, and nothing masks it.
        serde_json::from_value(edit).unwrap_or_else(|_| self.clone())
    }

    pub(crate) fn apply(
        &self,
        playbook: &mut Playbook,
        sources: Sources<'_>,
        now: Timestamp,
    ) -> Result<Applied, EditError> {
        let before = playbook.clone();
        let mut changes = match self {
            Self::Undo { job } => return take_back(playbook, job, sources, now),
            Self::Restore { snapshot } => restore(playbook, snapshot, sources, now)?,
            of_points => by_hand(playbook, now, |editor| of_points.edit(editor))?,
        };
        // Only what the user brings in is held to the caps, not what comes back.
        if let Self::Add { .. } | Self::Bring { .. } | Self::Change { .. } | Self::Merge { .. } =
            self
        {
            changes.extend(enforce(playbook, &before, sources.caps, now));
        }
        Ok(Applied {
            changes,
            skipped: Vec::new(),
        })
    }

    /// What the user does to single points; the rest is no such thing.
    fn edit(&self, editor: &mut Editor<'_>) -> Result<(), RefusedEdit> {
        match self {
            Self::Add { text, section } => manual_edit::add(editor, text, *section),
            Self::Bring { point, why } => manual_edit::bring(editor, point, why),
            Self::Change {
                point,
                text,
                section,
            } => manual_edit::change(editor, point, text.as_deref(), *section),
            Self::Remove { point, reason } => manual_edit::remove(editor, point, reason.as_deref()),
            Self::Merge {
                points,
                text,
                section,
            } => manual_edit::merge(editor, points, text, *section),
            Self::Pin { point } => manual_edit::pin(editor, point),
            Self::Unpin { point } => manual_edit::unpin(editor, point),
            Self::Undo { .. } | Self::Restore { .. } => Ok(()),
        }
    }
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
