//! `playbook show`: the key points of a project.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::args;
use super::output::{self, BAD, BOLD, DIM, GOOD, NAME, plain, say};
use super::session::Session;
use crate::playbook::context::Admission;
use crate::playbook::worth::{STALE_DAYS, Standing};
use crate::playbook::{Point, Section};
use crate::trust;

const BAR: u64 = 8;

pub(super) fn run(session: &Session, args: &args::Show) -> anyhow::Result<()> {
    let now = session.env.clock().now();
    let store = session.store();
    let playbook = session.playbook()?;
    let words: Vec<String> = args.query.iter().map(|word| word.to_lowercase()).collect();
    let trust = trust::Standing::of(&session.paths, &session.project);
    let points: Vec<(Point<'_>, Admission)> = playbook
        .points()
        .zip(playbook.admissions(&trust))
        .filter(|(point, _)| matches(point, &words))
        .collect();
    if args.on.json {
        let points = points.iter().map(|(point, _)| in_json(point, now));
        return output::json(&json!({
            "project": session.project,
            "playbook": store.path(),
            "points": points.collect::<Vec<_>>(),
        }));
    }
    if points.is_empty() {
        if playbook.is_empty() {
            say!("No key points yet: {}", store.path().display());
            say!("{DIM}They come as sessions end; `playbook demo` shows how.{DIM:#}");
        } else {
            say!("No key point says that.");
        }
        return Ok(());
    }
    note_distrust(&trust);
    for section in Section::ALL {
        let is_inside = |(point, _): &&(Point<'_>, _)| point.section == section;
        let mut inside = points.iter().filter(is_inside).peekable();
        if inside.peek().is_some() {
            say!("{BOLD}{}{BOLD:#}", section.title());
        }
        for (point, admission) in inside {
            let (name, votes, text) = (plain(point.name), votes(point), plain(point.text));
            let (remarks, refusal) = (remarks(point, now), refusal(*admission, &trust));
            say!("  {NAME}{name:<9}{NAME:#} {votes} {text}{remarks}{refusal}");
        }
    }
    Ok(())
}

fn matches(point: &Point<'_>, words: &[String]) -> bool {
    let text = format!("{} {} {}", point.name, point.section.title(), point.text).to_lowercase();
    words.iter().all(|word| text.contains(word))
}

/// Helpful and harmful votes as numbers, and as a bar whose colour says nothing new.
fn votes(point: &Point<'_>) -> String {
    let plus = "+".repeat(usize::try_from(point.helpful.min(BAR)).unwrap_or_default());
    let minus = "-".repeat(usize::try_from(point.harmful.min(BAR)).unwrap_or_default());
    let width = usize::try_from(BAR).unwrap_or_default();
    let pad = " ".repeat(width.saturating_sub(plus.len() + minus.len()));
    format!(
        "{GOOD}{:>3}{GOOD:#}/{BAD}{:<3}{BAD:#} {GOOD}{plus}{GOOD:#}{BAD}{minus}{BAD:#}{pad}",
        point.helpful, point.harmful
    )
}

/// What is special about a point: pinned, stale.
fn remarks(point: &Point<'_>, now: Timestamp) -> String {
    let standing = standing(point);
    let pinned = if standing.pinned { " (pinned)" } else { "" };
    let stale = if standing.is_stale(now) {
        format!(" (stale: unused for {STALE_DAYS} days)")
    } else {
        String::new()
    };
    format!("{DIM}{pinned}{stale}{DIM:#}")
}

/// Why sessions are not given a point of a trusted project.
fn refusal(admission: Admission, trust: &trust::Standing) -> String {
    let why = match admission {
        Admission::Held => " (held back: playbook review)",
        Admission::Unknown if trust.is_trusted() => " (not screened yet)",
        Admission::Given | Admission::Unknown => "",
    };
    format!("{DIM}{why}{DIM:#}")
}

/// Says that sessions are given nothing of a playbook that is not trusted.
pub(super) fn note_distrust(trust: &trust::Standing) {
    if let trust::Standing::Unreadable(error) = trust {
        output::note(&format!(
            "sessions are given no key point of this project: {error}; \
             `playbook doctor` says what to do"
        ));
    } else if !trust.is_trusted() {
        output::note("sessions are given no key point of this project until `playbook trust`");
    }
}

fn standing(point: &Point<'_>) -> Standing {
    point.note.map(Standing::from).unwrap_or_default()
}

pub(super) fn in_json(point: &Point<'_>, now: Timestamp) -> Value {
    let standing = standing(point);
    json!({
        "name": point.name,
        "section": point.section.title(),
        "text": point.text,
        "helpful": point.helpful,
        "harmful": point.harmful,
        "pinned": standing.pinned,
        "stale": standing.is_stale(now),
    })
}
