//! Symlinks that lead a playbook or its lock out of its project.
//!
//! A clone may hold such a link: reading through it shows a file of the user's to the
//! agent, writing through it changes one. They are followed in trusted projects only.

use std::path::{Path, PathBuf};

use super::Standing;
use crate::paths::{Paths, playbook_file};
use crate::playbook::lock::lock_path;

/// Where a symlink leads a project's playbook or its lock, if that is outside of the project.
pub fn of(project: &Path) -> Option<PathBuf> {
    let file = playbook_file(project);
    let folder = file.parent()?;
    // Nearly always nothing of it is a link, which three looks tell.
    let beside = folder.join("playbook.json.lock");
    if ![folder, &file, &beside].into_iter().any(Path::is_symlink) {
        return None;
    }
    let home = project
        .canonicalize()
        .unwrap_or_else(|_| project.to_owned());
    let target = end(&file);
    // The lock lies beside the file itself, and may be a link of its own.
    [end(&lock_path(&target)), end(&beside), target]
        .into_iter()
        .rev()
        .find(|end| !end.starts_with(&home))
}

/// Why a project's playbook is neither read nor written, if that is so: such a link, and no
/// trust in the project. Without our folders (`paths`) there is none.
pub fn refused(paths: Option<&Paths>, project: &Path) -> Option<String> {
    let target = of(project)?;
    let is_trusted = paths.is_some_and(|paths| Standing::of(paths, project).is_trusted());
    (!is_trusted).then(|| refusal(project, &target))
}

/// Why nothing is done behind such a link.
pub fn refusal(project: &Path, target: &Path) -> String {
    format!(
        "{} leads out of the project, to {}, and is followed only in a trusted project \
         (`playbook trust`)",
        playbook_file(project).display(),
        target.display()
    )
}

/// Where a path ends, also when nothing is there yet.
fn end(path: &Path) -> PathBuf {
    /// As many as `fsx` follows.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = std::fs::read_link(&path) else {
            break;
        };
        path = path.parent().unwrap_or(Path::new("/")).join(next);
    }
    // What is left are links among the folders above.
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
    #[case::the_file("playbook.json", "../../else/x.json", true)]
    #[case::within("playbook.json", "../docs/x.json", false)]
    #[case::the_lock("playbook.json.lock", "../../else/lock", true)]
    fn a_link_is_followed_to_its_end(#[case] name: &str, #[case] to: &str, #[case] is_out: bool) {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        fs::create_dir_all(project.join(".claude")).unwrap();
        fs::create_dir_all(project.join("docs")).unwrap();
        fs::create_dir_all(dir.path().join("else")).unwrap();
        fs::write(dir.path().join("else/x.json"), "{}").unwrap();
        assert_eq!(of(&project), None);
        symlink(to, project.join(".claude").join(name)).unwrap();
        assert_eq!(of(&project).is_some(), is_out);
    }

    #[test]
    fn a_folder_that_is_a_link_leads_out_too() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("project");
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(dir.path().join("else")).unwrap();
        symlink("../else", project.join(".claude")).unwrap();
        assert!(of(&project).unwrap().ends_with("else/playbook.json"));
        // A link of the whole project leads nowhere out of it.
        let link = dir.path().join("link");
        fs::create_dir_all(dir.path().join("real/.claude")).unwrap();
        symlink("real", &link).unwrap();
        assert_eq!(of(&link), None);
    }
}
