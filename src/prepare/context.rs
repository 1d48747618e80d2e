//! The context that a session's start gives from a playbook, and the notices for the user.

use std::path::{Path, PathBuf};

use crate::digest::name_of;
use crate::freshness::{self, KnownNames};
use crate::fsx::{self, FsError};
use crate::hook::source::GivenContext;
use crate::paths::{PLAYBOOK_TEMPLATE, Paths, playbook_file, project_config_file};
use crate::playbook::read::migrate;
use crate::playbook::render::{
    Admission, Frame, InjectionLimits, PointsToShow, TEMPLATE, context, cued_points, in_text,
    own_points,
};
use crate::playbook::three_way::has_markers;
use crate::playbook::{Defect, Playbook, Point, is_own_name};
use crate::prepared::{CuedPoint, Injection, ProjectSettings, Ready, StartKind};
use crate::queue::status::Notice;
use crate::setup::templates::{self, GONE};
use crate::shown::counted;
use crate::store::{MAX_FILE_BYTES, Snapshots, StoreError, WAYS_BACK, votes};
use crate::trust::{TrustStanding, outside};
use crate::usage::{self, UsageRecord};
use crate::{config, news};

const MAX_TEMPLATE: u64 = 1 << 20;

/// A project's playbook as it is on disk, with everything that decides what a session may be given.
pub(super) struct Basis<'a> {
    paths: &'a Paths,
    project: &'a Path,
    pub(super) standing: TrustStanding,
    /// The user's own playbook, if this project's sessions are given it.
    own: Option<Box<Self>>,
    /// The target of a symlink that leads the playbook out of its project.
    pub(super) link: Option<PathBuf>,
    /// The file with the memory's votes added. `None` if there is no file, or if such a link leads
    /// to it and the project is not trusted.
    playbook: Option<Result<Playbook, Defect>>,
    is_in_merge: bool,
    template: Option<String>,
    freshness: KnownNames,
    usage: UsageRecord,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OwnPoints {
    Given,
    LeftOut,
}

impl OwnPoints {
    pub(super) fn of(settings: &ProjectSettings) -> Self {
        if settings.gives_own {
            Self::Given
        } else {
            Self::LeftOut
        }
    }
}

#[derive(Default)]
pub(super) struct PreparedStart<'a> {
    pub(super) given: GivenContext,
    pub(super) to_screen: Vec<&'a Path>,
    /// The number of key points for which it has no room.
    pub(super) left_out: usize,
}

impl PreparedStart<'_> {
    fn nothing_but(notice: String) -> Self {
        let mut outcome = Self::default();
        let notice = Notice::new(&notice.clone(), notice);
        outcome.given.notices.push(notice);
        outcome
    }

    /// Puts the notices and work of the user's own playbook in front.
    fn after(mut self, own: Self) -> Self {
        self.given.notices.splice(..0, own.given.notices);
        self.to_screen.extend(own.to_screen);
        self
    }
}

impl<'a> Basis<'a> {
    pub(super) fn read(
        paths: &'a Paths,
        project: &'a Path,
        own: OwnPoints,
    ) -> Result<Self, FsError> {
        let has_own = own == OwnPoints::Given && project != paths.own();
        let own = has_own.then(|| Self::read(paths, paths.own(), OwnPoints::LeftOut));
        let standing = TrustStanding::of(paths, project);
        let link = outside::of(project);
        let bytes = if link.is_none() || standing.is_trusted() {
            fsx::read_if_there(&paths.playbook_file(project), MAX_FILE_BYTES)?
        } else {
            None
        };
        let template = fsx::read_if_there(&paths.template(PLAYBOOK_TEMPLATE), MAX_TEMPLATE);
        Ok(Self {
            freshness: freshness::record(paths, project),
            usage: usage::record(paths, project),
            own: own.transpose()?.map(Box::new),
            paths,
            project,
            standing,
            link,
            is_in_merge: has_markers(bytes.as_deref().unwrap_or_default()),
            playbook: bytes.map(|bytes| with_votes(paths, project, &bytes)),
            template: template
                .ok()
                .flatten()
                .and_then(|t| String::from_utf8(t).ok())
                .filter(|text| templates::PLAYBOOK.serves(text)),
        })
    }

