//! The prepared context for the next start of a session: already masked, screened, ranked and cut,
//! with the key points that are due at a cue.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{MAX_FILE, Prepare};
use crate::checkout::Checkout;
use crate::clip::units;
use crate::cue::Matcher;
use crate::fsx;
use crate::paths::{PLAYBOOK_TEMPLATE, Paths, playbook_file};
use crate::shown_record::ShownPoints;

/// The client cuts a context with more UTF-16 units.
const CLIENT_LIMIT: usize = 10_000;

/// The part of the playbook that a start receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartKind {
    Full,
    /// The best of it, after a compaction in a continuing conversation.
    Short,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// The filled template.
    pub text: String,
    pub points: ShownPoints,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CuedPoint {
    pub name: String,
    /// A masked line.
    pub text: String,
    /// The hash of the text, by which the worker knows which version was shown.
    pub hash: String,
    /// Set if its command is turned back once before it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guard: bool,
    #[serde(flatten)]
    pub cue: Matcher,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The longest context that the settings allowed.
    max_units: usize,
    /// The trusted checkout; `None` if nothing of the project is given.
    checkout: Option<Checkout>,
    /// The key points in the file that await the user's review.
    pub held: usize,
    full: Option<Injection>,
    short: Option<Injection>,
    /// The highest rank comes first.
    pub cues: Vec<CuedPoint>,
}

impl Ready {
    pub fn new(
        max_units: usize,
        checkout: Option<Checkout>,
        held: usize,
        [full, short]: [Option<Injection>; 2],
        cues: Vec<CuedPoint>,
    ) -> Self {
        Self {
            max_units,
            checkout,
            held,
            full,
            short,
            cues,
        }
    }

    /// Reads one small file, since usually no point is due; [`Ready::find`] then checks freshness.
    pub fn may_be_due(paths: &Paths, project: &Path, fits: impl Fn(&CuedPoint) -> bool) -> bool {
        #[derive(Deserialize)]
        struct File {
            what: Cues,
        }
        #[derive(Deserialize)]
        struct Cues {
            cues: Vec<CuedPoint>,
        }
        let file: Option<File> = fsx::read_json(&paths.prepared_context(project), MAX_FILE);
        file.is_some_and(|file| file.what.cues.iter().any(fits))
    }

    /// Returns `true` if a point may have a guard, also of a stale file. Never parses the file.
    pub fn may_have_guard(paths: &Paths, project: &Path) -> bool {
        let file = fsx::read(&paths.prepared_context(project), MAX_FILE);
        // In a text, the quotes would be escaped.
        file.is_ok_and(|file| String::from_utf8_lossy(&file).contains("\"guard\":true"))
    }

    /// Returns `None` if it may be stale.
    pub fn find(paths: &Paths, project: &Path, max_units: usize) -> Option<Self> {
        if is_linked(project) {
            return None;
        }
        let file = playbook_file(project);
        let has_own = paths.playbook_file(paths.own()).exists();
        if !paths.project(project).exists() && !file.exists() && !has_own {
            return Some(Self::new(max_units, None, 0, [None, None], Vec::new()));
        }
        let ready: Self = super::find(paths, project)?;
        let gives_nothing = ready.full.is_none() && ready.short.is_none() && ready.cues.is_empty();
        let is_trusted = match ready.checkout {
            Some(checkout) => !checkout.is_replaced(project),
            // Without a playbook, only the user's own is given.
            None => !file.exists() || gives_nothing,
        };
        let fits = |given: &Injection| units(&given.text) <= CLIENT_LIMIT;
        let all_fit = ready.full.iter().chain(&ready.short).all(fits);
        (ready.max_units == max_units && is_trusted && all_fit).then_some(ready)
    }

    pub fn gives(&self, kind: StartKind, name: &str) -> bool {
        let given = match kind {
            StartKind::Full => &self.full,
            StartKind::Short => &self.short,
        };
        given.as_ref().is_some_and(|given| given.points.has(name))
    }

    pub fn of(self, kind: StartKind) -> Option<Injection> {
        match kind {
            StartKind::Full => self.full,
            StartKind::Short => self.short,
        }
    }
}

impl Prepare for Ready {
    fn file(paths: &Paths, project: &Path) -> PathBuf {
        paths.prepared_context(project)
    }

    fn inputs(paths: &Paths, project: &Path) -> Vec<PathBuf> {
        let playbook = playbook_file(project);
        let snapshots = (!playbook.exists()).then(|| paths.snapshots(project));
        let record = paths.trust_record(project);
        let freshness = paths.freshness(project);
        [
            playbook,
            paths.template(PLAYBOOK_TEMPLATE),
            record,
            freshness,
            paths.playbook_file(paths.own()),
            paths.trust_record(paths.own()),
        ]
        .into_iter()
        // For a missing playbook, the snapshots show that there was one.
        .chain(snapshots)
        .collect()
    }
}

/// A link may lead anywhere, so the caller that follows it asks for trust.
fn is_linked(project: &Path) -> bool {
    let file = playbook_file(project);
    file.is_symlink() || file.parent().is_none_or(Path::is_symlink)
}
