//! The changes to single points: a curator's operations, and the user's commands.
//!
//! Both are read into one [`PlaybookEdit`]. Unlike a model, the user may change pinned points, and
//! may name a point by its alias.

use std::collections::HashSet;

use jiff::Timestamp;
use playbook_core::job_id::JobId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::change::{Applied, ChangeKind, Editor, PointChange};
use super::clean::{MAX_CHARS, clean, clean_text, whole_line};
use super::entry::{self, COUNTERS};
use super::id::Section;
use super::model::{Due, DueChange, Note, Playbook, Point, PointPlace};
use super::read::is_deeper;
use super::votes::one_line;
use crate::redact::Masker;

/// The most operations that are read from one answer; skipped ones count too.
pub const MAX_OPERATIONS: usize = 10;
const BY_HAND: &str = "by hand";
const TEXT: &str = "text";
const MERGED_TEXT: &str = "merged_text";
const MERGE: &str = "MERGE";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusedEdit {
    #[error("the text is empty")]
    Empty,
    #[error("the text has {0} characters, and a key point at most {MAX_CHARS}")]
    TooLong(usize),
    #[error("{0}")]
    Told(String),
}

impl From<String> for RefusedEdit {
    fn from(why: String) -> Self {
        Self::Told(why)
    }
}

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
        why: String,
    },
    /// A new section means its end; the point keeps its id and its counters.
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
    /// The new point sums the counters; without a `section` it is in that of the first.
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

/// Returns the uncleaned text: the screen has to see what cleaning removes.
pub fn written_text(operation: &Value) -> &str {
    let string = |key: &str| operation.get(key).and_then(Value::as_str);
    let key = match string("type") {
        Some(MERGE) => MERGED_TEXT,
        _ => TEXT,
    };
    string(key).unwrap_or_default()
}

/// Returns `true` if an operation is nested too deeply to be read back from where it is stored.
pub(crate) fn is_too_deep(operation: &Value) -> bool {
    /// An operation holds a list of names.
    const MAX_DEPTH: usize = 8;
    is_deeper(operation, MAX_DEPTH)
}

pub fn named_points(operation: &Value) -> impl Iterator<Item = &str> {
    let target = operation.get("target_id").and_then(Value::as_str);
    let sources = operation.get("source_ids").and_then(Value::as_array);
    let sources = sources.into_iter().flatten().filter_map(Value::as_str);
    target.into_iter().chain(sources)
}

/// Applies operations in order: `{"type": "ADD", "text", "section"}`, `{"type": "UPDATE",
/// "target_id", "text"}`, `{"type": "MERGE", "source_ids", "merged_text", "section"?}`, `{"type":
/// "DELETE", "target_id", "reason"}`; all but the last with optional `when` and `guard`.
///
/// An operation that is invalid, names a missing point, or would remove a pinned one, is skipped
/// with its reason; the others are applied. `reasoning` is the reason of those without their own.
pub fn apply_operations(
    playbook: &mut Playbook,
    operations: &[Value],
    reasoning: &str,
    now: Timestamp,
) -> Applied {
    let reasoning = clean_text(reasoning);
    let mut editor = Editor::new(playbook, "", now);
    for value in operations.iter().take(MAX_OPERATIONS) {
        let reason = value.get("reason").and_then(Value::as_str);
        let reason = reason.map(clean_text).filter(|reason| !reason.is_empty());
        editor.reason = reason.unwrap_or_else(|| reasoning.clone());
        let edit = PlaybookEdit::of_operation(value);
        if let Err(why) = edit.and_then(|edit| edit.apply(&mut editor, false)) {
            editor.skip(format!("operation {}", one_line(value)), why);
        }
    }
    let surplus = operations.len().saturating_sub(MAX_OPERATIONS);
    if surplus > 0 {
        let why = format!("more than {MAX_OPERATIONS} in one answer");
        editor.skip(format!("{surplus} further operations"), why);
    }
    editor.done
}

impl PlaybookEdit {
    /// Parses a curator's operation; the error names the flaw.
    pub fn of_operation(value: &Value) -> Result<Self, String> {
        let string = |key: &str| value.get(key).and_then(Value::as_str);
        let text = |key: &str| match string(key).map(clean_text) {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(format!("no `{key}`")),
        };
        let target = || {
            string("target_id")
                .map(str::to_owned)
                .ok_or("no `target_id`")
        };
        // An unknown section means OTHERS.
        let section = string("section").filter(|title| !title.is_empty());
        let section = section.map(|title| Section::from_title(title).unwrap_or(Section::Others));
        let due = DueChange::read(value);
        Ok(match string("type") {
            Some("ADD") => Self::Add {
                text: text(TEXT)?,
                section: section.unwrap_or(Section::Others),
                due,
            },
            Some("UPDATE") => Self::Change {
                point: target()?,
                text: Some(text(TEXT)?),
                section: None,
                due,
            },
            Some(MERGE) => {
                let sources = value.get("source_ids").and_then(Value::as_array);
                let sources = sources.ok_or("no list `source_ids`")?.iter();
                let sources = sources.filter_map(Value::as_str);
                Self::Merge {
                    points: sources.map(str::to_owned).collect(),
                    text: text(MERGED_TEXT)?,
                    section,
                    due,
                }
            }
            Some("DELETE") => Self::Remove {
                point: target()?,
                reason: None,
            },
            Some(other) => return Err(format!("unknown type `{}`", clean_text(other))),
            None => return Err("no `type`".to_owned()),
        })
    }

