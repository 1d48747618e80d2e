//! `playbook log`: the changes of the playbook with their reasons; `log pat-001`: the story of one
//! key point and of those merged into it; `log --diff`: the changes between two revisions.

use std::collections::BTreeSet;

use super::prelude::*;
use crate::freshness::git::Git;
use crate::memory::{Entry, JobRow, MemoryError};
use crate::playbook::change::diff;
use crate::playbook::read::migrate;
use crate::playbook::{ChangeKind, is_own_name};
use crate::{freshness, redact, usage};

const JOBS: u64 = 20;
const SCREEN: &str = include_str!("screens/log.txt");

pub(super) fn run(session: &NamedSession, args: &args::LogArgs) -> anyhow::Result<()> {
    if let Some(revisions) = &args.diff {
        return diff_of(session, revisions, args.on.json);
    }
    let memory = Memory::open(&session.paths.memory_db())?;
    match args.id.as_deref() {
        None => history(session, &memory, args),
        Some(id) => match JobId::parse(id) {
            Some(id) => job(&memory, &id, args.on.json),
            None if is_own_name(id) => story(&NamedSession::on_own()?, &memory, id, args),
            None => story(session, &memory, id, args),
        },
    }
}

fn history(session: &NamedSession, memory: &Memory, args: &args::LogArgs) -> anyhow::Result<()> {
    let rows = memory.last_jobs(Some(&session.project_name()), args.limit.unwrap_or(JOBS))?;
    // An edit that changed nothing is left out of the history; a session is not.
    let is_told =
        |row: &JobRow| row.job.outcome != JobOutcome::Skipped || !row.job.session.is_empty();
    let jobs = rows.iter().filter(|row| is_told(row));
    let jobs = jobs.map(|row| Ok(in_json(row, &memory.changes_of(&row.job.id)?)));
    let jobs: Vec<Value> = jobs.collect::<anyhow::Result<_>>()?;
    let mut answer = json!({"project": session.project, "jobs": jobs});
    if !args.on.json {
        answer["all"] = args.all.into();
    }
    answer::give(args.on.json, SCREEN, answer)
}

fn job(memory: &Memory, id: &JobId, as_json: bool) -> anyhow::Result<()> {
    let Some(row) = memory.job(id.as_str())? else {
        return Err(Hinted::error(
            format!("no job {id} in the history"),
            "`playbook log` lists those that are done, `playbook jobs` those that wait",
        ));
    };
    let answer = in_json(&row, &memory.changes_of(id.as_str())?);
    if as_json {
        return output::json(&answer);
    }
    answer::show(SCREEN, json!({"jobs": [answer], "all": true}))
}

fn in_json(row: &JobRow, changes: &[Entry]) -> Value {
    let job = &row.job;
    json!({
        "job": job.id,
        "project": job.project,
        "time": job.finished,
        "event": job.event,
        "session": job.session,
        "transcript": redact::mask(&job.transcript),
        "backend": job.backend,
        "outcome": job.outcome.word(),
        "reason": job.reason,
        "undone_by": row.undone_by,
        "changes": change_text::all_in_json(changes),
        "dropped": row.dropped,
    })
}

fn story(
    session: &NamedSession,
    memory: &Memory,
    name: &str,
    args: &args::LogArgs,
) -> anyhow::Result<()> {
    let playbook = session.playbook()?;
    let point = playbook.named(name);
    let name = point.map_or(name, |point| point.name);
    let (entries, names) = story_of(memory, &session.project_name(), name)?;
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
    let story = entries[from..].iter().map(|entry| {
        let mut value = json!(entry.change);
        value["job"] = json!(entry.job);
        value["time"] = json!(entry.time);
        value["session"] = json!(entry.session);
        value["event"] = json!(entry.event);
        value["backend"] = json!(entry.backend);
        value
    });
    let is_alias = |other: &&String| {
        *other != name
            && playbook
                .named(other)
                .is_some_and(|point| point.name == name)
    };
    let freshness = freshness::record(&session.paths, &session.project);
    let usage = usage::record(&session.paths, &session.project);
    let answer = json!({
        "name": name,
        "point": point.map(|point| json!(point)),
        "aliases": names.iter().filter(is_alias).collect::<Vec<_>>(),
        "story": story.collect::<Vec<Value>>(),
        "gone": point.and_then(|point| freshness.gone(&point)),
        "seen": point.map(|point| usage.of(point.name).to_string()),
    });
    answer::give(args.on.json, include_str!("screens/story.txt"), answer)
}

