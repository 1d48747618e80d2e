//! The changes to points: a curator's operations, the user's commands, and the whole effect of a
//! job, with the removal of points that harm or exceed the limits.
//!
//! Both are read into one [`PlaybookEdit`]. Unlike a model, the user may change pinned points, and
//! may name a point by its alias.

use std::collections::HashSet;

use jiff::Timestamp;
use playbook_core::job_id::JobId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::change::{Applied, ChangeKind, Editor, PointChange, PointState};
use super::clean::{MAX_CHARS, clean_text, whole_line};
use super::entry;
use super::id::{Id, Section};
use super::model::{Due, DueChange, Note, Playbook};
use super::read::is_deeper;
use super::render::rank;
use super::votes::{BulletTag, Tag, UsageRecord, apply_bullet_tags, one_line};
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        brought: Option<Brought>,
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
        #[serde(default)]
        off: bool,
    },
    Undo {
        job: JobId,
    },
    Restore {
        snapshot: String,
    },
}

/// The origin of a point that is copied from another playbook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Brought {
    pub votes: [u64; 2],
    pub pinned: bool,
    pub why: String,
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
                brought: None,
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
            Self::Change { point, .. } | Self::Remove { point, .. } | Self::Pin { point, .. } => {
                std::slice::from_ref(point)
            }
            Self::Merge { points, .. } => points,
            _ => &[],
        }
    }

    pub fn text(&self) -> Option<&str> {
        match self {
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
        // A brought point is cut like any other text from outside.
        let is_typed = !matches!(
            self,
            Self::Add {
                brought: Some(_),
                ..
            }
        );
        if let Some(text) = self.text() {
            let length = whole_line(text).chars().count();
            if length > MAX_CHARS && is_typed {
                return Err(RefusedEdit::TooLong(length));
            }
            let text = clean_text(text);
            if text.is_empty() {
                return Err(RefusedEdit::Empty);
            }
            edit = edit.with_text(Some(&text));
        }
        if let Self::Add { due, .. } | Self::Change { due, .. } | Self::Merge { due, .. } = self
            && let Some(when) = due.when.as_ref().filter(|_| is_typed)
        {
            when.compile()?;
        }
        let current = |name: &mut String| -> Result<PointState, RefusedEdit> {
            let found = playbook.find(name).ok_or_else(|| no_point(name))?;
            found.name().clone_into(name);
            Ok(found)
        };
        match &mut edit {
            Self::Change { point, due, .. } => {
                let now = current(point)?;
                if due.guard == Some(true) && !due.of(now.due()).guard {
                    let why = "only a command can be guarded, and it names none";
                    return Err(why.to_owned().into());
                }
            }
            Self::Remove { point, .. } | Self::Pin { point, .. } => _ = current(point)?,
            Self::Merge { points, .. } => {
                for name in points.iter_mut() {
                    current(name)?;
                }
                if points.iter().collect::<HashSet<_>>().len() < 2 {
                    return Err("a merge needs two different key points".to_owned().into());
                }
            }
            _ => {}
        }
        Ok(edit)
    }

    /// Lets only the user remove pinned points.
    fn apply(self, editor: &mut Editor<'_>, is_user: bool) -> Result<(), String> {
        let removable = |state: &PointState| {
            let is_kept = !is_user && state.note.pinned;
            (!is_kept)
                .then_some(())
                .ok_or_else(|| format!("{} is pinned", state.name()))
        };
        let there = |editor: &Editor<'_>, name: &str| {
            let state = editor.playbook.state(name);
            state.ok_or_else(|| no_point(name))
        };
        match self {
            Self::Add {
                text,
                section,
                due,
                brought,
            } => {
                is_new(editor.playbook, &text)?;
                let Brought { votes, pinned, why } = brought.unwrap_or(Brought {
                    votes: [0, 0],
                    pinned: false,
                    why: editor.reason.clone(),
                });
                let reason = std::mem::replace(&mut editor.reason, why);
                let id = editor.playbook.next_id(section);
                let note = Note {
                    due: due.of(&Due::default()),
                    ..Note::default()
                };
                editor.append(
                    section,
                    entry::new(id.as_str(), &text, votes),
                    note,
                    ChangeKind::Add,
                );
                editor.reason = reason;
                if let Some(state) = editor.playbook.state(id.as_str()) {
                    editor.alter(state, ChangeKind::Pin, |state| state.note.pinned = pinned);
                }
            }
            Self::Change {
                point,
                text,
                section,
                due,
            } => {
                let mut now = there(editor, &point)?;
                if let Some(text) = text {
                    now = editor.alter(now, ChangeKind::Update, |now| {
                        now.entry.insert(entry::TEXT.to_owned(), text.into());
                    });
                }
                now = editor.alter(now, ChangeKind::Cue, |now| {
                    now.note.due = due.of(&now.note.due);
                });
                if let Some(section) = section.filter(|section| now.section != section.title()) {
                    editor.relocate(now, (section.title(), usize::MAX));
                }
            }
            Self::Remove { point, reason } => {
                let now = there(editor, &point)?;
                removable(&now)?;
                let reason = reason.as_deref().map(clean_text);
                if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
                    editor.reason = reason;
                }
                editor.remove(now, None, ChangeKind::Delete);
            }
            Self::Merge {
                mut points,
                text,
                section,
                due,
            } => {
                let mut seen = HashSet::new();
                points.retain(|name| seen.insert(name.clone()));
                let sources = points.iter().filter_map(|name| editor.playbook.state(name));
                let sources: Vec<PointState> = sources.collect();
                if sources.len() < 2 {
                    return Err("fewer than two of its key points are there".to_owned());
                }
                sources.iter().try_for_each(removable)?;
                join(editor, &sources, &text, section, &due);
            }
            Self::Pin { point, off } => {
                let now = there(editor, &point)?;
                editor.alter(now, ChangeKind::Pin, |now| now.note.pinned = !off);
            }
            Self::Undo { .. } | Self::Restore { .. } => {}
        }
        Ok(())
    }
}

