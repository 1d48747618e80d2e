//! The paths and targets that key points name, and which of them a checkout no longer has.
//!
//! After a session the worker lists the tracked files of the checkout in which it ran. A name is
//! *gone* if an earlier look found it there and it is missing now. Nothing changes without git, in
//! an untrusted project, or if git fails or takes too long.

pub(crate) mod git;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use git::Git;

use crate::digest::name_of;
use crate::fsx::{self, FsError};
use crate::paths::Paths;
use crate::playbook::{Playbook, Point};
use crate::playbook_freshness::{Search, names_in};
use crate::project;
use crate::trust::TrustStanding;

const LIMIT: Duration = Duration::from_secs(20);
const MAX_RECORD_BYTES: u64 = 16 << 20;
const MAX_MANIFEST_BYTES: u64 = 1 << 20;
/// The number of recorded points above which those that left the playbook are dropped. Until then
/// they stay, because another branch may have them.
const MAX_POINTS: usize = 2_000;
const MAX_NAMES_SHOWN: usize = 3;

/// The names that were seen in a project's files, by the hash of the point's text. Each has the day
/// on which it was found to be gone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct KnownNames(BTreeMap<String, BTreeMap<String, Option<Date>>>);

pub(crate) fn record(paths: &Paths, project: &Path) -> KnownNames {
    fsx::read_json(&paths.freshness(project), MAX_RECORD_BYTES).unwrap_or_default()
}

/// The playbook must hold no secrets. Returns `true` if the record has changed.
pub(crate) async fn look(
    paths: &Paths,
    (project, folder): (&Path, &Path),
    playbook: &Playbook,
    now: Timestamp,
) -> Result<bool, FsError> {
    let points: Vec<Point<'_>> = playbook.points().collect();
    let names: BTreeSet<String> = points.iter().flat_map(|p| names_in(p.text)).collect();
    if names.is_empty() || !TrustStanding::of(paths, project).is_trusted() {
        return Ok(false);
    }
    // The folder may be a linked worktree or below the project, or the session may have left the
    // project.
    let is_of_it = folder.is_dir() && project::find(folder) == project;
    let Some(search) = search(if is_of_it { folder } else { project }, &names).await else {
        return Ok(false);
    };
    let before = record(paths, project);
    let mut after = before.clone();
    after.look(&points, &search, now.to_zoned(TimeZone::UTC).date());
    if after == before {
        return Ok(false);
    }
    let file = paths.freshness(project);
    fsx::ensure_dir(&paths.project(project))?;
    fsx::durable(&file, &fsx::to_json(&file, &after)?)?;
    Ok(true)
}

/// Searches the tracked files of a checkout; `None` if git does not list them in time.
async fn search<'n>(folder: &Path, names: &'n BTreeSet<String>) -> Option<Search<'n>> {
    let folder = std::fs::canonicalize(folder).ok()?;
    let top = project::git_above(&folder)?.parent()?.to_owned();
    let git = Git::at(&top, LIMIT);
    let listed = String::from_utf8_lossy(&git.ask(&["ls-files", "-z"]).await?).into_owned();
    let mut search = Search::new(names);
    for path in listed.split_terminator('\0') {
        search.add_path(path);
        if search.wants_text(path) {
            let is_in_time = Instant::now() < git.until;
            let bytes = is_in_time.then(|| fsx::read(&top.join(path), MAX_MANIFEST_BYTES).ok());
            let text = bytes
                .flatten()
                .and_then(|bytes| String::from_utf8(bytes).ok());
            search.add_text(path, text.as_deref());
        }
    }
    (!listed.is_empty()).then_some(search)
}

impl KnownNames {
    fn look(&mut self, points: &[Point<'_>], search: &Search<'_>, day: Date) {
        for point in points {
            let known = self.0.entry(name_of(point.text.as_bytes())).or_default();
            for name in names_in(point.text) {
                match search.has(&name) {
                    Some(true) => _ = known.insert(name, None),
                    Some(false) => {
                        if let Some(gone) = known.get_mut(&name) {
                            gone.get_or_insert(day);
                        }
                    }
                    None => {}
                }
            }
        }
        if self.0.len() > MAX_POINTS {
            let texts = points.iter().map(|point| name_of(point.text.as_bytes()));
            let texts: BTreeSet<String> = texts.collect();
            self.0.retain(|text, _| texts.contains(text));
        }
    }

    pub(crate) fn gone(&self, point: &Point<'_>) -> Option<String> {
        let gone = self.names(point).filter_map(|(name, gone)| {
            let day = gone?.strftime("%-d %b %Y");
            Some(format!("`{name}` is gone since {day}"))
        });
        let gone: Vec<String> = gone.take(MAX_NAMES_SHOWN).collect();
        (!gone.is_empty()).then(|| gone.join("; "))
    }

    /// Returns `true` if all names of a point that were ever seen are gone.
    pub(crate) fn is_stale(&self, point: &Point<'_>) -> bool {
        let mut names = self.names(point).peekable();
        names.peek().is_some() && names.all(|(_, gone)| gone.is_some())
    }

    fn names(&self, point: &Point<'_>) -> impl Iterator<Item = (&String, Option<Date>)> {
        let known = self.0.get(&name_of(point.text.as_bytes()));
        let names = known.into_iter().flatten();
        names.map(|(name, gone)| (name, *gone))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::playbook::Section;
    use jiff::civil::date;

    const TEXT: &str = "Run `scripts/release.sh` after `make check`.";

    fn point(text: &str) -> Point<'_> {
        Point {
            name: "pat-001",
            section: Section::Patterns,
            text,
            helpful: 0,
            harmful: 0,
            note: None,
        }
    }

    /// Returns the description of what is gone, and whether the point is stale.
    fn look(
        record: &mut KnownNames,
        text: &str,
        files: &[&str],
        makefile: Option<&str>,
    ) -> (String, bool) {
        let names = names_in(text);
        let mut search = Search::new(&names);
        for path in files {
            search.add_path(path);
        }
        search.add_text("Makefile", makefile);
        record.look(&[point(text)], &search, date(2026, 11, 3));
        (
            record.gone(&point(text)).unwrap_or_default(),
            record.is_stale(&point(text)),
        )
    }

    #[test]
    fn only_a_name_that_was_seen_can_be_gone() {
        let mut record = KnownNames::default();
        let none = (String::new(), false);
        assert_eq!(
            look(&mut record, TEXT, &["a.rs"], Some("")),
            none,
            "never seen"
        );
        let script = "scripts/release.sh";
        assert_eq!(look(&mut record, TEXT, &[script], Some("check:")), none);
        assert_eq!(look(&mut record, TEXT, &[script], None), none, "not read");
        let (gone, is_stale) = look(&mut record, TEXT, &[script], Some(""));
        assert_eq!(gone, "`make check` is gone since 3 Nov 2026");
        assert!(!is_stale, "one name is left");
        let (gone, is_stale) = look(&mut record, TEXT, &[], Some(""));
        let both =
            "`make check` is gone since 3 Nov 2026; `scripts/release.sh` is gone since 3 Nov 2026";
        assert_eq!((gone.as_str(), is_stale), (both, true));
        let edited = "Never run `scripts/release.sh`.";
        assert_eq!(
            look(&mut record, edited, &[], Some("")),
            none,
            "another text"
        );
        assert_eq!(
            look(&mut record, TEXT, &[script], Some("check:")),
            none,
            "back"
        );
    }
}
