//! Joins the two sides of a playbook that git left in the middle of a merge.
//!
//! Merges the index's three versions of the file, else the text between the conflict markers. Git
//! is only asked: its index stays, and the user adds the file. The other side's texts are screened
//! like any that come with a file.

use std::path::Path;
use std::time::Duration;

use crate::freshness::git::Git;
use crate::fsx::FsError;
use crate::news;
use crate::paths::Paths;
use crate::playbook::Playbook;
use crate::playbook::three_way::{Sides, has_markers, merge_files, sides};
use crate::shown::counted;
use crate::trust::TrustStanding;

const LIMIT: Duration = Duration::from_secs(20);
const FILE: &str = ".claude/playbook.json";
/// The files that git keeps in its folder while it merges, rebases or picks.
const UNDER_WAY: [&str; 5] = [
    "MERGE_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
];

/// Merges both sides of `file`; `None` where nothing is to be merged.
pub(super) fn merged(
    paths: &Paths,
    project: &Path,
    file: &[u8],
) -> Option<Result<Playbook, String>> {
    let is_marked = has_markers(file);
    let why_not = |why: &str| is_marked.then(|| Err(format!("it has conflict markers, and {why}")));
    let git_dir = project.join(".git");
    let is_under_way = || UNDER_WAY.iter().any(|name| git_dir.join(name).exists());
    if !is_marked && !is_under_way() {
        return None;
    }
    if !TrustStanding::of(paths, project).is_trusted() {
        return why_not("the project is not trusted");
    }
    let git = Git::at(project, LIMIT);
    // Who holds the index is about to write it, and may not have written the file to the end.
    let index_lock = git.ask_now(&["rev-parse", "--git-path", "index.lock"]);
    let index_lock = index_lock.map(|path| String::from_utf8_lossy(&path).trim_end().to_owned());
    if index_lock.is_some_and(|path| project.join(path).exists()) {
        return why_not("git is at work there");
    }
    let sides = match staged(&git) {
        // Without markers git leaves one side; what is neither was merged before, or by hand.
        Some(staged) if is_marked || staged.ours == file || staged.theirs == file => staged,
        _ if !is_marked => return None,
        _ => match sides(file) {
            Some(marked) => marked,
            None => return why_not("is not merged: they do not belong together"),
        },
    };
    match merge_files(&sides, ["the base", "our side", "their side"]) {
        Ok(merged) => Some(Ok(merged.playbook)),
        Err(error) => why_not(&format!("is not merged: {error}")),
    }
}

fn staged(git: &Git) -> Option<Sides> {
    let asked = ["--literal-pathspecs", "ls-files", "-u", "-z", "--", FILE];
    let said = String::from_utf8(git.ask_now(&asked)?).ok()?;
    let version = |stage: &str| {
        let mut entries = said.split('\0').filter_map(|entry| entry.split_once('\t'));
        entries.find_map(|(about, _)| match *about.split(' ').collect::<Vec<_>>() {
            [_, object, of] if of == stage => git.ask_now(&["cat-file", "blob", object]),
            _ => None,
        })
    };
    Some(Sides {
        base: version("1"),
        ours: version("2")?,
        theirs: version("3")?,
    })
}

pub(super) fn leave_news(
    paths: &Paths,
    project: &Path,
    playbook: &Playbook,
) -> Result<(), FsError> {
    let points = counted(playbook.points().count(), "key point");
    let file = paths.playbook_file(project);
    let text = format!(
        "{} was in the middle of a merge: it has the {points} of both sides now; \
         `git add` it when you have looked at it",
        file.display()
    );
    news::leave(paths, project, &text)
}
