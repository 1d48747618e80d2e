//! The prepared context: what the next start of a session is given, already masked, screened,
//! ranked and cut, and the key points that are due at a cue.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{MAX_FILE, Prepare};
use crate::checkout::Checkout;
use crate::clip::units;
use crate::cue::Matcher;
use crate::fsx;
use crate::paths::{PLAYBOOK_TEMPLATE, Paths, playbook_file};
use crate::shown_record::ShownPoints;

/// The client cuts what has more UTF-16 units.
const CLIENT_LIMIT: usize = 10_000;

/// The part of the playbook that a start is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartKind {
    /// At the start of a session.
    Full,
    /// After a compaction, where the conversation goes on: the best of it.
    Short,
}

/// A text for the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// The filled template.
    pub text: String,
    pub points: ShownPoints,
}

/// A key point that may be given at its cue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CuedPoint {
    pub name: String,
    /// Its text: masked, one line.
    pub text: String,
    /// The hash of the text, by which the worker knows what was shown.
    pub hash: String,
    /// Whether its command is turned back once before it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guard: bool,
    #[serde(flatten)]
    pub cue: Matcher,
}

/// What lies ready for the starts, prompts and calls of a project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The longest context that the settings allowed.
    max_units: usize,
    /// The checkout that is trusted; `None` where nothing of the project is given.
    checkout: Option<Checkout>,
    /// How many key points of the file wait for the user.
    pub held: usize,
    full: Option<Injection>,
    short: Option<Injection>,
    /// The points with a cue, those of the highest rank first.
    pub cues: Vec<CuedPoint>,
}

impl Ready {
    /// What there is to give in the `checkout` that is trusted.
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

    /// Returns `true` if a point is due of which nobody has looked yet if it still holds:
    /// [`Ready::find`] does. Mostly there is none, and this reads one small file.
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

    /// Finds what lies ready for a project; `None` in any doubt.
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
        let is_trusted = match ready.checkout {
            Some(checkout) => !checkout.is_replaced(project),
            // Where there is no playbook, what there is to give is the user's own.
            None => {
                let has_any = ready.full.is_some() || ready.short.is_some();
                !file.exists() || !(has_any || !ready.cues.is_empty())
            }
        };
        let fits = |given: &Injection| units(&given.text) <= CLIENT_LIMIT;
        let all_fit = ready.full.iter().chain(&ready.short).all(fits);
        (ready.max_units == max_units && is_trusted && all_fit).then_some(ready)
    }

    /// Returns `true` if a start of this kind has a key point.
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
        // Of a playbook that is away they tell that there was one.
        .chain(snapshots)
        .collect()
    }
}

/// Returns `true` if a playbook lies behind a link: it may lead anywhere, and who follows it asks
/// for trust.
fn is_linked(project: &Path) -> bool {
    let file = playbook_file(project);
    file.is_symlink() || file.parent().is_none_or(Path::is_symlink)
}