    pub(super) fn give(&self, kind: StartKind, max_units: usize) -> PreparedStart<'a> {
        let limits = match kind {
            StartKind::Full => InjectionLimits {
                units: max_units,
                ..InjectionLimits::FULL
            },
            StartKind::Short => InjectionLimits {
                units: max_units.min(InjectionLimits::COMPACT.units),
                ..InjectionLimits::COMPACT
            },
        };
        let own = self.own.as_ref().map(|own| own.points(limits, ""));
        let own_text = own.as_ref().and_then(|own| own.given.injection.as_ref());
        let mut outcome = self.points(limits, own_text.map_or("", |own| &own.text));
        outcome.given.held = self.standing.count_of_held();
        match own {
            Some(own) => outcome.after(own),
            None => outcome,
        }
    }

    fn points(&self, limits: InjectionLimits, own: &str) -> PreparedStart<'a> {
        let frame = Frame {
            template: self.template.as_deref().unwrap_or(TEMPLATE),
            own,
        };
        let refused = self.link.as_ref().filter(|_| !self.standing.is_trusted());
        let mut outcome = match (refused, &self.playbook) {
            (Some(target), _) => PreparedStart::nothing_but(outside::refusal(self.project, target)),
            (None, None) => self.away(),
            (None, Some(Ok(playbook))) => self.shown(self.show(playbook, frame, limits)),
            (None, Some(Err(flaw))) => self.unreadable(flaw, frame, limits),
        };
        let given = &mut outcome.given.injection;
        *given = given.take().or_else(|| frame.alone(limits).map(injection));
        outcome
    }

    fn show(&self, playbook: &Playbook, frame: Frame<'_>, limits: InjectionLimits) -> PointsToShow {
        let admits = |point: &Point<'_>| self.admits(point);
        if self.is_own() {
            own_points(playbook, frame, limits, &self.usage, admits)
        } else {
            context(playbook, frame, limits, &self.usage, admits)
        }
    }

    fn is_own(&self) -> bool {
        self.project == self.paths.own()
    }

    /// Decides whether a point is given. A point whose names are all gone is left out unless the
    /// user pinned, said, added or edited it. A point with a name of the other playbook is held
    /// back.
    fn admits(&self, point: &Point<'_>) -> Admission {
        if is_own_name(point.name) != self.is_own() {
            return Admission::Held;
        }
        let admission = (self.standing).admits(point.section, point.name, point.text);
        let is_users = point.is_pinned()
            || self.usage.said.contains(point.name)
            || self.usage.by_hand.contains(point.name);
        let is_stale = !is_users && self.freshness.is_stale(point);
        match admission {
            Admission::Given if is_stale => Admission::Stale,
            admission => admission,
        }
    }

    fn cues(&self) -> Vec<CuedPoint> {
        let Some(Ok(playbook)) = &self.playbook else {
            return Vec::new();
        };
        let admits = |point: &Point<'_>| {
            self.cue(point) == Some(Admission::Given) && self.admits(point) == Admission::Given
        };
        cued_points(playbook, &self.usage, admits)
    }

    fn cue(&self, point: &Point<'_>) -> Option<Admission> {
        let due = point.due()?;
        Some(self.standing.admits_cue(point.name, due))
    }

    fn has_new_cue(&self) -> bool {
        let playbook = self.playbook.as_ref().and_then(|read| read.as_ref().ok());
        let mut points = playbook.into_iter().flat_map(Playbook::points);
        points.any(|point| self.cue(&point) == Some(Admission::Unknown))
    }

    fn away(&self) -> PreparedStart<'a> {
        if !self.snapshots().have_points().unwrap_or(false) {
            return PreparedStart::default();
        }
        let path = self.file();
        PreparedStart::nothing_but(format!("{}; {WAYS_BACK}", StoreError::Away { path }))
    }

    fn file(&self) -> PathBuf {
        self.paths.playbook_file(self.project)
    }

    fn shown(&self, shown: PointsToShow) -> PreparedStart<'a> {
        let is_trusted = self.standing.is_trusted();
        let notice = standing_notice(self.paths, self.project, &self.standing, &shown);
        let odd = shown.odd.filter(|_| is_trusted).map(|odd| {
            let text = format!("{}: {odd}", self.file().display());
            Notice::new(&text.clone(), text)
        });
        let is_born = matches!(self.standing, TrustStanding::Born);
        let has_news = || !shown.unknown.is_empty() || self.has_new_cue();
        let left_out = shown.left_out;
        let asks_for_screening = is_born || (is_trusted && has_news());
        PreparedStart {
            given: GivenContext {
                injection: shown.text.map(injection),
                notices: notice.into_iter().chain(odd).collect(),
                ..GivenContext::default()
            },
            to_screen: Vec::from_iter(asks_for_screening.then_some(self.project)),
            left_out,
        }
    }

    /// Reports a file that cannot be read; trusted projects get the last good snapshot.
    fn unreadable(
        &self,
        flaw: &Defect,
        frame: Frame<'_>,
        limits: InjectionLimits,
    ) -> PreparedStart<'a> {
        let file = self.file();
        let (notice, next) = if self.is_in_merge {
            let notice = format!("{} is in the middle of a merge", file.display());
            (notice, "its two sides are merged in the background")
        } else {
            let notice = format!("could not read playbook: {}: {flaw}", file.display());
            (notice, "`playbook undo --to` mends it")
        };
        if !self.standing.is_trusted() {
            return PreparedStart::nothing_but(notice);
        }
        let last = self.snapshots().last().ok().flatten();
        let last = last.and_then(|bytes| with_votes(self.paths, self.project, &bytes).ok());
        let text = last.and_then(|playbook| self.show(&playbook, frame, limits).text);
        let instead = if text.is_some() {
            "; this session has its last good version"
        } else {
            ""
        };
        let mut outcome = PreparedStart::nothing_but(format!("{notice}{instead}; {next}"));
        // The worker merges what it is asked to screen.
        outcome.to_screen = Vec::from_iter(self.is_in_merge.then_some(self.project));
        outcome.given.injection = text.map(injection);
        outcome
    }

    fn snapshots(&self) -> Snapshots {
        Snapshots::new(&self.paths.project(self.project))
    }

    /// Returns what the next starts are given, unless a start has more to do.
    pub(super) fn ready(&self, max_units: usize) -> Option<Ready> {
        let [full, short] =
            [StartKind::Full, StartKind::Short].map(|kind| self.give(kind, max_units));
        let is_all =
            |it: &PreparedStart<'_>| it.given.notices.is_empty() && it.to_screen.is_empty();
        let has_news = news::is_there(self.paths, self.project)
            || !gone_settings(self.paths, self.project).is_empty();
        if self.link.is_some() || has_news || !is_all(&full) || !is_all(&short) {
            return None;
        }
        let held = full.given.held;
        let texts = [full.given.injection, short.given.injection];
        let checkout = match &self.standing {
            TrustStanding::Recorded(record) => record.checkout(),
            _ => None,
        };
        let is_of_project = self.playbook.is_some();
        if checkout.is_none() && is_of_project && texts.iter().any(Option::is_some) {
            return None;
        }
        let own = self.own.iter().flat_map(|own| own.cues());
        let cues = self.cues().into_iter().chain(own).collect();
        Some(Ready::new(max_units, checkout, held, texts, cues))
    }
}

