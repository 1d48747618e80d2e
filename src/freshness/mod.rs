//! Whether what the key points name still stands in the files that their project's sessions
//! work on.
//!
//! After a session the worker looks at the commit that is checked out where it ran, and keeps
//! what it saw in one file of the project's state. What is missing counts as gone where the
//! commit in which it was seen is part of this one's history, and where the main branch has
//! lost it, too: another branch that does not have it yet, or an old one, says nothing.
//! Without git, in a project that is not trusted, and where git cannot say enough in time,
//! nothing is looked at, and what was known stays.

pub(crate) mod git;
mod history;
mod tree;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use git::Git;
use history::History;
use tree::WorkTree;

use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::playbook::{Playbook, Point};
use crate::project;
use crate::trust::TrustStanding;

pub(crate) use crate::playbook_freshness::KnownNames;
use crate::playbook_freshness::{Gone, PointName, Search, names_in};

const LIMIT: Duration = Duration::from_secs(20);
const MAX_FILE: u64 = 16 << 20;

/// What is known of a project's points; nothing where that cannot be read.
pub(crate) fn record(paths: &Paths, project: &Path) -> KnownNames {
    fsx::read_json(&paths.freshness(project), MAX_FILE).unwrap_or_default()
}

/// Looks at the commit that is checked out in the folder where a project's last session ran, for
/// the points of a playbook without secrets; tells whether that has changed what is known.
pub(crate) async fn look(
    paths: &Paths,
    (project, folder): (&Path, &Path),
    playbook: &Playbook,
    now: Timestamp,
) -> Result<bool, FsError> {
    if !TrustStanding::of(paths, project).is_trusted() || project::git_above(project).is_none() {
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
    mut record: KnownNames,
    points: &[Point<'_>],
    folder: &Path,
    day: Date,
) -> Option<KnownNames> {
    if points.is_empty() {
        return None;
    }
    let tree = WorkTree::of(Git::at(folder, LIMIT)).await?;
    let head = tree.head.clone();
    let commits: Vec<String> = [&head].into_iter().chain(&tree.mains).cloned().collect();
    if record.has_looked_at(&commits, points) {
        return None;
    }
    let names: HashSet<PointName> = points
        .iter()
        .flat_map(|point| names_in(point.text))
        .collect();
    let found = tree.search(&head, &Search::new(&names)).await?;
    record.look(&commits, points, &found);
    let lost = lost(&record, &tree).await?;
    let mut histories: HashMap<&str, History> = HashMap::new();
    let mut gone = HashMap::new();
    for (name, seen) in &lost {
        if !histories.contains_key(seen.as_str()) {
            let history = History::between(&tree.git, seen, &head).await;
            histories.insert(seen, history);
        }
        let of_path = match name {
            PointName::Path(path) => histories.get(seen.as_str()).map(|history| (history, path)),
            _ => None,
        };
        let since = of_path.and_then(|(history, path)| history.since(path));
        let known = Gone {
            since: since.unwrap_or(day),
            now: of_path.and_then(|(history, path)| history.successor(path)),
            left_in: 0,
        };
        gone.insert(name.clone(), known);
    }
    record.mark(&gone);
    Some(record)
}

/// What of the missed names is gone from the history of the commit, and from the main branch;
/// with the commit of that history in which it was seen.
async fn lost(record: &KnownNames, tree: &WorkTree) -> Option<HashMap<PointName, String>> {
    let mut lost = HashMap::new();
    let mut is_before: HashMap<String, bool> = HashMap::new();
    for (name, commits) in record.missed() {
        for commit in commits {
            let before = match is_before.get(&commit) {
                Some(before) => *before,
                None => tree.git.is_before(&commit, &tree.head).await,
            };
            is_before.insert(commit.clone(), before);
            if before {
                lost.insert(name, commit);
                break;
            }
        }
    }
    if lost.is_empty() || tree.mains.is_empty() {
        return Some(lost);
    }
    let names: HashSet<PointName> = lost.keys().cloned().collect();
    let search = Search::new(&names);
    let mut there = Vec::new();
    for main in &tree.mains {
        there.push(tree.search(main, &search).await?);
    }
    lost.retain(|name, _| there.iter().any(|found| !record.stands_in(name, found)));
    Some(lost)
}

/// What the curator is told of the points that are stale; empty when none is.
pub(crate) fn told_to_curator(record: &KnownNames, playbook: &Playbook) -> String {
    let lines = playbook.points().filter_map(|point| {
        let why = record.why_stale(&point)?;
        Some(format!("\n[{}] {why}", point.name))
    });
    let lines: String = lines.collect();
    if lines.is_empty() {
        return lines;
    }
    format!(
        "\n\nThese key points name what is gone from the project's files: each needs an UPDATE \
         with what is so now, or a DELETE.{lines}"
    )
}
