//! `playbook report`: all that is known of a project, as a page to look at.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::args;
use super::output::{self, Hinted, say};
use super::session::Session;
use crate::fsx;
use crate::platform;
use crate::report::page::page;
use crate::report::read::{Query, read};

const FILE: &str = "report.html";
const STDOUT: &str = "-";

pub(super) fn run(session: &Session, args: &args::Report) -> anyhow::Result<()> {
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

fn figures(session: &Session, zone: &TimeZone) -> anyhow::Result<Value> {
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
    if let (Some(problem), Some(told)) = (problem, figures["problems"].as_array_mut()) {
        told.push(problem.into());
    }
    Ok(figures)
}

fn usual_file(session: &Session) -> anyhow::Result<PathBuf> {
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