/// Returns the story of a key point and of all that were merged into it, with their names.
pub(super) fn story_of(
    memory: &Memory,
    project: &str,
    name: &str,
) -> Result<(Vec<Entry>, BTreeSet<String>), MemoryError> {
    let mut names = BTreeSet::from([name.to_owned()]);
    loop {
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut entries = memory.story(project, &known)?;
        let before = names.len();
        names.extend(entries.iter().map(|entry| &entry.change.id).cloned());
        if names.len() == before {
            keep_till_joined(&mut entries, name, &names);
            return Ok((entries, names));
        }
    }
}

/// Removes the changes of the others after their last merge, as after an undo of it.
fn keep_till_joined(entries: &mut Vec<Entry>, name: &str, names: &BTreeSet<String>) {
    let mut joined = BTreeSet::from([name.to_owned()]);
    entries.reverse();
    entries.retain(|entry| {
        let change = &entry.change;
        let into = change.into.as_ref();
        if into.is_some_and(|into| names.contains(into)) {
            joined.insert(change.id.clone());
        }
        joined.contains(&change.id)
    });
    entries.reverse();
}

const LIMIT: Duration = Duration::from_secs(20);
const LAST: &str = "HEAD";

/// Compares a revision with the file or with another one: `FROM..TO`.
fn diff_of(session: &NamedSession, revisions: &str, as_json: bool) -> anyhow::Result<()> {
    let or_last = |revision| {
        Some(revision)
            .filter(|it: &&str| !it.is_empty())
            .unwrap_or(LAST)
    };
    let (from, to) = match revisions.split_once("..") {
        Some((from, to)) => (or_last(from), Some(or_last(to))),
        None => (revisions, None),
    };
    let before = session.shown(at(&session.project, from)?);
    let after = match to {
        Some(to) => session.shown(at(&session.project, to)?),
        None => session.playbook()?,
    };
    let now = session.env.clock().now();
    let mut changes = diff(&before, &after, "", now);
    for change in &mut changes {
        // A point that was merged into another counts as merged, not as deleted.
        if change.kind == ChangeKind::Delete
            && let Some(heir) = after.named(&change.id)
        {
            change.kind = ChangeKind::Merge;
            change.into = Some(heir.name.to_owned());
        }
    }
    let answer = json!({"from": from, "to": to, "changes": changes});
    answer::give(as_json, include_str!("screens/diff.txt"), answer)
}

/// Returns a project's playbook in a revision; empty if the revision has none.
fn at(project: &Path, revision: &str) -> anyhow::Result<Playbook> {
    let git = Git::at(project, LIMIT);
    let commit = format!("{revision}^{{commit}}");
    let verify = ["rev-parse", "--verify", "--quiet", "--end-of-options"];
    if git.ask_now(&[&verify[..], &[&commit]].concat()).is_none() {
        return Err(Hinted::error(
            format!("no revision {} of {}", plain(revision), project.display()),
            "name a commit, branch or tag of a git repository, or two as in main..HEAD; \
             without git, `playbook undo --to` lists the snapshots",
        ));
    }
    let file = format!("{revision}:./{}", playbook_file(Path::new(".")).display());
    let Some(bytes) = git.ask_now(&["cat-file", "blob", &file]) else {
        return Ok(Playbook::empty());
    };
    let read = migrate(&bytes).map_err(|flaw| {
        let what = format!("could not read playbook of {}: {flaw}", plain(revision));
        Hinted::error(what, "that revision has a broken file; name another")
    })?;
    Ok(read.playbook)
}