    /// Returns the names as they were given.
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

    /// Does nothing for an undo or a restore. After an error the playbook must not be written.
    pub fn by_hand(
        &self,
        playbook: &mut Playbook,
        now: Timestamp,
    ) -> Result<Vec<PointChange>, RefusedEdit> {
        let edit = self.checked(playbook)?;
        let mut editor = Editor::new(playbook, BY_HAND, now);
        edit.apply(&mut editor, true)?;
        match editor.done.skipped.pop() {
            Some(skipped) => Err(skipped.reason.into()),
            None => Ok(editor.done.changes),
        }
    }

    /// Returns a user's edit with its text cleaned and its points by their current names.
    fn checked(&self, playbook: &Playbook) -> Result<Self, RefusedEdit> {
        let mut edit = self.clone();
        if let Some(text) = self.text() {
            let length = whole_line(text).chars().count();
            // A brought point is cut like any other text from outside.
            if length > MAX_CHARS && !matches!(self, Self::Bring { .. }) {
                return Err(RefusedEdit::TooLong(length));
            }
            let text = clean_text(text);
            if text.is_empty() {
                return Err(RefusedEdit::Empty);
            }
            edit = edit.with_text(Some(&text));
        }
        if let Self::Add { due, .. } | Self::Change { due, .. } | Self::Merge { due, .. } = self
            && let Some(when) = &due.when
        {
            when.compile()?;
        }
        let current = |name: &mut String| -> Result<(), RefusedEdit> {
            let (found, _) = playbook.find(name).ok_or_else(|| no_point(name))?;
            *name = found.to_owned();
            Ok(())
        };
        match &mut edit {
            Self::Change { point, .. }
            | Self::Remove { point, .. }
            | Self::Pin { point }
            | Self::Unpin { point } => current(point)?,
            Self::Merge { points, .. } => points.iter_mut().try_for_each(current)?,
            _ => {}
        }
        match &edit {
            Self::Change { point, due, .. } if due.guard == Some(true) => {
                let note = playbook.meta.points.get(point).cloned().unwrap_or_default();
                if !due.of(&note.due).guard {
                    let why = "only a command can be guarded, and it names none";
                    return Err(why.to_owned().into());
                }
            }
            Self::Merge { points, .. } if points.iter().collect::<HashSet<_>>().len() < 2 => {
                return Err("a merge needs two different key points".to_owned().into());
            }
            _ => {}
        }
        Ok(edit)
    }

    /// Lets only the user remove pinned points.
    fn apply(self, editor: &mut Editor<'_>, is_user: bool) -> Result<(), String> {
        let removable = |playbook: &Playbook, name: &String| {
            let is_kept = !is_user && playbook.meta.is_pinned(name);
            if is_kept {
                Err(format!("{name} is pinned"))
            } else {
                Ok(())
            }
        };
        match self {
            Self::Add { text, section, due } => {
                add(editor, &text, section, [0, 0], due.of(&Due::default()))?;
            }
            Self::Bring { point, why } => {
                editor.reason = why;
                let votes = [point.helpful, point.harmful];
                let place = add(editor, &point.text, point.section, votes, point.due)?;
                BY_HAND.clone_into(&mut editor.reason);
                if let Some(place) = place {
                    editor.set_pinned(&place, point.pinned);
                }
            }
            Self::Change {
                point,
                text,
                section,
                due,
            } => {
                let place = place(editor.playbook, &point)?;
                if let Some(text) = text {
                    editor.reword(&place, text);
                }
                editor.change_due(&place, &due);
                if let Some(section) = section.filter(|section| place.title != section.title()) {
                    editor.relocate(&place, PointPlace::end_of(section));
                }
            }
            Self::Remove { point, reason } => {
                let place = place(editor.playbook, &point)?;
                removable(editor.playbook, &point)?;
                let reason = reason.as_deref().map(clean_text);
                if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                    editor.reason = reason;
                }
                editor.remove(&place, None, ChangeKind::Delete);
            }
            Self::Merge {
                mut points,
                text,
                section,
                due,
            } => {
                let places = editor.playbook.places();
                let mut seen = HashSet::new();
                points.retain(|name| places.contains_key(name) && seen.insert(name.clone()));
                if points.len() < 2 {
                    return Err("fewer than two of its key points are there".to_owned());
                }
                for name in &points {
                    removable(editor.playbook, name)?;
                }
                join(editor, &points, &text, section, &due);
            }
            Self::Pin { ref point } | Self::Unpin { ref point } => {
                let place = place(editor.playbook, point)?;
                editor.set_pinned(&place, matches!(self, Self::Pin { .. }));
            }
            Self::Undo { .. } | Self::Restore { .. } => {}
        }
        Ok(())
    }
}

