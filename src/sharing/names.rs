//! The names of projects in the database: a path means nothing on another machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::Config;
use crate::freshness::git::Git;
use crate::paths::Paths;

/// The time limit for git, which reads one small file for this.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The names by project, as far as they were asked for.
    known: BTreeMap<String, String>,
    home: PathBuf,
    /// The projects that are not shared, by folder or by the beginning of their shared name.
    kept_here: Vec<String>,
}

impl Names {
    pub(crate) fn of(paths: &Paths, config: &Config) -> Self {
        Self {
            known: BTreeMap::new(),
            home: paths.home().unwrap_or(Path::new("/")).to_owned(),
            kept_here: config.memory.not_shared.clone(),
        }
    }

    /// Returns the name of a project, after the remote of its checkout; `None` if it is not shared.
    pub(crate) fn shared(&mut self, project: &str) -> Option<String> {
        let known = self.known.get(project).cloned();
        let name = known.unwrap_or_else(|| {
            let folder = Path::new(project);
            let remote = folder.is_absolute().then(|| remote(folder)).flatten();
            remote.unwrap_or_else(|| self.below_home(project))
        });
        self.known.insert(project.to_owned(), name.clone());
        let is_kept = |kept: &String| {
            let folder = self.below_home(kept);
            [kept, &folder].into_iter().any(|kept| {
                Path::new(project).starts_with(kept) || Path::new(&name).starts_with(kept)
            })
        };
        (!self.kept_here.iter().any(is_kept)).then_some(name)
    }

    /// Replaces the home folder by `~`, so that the path does not name the user.
    fn below_home(&self, project: &str) -> String {
        match Path::new(project).strip_prefix(&self.home) {
            Ok(below) => Path::new("~").join(below).to_string_lossy().into_owned(),
            Err(_) => project.to_owned(),
        }
    }
}

/// Returns a checkout's repository and the project's folder in it: `github.com/a/b`.
fn remote(project: &Path) -> Option<String> {
    let git = Git::at(project, PATIENCE);
    let said = |arguments: &[&str]| {
        let said = git.ask_now(arguments)?;
        let said = String::from_utf8(said).ok()?.trim().to_owned();
        (!said.is_empty()).then_some(said)
    };
    let repository = repository(&said(&["config", "--get", "remote.origin.url"])?)?;
    let below = said(&["rev-parse", "--show-prefix"]).unwrap_or_default();
    let below = below.trim_end_matches('/');
    Some(match below {
        "" => repository,
        below => format!("{repository}/{below}"),
    })
}

/// Returns `github.com/a/b` for `git@github.com:a/b.git` and `https://user:token@github.com/a/b`;
/// `None` for a repository on this machine.
fn repository(url: &str) -> Option<String> {
    let (place, path) = match url.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?,
        // `host:path`, but not a path with a colon in it.
        None => url
            .split_once(':')
            .filter(|(host, _)| !host.contains('/'))?,
    };
    let host = place.rsplit('@').next().unwrap_or(place);
    let host = host.split(':').next().unwrap_or(host).to_lowercase();
    let path = path.trim_matches('/').trim_end_matches(".git");
    (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("git@github.com:a/b.git", Some("github.com/a/b"))]
    #[case("https://github.com/a/b", Some("github.com/a/b"))]
    #[case("https://user:token@GitHub.com/a/b.git/", Some("github.com/a/b"))]
    #[case(
        "ssh://git@git.example.com:2222/team/app.git",
        Some("git.example.com/team/app")
    )]
    #[case("/srv/git/app.git", None)]
    #[case("../app", None)]
    #[case("file:///srv/git/app.git", None)]
    #[case("", None)]
    fn a_remote_has_one_name_however_it_is_reached(#[case] url: &str, #[case] name: Option<&str>) {
        assert_eq!(repository(url).as_deref(), name);
    }

    #[test]
    fn a_project_that_stays_here_has_no_name_for_others() {
        let kept = ["/home/u/private", "github.com/me"].map(str::to_owned);
        let mut names = Names {
            known: [
                ("/home/u/app", "github.com/me/app"),
                ("/w/b", "github.com/mean/b"),
            ]
            .map(|(own, shared)| (own.to_owned(), shared.to_owned()))
            .into(),
            home: "/home/u".into(),
            kept_here: kept.into(),
        };
        assert_eq!(names.shared("/home/u/private/notes"), None);
        assert_eq!(names.shared("/home/u/app"), None);
        assert_eq!(names.shared("/w/b").as_deref(), Some("github.com/mean/b"));
        assert_eq!(names.shared("/home/u/other").as_deref(), Some("~/other"));
    }
}
