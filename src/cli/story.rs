//! `playbook log pat-001`: the story of one key point, and of those that went into it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::output::{self, BAD, BOLD, DIM, GOOD, Hinted, NAME, plain, say};
use super::session::Session;
use super::{args, tell};
use crate::memory::{Entry, Memory, MemoryError};
use crate::playbook::{Playbook, Point};

pub(super) fn run(
    session: &Session,
    memory: &Memory,
    name: &str,
    args: &args::Log,
) -> anyhow::Result<()> {
    let playbook = session.playbook()?;
    let point = playbook.named(name);
    let name = point.map_or(name, |point| point.name);
    let (entries, names) = read(memory, &session.project_name(), name)?;
    if point.is_none() && entries.is_empty() {
        return Err(Hinted::error(
            format!("no key point {}, and none in the history", plain(name)),
            "`playbook show` lists the key points",
        ));
    }
    let from = args.limit.map_or(0, |limit| {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        entries.len().saturating_sub(limit)
    });
    let entries = &entries[from..];
    if args.on.json {
        return output::json(&in_json(name, &playbook, &names, entries));
    }
    head(name, point.as_ref(), &joined(&playbook, name, &names))?;
    for entry in entries {
        tell_entry(name, entry)?;
    }
    if entries.is_empty() {
        say!("{DIM}It stood in the file before the first change that is remembered.{DIM:#}");
    }
    Ok(())
}

/// The story of a key point and of all that were merged or joined into it, up to then, and
/// the names under which it is remembered: its own, and those that went into it.
fn read(
    memory: &Memory,
    project: &str,
    name: &str,
) -> Result<(Vec<Entry>, BTreeSet<String>), MemoryError> {
    let mut names = BTreeSet::from([name.to_owned()]);
    loop {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut entries = memory.story(project, &known)?;
        let before = names.len();
        names.extend(entries.iter().map(|entry| &entry.change.point).cloned());
        if names.len() == before {
            keep_till_joined(&mut entries, name, &names);
            return Ok((entries, names));
        }
    }
}

/// Leaves out what the others did after they had left the story, as after an undo.
fn keep_till_joined(entries: &mut Vec<Entry>, name: &str, names: &BTreeSet<String>) {
    let mut joined = BTreeSet::from([name.to_owned()]);
    entries.reverse();
    entries.retain(|entry| {
        let change = &entry.change;
        let into = change.into.as_ref();
        if into.is_some_and(|into| names.contains(into)) {
            joined.insert(change.point.clone());
        }
        joined.contains(&change.point)
    });
    entries.reverse();
}

/// The names under which a session may still cite it.
fn joined(playbook: &Playbook, name: &str, names: &BTreeSet<String>) -> Vec<String> {
    let is_alias = |other: &&String| {
        let point = playbook.named(other);
        *other != name && point.is_some_and(|point| point.name == name)
    };
    let aliases = names.iter().filter(is_alias);
    aliases.map(|name| plain(name)).collect()
}

fn head(name: &str, point: Option<&Point<'_>>, joined: &[String]) -> anyhow::Result<()> {
    let shown = plain(name);
    match point {
        Some(point) => {
            let (section, votes) = (point.section.title(), (point.helpful, point.harmful));
            let votes = format!(
                "{GOOD}helpful {}{GOOD:#}, {BAD}harmful {}{BAD:#}",
                votes.0, votes.1
            );
            say!("{NAME}{shown}{NAME:#}  {BOLD}{section}{BOLD:#}  {votes}");
            say!("  {}", plain(point.text));
        }
        None => say!("{NAME}{shown}{NAME:#}  {DIM}is no longer in the playbook{DIM:#}"),
    }
    if !joined.is_empty() {
        say!("  {DIM}holds what was {}{DIM:#}", joined.join(", "));
    }
    say!("");
    Ok(())
}

fn tell_entry(name: &str, entry: &Entry) -> anyhow::Result<()> {
    let change = &entry.change;
    let other = match change.point.as_str() {
        point if point == name => String::new(),
        point => format!("{NAME}{}{NAME:#} ", plain(point)),
    };
    say!(
        "{BOLD}{}{BOLD:#}  {other}{}",
        tell::time(entry.time),
        tell::remembered(entry)
    );
    let actor = tell::actor(&entry.event, &entry.session, &entry.backend);
    if !change.reason.is_empty() && change.reason != actor {
        say!("                  {}", plain(&change.reason));
    }
    say!(
        "                  {DIM}{actor}, job {}{DIM:#}",
        plain(&entry.job)
    );
    Ok(())
}

fn in_json(name: &str, playbook: &Playbook, names: &BTreeSet<String>, entries: &[Entry]) -> Value {
    let point = playbook.named(name).map(|point| {
        json!({
            "name": point.name,
            "section": point.section.title(),
            "text": point.text,
            "helpful": point.helpful,
            "harmful": point.harmful,
        })
    });
    let story = entries.iter().map(|entry| {
        let mut told = tell::in_json(&entry.change);
        told["job"] = json!(entry.job);
        told["time"] = json!(entry.time);
        told["session"] = json!(entry.session);
        told["event"] = json!(entry.event);
        told["backend"] = json!(entry.backend);
        told
    });
    json!({
        "name": name,
        "point": point,
        "aliases": joined(playbook, name, names),
        "story": story.collect::<Vec<Value>>(),
    })
}
