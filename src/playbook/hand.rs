//! What a user does to single points: add, edit, move, remove, merge, pin.
//!
//! Unlike a model, the user may do so to pinned points, and an alias finds the point that
//! stands for it.

use jiff::Timestamp;

use super::change::{Change, ChangeKind};
use super::clean::clean_text;
use super::edit::{Cause, Editor};
use super::model::Playbook;
use super::section::Section;
use super::tree::Place;
use super::{entry, ops};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refused {
    #[error("no key point {0}")]
    Unknown(String),
    #[error("the text is empty")]
    Empty,
    #[error("a merge needs two different key points")]
    TooFew,
    #[error("{0}")]
    Told(String),
}

const BY_HAND: &str = "by hand";

pub(crate) fn add(
    playbook: &mut Playbook,
    text: &str,
    section: Section,
    now: Timestamp,
) -> Result<Vec<Change>, Refused> {
    let text = cleaned(text)?;
    change(playbook, now, |editor| {
        ops::add(editor, &text, section, BY_HAND).map_err(Refused::Told)
    })
}

pub(crate) fn edit_text(
    playbook: &mut Playbook,
    name: &str,
    text: &str,
    now: Timestamp,
) -> Result<Vec<Change>, Refused> {
    let text = cleaned(text)?;
    change(playbook, now, |editor| {
        let (_, place) = find(editor.playbook, name)?;
        let cause = Cause::new(ChangeKind::Update, BY_HAND);
        editor.rewrite(&place, &cause, |fields| {
            fields.insert(entry::TEXT.to_owned(), text.into());
        });
        Ok(())
    })
}

/// Moves a point to the end of another section; it keeps its id.
pub(crate) fn edit_section(
    playbook: &mut Playbook,
    name: &str,
    section: Section,
    now: Timestamp,
) -> Result<Vec<Change>, Refused> {
    change(playbook, now, |editor| {
        let (_, place) = find(editor.playbook, name)?;
        if place.title != section.title() {
            let cause = Cause::new(ChangeKind::Move, BY_HAND);
            editor.relocate(&place, Place::end_of(section), &cause);
        }
        Ok(())
    })
}

pub(crate) fn remove(
    playbook: &mut Playbook,
    name: &str,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<Vec<Change>, Refused> {
    let reason = reason.map(clean_text).filter(|reason| !reason.is_empty());
    change(playbook, now, |editor| {
        let (_, place) = find(editor.playbook, name)?;
        let cause = Cause::new(ChangeKind::Delete, reason.as_deref().unwrap_or(BY_HAND));
        editor.remove(&place, None, &cause);
        Ok(())
    })
}

/// Merges points into one new point with another text, in `section` or else in the one of
/// the first.
pub(crate) fn merge(
    playbook: &mut Playbook,
    names: &[String],
    text: &str,
    section: Option<Section>,
    now: Timestamp,
) -> Result<Vec<Change>, Refused> {
    let text = cleaned(text)?;
    change(playbook, now, |editor| {
        let mut found: Vec<String> = Vec::new();
        for name in names {
            let (name, _) = find(editor.playbook, name)?;
            if !found.contains(&name) {
                found.push(name);
            }
        }
        if found.len() < 2 {
            return Err(Refused::TooFew);
        }
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        ops::join(editor, &found, &text, section, BY_HAND);
        Ok(())
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pin {
    Set,
    Release,
}

pub(crate) fn pin(
    playbook: &mut Playbook,
    name: &str,
    pin: Pin,
    now: Timestamp,
) -> Result<Vec<Change>, Refused> {
    change(playbook, now, |editor| {
        let (_, place) = find(editor.playbook, name)?;
        let cause = Cause::new(ChangeKind::Pin, BY_HAND);
        editor.annotate(&place, &cause, |note| note.pinned = pin == Pin::Set);
        Ok(())
    })
}

/// Runs one edit; the playbook stays as it was when it is refused.
fn change(
    playbook: &mut Playbook,
    now: Timestamp,
    edit: impl FnOnce(&mut Editor<'_>) -> Result<(), Refused>,
) -> Result<Vec<Change>, Refused> {
    let mut editor = Editor::new(playbook, now);
    edit(&mut editor)?;
    let done = editor.done;
    match done.skipped.into_iter().next() {
        Some(skipped) if done.changes.is_empty() => Err(Refused::Told(skipped.reason)),
        _ => Ok(done.changes),
    }
}

fn cleaned(text: &str) -> Result<String, Refused> {
    let text = clean_text(text);
    if text.is_empty() {
        return Err(Refused::Empty);
    }
    Ok(text)
}

/// The name a point has now, and where it stands.
fn find(playbook: &Playbook, name: &str) -> Result<(String, Place), Refused> {
    let mut places = playbook.places();
    let current = playbook.current_name(&places, name).to_owned();
    match places.remove(&current) {
        Some(place) => Ok((current, place)),
        None => Err(Refused::Unknown(clean_text(name))),
    }
}
