//! Words for what happened to key points: shared by all commands that show changes.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::output::plain;
use crate::memory::Entry;
use crate::playbook::{Change, ChangeKind, PointState};
use crate::queue::edit::from_history;
use crate::queue::job::Event;

/// What happened to a key point, in a few words: `helpful 1 -> 2`.
pub(super) fn deed(change: &Change) -> String {
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    let into = plain(change.into.as_deref().unwrap_or_default());
    match change.kind {
        ChangeKind::Add => format!("added to {}: {}", section(after), text(after)),
        ChangeKind::Helpful => format!("helpful {} -> {}", helpful(before), helpful(after)),
        ChangeKind::Harmful => format!("harmful {} -> {}", harmful(before), harmful(after)),
        ChangeKind::Recount => format!("votes {} -> {}", votes(before), votes(after)),
        ChangeKind::Update => format!("reworded: {} -> {}", text(before), text(after)),
        ChangeKind::Move => match (section(before), section(after)) {
            (from, to) if from == to => format!("moved within {to}"),
            (from, to) => format!("moved from {from} to {to}"),
        },
        ChangeKind::Merge => format!("merged into {into}"),
        ChangeKind::Duplicate => format!("joined into {into}"),
        ChangeKind::Absorb if before.is_some() => {
            format!("took in votes: {} -> {}", votes(before), votes(after))
        }
        ChangeKind::Absorb => {
            let (section, votes, text) = (section(after), votes(after), text(after));
            format!("came of a merge in {section}, with {votes}: {text}")
        }
        ChangeKind::Delete => "removed".to_owned(),
        ChangeKind::Prune => "pruned".to_owned(),
        ChangeKind::Evict => "left".to_owned(),
        ChangeKind::Pin if after.is_some_and(|state| state.note.pinned) => "pinned".to_owned(),
        ChangeKind::Pin => "unpinned".to_owned(),
    }
}

/// As [`deed`], for a change from the history; one of a later version has only its word.
pub(super) fn remembered(entry: &Entry) -> String {
    match from_history(entry.change.clone()) {
        Some(change) => deed(&change),
        None => plain(&entry.change.kind),
    }
}

/// Who did something: `session s1 (rules)`, `by hand`.
pub(super) fn actor(event: &str, session: &str, backend: &str) -> String {
    let by_hand = [
        (Event::Edit, "by hand"),
        (Event::HandEdit, "in the file"),
        (Event::Undo, "undo"),
    ];
    match by_hand.iter().find(|(known, _)| known.word() == event) {
        Some((_, words)) => (*words).to_owned(),
        None => plain(&format!("session {session}, {event} ({backend})")),
    }
}

pub(super) fn time(at: Timestamp) -> String {
    let at = at.to_zoned(TimeZone::system());
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

pub(super) fn in_json(change: &crate::memory::Change) -> Value {
    json!({
        "kind": change.kind,
        "point": change.point,
        "before": change.before,
        "after": change.after,
        "into": change.into,
        "reason": change.reason,
    })
}

fn section(state: Option<&PointState>) -> String {
    plain(state.map_or("", |state| &state.section))
}

fn text(state: Option<&PointState>) -> String {
    format!("\"{}\"", plain(state.map_or("", PointState::text)))
}

fn helpful(state: Option<&PointState>) -> u64 {
    state.map_or(0, PointState::helpful)
}

fn harmful(state: Option<&PointState>) -> u64 {
    state.map_or(0, PointState::harmful)
}

fn votes(state: Option<&PointState>) -> String {
    format!("{}/{}", helpful(state), harmful(state))
}
