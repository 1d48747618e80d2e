//! Finds the project that a session belongs to; hooks and CLI share this.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::paths::playbook_file;

/// Larger than any real `.git` file, `commondir` or `config`.
const MAX_GIT_FILE: u64 = 1 << 20;

/// Returns the nearest folder from `start` up to the git top level that has a playbook, else the
/// top level; without git `start`.
///
/// A playbook's lock counts too, since git removes files for a moment. A linked worktree maps to
/// the same path in its main worktree, since the checkout there is another copy of the playbook.
/// That does not apply to a bare repository or one that does not list the worktree. A submodule is
/// its own project. No git process is run.
pub fn find(start: &Path) -> PathBuf {
    let start = fs::canonicalize(start).unwrap_or_else(|_| start.to_owned());
    let git = git_above(&start);
    let Some(top) = git.as_deref().and_then(Path::parent) else {
        return start;
    };
    let main = main_worktree(top).unwrap_or_else(|| top.to_owned());
    let below = start.strip_prefix(top).unwrap_or(Path::new(""));
    // Unlike `join`, this adds no trailing slash for an empty `below`, which would be another name.
    let start: PathBuf = main.components().chain(below.components()).collect();
    let with_playbook = start
        .ancestors()
        .take_while(|folder| folder.starts_with(&main))
        .find(|folder| {
            let file = playbook_file(folder);
            file.is_file() || file.with_extension("json.lock").is_file()
        });
    with_playbook.map(Path::to_owned).unwrap_or(main)
}

/// Returns the `.git` of the work tree around `folder`; its files may come from elsewhere.
pub fn git_above(folder: &Path) -> Option<PathBuf> {
    let mut gits = folder.ancestors().map(|above| above.join(".git"));
    gits.find(|git| git.exists())
}

/// A linked worktree's `.git` is a file that names its folder in the main repository, and
/// `commondir` there leads to the repository itself. A submodule has no `commondir`. Both may have
/// come with the files in `top`, so the repository must name `top` as well.
fn main_worktree(top: &Path) -> Option<PathBuf> {
    let dot_git = top.join(".git");
    if dot_git.is_dir() {
        return None;
    }
    let pointer = small_file(&dot_git)?;
    let git_dir = top.join(path_in(pointer.strip_prefix(b"gitdir:")?));
    let git_dir = fs::canonicalize(git_dir).ok()?;
    let common = git_dir.join(path_in(&small_file(&git_dir.join("commondir"))?));
    let common = fs::canonicalize(common).ok()?;
    let is_its_own = git_dir.parent() == Some(&common.join("worktrees"))
        && names(&git_dir, top)
        && common.file_name()? == ".git";
    if !is_its_own || is_bare(&common) {
        return None;
    }
    Some(common.parent()?.to_owned())
}

/// The back link, a file `gitdir` in `git_dir`, holds the path of the `.git` in `top`.
fn names(git_dir: &Path, top: &Path) -> bool {
    let there = small_file(&git_dir.join("gitdir")).and_then(|back| {
        let back = git_dir.join(path_in(&back));
        // Checks the parent: the `.git` itself may be a link to that of another worktree.
        (back.file_name()? == ".git")
            .then(|| fs::canonicalize(back.parent()?).ok())
            .flatten()
    });
    there.as_deref() == Some(top)
}

fn is_bare(git_dir: &Path) -> bool {
    small_file(&git_dir.join("config")).is_some_and(|config| {
        String::from_utf8_lossy(&config).lines().any(|line| {
            line.split_once('=')
                .is_some_and(|(key, value)| key.trim() == "bare" && value.trim() == "true")
        })
    })
}

fn small_file(path: &Path) -> Option<Vec<u8>> {
    crate::fsx::read(path, MAX_GIT_FILE).ok()
}

