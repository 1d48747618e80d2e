//! `playbook show`: the key points of a project.

use serde_json::json;

use super::args;
use super::output::{self, BAD, BOLD, DIM, GOOD, NAME, plain, say};
use super::session::Session;
use crate::playbook::{Point, Section};

/// The widest bar of votes.
const BAR: u64 = 8;

/// Shows the key points, all or those that a query finds.
pub(super) fn run(session: &Session, args: &args::Show) -> anyhow::Result<()> {
    let store = session.store();
    let playbook = store.load()?;
    let words: Vec<String> = args.query.iter().map(|word| word.to_lowercase()).collect();
    let points: Vec<Point<'_>> = playbook.points().filter(|p| matches(p, &words)).collect();
    if args.json {
        return print_json(session, &points);
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
    for section in Section::ALL {
        let mut inside = points.iter().filter(|p| p.section == section).peekable();
        if inside.peek().is_some() {
            say!("{BOLD}{}{BOLD:#}", section.title());
        }
        for point in inside {
            say!(
                "  {NAME}{:<9}{NAME:#} {} {}",
                point.name,
                votes(point),
                plain(point.text)
            );
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

fn print_json(session: &Session, points: &[Point<'_>]) -> anyhow::Result<()> {
    let points: Vec<_> = points
        .iter()
        .map(|p| {
            json!({
                "name": p.name,
                "section": p.section.title(),
                "text": p.text,
                "helpful": p.helpful,
                "harmful": p.harmful,
            })
        })
        .collect();
    output::json(&json!({
        "project": session.project,
        "playbook": session.store().path(),
        "points": points,
    }))
}