fn place(playbook: &Playbook, name: &str) -> Result<PointPlace, String> {
    playbook.place(name).ok_or_else(|| no_point(name))
}

fn no_point(name: &str) -> String {
    format!("no key point {}", clean_text(name))
}

/// Returns `None` where the section is no list.
fn add(
    editor: &mut Editor<'_>,
    text: &str,
    section: Section,
    votes: [u64; 2],
    due: Due,
) -> Result<Option<PointPlace>, String> {
    let is_same =
        |fields: &Map<String, Value>| entry::text(fields).is_some_and(|known| clean(known) == text);
    let known = editor
        .playbook
        .entries()
        .find(|(_, fields)| is_same(fields));
    if let Some((_, known)) = known {
        let name = entry::name(known).map(|name| format!("[{name}]"));
        let name = name.unwrap_or_else(|| "a key point without a name".to_owned());
        return Err(format!("{name} says it already"));
    }
    let id = editor.playbook.next_id(section);
    let fields = entry::new(id.as_str(), text, votes);
    let note = Note {
        due,
        ..editor.fresh_note()
    };
    editor.put(PointPlace::end_of(section), fields, note, ChangeKind::Add);
    Ok(editor.playbook.place(id.as_str()))
}

/// The new point, at the end of its section, has the sum of the votes and the cue of the others.
/// Their names become its aliases.
fn join(
    editor: &mut Editor<'_>,
    sources: &[String],
    text: &str,
    section: Option<Section>,
    due: &DueChange,
) {
    let places = editor.playbook.places();
    let states = sources.iter().map(|name| editor.state(places.get(name)?));
    let states: Vec<_> = states.flatten().collect();
    let section = section
        .or_else(|| Section::from_word(&states.first()?.section))
        .unwrap_or(Section::Others);
    let id = editor.playbook.next_id(section);
    let votes = COUNTERS.map(|counter| {
        let counts = states.iter().map(|s| entry::count(&s.entry, counter));
        counts.fold(0, u64::saturating_add)
    });
    // The first cue wins.
    let mut known = states.iter().map(|state| &state.note.due);
    let known = known.find(|due| !due.is_blank()).cloned();
    let note = Note {
        due: due.of(&known.unwrap_or_default()),
        used: states.iter().filter_map(|s| s.note.used).max(),
        pinned: states.iter().any(|s| s.note.pinned),
        ..editor.fresh_note()
    };
    for name in sources {
        if let Some(place) = editor.playbook.place(name) {
            editor.remove(&place, Some(id.as_str()), ChangeKind::Merge);
        }
    }
    let fields = entry::new(id.as_str(), text, votes);
    let end = PointPlace::end_of(section);
    editor.put(end, fields, note, ChangeKind::Absorb);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cue_comes_with_an_operation_stays_with_another_text_and_goes_into_a_merge() {
        let mut playbook = Playbook::empty();
        let mut apply = |operation: Value| {
            let applied = apply_operations(&mut playbook, &[operation], "", Timestamp::UNIX_EPOCH);
            assert_eq!(applied.skipped, []);
            let due = |name| playbook.named(name)?.due().map(Due::told);
            ["oth-001", "oth-002", "oth-003"].map(|name| due(name).unwrap_or_default())
        };
        let guarded = "at command \"make proto\", before it runs";
        let when = json!({"command": "make proto"});
        let added = apply(json!({"type": "ADD", "text": "a", "when": when, "guard": true}));
        let same = apply(json!({"type": "UPDATE", "target_id": "oth-001", "text": "b"}));
        assert_eq!([&added[0], &same[0]], [guarded, guarded]);
        let when = json!({"file": "*.proto"});
        let file = "at file \"*.proto\"";
        let added = apply(json!({"type": "ADD", "text": "c", "when": when}));
        assert_eq!(added[1], file);
        let sources = ["oth-001", "oth-002"];
        let merge = json!({"type": "MERGE", "source_ids": sources, "merged_text": "d"});
        assert_eq!(apply(merge)[2], guarded);
        let update = json!({"type": "UPDATE", "target_id": "oth-003", "text": "d", "when": when});
        assert_eq!(apply(update)[2], file);
    }
}
