//! What was seen of the names in each point, and what of it is gone.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::count::Count;
use super::names::{PointName, names_in};
use super::search::{FoundIn, Sight};
use crate::digest::name_of;
use crate::playbook::Point;
use crate::shown::plain;

/// A point that has left the playbook stays known, since another branch may hold it, until so
/// many are.
const ROOMY: usize = 2_000;
/// So much is told of what is gone from one point.
const TOLD: usize = 3;

/// All that is known of the names in the points of one project.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KnownNames {
    /// The commits that were looked at last.
    looked_at: Vec<String>,
    points: BTreeMap<String, KnownPoint>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownPoint {
    /// The hash of its text: with another text it is another point.
    text: String,
    names: Vec<SeenName>,
}

/// A name that was seen to stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SeenName {
    name: PointName,
    /// The commits in which it was seen first and last.
    first: String,
    last: String,
    /// How often an identifier stood there when it did most.
    #[serde(default)]
    most: Count,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gone: Option<Gone>,
    /// What the last look saw, where it saw too little.
    #[serde(skip)]
    missed: Option<Count>,
}

/// What is known of something that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gone {
    /// Since when, as far as that is known.
    pub since: Date,
    /// The file that has its text now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// In how many files an identifier is left.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_in: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl KnownNames {
    /// Tells whether a look at these commits says no more than the last one.
    pub fn has_looked_at(&self, commits: &[String], points: &[Point<'_>]) -> bool {
        self.looked_at == commits && points.iter().all(|point| self.known(point).is_some())
    }

    /// Takes note of what was found in `commits[0]`; what was seen before and is missed now
    /// is given by [`KnownNames::missed`].
    pub fn look(&mut self, commits: &[String], points: &[Point<'_>], found: &FoundIn) {
        let Some(commit) = commits.first() else {
            return;
        };
        self.looked_at = commits.to_vec();
        for point in points {
            let text = name_of(point.text.as_bytes());
            let known = self.points.entry(point.name.to_owned());
            let known = known.or_insert_with(|| KnownPoint {
                text: text.clone(),
                names: Vec::new(),
            });
            if known.text != text {
                *known = KnownPoint {
                    text,
                    names: Vec::new(),
                };
            }
            known.look(point.text, commit, found);
        }
        if self.points.len() > ROOMY {
            let names: HashSet<&str> = points.iter().map(|point| point.name).collect();
            self.points.retain(|name, _| names.contains(name.as_str()));
        }
    }

    /// What the last look missed and is not known to be gone, with the commits in which it
    /// was seen, the last before the first.
    pub fn missed(&self) -> BTreeMap<PointName, Vec<String>> {
        let mut missed: BTreeMap<PointName, Vec<String>> = BTreeMap::new();
        let seen = self.points.values().flat_map(|point| &point.names);
        for seen in seen.filter(|seen| seen.missed.is_some() && seen.gone.is_none()) {
            let commits = missed.entry(seen.name.clone()).or_default();
            for commit in [&seen.last, &seen.first] {
                if !commits.contains(commit) {
                    commits.push(commit.clone());
                }
            }
        }
        missed
    }

    /// Tells whether what was missed stands in the files of another commit.
    pub fn stands_in(&self, name: &PointName, found: &FoundIn) -> bool {
        let mut seen = self.points.values().flat_map(|point| &point.names);
        seen.any(|seen| seen.name == *name && seen.missed_in(found).is_none())
    }

    /// Marks what was missed as gone.
    pub fn mark(&mut self, gone: &HashMap<PointName, Gone>) {
        let seen = self.points.values_mut().flat_map(|point| &mut point.names);
        for seen in seen.filter(|seen| seen.gone.is_none()) {
            if let (Some(left), Some(gone)) = (seen.missed, gone.get(&seen.name)) {
                let left_in = left.files();
                seen.gone = Some(Gone {
                    left_in,
                    ..gone.clone()
                });
            }
        }
    }

    /// Why a point is stale: what it names and is gone.
    pub fn why_stale(&self, point: &Point<'_>) -> Option<String> {
        let gone = self.known(point)?.names.iter();
        let told: Vec<String> = gone
            .filter_map(|seen| Some(told(&seen.name, seen.gone.as_ref()?)))
            .take(TOLD)
            .collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    fn known(&self, point: &Point<'_>) -> Option<&KnownPoint> {
        let known = self.points.get(point.name)?;
        (known.text == name_of(point.text.as_bytes())).then_some(known)
    }
}

impl KnownPoint {
    fn look(&mut self, text: &str, commit: &str, found: &FoundIn) {
        for name in names_in(text) {
            let known = self.names.iter_mut().find(|seen| seen.name == name);
            match (known, found.of(&name)) {
                (Some(seen), _) => seen.look(commit, found),
                (None, Sight::There(count)) if is_worth(&name, count) => {
                    self.names.push(SeenName {
                        name,
                        first: commit.to_owned(),
                        last: commit.to_owned(),
                        most: count,
                        gone: None,
                        missed: None,
                    });
                }
                (None, _) => {}
            }
        }
        // A word in a path is told with the path, and moves with it.
        let paths = self.names.iter().filter_map(|seen| match &seen.name {
            PointName::Path(path) => Some(path.clone()),
            _ => None,
        });
        let paths: Vec<String> = paths.collect();
        self.names.retain(|seen| match &seen.name {
            PointName::Word(word) | PointName::Defined(word) => {
                !paths.iter().any(|path| path.contains(word))
            }
            _ => true,
        });
    }
}

/// Tells whether something was seen that can be missed.
fn is_worth(name: &PointName, count: Count) -> bool {
    !matches!(name, PointName::Word(_) | PointName::Defined(_)) || count.is_seen()
}

impl SeenName {
    fn look(&mut self, commit: &str, found: &FoundIn) {
        self.missed = self.missed_in(found);
        let Sight::There(count) = found.of(&self.name) else {
            return;
        };
        if self.missed.is_none() {
            commit.clone_into(&mut self.last);
            self.most = self.most.highest(count);
            self.gone = None;
        }
    }

    /// How often it is left where that is next to nothing; `None` where it stands, or where
    /// that cannot be told.
    fn missed_in(&self, found: &FoundIn) -> Option<Count> {
        let left = match found.of(&self.name) {
            Sight::Unknown => return None,
            Sight::Absent => return Some(Count::default()),
            Sight::There(left) => left,
        };
        self.most.is_all_but_gone(left).then_some(left)
    }
}

fn told(name: &PointName, gone: &Gone) -> String {
    let since = gone.since.strftime("%-d %b %Y");
    let told = match gone.left_in {
        0 => format!("`{name}` is gone since {since}"),
        1 => format!("`{name}` is left in 1 file since {since}"),
        files => format!("`{name}` is left in {files} files since {since}"),
    };
    match &gone.now {
        Some(now) => format!("{told}; `{}` has its text", plain(now)),
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::freshness::Search;
    use crate::playbook::Section;

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

    /// Looks at files for a point, and takes all that is missed as gone.
    fn look(
        record: &mut KnownNames,
        commit: &str,
        text: &str,
        files: &[(&str, &str)],
    ) -> Option<String> {
        let names: HashSet<PointName> = names_in(text).into_iter().collect();
        let search = Search::new(&names);
        let mut found = FoundIn::default();
        for (path, text) in files {
            search.file(path, &mut found);
            search.text(path, text.as_bytes(), &mut found);
        }
        record.look(&[commit.to_owned()], &[point(text)], &found);
        let gone = Gone {
            since: jiff::civil::date(2026, 11, 3),
            now: None,
            left_in: 0,
        };
        let gone = record.missed().into_keys().map(|name| (name, gone.clone()));
        record.mark(&gone.collect());
        record.why_stale(&point(text))
    }

    const TEXT: &str = "Run `scripts/release.sh` and mind `parse_line`.";

    #[test]
    fn only_what_was_seen_can_be_gone_and_what_comes_back_is_not() {
        let mut record = KnownNames::default();
        assert_eq!(look(&mut record, "c1", TEXT, &[]), None, "never seen");
        let there = [
            ("scripts/release.sh", "parse_line parse_line"),
            ("a.rs", "parse_line"),
        ];
        assert_eq!(look(&mut record, "c2", TEXT, &there), None);
        let why = look(
            &mut record,
            "c3",
            TEXT,
            &[("CHANGELOG.md", "no more parse_line")],
        );
        let told = "`scripts/release.sh` is gone since 3 Nov 2026; \
                    `parse_line` is left in 1 file since 3 Nov 2026";
        assert_eq!(why.as_deref(), Some(told));
        let seen = &record.points["pat-001"].names[0];
        assert_eq!((seen.first.as_str(), seen.last.as_str()), ("c2", "c2"));
        assert_eq!(look(&mut record, "c4", TEXT, &there), None, "it is back");
    }

    #[test]
    fn a_point_that_was_edited_starts_anew() {
        let mut record = KnownNames::default();
        look(&mut record, "c1", TEXT, &[("scripts/release.sh", "")]);
        assert!(look(&mut record, "c2", TEXT, &[]).is_some());
        let edited = "Never run `scripts/release.sh`.";
        assert_eq!(record.why_stale(&point(edited)), None);
        assert_eq!(look(&mut record, "c2", edited, &[]), None);
    }

    #[test]
    fn a_record_survives_its_file() {
        let mut record = KnownNames::default();
        look(
            &mut record,
            "c1",
            TEXT,
            &[("scripts/release.sh", "parse_line")],
        );
        look(&mut record, "c2", TEXT, &[]);
        let text = serde_json::to_string(&record).unwrap();
        let read: KnownNames = serde_json::from_str(&text).unwrap();
        assert_eq!(read.why_stale(&point(TEXT)), record.why_stale(&point(TEXT)));
        assert!(read.has_looked_at(&["c2".to_owned()], &[point(TEXT)]));
    }
}
