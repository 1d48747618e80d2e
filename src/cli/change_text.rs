//! Words changes of key points, for all commands that show them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::output::plain;
use crate::memory::Entry;
use crate::playbook::{ChangeKind, PointChange, PointState};
use crate::queue::job::JobEvent;

/// Describes a change in a few words: `helpful 1 -> 2`.
pub(super) fn deed(change: &PointChange) -> String {
    let none = PointState::default();
    let before = change.before.as_ref().unwrap_or(&none);
    let after = change.after.as_ref().unwrap_or(&none);
    let section = |state: &PointState| plain(&state.section);
    let text = |state: &PointState| format!("\"{}\"", plain(state.text()));
    let votes = |state: &PointState| format!("{}/{}", state.helpful(), state.harmful());
    let into = plain(change.into.as_deref().unwrap_or_default());
    match change.kind {
        ChangeKind::Add => format!("added to {}: {}", section(after), text(after)),
        ChangeKind::Helpful => format!("helpful {} -> {}", before.helpful(), after.helpful()),
        ChangeKind::Harmful => format!("harmful {} -> {}", before.harmful(), after.harmful()),
        ChangeKind::Recount => format!("votes {} -> {}", votes(before), votes(after)),
        ChangeKind::Update => format!("reworded: {} -> {}", text(before), text(after)),
        ChangeKind::Move => match (section(before), section(after)) {
            (from, to) if from == to => format!("moved within {to}"),
            (from, to) => format!("moved from {from} to {to}"),
        },
        ChangeKind::Merge => format!("merged into {into}"),
        ChangeKind::Absorb if change.before.is_some() => {
            format!("took in votes: {} -> {}", votes(before), votes(after))
        }
        ChangeKind::Absorb => {
            let (section, votes, text) = (section(after), votes(after), text(after));
            format!("came of a merge in {section}, with {votes}: {text}")
        }
        ChangeKind::Delete => "removed".to_owned(),
        ChangeKind::Prune => "pruned".to_owned(),
        ChangeKind::Evict => "left".to_owned(),
        ChangeKind::Pin if after.note.pinned => "pinned".to_owned(),
        ChangeKind::Pin => "unpinned".to_owned(),
        ChangeKind::Cue if after.due().is_blank() => "has no cue any more".to_owned(),
        ChangeKind::Cue => format!("due {}", plain(&after.due().told())),
    }
}

/// Describes a change from its JSON; an unknown kind, from a later version, is its word.
pub(super) fn remembered(change: Value) -> String {
    let kind = plain(change["kind"].as_str().unwrap_or_default());
    serde_json::from_value(change).map_or(kind, |change| deed(&change))
}

/// Names the author of a change: `session s1 (rules)`, `by hand`.
pub(super) fn actor(event: &str, session: &str, backend: &str) -> String {
    let session = short(session);
    match by_hand(event) {
        Some(words) if session.is_empty() => words.to_owned(),
        // A session's verdict on the user's own points is an edit of another playbook.
        Some(_) => plain(&format!("session {session}")),
        None if event == JobEvent::Curate.word() => plain(&format!("curator ({backend})")),
        None => plain(&format!("session {session}, {event} ({backend})")),
    }
}

/// Names the kind of a change that no session taught; `None` for other events.
pub(super) fn by_hand(event: &str) -> Option<&'static str> {
    let known = [
        (JobEvent::Edit, "by hand"),
        (JobEvent::AgentEdit, "by a command in a session"),
        (JobEvent::HandEdit, "in the file"),
        (JobEvent::Undo, "undo"),
    ];
    let found = known.iter().find(|(known, _)| known.word() == event);
    found.map(|(_, words)| *words)
}

pub(super) fn short(session: &str) -> &str {
    match session.split_once('-') {
        Some((first, _)) if session.len() == UUID => first,
        _ => session,
    }
}

const UUID: usize = 36;

pub(super) const TIME: &str = "%Y-%m-%d %H:%M";

pub(super) fn time(at: Timestamp) -> String {
    local(at, TIME)
}

pub(super) fn local(at: Timestamp, format: &str) -> String {
    let at = at.to_zoned(TimeZone::system());
    at.strftime(format).to_string()
}

/// Returns a time relative to now: `in 5m`, `3h ago`.
pub(super) fn seen_from(at: Timestamp, now: Timestamp) -> String {
    let distance = at.duration_since(now);
    let text = match distance.abs().as_secs() {
        s if s < 60 => format!("{s}s"),
        s if s < 3600 => format!("{}m", s / 60),
        s if s < 2 * 86400 => format!("{}h", s / 3600),
        s => format!("{}d", s / 86400),
    };
    if distance.is_negative() {
        format!("{text} ago")
    } else {
        format!("in {text}")
    }
}

pub(super) fn all_in_json(entries: &[Entry]) -> Value {
    entries.iter().map(|entry| json!(entry.change)).collect()
}