fn path_in(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::process::Command;

    fn git(at: &Path, args: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=t", "-c", "user.email=t@t"])
            .args(["-c", "protocol.file.allow=always"])
            .args(args)
            .current_dir(at)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{args:?}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
    }

    fn home() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(dir.path()).unwrap();
        (dir, path)
    }

    fn repo(at: &Path) {
        fs::create_dir_all(at.join("a/b")).unwrap();
        git(at, &["init", "-q"]);
        git(at, &["commit", "-q", "--allow-empty", "-m", "x"]);
    }

    #[test]
    fn without_git_the_start_is_the_project() {
        let (_keep, home) = home();
        fs::create_dir_all(home.join("x/.claude")).unwrap();
        fs::write(home.join("x/.claude/playbook.json"), "{}").unwrap();
        fs::create_dir(home.join("x/y")).unwrap();
        assert_eq!(find(&home.join("x/y")), home.join("x/y"));
        assert_eq!(find(&home.join("gone")), home.join("gone"));
    }

    #[test]
    fn in_git_the_nearest_playbook_wins_else_the_top() {
        let (_keep, home) = home();
        repo(&home.join("r"));
        assert_eq!(find(&home.join("r/a/b")), home.join("r"));
        assert_eq!(
            find(&home.join("r")).as_os_str(),
            home.join("r").as_os_str()
        );
        fs::create_dir(home.join("r/a/.claude")).unwrap();
        fs::write(home.join("r/a/.claude/playbook.json"), "{}").unwrap();
        assert_eq!(find(&home.join("r/a/b")), home.join("r/a"));
        let lock = home.join("r/a/.claude/playbook.json.lock");
        fs::rename(home.join("r/a/.claude/playbook.json"), lock).unwrap();
        assert_eq!(find(&home.join("r/a/b")), home.join("r/a"), "it is away");
    }

    #[test]
    fn a_linked_worktree_belongs_to_its_main_one_unless_that_is_bare() {
        let (_keep, home) = worktrees();
        assert_eq!(find(&home.join("w")), home.join("r"));
        for folder in ["w/a", "r/a"] {
            fs::create_dir_all(home.join(folder).join(".claude")).unwrap();
            fs::write(playbook_file(&home.join(folder)), "{}").unwrap();
        }
        assert_eq!(find(&home.join("w/a")), home.join("r/a"), "the same place");
        git(&home, &["clone", "-q", "--bare", "r", "bare.git"]);
        git(
            &home.join("bare.git"),
            &["worktree", "add", "-q", "../v", "-b", "v"],
        );
        assert_eq!(find(&home.join("v")), home.join("v"));
    }

    fn worktrees() -> (tempfile::TempDir, PathBuf) {
        let (keep, home) = home();
        repo(&home.join("r"));
        git(&home.join("r"), &["worktree", "add", "-q", "../w"]);
        fs::create_dir_all(home.join("evil/wt")).unwrap();
        (keep, home)
    }

    #[rstest]
    #[case::of_its_own("gitdir: wt", "../../r/.git")]
    #[case::of_its_own_with_a_back_link_inside("gitdir: wt/worktrees/x", "../../../../r/.git")]
    #[case::of_another_worktree("gitdir: ../r/.git/worktrees/w", "../..")]
    #[case::linked_to_that_of_another_worktree("", "")]
    fn a_git_file_that_came_with_the_files_binds_to_no_other_project(
        #[case] pointer: &str,
        #[case] common: &str,
    ) {
        let (_keep, home) = worktrees();
        let evil = home.join("evil");
        if let Some(git_dir) = pointer.strip_prefix("gitdir: ") {
            let git_dir = evil.join(git_dir);
            fs::create_dir_all(&git_dir).unwrap();
            fs::write(evil.join(".git"), pointer).unwrap();
            if !pointer.contains("..") {
                fs::write(git_dir.join("commondir"), common).unwrap();
                fs::write(git_dir.join("gitdir"), evil.join(".git").to_str().unwrap()).unwrap();
            }
            let head = git_dir.join(common).join("HEAD");
            assert!(head.is_file(), "it leads there");
        } else {
            std::os::unix::fs::symlink(home.join("w/.git"), evil.join(".git")).unwrap();
        }
        assert_eq!(find(&evil), evil);
        assert_eq!(find(&home.join("w")), home.join("r"), "a real one is one");
    }

    #[test]
    fn a_worktree_with_relative_links_is_one() {
        let (_keep, home) = worktrees();
        fs::write(home.join("w/.git"), "gitdir: ../r/.git/worktrees/w\n").unwrap();
        fs::write(
            home.join("r/.git/worktrees/w/gitdir"),
            "../../../../w/.git\n",
        )
        .unwrap();
        assert_eq!(find(&home.join("w")), home.join("r"));
    }

    #[test]
    fn a_worktree_is_one_whatever_the_encoding_of_its_path() {
        let (_keep, home) = home();
        let [main, linked] = [b"r\xe9", b"w\xe9"].map(|name| home.join(OsStr::from_bytes(name)));
        repo(&main);
        let done = Command::new("git")
            .args(["worktree", "add", "-q"])
            .arg(&linked)
            .current_dir(&main)
            .output();
        assert!(done.unwrap().status.success());
        assert_eq!(find(&linked), main);
    }

    #[test]
    fn a_worktree_that_was_moved_behind_gits_back_is_one_again_once_repaired() {
        let (_keep, home) = worktrees();
        fs::rename(home.join("w"), home.join("moved")).unwrap();
        assert_eq!(find(&home.join("moved")), home.join("moved"));
        git(&home.join("moved"), &["worktree", "repair"]);
        assert_eq!(find(&home.join("moved")), home.join("r"));
    }

    #[test]
    fn a_submodule_is_its_own_project() {
        let (_keep, home) = home();
        repo(&home.join("r"));
        repo(&home.join("s"));
        git(&home.join("r"), &["submodule", "add", "-q", "../s", "sub"]);
        assert_eq!(find(&home.join("r/sub")), home.join("r/sub"));
    }
}
