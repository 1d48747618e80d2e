//! What history says of a file that is gone: since when, and what has its text now.

use std::collections::HashSet;

use jiff::civil::Date;

use super::git::Git;

/// A file that was renamed more often is told without its last name.
const RENAMES: usize = 5;

/// When a path went, and the file or folder of now that has its text.
pub(super) async fn of_path(
    git: &Git,
    path: &str,
    paths: &HashSet<String>,
) -> Option<(Date, Option<String>)> {
    let (commit, since) = last_change(git, path).await?;
    let mut next = successor(git, &commit, path).await;
    for _ in 0..RENAMES {
        let Some(now) = &next else { break };
        let folder = format!("{now}/");
        if paths.contains(now) || paths.iter().any(|path| path.starts_with(&folder)) {
            return Some((since, next));
        }
        let (commit, _) = last_change(git, now).await?;
        next = successor(git, &commit, now).await;
    }
    Some((since, None))
}

/// The last commit that changed a path, wherever it is below the top, and its day.
async fn last_change(git: &Git, path: &str) -> Option<(String, Date)> {
    let (file, folder) = (
        format!(":(top,glob)**/{path}"),
        format!(":(top,glob)**/{path}/**"),
    );
    let asked = [
        "rev-list",
        "-1",
        "--format=%cs",
        "HEAD",
        "--",
        &file,
        &folder,
    ];
    let told = git.lines(&asked).await?;
    let [commit, day] = told.as_slice() else {
        return None;
    };
    Some((
        commit.strip_prefix("commit ")?.to_owned(),
        day.parse().ok()?,
    ))
}

/// The new name of what a commit renamed.
async fn successor(git: &Git, commit: &str, path: &str) -> Option<String> {
    let asked = [
        "diff-tree",
        "-r",
        "-M",
        "-z",
        "--no-commit-id",
        "--name-status",
    ];
    let asked = [&asked[..], &["--diff-filter=R", commit]].concat();
    let told = String::from_utf8(git.ask(&asked).await?).ok()?;
    let told: Vec<&str> = told.split('\0').collect();
    told.chunks_exact(3)
        .find_map(|renamed| renamed_from(path, renamed[1], renamed[2]))
}

/// The new name of `path` when a file was renamed from `old` to `new`: the file's own, or that
/// of the folder it went with.
fn renamed_from(path: &str, old: &str, new: &str) -> Option<String> {
    if old == path
        || old
            .strip_suffix(path)
            .is_some_and(|above| above.ends_with('/'))
    {
        return Some(new.to_owned());
    }
    let inside = format!("{path}/");
    let at = match old.starts_with(&inside) {
        true => 0,
        false => old.find(&format!("/{inside}"))? + 1,
    };
    let below = &old[at + path.len()..];
    new.strip_suffix(below).map(str::to_owned)
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
