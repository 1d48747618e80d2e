//! `playbook report`: all that is known of a project, as one page that needs nothing else: no
//! network, no server, no file beside it.

mod page;
mod read;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::args;
use super::output::{self, Hinted, say};
use super::session::NamedSession;
use crate::{fsx, platform};

pub(super) use read::Sum;

const FILE: &str = "report.html";
const STDOUT: &str = "-";

pub(super) fn run(session: &NamedSession, args: &args::ReportArgs) -> anyhow::Result<()> {
    let figures = read::figures(session)?;
    if args.on.json {
        return output::json(&figures);
    }
    let page = page::page(&figures).context("could not make the page")?;
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
