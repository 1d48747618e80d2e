//! The edits that a user makes to single points: add, edit, move, remove, merge, pin.
//!
//! Unlike a model, the user may edit pinned points, and an alias finds the point that it is
//! now.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::change::Editor;
use super::change::{ChangeKind, PointChange};
use super::clean::{MAX_CHARS, clean_text, whole_line};
use super::id::Section;
use super::model::{Playbook, Point, PointPlace};
use super::{entry, ops};

/// Why a change by the user's hand was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusedEdit {
    /// The new text says nothing.
    #[error("the text is empty")]
    Empty,
    /// The new text has more characters than a key point may have.
    #[error("the text has {0} characters, and a key point at most {MAX_CHARS}")]
    TooLong(usize),
    /// What is in the way, in words for the user.
    #[error("{0}")]
    Told(String),
}

const BY_HAND: &str = "by hand";

/// Runs one edit. A playbook in which it was refused is not to be written.
pub fn by_hand(
    playbook: &mut Playbook,
    now: Timestamp,
    edit: impl FnOnce(&mut Editor<'_>) -> Result<(), RefusedEdit>,
) -> Result<Vec<PointChange>, RefusedEdit> {
    let mut editor = Editor::new(playbook, BY_HAND, now);
    edit(&mut editor)?;
    match editor.done.skipped.pop() {
        Some(skipped) => Err(RefusedEdit::Told(skipped.reason)),
        None => Ok(editor.done.changes),
    }
}

/// Adds a point at the end of `section`.
pub fn add(editor: &mut Editor<'_>, text: &str, section: Section) -> Result<(), RefusedEdit> {
    let added = ops::add(editor, &typed(text)?, section, [0, 0]);
    added.map(drop).map_err(RefusedEdit::Told)
}

/// A point of another playbook, without its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroughtPoint {
    pub text: String,
    pub section: Section,
    /// How often it helped.
    pub helpful: u64,
    /// How often it harmed.
    pub harmful: u64,
    /// Whether only the user may take it away.
    pub pinned: bool,
}

impl BroughtPoint {
    pub fn of(point: &Point<'_>) -> Self {
        Self {
            text: point.text.to_owned(),
            section: point.section,
            helpful: point.helpful,
            harmful: point.harmful,
            pinned: point.is_pinned(),
        }
    }
}

/// Brings in a point of another playbook under a new name.
pub fn bring(editor: &mut Editor<'_>, point: &BroughtPoint, why: &str) -> Result<(), RefusedEdit> {
    let votes = [point.helpful, point.harmful];
    let text = cleaned(&point.text)?;
    why.clone_into(&mut editor.reason);
    let name = ops::add(editor, &text, point.section, votes);
    let name = name.map_err(RefusedEdit::Told)?;
    BY_HAND.clone_into(&mut editor.reason);
    set_pinned(editor, &name, point.pinned)
}

/// Gives a point another text, or moves it to the end of another section; it keeps its id.
pub fn change(
    editor: &mut Editor<'_>,
    name: &str,
    text: Option<&str>,
    section: Option<Section>,
) -> Result<(), RefusedEdit> {
    let text = text.map(typed).transpose()?;
    let (_, place) = find(editor.playbook, name)?;
    if let Some(text) = text {
        editor.rewrite(&place, |fields| {
            fields.insert(entry::TEXT.to_owned(), text.into());
        });
    }
    if let Some(section) = section.filter(|section| place.title != section.title()) {
        editor.relocate(&place, PointPlace::end_of(section));
    }
    Ok(())
}

/// Deletes a point, for the user's `reason` if there is one.
pub fn remove(
    editor: &mut Editor<'_>,
    name: &str,
    reason: Option<&str>,
) -> Result<(), RefusedEdit> {
    let (_, place) = find(editor.playbook, name)?;
    if let Some(reason) = reason.map(clean_text).filter(|reason| !reason.is_empty()) {
        editor.reason = reason;
    }
    editor.remove(&place, None, ChangeKind::Delete);
    Ok(())
}

/// Merges points into one new point with another text, in `section` or else in the one of
/// the first.
pub fn merge(
    editor: &mut Editor<'_>,
    names: &[String],
    text: &str,
    section: Option<Section>,
) -> Result<(), RefusedEdit> {
    let text = typed(text)?;
    let mut found: Vec<String> = Vec::new();
    for name in names {
        let (name, _) = find(editor.playbook, name)?;
        if !found.contains(&name) {
            found.push(name);
        }
    }
    if found.len() < 2 {
        let why = "a merge needs two different key points";
        return Err(RefusedEdit::Told(why.to_owned()));
    }
    ops::join(editor, &found, &text, section);
    Ok(())
}

pub fn pin(editor: &mut Editor<'_>, name: &str) -> Result<(), RefusedEdit> {
    set_pinned(editor, name, true)
}

pub fn unpin(editor: &mut Editor<'_>, name: &str) -> Result<(), RefusedEdit> {
    set_pinned(editor, name, false)
}

fn set_pinned(editor: &mut Editor<'_>, name: &str, pinned: bool) -> Result<(), RefusedEdit> {
    let (_, place) = find(editor.playbook, name)?;
    editor.set_pinned(&place, pinned);
    Ok(())
}

/// Cleans a text that the user typed; nothing of it is cut off without a word.
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

/// Returns the name that a point has now, and its place.
fn find(playbook: &Playbook, name: &str) -> Result<(String, PointPlace), RefusedEdit> {
    let mut places = playbook.places();
    let current = playbook.current_name(&places, name).to_owned();
    match places.remove(&current) {
        Some(place) => Ok((current, place)),
        None => Err(RefusedEdit::Told(format!(
            "no key point {}",
            clean_text(name)
        ))),
    }
}
