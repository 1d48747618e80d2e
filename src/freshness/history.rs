//! What history says of files that are gone: since when, and what has their text now.

use std::iter::once;

use jiff::civil::Date;

use super::git::Git;

/// How far back a deletion is sought.
const COMMITS: &str = "--max-count=5000";
/// Stands in front of a commit's day.
const DAY: char = '\u{2}';

/// The renames and deletions between two commits.
#[derive(Debug, Default)]
pub(super) struct History {
    /// Old and new path.
    renamed: Vec<(String, String)>,
    /// The newest first.
    deleted: Vec<(Date, String)>,
}

impl History {
    /// What happened after `from`, up to `to`; nothing where git does not say.
    pub(super) async fn between(git: &Git, from: &str, to: &str) -> Self {
        Self {
            renamed: renamed(git, from, to).await.unwrap_or_default(),
            deleted: deleted(git, from, to).await.unwrap_or_default(),
        }
    }

    /// When a path went.
    pub(super) fn since(&self, path: &str) -> Option<Date> {
        let mut deleted = self.deleted.iter();
        let gone = deleted.find(|(_, deleted)| renamed_from(path, deleted, deleted).is_some());
        gone.map(|(day, _)| *day)
    }

    /// The file or folder of now that has its text.
    pub(super) fn successor(&self, path: &str) -> Option<String> {
        let mut renamed = self.renamed.iter();
        renamed.find_map(|(old, new)| renamed_from(path, old, new))
    }
}

/// The files whose text is elsewhere now, however often they moved.
async fn renamed(git: &Git, from: &str, to: &str) -> Option<Vec<(String, String)>> {
    let asked = ["diff-tree", "-r", "-M", "-z", "--name-status"];
    let asked = [&asked[..], &["--diff-filter=R", from, to]].concat();
    let told = String::from_utf8(git.ask(&asked).await?).ok()?;
    let told: Vec<&str> = told.split('\0').collect();
    let renamed = told.chunks_exact(3);
    let renamed = renamed.map(|entry| (entry[1].to_owned(), entry[2].to_owned()));
    Some(renamed.collect())
}

/// The files that commits took away, with their days.
async fn deleted(git: &Git, from: &str, to: &str) -> Option<Vec<(Date, String)>> {
    let not = format!("^{from}");
    let commits = git.ask(&["rev-list", COMMITS, to, &not]).await?;
    let format = format!("--format={DAY}%cs");
    let asked = ["diff-tree", "--stdin", "-r", "-z", "--no-renames"];
    let asked = [&asked[..], &["--diff-filter=D", "--name-only", &format]].concat();
    let told = String::from_utf8(git.ask_with(&asked, &commits).await?).ok()?;
    let (mut day, mut deleted) = (None, Vec::new());
    for entry in told.split(['\0', '\n']).filter(|entry| !entry.is_empty()) {
        match (entry.strip_prefix(DAY), day) {
            (Some(told), _) => day = told.parse().ok(),
            (None, Some(day)) => deleted.push((day, entry.to_owned())),
            (None, None) => {}
        }
    }
    Some(deleted)
}

/// What `path` became when a file went from `old` to `new`: that file, or its folder.
fn renamed_from(path: &str, old: &str, new: &str) -> Option<String> {
    // A point names a path from any folder above it.
    let starts = once(0).chain(old.match_indices('/').map(|(at, _)| at + 1));
    let below = starts.filter_map(|at| old[at..].strip_prefix(path));
    let mut below = below.filter(|below| below.is_empty() || below.starts_with('/'));
    new.strip_suffix(below.next()?).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::a_file("a/b.rs", "a/b.rs", "c.rs", Some("c.rs"))]
    #[case::by_its_end("b.rs", "a/b.rs", "a/c.rs", Some("a/c.rs"))]
    #[case::another("b.rs", "a/bb.rs", "a/c.rs", None)]
    #[case::its_folder("a/b", "x/a/b/c.rs", "x/n/c.rs", Some("x/n"))]
    #[case::out_of_its_folder("a/b", "a/b/c.rs", "x/d.rs", None)]
    fn a_rename_tells_the_new_name(
        #[case] path: &str,
        #[case] old: &str,
        #[case] new: &str,
        #[case] now: Option<&str>,
    ) {
        assert_eq!(renamed_from(path, old, new).as_deref(), now);
    }
}