fn no_point(name: &str) -> String {
    format!("no key point {}", clean_text(name))
}

fn is_new(playbook: &Playbook, text: &str) -> Result<(), String> {
    let says_it =
        |fields: &Map<String, Value>| entry::text(fields).is_some_and(|it| clean_text(it) == text);
    match playbook.objects().find(|(_, _, fields)| says_it(fields)) {
        None => Ok(()),
        Some((_, _, fields)) => match entry::name(fields) {
            Some(name) => Err(format!("[{name}] says it already")),
            None => Err("a key point without a name says it already".to_owned()),
        },
    }
}

/// The new point, at the end of its section, has the sum of the votes and the cue of the others.
/// Their names become its aliases.
fn join(
    editor: &mut Editor<'_>,
    sources: &[PointState],
    text: &str,
    section: Option<Section>,
    due: &DueChange,
) {
    let section = section.or_else(|| Section::from_word(&sources.first()?.section));
    let section = section.unwrap_or(Section::Others);
    let id = editor.playbook.next_id(section);
    let votes = sources.iter().map(|it| [it.helpful(), it.harmful()]);
    let votes = votes.fold([0_u64; 2], |sum, it| {
        [0, 1].map(|at| sum[at].saturating_add(it[at]))
    });
    // The first cue wins.
    let mut known = sources.iter().map(PointState::due);
    let known = known.find(|due| !due.is_blank()).cloned();
    let note = Note {
        due: due.of(&known.unwrap_or_default()),
        used: sources.iter().filter_map(|it| it.note.used).max(),
        pinned: sources.iter().any(|it| it.note.pinned),
        ..Note::default()
    };
    for name in sources.iter().map(PointState::name) {
        if let Some(now) = editor.playbook.state(name) {
            editor.remove(now, Some(id.as_str()), ChangeKind::Merge);
        }
    }
    editor.append(
        section,
        entry::new(id.as_str(), text, votes),
        note,
        ChangeKind::Absorb,
    );
}

pub(crate) const PRUNE_FROM: u64 = 3;

#[derive(Debug, Clone, Copy, Default)]
pub struct Lesson<'a> {
    pub tags: &'a [BulletTag],
    /// The curator's operations, unparsed.
    pub operations: &'a [Value],
    /// The curator's reasoning: the reason of operations without their own.
    pub reasoning: &'a str,
    pub cited: &'a [Id],
    /// The time of the session, if it is processed later.
    pub session: Option<Timestamp>,
}

/// Applies a lesson to the current playbook, and returns every change in order.
pub fn learn(
    playbook: &mut Playbook,
    lesson: Lesson<'_>,
    max_points: usize,
    now: Timestamp,
) -> Applied {
    let before = playbook.clone();
    // A neutral verdict means that the point was not used.
    let judged = lesson.tags.iter().filter(|tag| tag.tag != Tag::Neutral);
    let judged = judged.map(|tag| tag.name.as_str());
    let used = judged.chain(lesson.cited.iter().map(Id::as_str));
    playbook.mark_used(used, lesson.session.unwrap_or(now));
    let Applied {
        mut changes,
        mut skipped,
    } = apply_bullet_tags(playbook, lesson.tags);
    let operated = apply_operations(playbook, lesson.operations, lesson.reasoning, now);
    skipped.extend(operated.skipped);
    changes.extend(operated.changes);
    changes.extend(prune(playbook, now));
    changes.extend(enforce(playbook, &before, max_points, now));
    Applied { changes, skipped }
}

