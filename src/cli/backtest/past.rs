//! The sessions that are replayed, oldest first.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::cli::args;
use crate::cli::output::Hinted;
use crate::cli::session::{Session, existing};
use crate::cli::transcripts::{self, About, Found};
use crate::project;

/// A session that is over.
#[derive(Debug, Clone)]
pub(super) struct Past {
    /// Its transcript.
    pub(super) transcript: PathBuf,
    /// The id under which it is replayed.
    pub(super) session: String,
    /// The folder it was held in, if its lines say.
    pub(super) cwd: Option<PathBuf>,
    /// When it began.
    pub(super) began: Timestamp,
    /// When it was last written to.
    pub(super) ended: Timestamp,
}

impl Past {
    fn new(found: Found, about: About) -> Self {
        Self {
            transcript: found.path,
            session: found.session,
            cwd: about.cwd,
            began: about.began,
            ended: about.ended,
        }
    }

    /// The name of the transcript's file, which `--list` names as a place.
    pub(super) fn name(&self) -> String {
        let name = self.transcript.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }
}

/// Finds the sessions of the project, or of the folder that the user names.
pub(super) fn sessions(session: &Session, args: &args::Backtest) -> anyhow::Result<Vec<Past>> {
    let mut past: Vec<Past> = match &args.dir {
        Some(folder) => in_folder(&existing(folder)?)?,
        None => of_project(session),
    };
    // A fork begins with its parent's records: the one that ended first comes first.
    past.sort_by(|a, b| (a.began, a.ended, &a.transcript).cmp(&(b.began, b.ended, &b.transcript)));
    Ok(past)
}

fn in_folder(folder: &Path) -> anyhow::Result<Vec<Past>> {
    let found = transcripts::in_folder(folder);
    if found.is_empty() {
        return Err(Hinted {
            what: format!(
                "could not find transcripts: {}: no `.jsonl` file",
                folder.display()
            ),
            hint: "give a folder of Claude Code's transcripts, such as one in ~/.claude/projects",
        }
        .into());
    }
    let past = found.into_iter();
    Ok(past
        .filter_map(|found| {
            let about = transcripts::about(&found.path)?;
            Some(Past::new(found, about))
        })
        .collect())
}

fn of_project(session: &Session) -> Vec<Past> {
    let past = transcripts::all(&session.paths)
        .into_iter()
        .filter_map(|found| {
            let about = transcripts::about(&found.path)?;
            let is_ours = match &about.cwd {
                Some(cwd) => project::find(cwd) == session.project,
                None => transcripts::is_filed_under(&found, &session.project),
            };
            is_ours.then(|| Past::new(found, about))
        });
    past.collect()
}
