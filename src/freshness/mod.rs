//! Whether what the key points name still stands in the files that their project's sessions
//! work on.
//!
//! After a session the worker looks at the commit that is checked out where it ran, and keeps
//! what it saw in one file of the project's state. What is missing counts as gone where the
//! commit in which it was seen is part of this one's history, and where the main branch has
//! lost it, too: another branch that does not have it yet, or an old one, says nothing.
//! Without git, in a project that is not trusted, and where git cannot say enough in time,
//! nothing is looked at, and what was known stays.

mod git;
mod history;
mod tree;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use git::Git;
use tree::WorkTree;

use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::playbook::{Playbook, Point};
use crate::project;
use crate::trust::Standing;

pub(crate) use crate::playbook_freshness::Record;
use crate::playbook_freshness::{Gone, Name, Search, names_in};

const LIMIT: Duration = Duration::from_secs(20);
const MAX_FILE: u64 = 16 << 20;
/// How many names are looked up in the history after one session.
const MAX_LOST: usize = 100;

/// What is known of a project's points; nothing where that cannot be read.
pub(crate) fn record(paths: &Paths, project: &Path) -> Record {
    fsx::read_json(&paths.freshness(project), MAX_FILE).unwrap_or_default()
}

/// A project, and the folder in which its last session ran.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) project: &'a Path,
    pub(crate) folder: &'a Path,
}

/// Looks at the commit that is checked out where a session ran, for the points of a playbook
/// without secrets; tells whether that has changed what is known.
pub(crate) async fn look(
    paths: &Paths,
    Place { project, folder }: Place<'_>,
    playbook: &Playbook,
    now: Timestamp,
) -> Result<bool, FsError> {
    if !Standing::of(paths, project).is_trusted() || project::git_above(project).is_none() {
        return Ok(false);
    }
    let points: Vec<Point<'_>> = playbook.points().collect();
    // A linked worktree, or a folder below; the session may have left for anywhere.
    let is_of_it = folder.is_dir() && project::find(folder) == project;
    let folder = if is_of_it { folder } else { project };
    let day = now.to_zoned(TimeZone::UTC).date();
    let Some(record) = looked(record(paths, project), &points, folder, day).await else {
        return Ok(false);
    };
    let file = paths.freshness(project);
    fsx::ensure_dir(&paths.project(project))?;
    fsx::durable(&file, &fsx::to_json(&file, &record)?)?;
    Ok(true)
}

/// The record after a look; `None` where there is nothing new to see.
async fn looked(
    mut record: Record,
    points: &[Point<'_>],
    folder: &Path,
    day: Date,
) -> Option<Record> {
    if points.is_empty() {
        return None;
    }
    let mut tree = WorkTree::of(Git::at(folder, LIMIT)).await?;
    let head = tree.head.clone();
    let commits: Vec<String> = [&head].into_iter().chain(&tree.mains).cloned().collect();
    if record.has_looked_at(&commits, points) {
        return None;
    }
    let names: HashSet<Name> = points
        .iter()
        .flat_map(|point| names_in(point.text))
        .collect();
    let (found, paths) = tree.search(&head, &Search::new(&names)).await?;
    record.look(&commits, points, &found);
    let lost = lost(&record, &mut tree).await?;
    let mut gone = HashMap::new();
    for name in lost {
        let of_history = match &name {
            Name::Path(path) => history::of_path(&tree.git, path, &paths).await,
            _ => None,
        };
        let (since, now) = of_history.unwrap_or((day, None));
        gone.insert(
            name,
            Gone {
                since,
                now,
                left_in: 0,
            },
        );
    }
    record.mark(&gone);
    Some(record)
}

/// What of the missed names is gone from the history of the commit, and from the main branch.
async fn lost(record: &Record, tree: &mut WorkTree) -> Option<HashSet<Name>> {
    let mut lost = HashSet::new();
    let mut is_before: HashMap<String, bool> = HashMap::new();
    for (name, commits) in record.missed().into_iter().take(MAX_LOST) {
        for commit in commits {
            let known = is_before.get(&commit).copied();
            let before = match known {
                Some(before) => before,
                None => tree.git.is_before(&commit, &tree.head).await,
            };
            is_before.insert(commit, before);
            if before {
                lost.insert(name.clone());
            }
        }
    }
    let mains = tree.mains.clone();
    if lost.is_empty() || mains.is_empty() {
        return Some(lost);
    }
    let search = Search::new(&lost);
    let mut there = Vec::new();
    for main in &mains {
        there.push(tree.search(main, &search).await?.0);
    }
    let is_lost = |name: &Name| there.iter().any(|found| !record.stands_in(name, found));
    Some(lost.iter().filter(|name| is_lost(name)).cloned().collect())
}

/// What the curator is told of the points that are stale; empty when none is.
pub(crate) fn told_to_curator(record: &Record, playbook: &Playbook) -> String {
    let lines = playbook.points().filter_map(|point| {
        let why = record.why_stale(&point)?;
        Some(format!("\n[{}] {why}", point.name))
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\n\nThe project's files have changed since these key points were learned. UPDATE each \
         with what is so now, or DELETE it:{lines}"
    )
}
