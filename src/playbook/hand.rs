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

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    fn now() -> Timestamp {
        "2026-11-21T10:00:00Z".parse().unwrap()
    }

    fn playbook() -> Playbook {
        let file = json!({
            "sections": {"OTHERS": [
                {"name": "oth-002", "text": "use tabs", "helpful": 1, "harmful": 0},
                {"name": "oth-003", "text": "ask first", "helpful": 2, "harmful": 1}]},
            "playbook": {
                "aliases": {"oth-001": "oth-002"},
                "points": {"oth-003": {"pinned": true}}}});
        Playbook::parse(file.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn an_alias_finds_the_point_and_a_move_keeps_its_id() {
        let mut playbook = playbook();
        let changes = edit_section(&mut playbook, "oth-001", Section::Patterns, now()).unwrap();
        assert_eq!(changes[0].id, "oth-002");
        assert_eq!(playbook.points().next().unwrap().section, Section::Patterns);
    }

    #[test]
    fn the_user_may_merge_and_remove_pinned_points_and_the_pin_goes_over() {
        let mut playbook = playbook();
        let sources = ["oth-001".to_owned(), "oth-003".to_owned()];
        let section = Some(Section::Preferences);
        merge(&mut playbook, &sources, "ask about tabs", section, now()).unwrap();
        let merged: Vec<_> = playbook.points().collect();
        assert_eq!((merged.len(), merged[0].name), (1, "pref-001"));
        assert!(merged[0].note.unwrap().pinned);
        remove(&mut playbook, "oth-003", Some("enough"), now()).unwrap();
        assert!(playbook.is_empty());
    }

    #[rstest]
    #[case::pin(|p: &mut Playbook| pin(p, "oth-003", Pin::Set, now()))]
    #[case::text(|p: &mut Playbook| edit_text(p, "oth-003", " ask first", now()))]
    #[case::section(|p: &mut Playbook| edit_section(p, "oth-003", Section::Others, now()))]
    fn doing_the_same_again_changes_nothing(
        #[case] edit: impl Fn(&mut Playbook) -> Result<Vec<Change>, Refused>,
    ) {
        assert_eq!(edit(&mut playbook()), Ok(vec![]));
    }

    #[rstest]
    #[case::unknown(|p: &mut Playbook| remove(p, "oth-009", None, now()), "no key point oth-009")]
    #[case::empty(|p: &mut Playbook| add(p, " \n", Section::Others, now()), "the text is empty")]
    #[case::known(|p: &mut Playbook| add(p, "use tabs", Section::Context, now()), "oth-002 says so already")]
    #[case::one(
        |p: &mut Playbook| merge(p, &["oth-001".to_owned(), "oth-002".to_owned()], "m", None, now()),
        "a merge needs two different key points"
    )]
    fn what_cannot_be_done_is_refused_and_leaves_the_playbook_alone(
        #[case] edit: impl Fn(&mut Playbook) -> Result<Vec<Change>, Refused>,
        #[case] reason: &str,
    ) {
        let mut playbook = playbook();
        let before = playbook.to_bytes();
        assert_eq!(edit(&mut playbook).unwrap_err().to_string(), reason);
        assert_eq!(playbook.to_bytes(), before);
    }
}
