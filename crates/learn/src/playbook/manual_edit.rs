//! What a user does to single points: add, edit, move, remove, merge, pin.
//!
//! Unlike a model, the user may do so to pinned points, and an alias finds the point that
//! stands for it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::change::{ChangeKind, PointChange};
use super::clean::{MAX_CHARS, clean_text, whole_line};
use super::edit::{ChangeCause, Editor};
use super::model::{Playbook, Point, PointPlace};
use super::section::Section;
use super::{entry, ops};

/// Why a change by the user's hand was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusedEdit {
    /// No point has this name.
    #[error("no key point {0}")]
    Unknown(String),
    /// The new text says nothing.
    #[error("the text is empty")]
    Empty,
    /// The new text has more characters than a key point may have.
    #[error("the text has {0} characters, and a key point at most {MAX_CHARS}")]
    TooLong(usize),
    /// Fewer than two points were named.
    #[error("a merge needs two different key points")]
    TooFew,
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
    let mut editor = Editor::new(playbook, now);
    edit(&mut editor)?;
    match editor.done.skipped.pop() {
        Some(skipped) => Err(RefusedEdit::Told(skipped.reason)),
        None => Ok(editor.done.changes),
    }
}

/// Adds a point at the end of `section`.
pub fn add(editor: &mut Editor<'_>, text: &str, section: Section) -> Result<(), RefusedEdit> {
    ops::add(editor, &typed(text)?, section, BY_HAND).map_err(RefusedEdit::Told)
}

/// A point of another playbook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroughtPoint {
    pub text: String,
    /// Where it stood.
    pub section: Section,
    /// How often it helped.
    pub helpful: u64,
    /// How often it harmed.
    pub harmful: u64,
    /// Whether only the user may take it away.
    pub pinned: bool,
}

impl BroughtPoint {
    /// Takes what goes along of a point: all but its name.
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
    let text = cleaned(&point.text)?;
    let votes = (point.helpful, point.harmful);
    let name = ops::add_with(editor, (&text, point.section), votes, why);
    let name = name.map_err(RefusedEdit::Told)?;
    if point.pinned {
        pin(editor, &name, PinEdit::Set)?;
    }
    Ok(())
}

/// Replaces the text of a point.
pub fn edit_text(editor: &mut Editor<'_>, name: &str, text: &str) -> Result<(), RefusedEdit> {
    let text = typed(text)?;
    let (_, place) = find(editor.playbook, name)?;
    let cause = ChangeCause::new(ChangeKind::Update, BY_HAND);
    editor.rewrite(&place, &cause, |fields| {
        fields.insert(entry::TEXT.to_owned(), text.into());
    });
    Ok(())
}

/// Moves a point to the end of another section; it keeps its id.
pub fn edit_section(
    editor: &mut Editor<'_>,
    name: &str,
    section: Section,
) -> Result<(), RefusedEdit> {
    let (_, place) = find(editor.playbook, name)?;
    if place.title != section.title() {
        let cause = ChangeCause::new(ChangeKind::Move, BY_HAND);
        editor.relocate(&place, PointPlace::end_of(section), &cause);
    }
    Ok(())
}

/// Deletes a point, for the user's `reason` if there is one.
pub fn remove(
    editor: &mut Editor<'_>,
    name: &str,
    reason: Option<&str>,
) -> Result<(), RefusedEdit> {
    let reason = reason.map(clean_text).filter(|reason| !reason.is_empty());
    let (_, place) = find(editor.playbook, name)?;
    let cause = ChangeCause::new(ChangeKind::Delete, reason.as_deref().unwrap_or(BY_HAND));
    editor.remove(&place, None, &cause);
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
        return Err(RefusedEdit::TooFew);
    }
    let found: Vec<&str> = found.iter().map(String::as_str).collect();
    ops::join(editor, &found, &text, section, BY_HAND);
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PinEdit {
    /// The point is never pruned and always comes first.
    Set,
    /// The point is like any other again.
    Release,
}

/// Pins a point, or takes the pin off.
pub fn pin(editor: &mut Editor<'_>, name: &str, pin: PinEdit) -> Result<(), RefusedEdit> {
    let (_, place) = find(editor.playbook, name)?;
    let cause = ChangeCause::new(ChangeKind::Pin, BY_HAND);
    editor.annotate(&place, &cause, |note| note.pinned = pin == PinEdit::Set);
    Ok(())
}

/// A text as the user typed it, of which nothing is to be cut off without a word.
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

/// The name a point has now, and where it stands.
fn find(playbook: &Playbook, name: &str) -> Result<(String, PointPlace), RefusedEdit> {
    let mut places = playbook.places();
    let current = playbook.current_name(&places, name).to_owned();
    match places.remove(&current) {
        Some(place) => Ok((current, place)),
        None => Err(RefusedEdit::Unknown(clean_text(name))),
    }
}
