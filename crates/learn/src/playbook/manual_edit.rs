//! The user's changes by commands: add, edit, move, remove, merge, pin, undo, restore.
//!
//! Unlike a model, the user may edit pinned points, and may name a point by its alias.

use jiff::Timestamp;
use playbook_core::job_id::JobId;
use serde::{Deserialize, Serialize};

use super::change::{ChangeKind, Editor, PointChange};
use super::clean::{MAX_CHARS, clean_text, whole_line};
use super::id::Section;
use super::model::{Due, DueChange, Playbook, Point, PointPlace};
use super::ops;
use crate::redact::Masker;

/// The reason why a user's change was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusedEdit {
    #[error("the text is empty")]
    Empty,
    /// The text is longer than a key point may be.
    #[error("the text has {0} characters, and a key point at most {MAX_CHARS}")]
    TooLong(usize),
    /// Another reason, in words for the user.
    #[error("{0}")]
    Told(String),
}

impl From<String> for RefusedEdit {
    fn from(why: String) -> Self {
        Self::Told(why)
    }
}

const BY_HAND: &str = "by hand";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum PlaybookEdit {
    Add {
        text: String,
        section: Section,
        #[serde(default, skip_serializing_if = "DueChange::is_none")]
        due: DueChange,
    },
    /// Copies a point of another playbook with its counters, under a new name.
    Bring {
        point: BroughtPoint,
        /// The origin of the point, in words.
        why: String,
    },
    /// Sets another text, section (at its end) or cue; the point keeps its id.
    Change {
        point: String,
        text: Option<String>,
        section: Option<Section>,
        #[serde(default, skip_serializing_if = "DueChange::is_none")]
        due: DueChange,
    },
    Remove {
        point: String,
        reason: Option<String>,
    },
    /// Merges several points into a new one, in `section` or else in that of the first.
    Merge {
        points: Vec<String>,
        text: String,
        section: Option<Section>,
        #[serde(default, skip_serializing_if = "DueChange::is_none")]
        due: DueChange,
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
    /// Restores the file as it was after a job.
    Restore {
        snapshot: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroughtPoint {
    pub text: String,
    pub section: Section,
    pub helpful: u64,
    pub harmful: u64,
    /// Set if only the user may remove it.
    pub pinned: bool,
    #[serde(default, skip_serializing_if = "Due::is_blank")]
    pub due: Due,
}

impl BroughtPoint {
    pub fn of(point: &Point<'_>) -> Self {
        Self {
            text: point.text.to_owned(),
            section: point.section,
            helpful: point.helpful,
            harmful: point.harmful,
            pinned: point.is_pinned(),
            due: point.due().cloned().unwrap_or_default(),
        }
    }
}

impl PlaybookEdit {
    /// Returns the names of the points to change, as the user gave them.
    pub fn points(&self) -> &[String] {
        match self {
            Self::Change { point, .. }
            | Self::Remove { point, .. }
            | Self::Pin { point }
            | Self::Unpin { point } => std::slice::from_ref(point),
            Self::Merge { points, .. } => points,
            _ => &[],
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Bring { point, .. } => Some(&point.text),
            Self::Add { text, .. } | Self::Merge { text, .. } => Some(text),
            Self::Change { text, .. } => text.as_deref(),
            _ => None,
        }
    }

    #[must_use]
    pub fn with_text(mut self, words: Option<&str>) -> Self {
        let Some(words) = words.map(str::to_owned) else {
            return self;
        };
        match &mut self {
            Self::Bring { point, .. } => point.text = words,
            Self::Add { text, .. } | Self::Merge { text, .. } => *text = words,
            Self::Change { text, .. } => *text = Some(words),
            _ => {}
        }
        self
    }

    /// Returns the same edit with its secrets masked.
    ///
    /// A point whose name holds a secret is referred to by its masked name: an edit is applied to
    /// the masked playbook.
    #[must_use]
    pub fn masked(&self, masker: &Masker) -> Self {
        let Ok(mut edit) = serde_json::to_value(self) else {
            return self.clone();
        };
        masker.mask_value(&mut edit);
        // The name of a job or snapshot is not the user's text, and is never masked.
        serde_json::from_value(edit).unwrap_or_else(|_| self.clone())
    }

    /// Applies an edit of single points; an undo or a restore does nothing here. After an error the
    /// playbook must not be written.
    pub fn by_hand(
        &self,
        playbook: &mut Playbook,
        now: Timestamp,
    ) -> Result<Vec<PointChange>, RefusedEdit> {
        let mut editor = Editor::new(playbook, BY_HAND, now);
        match self {
            Self::Add { text, section, due } => {
                let due = honest(due)?.of(&Due::default());
                ops::add(&mut editor, &typed(text)?, *section, [0, 0], due)?;
            }
            Self::Bring { point, why } => {
                let text = cleaned(&point.text)?;
                why.clone_into(&mut editor.reason);
                let votes = [point.helpful, point.harmful];
                let name = ops::add(&mut editor, &text, point.section, votes, point.due.clone())?;
                BY_HAND.clone_into(&mut editor.reason);
                let (_, place) = find(editor.playbook, &name)?;
                editor.set_pinned(&place, point.pinned);
            }
            Self::Change {
                point,
                text,
                section,
                due,
            } => {
                let text = text.as_deref().map(typed).transpose()?;
                let due = honest(due)?;
                let (_, place) = find(editor.playbook, point)?;
                if let Some(text) = text {
                    editor.reword(&place, text);
                }
                editor.change_due(&place, due);
                let is_guarded = editor.state(&place).is_some_and(|now| now.note.due.guard);
                if due.guard == Some(true) && !is_guarded {
                    return Err("only a command can be guarded, and it names none"
                        .to_owned()
                        .into());
                }
                if let Some(section) = section.filter(|section| place.title != section.title()) {
                    editor.relocate(&place, PointPlace::end_of(section));
                }
            }
            Self::Remove { point, reason } => {
                let (_, place) = find(editor.playbook, point)?;
                let reason = reason.as_deref().map(clean_text);
                if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                    editor.reason = reason;
                }
                editor.remove(&place, None, ChangeKind::Delete);
            }
            Self::Merge {
                points,
                text,
                section,
                due,
            } => {
                let due = honest(due)?;
                let text = typed(text)?;
                let mut found: Vec<String> = Vec::new();
                for name in points {
                    let (name, _) = find(editor.playbook, name)?;
                    if !found.contains(&name) {
                        found.push(name);
                    }
                }
                if found.len() < 2 {
                    let why = "a merge needs two different key points";
                    return Err(why.to_owned().into());
                }
                ops::join(&mut editor, &found, &text, *section, due);
            }
            Self::Pin { point } | Self::Unpin { point } => {
                let (_, place) = find(editor.playbook, point)?;
                editor.set_pinned(&place, matches!(self, Self::Pin { .. }));
            }
            Self::Undo { .. } | Self::Restore { .. } => {}
        }
        match editor.done.skipped.pop() {
            Some(skipped) => Err(skipped.reason.into()),
            None => Ok(editor.done.changes),
        }
    }
}

/// Refuses an invalid or too wide cue.
fn honest(due: &DueChange) -> Result<&DueChange, RefusedEdit> {
    if let Some(when) = &due.when {
        when.compile()?;
    }
    Ok(due)
}

/// Cleans a text that the user typed; one that would be cut is refused.
fn typed(text: &str) -> Result<String, RefusedEdit> {
    match whole_line(text).chars().count() {
        long if long > MAX_CHARS => Err(RefusedEdit::TooLong(long)),
        _ => cleaned(text),
    }
}

fn cleaned(text: &str) -> Result<String, RefusedEdit> {
    let text = clean_text(text);
    if text.is_empty() {
        return Err(RefusedEdit::Empty);
    }
    Ok(text)
}

fn find(playbook: &Playbook, name: &str) -> Result<(String, PointPlace), RefusedEdit> {
    let mut places = playbook.places();
    let current = playbook.current_name(&places, name).to_owned();
    match places.remove(&current) {
        Some(place) => Ok((current, place)),
        None => Err(ops::no_point(name).into()),
    }
}