/// Allows 512 bytes for each point, and at least 512 KiB.
pub fn max_bytes(max_points: usize) -> usize {
    (max_points * 512).clamp(512 * 1024, 16 << 20)
}

/// Removes every unpinned point with at least `PRUNE_FROM` harmful votes and more harmful than
/// helpful ones, in all sections.
pub fn prune(playbook: &mut Playbook, now: Timestamp) -> Vec<PointChange> {
    let gone: Vec<PointState> = playbook.entries().collect();
    let mut editor = Editor::new(playbook, "", now);
    // In reverse order, so that earlier indexes stay valid.
    for state in gone.into_iter().rev() {
        let (helpful, harmful) = (state.helpful(), state.harmful());
        if harmful >= PRUNE_FROM && harmful > helpful && !state.note.pinned {
            editor.reason = format!("harmful {harmful} times, helpful {helpful} times");
            editor.remove(state, None, ChangeKind::Prune);
        }
    }
    editor.done.changes
}

/// Removes the lowest ranked unpinned points until the playbook is within its caps.
///
/// A playbook that exceeded a cap `before` the job only stops growing. Votes and dates never cause
/// a removal.
pub fn enforce(
    playbook: &mut Playbook,
    before: &Playbook,
    max_points: usize,
    now: Timestamp,
) -> Vec<PointChange> {
    let usage = UsageRecord::default();
    let (old_points, old_text) = size(before);
    let mut editor = Editor::new(playbook, "", now);
    loop {
        let (points, text) = size(editor.playbook);
        let bytes = max_bytes(max_points);
        let room = if points > max_points.max(old_points) {
            format!("{max_points} key points")
        } else if text > old_text && editor.playbook.to_bytes().len() > bytes {
            format!("{bytes} bytes")
        } else {
            break;
        };
        let free = editor.playbook.points().filter(|point| !point.is_pinned());
        // Of equal ones the last.
        let least = free.max_by_key(|point| std::cmp::Reverse(rank(point, &usage)));
        let Some(state) = least.and_then(|point| editor.playbook.state(point.name)) else {
            break;
        };
        editor.reason = format!("the playbook is full: {room}");
        editor.remove(state, None, ChangeKind::Evict);
    }
    editor.done.changes
}

/// Returns the number of points, and the length of their names and texts.
fn size(playbook: &Playbook) -> (usize, usize) {
    let lengths = playbook.points().map(|p| p.name.len() + p.text.len());
    lengths.fold((0, 0), |(count, sum), length| (count + 1, sum + length))
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

    #[test]
    fn a_playbook_over_its_caps_is_kept_from_growing_but_never_cut() {
        /// Four of these texts and the file around them have more than `max_bytes(9)`.
        const LENGTH: usize = 512 * 256;
        let playbook = |points: &[(&str, u64)], length: usize| {
            let points = points.iter().map(|(name, harmful)| {
                json!({"name": name, "text": "x".repeat(length), "harmful": harmful})
            });
            let list: Vec<Value> = points.collect();
            let file = json!({"sections": {"OTHERS": list}});
            Playbook::parse(file.to_string().as_bytes()).unwrap()
        };
        let now = "2026-11-21T10:00:00Z".parse().unwrap();
        let old = [("a", 0), ("b", 2), ("c", 1)];
        let new = [old[0], old[1], old[2], ("d", 0)];
        let mut voted = playbook(&old, LENGTH * 2);
        let before = voted.clone();
        voted.mark_used(["a"], now);
        voted.mark_applied_to(&before, "a job with a long name");
        assert!(enforce(&mut voted, &before, 2, now).is_empty());
        for (length, max, expected) in [(9, 2, &["b"][..]), (LENGTH, 9, &["b"]), (9, 9, &[])] {
            let gone = enforce(
                &mut playbook(&new, length),
                &playbook(&old, length),
                max,
                now,
            );
            let gone: Vec<&str> = gone.iter().map(|change| change.id.as_str()).collect();
            assert_eq!(gone, expected);
        }
    }
}