fn with_votes(paths: &Paths, project: &Path, bytes: &[u8]) -> Result<Playbook, Defect> {
    let playbook = migrate(bytes)?.playbook;
    Ok(match votes::read(paths, project, &playbook) {
        Ok(votes) if !votes.is_empty() => playbook.with_votes(&votes),
        _ => playbook,
    })
}

fn injection(text: String) -> Injection {
    Injection {
        points: in_text(&text),
        text,
    }
}

const NAMED: usize = 8;

/// Returns what there is to say of a project in this standing; other texts are another topic.
pub(super) fn standing_notice(
    paths: &Paths,
    project: &Path,
    standing: &TrustStanding,
    shown: &PointsToShow,
) -> Option<Notice> {
    let unknown = &shown.unknown;
    let count = counted(unknown.len(), "key point");
    let (are, them) = match unknown.len() {
        1 => ("is", "it"),
        _ => ("are", "them"),
    };
    let text = match standing {
        _ if unknown.is_empty() => return None,
        TrustStanding::Born | TrustStanding::Untrusted => return None,
        TrustStanding::Recorded(_) => {
            let named: Vec<&str> = unknown.iter().take(NAMED).map(String::as_str).collect();
            let more = if unknown.len() > NAMED { ", …" } else { "" };
            let settings = config::load(&paths.config_file());
            let next = if settings.is_ok_and(|settings| settings.trust.strict) {
                "and will wait for `playbook review`"
            } else {
                "and will be used once checked for attacks"
            };
            format!(
                "{count} came with the file ({}{more}) {next}",
                named.join(", ")
            )
        }
        TrustStanding::Foreign => format!(
            "{count} of this project may have come from elsewhere and {are} not used; \
             `playbook show` lists {them}, `playbook trust` lets sessions use {them}"
        ),
        TrustStanding::Replaced => format!(
            "{count} of this project {are} not used, as you trusted another checkout in this \
             place; `playbook show` lists {them}, `playbook trust` lets sessions use {them}"
        ),
        TrustStanding::Unreadable(error) => {
            format!("{error}; the playbook is not used; `playbook trust` makes the record anew")
        }
    };
    let hash = match standing {
        TrustStanding::Recorded(_) => shown.unknown_hash,
        // Nothing of them is used, whatever they say: their number is news enough.
        _ => 0,
    };
    let topic = format!("trust\n{}\n{hash}\n{text}", project.display());
    Some(Notice::new(&topic, text))
}

