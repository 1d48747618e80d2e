//! `playbook diff`: what changed in the key points between two revisions, in words.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::output::{Hinted, plain};
use super::session::NamedSession;
use super::{answer, args, change_text};
use crate::freshness::git::Git;
use crate::paths::playbook_file;
use crate::playbook::diff::diff;
use crate::playbook::read::migrate;
use crate::playbook::{ChangeKind, Playbook, PointChange};

const LIMIT: Duration = Duration::from_secs(20);
const LAST: &str = "HEAD";
/// What stands between two revisions, as in `main..HEAD`.
const RANGE: &str = "..";
/// What git puts between a branch and one that it left.
const SINCE_THE_FORK: &str = "...";

pub(super) fn run(session: &NamedSession, args: &args::DiffArgs) -> anyhow::Result<()> {
    let wanted = args.revisions.as_deref().unwrap_or(LAST);
    if wanted.contains(SINCE_THE_FORK) {
        return Err(Hinted::error(
            format!("no range that is known: {}", plain(wanted)),
            "FROM..TO compares two revisions; `git merge-base` names where two branches part",
        ));
    }
    let (from, to) = match wanted.split_once(RANGE) {
        Some((from, to)) => (or_last(from), Some(or_last(to))),
        None => (wanted, None),
    };
    let before = session.shown(at(&session.project, from)?);
    let after = match to {
        Some(to) => session.shown(at(&session.project, to)?),
        None => session.playbook()?,
    };
    let now = session.env.clock().now();
    let mut changes = diff(&before, &after, "", now);
    for change in &mut changes {
        merged(change, &after);
    }
    let changes: Vec<_> = changes.iter().map(change_text::in_json).collect();
    let told = json!({"from": from, "to": to, "changes": changes});
    answer::give(args.on.json, include_str!("screens/diff.txt"), told)
}

fn or_last(revision: &str) -> &str {
    if revision.is_empty() { LAST } else { revision }
}

/// A point that is gone because another took it in was not just removed.
fn merged(change: &mut PointChange, after: &Playbook) {
    if change.kind == ChangeKind::Delete
        && let Some(heir) = after.named(&change.id)
    {
        change.kind = ChangeKind::Merge;
        change.into = Some(heir.name.to_owned());
    }
}

/// The playbook of a project as a revision has it; one that has none is empty.
fn at(project: &Path, revision: &str) -> anyhow::Result<Playbook> {
    let git = Git::at(project, LIMIT);
    let commit = format!("{revision}^{{commit}}");
    let file: PathBuf = playbook_file(Path::new("."));
    let file = format!("{revision}:./{}", file.display());
    let verify = [
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        &commit,
    ];
    if git.ask_now(&verify).is_none() {
        if git.ask_now(&["rev-parse", "--git-dir"]).is_none() {
            return Err(Hinted::error(
                format!(
                    "could not compare: {}: in no git repository",
                    project.display()
                ),
                "`playbook log` shows what changed, `playbook restore` lists the snapshots",
            ));
        }
        let what = format!("no revision {} of {}", plain(revision), project.display());
        let hint = "name a commit, branch or tag, or two as in main..HEAD; `git log` lists them";
        return Err(Hinted::error(what, hint));
    }
    let Some(bytes) = git.ask_now(&["cat-file", "blob", &file]) else {
        return Ok(Playbook::empty());
    };
    let read = migrate(&bytes).map_err(|flaw| {
        let what = format!("could not read playbook of {}: {flaw}", plain(revision));
        Hinted::error(what, "that revision has a broken file; name another")
    })?;
    Ok(read.playbook)
}
