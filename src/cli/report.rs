//! `playbook report`: all that is known of a project, as a page to look at.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::output::{self, Hinted, say};
use super::session::NamedSession;
use super::{args, change_text, log};
use crate::memory::{Entry, Memory};
use crate::report::page::page;
use crate::report::read::{Query, read};
use crate::{fsx, platform};

const FILE: &str = "report.html";
const STDOUT: &str = "-";
/// So many changes of one key point are told, the newest, and so many of its votes are drawn.
const CHANGES: usize = 20;
const VOTES: usize = 200;

pub(super) fn run(session: &NamedSession, args: &args::ReportArgs) -> anyhow::Result<()> {
    let zone = TimeZone::system();
    let figures = figures(session, &zone)?;
    if args.json {
        return output::json(&figures);
    }
    let page = page(&figures, &zone).context("could not make the page")?;
    if args.out.as_deref() == Some(Path::new(STDOUT)) {
        io::stdout().lock().write_all(page.as_bytes())?;
        return Ok(());
    }
    let file = match &args.out {
        Some(file) => std::path::absolute(file)?,
        None => usual_file(session)?,
    };
    fsx::quick(&file, page.as_bytes())?;
    say!("{}", file.display());
    if args.open {
        open(&file)?;
    }
    Ok(())
}

fn figures(session: &NamedSession, zone: &TimeZone) -> anyhow::Result<Value> {
    let project = session.project_name();
    let query = Query {
        project: &project,
        now: session.env.clock().now(),
        zone,
    };
    let playbook = session.playbook()?;
    // What is remembered is worth less than the key points: they are shown without it.
    let (memory, problem) = match session.memory() {
        Ok(memory) => (memory, None),
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    let mut figures = read(&query, &playbook, memory.as_ref());
    if let Some(memory) = &memory {
        add_stories(&mut figures, memory, &project)?;
    }
    if let (Some(problem), Some(problems)) = (problem, figures["problems"].as_array_mut()) {
        problems.push(problem.into());
    }
    Ok(figures)
}

fn add_stories(figures: &mut Value, memory: &Memory, project: &str) -> anyhow::Result<()> {
    for point in figures["points"].as_array_mut().into_iter().flatten() {
        let name = point["name"].as_str().unwrap_or_default();
        let (story, _) = log::story_of(memory, project, name)?;
        let mut votes = Vec::new();
        for Entry { time, change, .. } in story.iter().filter(|entry| entry.change.id == name) {
            match &change.after {
                Some(after) => votes.push(json!({
                    "time": time, "helpful": after.helpful(), "harmful": after.harmful(),
                })),
                // A point that left and came back begins anew.
                None => votes.clear(),
            }
        }
        point["history"] = last(&votes, VOTES).iter().cloned().collect();
        point["story"] = last(&story, CHANGES).iter().map(told).collect();
    }
    Ok(())
}

fn last<T>(all: &[T], most: usize) -> &[T] {
    &all[all.len().saturating_sub(most)..]
}

fn told(entry: &Entry) -> Value {
    let actor = change_text::actor(&entry.event, &entry.session, &entry.backend);
    let reason = &entry.change.reason;
    json!({
        "time": entry.time,
        "point": entry.change.id,
        "deed": change_text::remembered(change_text::in_json(&entry.change)),
        "reason": if *reason == actor { "" } else { reason },
        "who": actor,
        "session": entry.session,
        "job": entry.job,
    })
}

fn usual_file(session: &NamedSession) -> anyhow::Result<PathBuf> {
    let folder = session.paths.project(&session.project);
    fsx::ensure_dir(&folder)?;
    Ok(folder.join(FILE))
}

fn open(file: &Path) -> anyhow::Result<()> {
    let mut opener = platform::opener(file);
    let why = match opener.status() {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("ended with {status}"),
        Err(error) => error.to_string(),
    };
    let program = opener.get_program().display();
    Err(Hinted::error(
        format!("could not open {}: {program}: {why}", file.display()),
        "open that file in a browser yourself",
    ))
}