pub(super) fn link_notice(project: &Path, target: &Path) -> Notice {
    let (file, target) = (playbook_file(project), target.display());
    let text = format!("{} leads out of the project, to {target}", file.display());
    Notice::new(&text.clone(), text)
}

/// The file that records that the user knows of a symlink.
pub(super) fn link_file(paths: &Paths, project: &Path, target: &Path) -> PathBuf {
    let target = name_of(target.as_os_str().as_encoded_bytes());
    paths.project(project).join(format!("link-{target}"))
}

pub(super) fn gone_settings(paths: &Paths, project: &Path) -> Vec<(PathBuf, Notice)> {
    let files = [
        (paths.config_file(), paths.own()),
        (project_config_file(project), project),
    ];
    let settings = files.into_iter().flat_map(|(file, owner)| {
        let folder = paths.project(owner);
        let gone = config::gone(&file).into_iter();
        gone.map(move |gone| {
            let mark = folder.join(format!("gone-{}", name_of(gone.name.as_bytes())));
            (mark, Notice::new(&gone.text, gone.text.clone()))
        })
    });
    let gone = paths.template(GONE);
    let template = gone.exists().then(|| {
        let text = format!(
            "{} is no longer used: `playbook dream` is a run of the curator; remove the file",
            gone.display()
        );
        let mark = format!("gone-{}", name_of(text.as_bytes()));
        let mark = paths.project(paths.own()).join(mark);
        (mark, Notice::new(&text.clone(), text))
    });
    let all = settings.chain(template);
    all.filter(|(mark, _)| !mark.exists()).collect()
}
