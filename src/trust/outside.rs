//! Symlinks that lead a playbook or its lock out of its project.
//!
//! A clone may contain such a link: reading through it would show a file of the user's to the
//! agent, writing would change one. Links are followed in trusted projects only.

use std::path::{Path, PathBuf};

use super::TrustStanding;
use crate::fsx::lock::lock_path;
use crate::paths::{Paths, playbook_file};

/// Returns the target of a symlink that leads a project's playbook or its lock out of the project.
pub(crate) fn of(project: &Path) -> Option<PathBuf> {
    let file = playbook_file(project);
    let folder = file.parent()?;
    // The common case: three checks show that there is no link.
    let beside = folder.join("playbook.json.lock");
    if ![folder, &file, &beside].into_iter().any(Path::is_symlink) {
        return None;
    }
    let home = project
        .canonicalize()
        .unwrap_or_else(|_| project.to_owned());
    let target = end(&file);
    // The lock is next to the target and may be a link as well.
    [end(&lock_path(&target)), end(&beside), target]
        .into_iter()
        .rev()
        .find(|end| !end.starts_with(&home))
}

/// Returns why a project's playbook is neither read nor written: such a link, and no trust.
pub(crate) fn refused(paths: Option<&Paths>, project: &Path) -> Option<String> {
    let target = of(project)?;
    let is_trusted = paths.is_some_and(|paths| TrustStanding::of(paths, project).is_trusted());
    (!is_trusted).then(|| refusal(project, &target))
}

pub(crate) fn refusal(project: &Path, target: &Path) -> String {
    format!(
        "{} leads out of the project, to {}, and is followed only in a trusted project \
         (`playbook trust`)",
        playbook_file(project).display(),
        target.display()
    )
}

/// Resolves the links of a path, even if its target does not exist.
fn end(path: &Path) -> PathBuf {
    /// The limit that `fsx` has, too.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = std::fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("/")).join(next);
    }
    // The folders above may still be links.
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return path;
    };
    folder
        .canonicalize()
        .map_or_else(|_| path.clone(), |folder| folder.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[rstest]
    #[case::the_file("project/.claude/playbook.json", "../../else/x.json", true)]
    #[case::within("project/.claude/playbook.json", "../docs/x.json", false)]
    #[case::the_lock("project/.claude/playbook.json.lock", "../../else/lock", true)]
    #[case::the_folder("project/.claude", "../else", true)]
    #[case::the_whole_project("project", "real", false)]
    fn a_link_is_followed_to_its_end(#[case] link: &str, #[case] to: &str, #[case] is_out: bool) {
        let dir = tempfile::tempdir().unwrap();
        let [link, project] = [link, "project"].map(|path| dir.path().join(path));
        for folder in ["project/.claude", "project/docs", "else", "real/.claude"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        fs::write(dir.path().join("else/x.json"), "{}").unwrap();
        assert_eq!(of(&project), None);
        if link.is_dir() {
            fs::remove_dir_all(&link).unwrap();
        }
        symlink(to, link).unwrap();
        assert_eq!(of(&project).is_some(), is_out);
    }
}
