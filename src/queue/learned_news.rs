//! Leaves word for the user of what sessions taught since the last word: counts, ids, and the rules
//! in the user's own words that wait.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::tz::TimeZone;

use super::context::WorkerContext;
use super::job::JobEvent;
use crate::config::Notices;
use crate::learned_news::{LearnedNews, told_until};
use crate::memory::{Entry, UnsettledQuote};
use crate::playbook::ChangeKind;
use crate::shown::counted;

/// How many changes are looked through; more are not counted.
const LATEST: u64 = 500;
/// How many key points are named.
const NAMED: usize = 3;

/// Writes what the next start in a project tells, or that there is nothing.
pub(super) fn refresh(context: &WorkerContext, project: &Path) {
    let written = news(context, project).and_then(|news| {
        LearnedNews::leave(news.as_ref(), context.paths(), project).map_err(|e| e.to_string())
    });
    if let Err(error) = written {
        context.log("worker", &error);
    }
}

fn news(context: &WorkerContext, project: &Path) -> Result<Option<LearnedNews>, String> {
    let config = context.surroundings.config_for(project);
    if config.map_err(|e| e.to_string())?.top.notices == Notices::Quiet {
        return Ok(None);
    }
    let told = told_until(context.paths(), project);
    let changes = context.memory().history(&project.to_string_lossy(), LATEST);
    let mut changes = changes.map_err(|e| e.to_string())?;
    changes.retain(|entry| Some(entry.time) > told && is_learned(entry));
    let said = context
        .memory()
        .unsettled_quotes(&project.to_string_lossy());
    let mut said = said.map_err(|e| e.to_string())?;
    said.retain(|said| Some(said.since) > told);
    Ok(with_said(of(&changes), &said))
}

/// Tells whether a session taught it, not the user by hand.
fn is_learned(entry: &Entry) -> bool {
    let by_hand = [
        JobEvent::Edit,
        JobEvent::AgentEdit,
        JobEvent::Undo,
        JobEvent::HandEdit,
    ];
    !by_hand.iter().any(|event| event.word() == entry.event)
}

/// What there is to say of changes, the newest first.
fn of(changes: &[Entry]) -> Option<LearnedNews> {
    let (mut new, mut reworded, mut gone, mut wrong) = <[BTreeSet<&str>; 4]>::default().into();
    for Entry { change, .. } in changes.iter().rev() {
        let id = change.id.as_str();
        match change.kind {
            ChangeKind::Add | ChangeKind::Merge => _ = new.insert(id),
            ChangeKind::Update => _ = reworded.insert(id),
            ChangeKind::Harmful => _ = wrong.insert(id),
            ChangeKind::Delete | ChangeKind::Prune | ChangeKind::Evict => {
                // What came and went in between was never seen.
                if !new.remove(id) {
                    gone.insert(id);
                }
                reworded.remove(id);
                wrong.remove(id);
            }
            _ => {}
        }
    }
    reworded.retain(|id| !new.contains(id));
    let told = [
        (new.len(), "new key point", ""),
        (reworded.len(), "key point", " reworded"),
        (gone.len(), "key point", " removed"),
    ];
    let told = told.into_iter().filter(|(count, ..)| *count > 0);
    let told = told.map(|(count, what, how)| format!("{}{how}", counted(count, what)));
    let told: Vec<String> = told.collect();
    let (first, last) = (changes.last()?, changes.first()?);
    let day = |entry: &Entry| {
        let time = entry.time.to_zoned(TimeZone::system());
        time.strftime("%-d %b").to_string()
    };
    let since = match (day(first), day(last)) {
        (first, last) if first == last => format!("on {first}"),
        (first, _) => format!("since {first}"),
    };
    let mut parts = Vec::new();
    if !told.is_empty() {
        parts.push(format!("{} {since}", told.join(", ")));
    }
    if !wrong.is_empty() {
        parts.push(format!("{} marked wrong", named(&wrong)));
    }
    let text = parts.join("; ");
    (!text.is_empty()).then(|| LearnedNews {
        text: format!("{text} (`playbook log`)"),
        until: last.time,
    })
}

/// Adds the user's own rules that wait for the curator.
fn with_said(news: Option<LearnedNews>, said: &[UnsettledQuote]) -> Option<LearnedNews> {
    let until = news.as_ref().map(|news| news.until);
    let until = said.iter().map(|said| said.since).max().max(until)?;
    let quotes = said.iter().take(NAMED);
    let quotes =
        quotes.map(|said| format!("You said: \"{}\" (kept; waits for the curator)", said.quote));
    let parts = news.map(|news| news.text).into_iter().chain(quotes);
    Some(LearnedNews {
        text: parts.collect::<Vec<_>>().join("; "),
        until,
    })
}

/// `pat-001 was`, `pat-001, pat-002 and 4 more were`.
fn named(ids: &BTreeSet<&str>) -> String {
    let names: Vec<String> = ids.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
    let more = ids.len().saturating_sub(NAMED);
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more")
    };
    let were = if ids.len() == 1 { "was" } else { "were" };
    format!("{}{more} {were}", names.join(", "))
}
