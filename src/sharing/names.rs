//! The names by which projects are shared: a path means nothing on another machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::freshness::git::Git;

/// The time limit for git, which reads one small file for this.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub struct Names {
    shared: BTreeMap<String, String>,
    home: PathBuf,
    kept_here: Vec<String>,
}

impl Names {
    /// Asks the projects' checkouts for their remotes. `kept_here` lists projects that are not
    /// shared, by folder or by the beginning of their shared name.
    pub(super) fn of(projects: &[String], home: &Path, kept_here: &[String]) -> Self {
        let mut names = Self {
            shared: BTreeMap::new(),
            home: home.to_owned(),
            kept_here: kept_here.to_vec(),
        };
        for project in projects {
            let name = remote(Path::new(project));
            let name = name.unwrap_or_else(|| names.below_home(project));
            names.shared.insert(project.clone(), name);
        }
        names
    }

    pub(super) fn shared(&self, project: &str) -> Option<String> {
        let name = self.shared.get(project);
        let name = name.cloned().unwrap_or_else(|| self.below_home(project));
        let is_kept = |kept: &String| {
            let folder = self.below_home(kept);
            [kept, &folder].into_iter().any(|kept| {
                Path::new(project).starts_with(kept) || Path::new(&name).starts_with(kept)
            })
        };
        (!self.kept_here.iter().any(is_kept)).then_some(name)
    }

    /// Returns the local project of a shared name; the name itself for an unknown one.
    pub(super) fn own(&self, shared: &str) -> String {
        let own = self.all().find(|(name, _)| *name == shared);
        own.map_or_else(|| shared.to_owned(), |(_, own)| own.to_owned())
    }

    /// Returns each shared name with its local project, where they differ.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.shared.iter();
        pairs
            .map(|(own, shared)| (shared.as_str(), own.as_str()))
            .filter(|(shared, own)| shared != own)
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
        let names = Names {
            shared: [
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
        assert_eq!(names.own("github.com/mean/b"), "/w/b");
        assert_eq!(names.own("github.com/x/y"), "github.com/x/y");
    }
}
