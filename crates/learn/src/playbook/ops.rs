//! The curator's operations, applied to the current playbook.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::Value;

use super::change::Editor;
use super::change::{Applied, ChangeKind};
use super::clean::{clean, clean_text};
use super::entry::{self, COUNTERS};
use super::id::Section;
use super::model::{Due, DueChange, Note, Playbook, PointPlace};
use super::read::is_deeper;
use super::votes::one_line;

/// The most operations that are read from one answer; skipped ones count too.
pub const MAX_OPERATIONS: usize = 10;

const TEXT: &str = "text";
const MERGED_TEXT: &str = "merged_text";
const MERGE: &str = "MERGE";

/// A change that a curator may make to the playbook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Add {
        text: String,
        section: Section,
        due: DueChange,
    },
    /// A new text for a point, which keeps its counters.
    Update {
        target: String,
        text: String,
        due: DueChange,
    },
    /// One point that replaces several with the same meaning and sums their counters. It is in the
    /// section of the first unless given.
    Merge {
        sources: Vec<String>,
        text: String,
        section: Option<Section>,
        due: DueChange,
    },
    Delete {
        target: String,
    },
}

/// Returns the text that an operation would add, uncleaned: the screen has to see what cleaning
/// removes.
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

/// Returns the names of the points in an unparsed operation.
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
        let outcome = Operation::read(value).and_then(|operation| operation.apply(&mut editor));
        if let Err(why) = outcome {
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

impl Operation {
    /// Returns the names of the points that it changes or removes.
    pub fn points(&self) -> &[String] {
        match self {
            Self::Add { .. } => &[],
            Self::Update { target, .. } | Self::Delete { target } => std::slice::from_ref(target),
            Self::Merge { sources, .. } => sources,
        }
    }

    /// Parses an operation; the error names the flaw.
    pub fn read(value: &Value) -> Result<Self, String> {
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
        Ok(match string("type") {
            Some("ADD") => Self::Add {
                text: text(TEXT)?,
                section: section(value).unwrap_or(Section::Others),
                due: DueChange::read(value),
            },
            Some("UPDATE") => Self::Update {
                target: target()?,
                text: text(TEXT)?,
                due: DueChange::read(value),
            },
            Some(MERGE) => {
                let sources = value.get("source_ids").and_then(Value::as_array);
                let sources = sources.ok_or("no list `source_ids`")?.iter();
                Self::Merge {
                    sources: sources
                        .filter_map(Value::as_str)
                        .map(str::to_owned)
                        .collect(),
                    text: text(MERGED_TEXT)?,
                    section: section(value),
                    due: DueChange::read(value),
                }
            }
            Some("DELETE") => Self::Delete { target: target()? },
            Some(other) => return Err(format!("unknown type `{}`", clean_text(other))),
            None => return Err("no `type`".to_owned()),
        })
    }

    fn apply(self, editor: &mut Editor<'_>) -> Result<(), String> {
        match self {
            Self::Add { text, section, due } => {
                let due = due.of(&Due::default());
                add(editor, &text, section, [0, 0], due).map(drop)
            }
            Self::Update { target, text, due } => {
                let place = find(editor.playbook, &target)?;
                editor.reword(&place, text);
                editor.change_due(&place, &due);
                Ok(())
            }
            Self::Merge {
                mut sources,
                text,
                section,
                due,
            } => {
                let places = editor.playbook.places();
                let mut seen = HashSet::new();
                sources.retain(|name| places.contains_key(name) && seen.insert(name.clone()));
                if sources.len() < 2 {
                    return Err("fewer than two of its key points are there".to_owned());
                }
                for name in &sources {
                    unpinned(editor.playbook, name)?;
                }
                join(editor, &sources, &text, section, &due);
                Ok(())
            }
            Self::Delete { target } => {
                let place = find(editor.playbook, &target)?;
                unpinned(editor.playbook, &target)?;
                editor.remove(&place, None, ChangeKind::Delete);
                Ok(())
            }
        }
    }
}

/// Returns the section of an operation: an unknown one means OTHERS; an empty or non-string one
/// counts as absent.
fn section(operation: &Value) -> Option<Section> {
    let title = operation.get("section")?.as_str()?;
    (!title.is_empty()).then(|| Section::from_title(title).unwrap_or(Section::Others))
}

fn find(playbook: &Playbook, name: &str) -> Result<PointPlace, String> {
    playbook.place(name).ok_or_else(|| no_point(name))
}

pub(super) fn no_point(name: &str) -> String {
    format!("no key point {}", clean_text(name))
}

fn unpinned(playbook: &Playbook, name: &str) -> Result<(), String> {
    if playbook.meta.is_pinned(name) {
        return Err(format!("{name} is pinned"));
    }
    Ok(())
}

/// Adds a point with helpful and harmful votes, and returns its name.
pub(super) fn add(
    editor: &mut Editor<'_>,
    text: &str,
    section: Section,
    votes: [u64; 2],
    due: Due,
) -> Result<String, String> {
    if let Some(known) = with_text(editor.playbook, text) {
        return Err(format!("{known} says it already"));
    }
    let id = editor.playbook.next_id(section);
    let fields = entry::new(id.as_str(), text, votes);
    let note = Note {
        due,
        ..editor.fresh_note()
    };
    editor.put(PointPlace::end_of(section), fields, note, ChangeKind::Add);
    Ok(id.to_string())
}

/// Names the key point with exactly this cleaned text: `[pat-001]`.
fn with_text(playbook: &Playbook, text: &str) -> Option<String> {
    let mut entries = playbook.entries().map(|(_, fields)| fields);
    let known = entries.find(|fields| entry::text(fields).is_some_and(|t| clean(t) == text))?;
    let name = entry::name(known).map(|name| format!("[{name}]"));
    Some(name.unwrap_or_else(|| "a key point without a name".to_owned()))
}

/// Merges several points into a new one, at the end of `section` or else of the first one's. It
/// has the sum of their votes and their cue, and their names become its aliases.
pub(super) fn join(
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
    editor.put(
        PointPlace::end_of(section),
        fields,
        note,
        ChangeKind::Absorb,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_text_that_is_there_letter_for_letter_is_not_added() {
        let file = br##"{"sections": {"OTHERS": [{"text": "ask"}],
            "MINE": [{"name": "kpt_001", "text": "# use  tabs"}]}}"##;
        let mut playbook = Playbook::parse(file).unwrap();
        let texts = ["ask", "use  tabs\n", "Use  tabs", "use  tabs."];
        let operations = texts.map(|text| json!({"type": "ADD", "text": text}));
        let applied = apply_operations(&mut playbook, &operations, "", Timestamp::UNIX_EPOCH);
        let reasons: Vec<_> = applied.skipped.iter().map(|s| s.reason.as_str()).collect();
        let unnamed = "a key point without a name says it already";
        assert_eq!(reasons, [unnamed, "[kpt_001] says it already"]);
        let added: Vec<_> = playbook.points().map(|point| point.text).collect();
        assert_eq!(added, ["Use  tabs", "use  tabs."]);
    }
    #[test]
    fn a_cue_comes_with_an_operation_stays_with_another_text_and_goes_into_a_merge() {
        let mut playbook = Playbook::empty();
        let mut apply = |operation: Value| {
            let applied = apply_operations(&mut playbook, &[operation], "", Timestamp::UNIX_EPOCH);
            assert_eq!(applied.skipped, []);
            let due = |name| playbook.named(name).and_then(|point| point.due().cloned());
            let names = ["oth-001", "oth-002", "oth-003"];
            names
                .map(due)
                .map(|due| due.map_or(String::new(), |due| due.told()))
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
