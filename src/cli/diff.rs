//! `playbook log --diff`: the changes of the key points between two revisions, in words.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::output::{Hinted, plain};
use super::session::NamedSession;
use super::{answer, change_text};
use crate::freshness::git::Git;
use crate::paths::playbook_file;
use crate::playbook::diff::diff;
use crate::playbook::read::migrate;
use crate::playbook::{ChangeKind, Playbook};

const LIMIT: Duration = Duration::from_secs(20);
const LAST: &str = "HEAD";

/// Compares a revision with the file, or with another one: `FROM..TO`.
pub(super) fn run(session: &NamedSession, revisions: &str, as_json: bool) -> anyhow::Result<()> {
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
        // A point that is gone because another took it in was not just removed.
        if change.kind == ChangeKind::Delete
            && let Some(heir) = after.named(&change.id)
        {
            change.kind = ChangeKind::Merge;
            change.into = Some(heir.name.to_owned());
        }
    }
    let changes: Vec<_> = changes.iter().map(change_text::in_json).collect();
    let told = json!({"from": from, "to": to, "changes": changes});
    answer::give(as_json, include_str!("screens/diff.txt"), told)
}

/// The playbook of a project in a revision; empty where the revision has none.
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
