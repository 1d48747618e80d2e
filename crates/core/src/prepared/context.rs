//! The prepared context: what the next start of a session is given, already masked, screened,
//! ranked and cut.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Prepare;
use crate::checkout::Checkout;
use crate::clip::units;
use crate::paths::{PLAYBOOK_TEMPLATE, Paths, playbook_file};
use crate::shown_record::ShownPoints;

/// The client cuts what has more UTF-16 units.
const CLIENT_LIMIT: usize = 10_000;
const DAY: i64 = 24 * 60 * 60;

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

/// What lies ready for the starts of one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// The day, counted from 1970: the worth of a point changes from day to day.
    day: i64,
    /// The longest context that the settings allowed.
    max_units: usize,
    /// The checkout that is trusted; `None` where nothing of the project is given.
    checkout: Option<Checkout>,
    /// How many key points of the file wait for the user.
    pub held: usize,
    full: Option<Injection>,
    short: Option<Injection>,
}

impl Ready {
    /// What there is to give on the day of `now` in the `checkout` that is trusted.
    pub fn new(
        now: Timestamp,
        max_units: usize,
        checkout: Option<Checkout>,
        held: usize,
        [full, short]: [Option<Injection>; 2],
    ) -> Self {
        Self {
            day: day(now),
            max_units,
            checkout,
            held,
            full,
            short,
        }
    }

    /// Finds what lies ready for a project; `None` in any doubt.
    pub fn find(paths: &Paths, project: &Path, max_units: usize, now: Timestamp) -> Option<Self> {
        if is_linked(project) {
            return None;
        }
        let file = playbook_file(project);
        let has_own = paths.playbook_file(paths.own()).exists();
        if !paths.project(project).exists() && !file.exists() && !has_own {
            return Some(Self::new(now, max_units, None, 0, [None, None]));
        }
        let ready: Self = super::find(paths, project)?;
        let is_of_now = ready.day == day(now) && ready.max_units == max_units;
        let is_trusted = match ready.checkout {
            Some(checkout) => !checkout.is_replaced(project),
            // Where there is no playbook, what there is to give is the user's own.
            None => !file.exists() || (ready.full.is_none() && ready.short.is_none()),
        };
        let fits = |given: &Injection| units(&given.text) <= CLIENT_LIMIT;
        let all_fit = ready.full.iter().chain(&ready.short).all(fits);
        (is_of_now && is_trusted && all_fit).then_some(ready)
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
pub(super) fn is_linked(project: &Path) -> bool {
    let file = playbook_file(project);
    file.is_symlink() || file.parent().is_none_or(Path::is_symlink)
}

fn day(now: Timestamp) -> i64 {
    now.as_second().div_euclid(DAY)
}
