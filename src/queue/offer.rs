//! Offers a preference that two projects have learned to the user: it may be about them, and no
//! project. It is told once and never done unasked.

use std::path::{Path, PathBuf};

use super::QueueError;
use super::context::WorkerContext;
use super::progress::JobInProgress;
use crate::fsx::{self, FsError};
use crate::news;
use crate::paths::Paths;
use crate::playbook::dedup::{Threshold, Wording};
use crate::playbook::{ChangeKind, Section};
use crate::store::Snapshots;
use crate::trust::TrustStanding;

const MAX_OFFERED: u64 = 1 << 20;

/// Leaves word of each preference that a job has added and another trusted project has, too.
pub(super) fn same_elsewhere(
    context: &WorkerContext,
    job: &JobInProgress,
) -> Result<(), QueueError> {
    let (paths, project) = (context.paths(), job.ticket.project.as_path());
    let changes = job.progress.changes.as_deref().unwrap_or_default();
    let added = changes.iter().filter(|change| {
        let section = change
            .after
            .as_ref()
            .and_then(|after| Section::from_key(&after.section));
        change.kind == ChangeKind::Add && section == Some(Section::Preferences)
    });
    let added: Vec<(&str, Wording)> = added
        .filter_map(|change| {
            Some((
                change.id.as_str(),
                Wording::of(change.after.as_ref()?.text()),
            ))
        })
        .collect();
    if added.is_empty() || project == paths.own() {
        return Ok(());
    }
    let others = context.memory().all_projects()?;
    for other in others.iter().map(Path::new) {
        if other == project || other == paths.own() || !TrustStanding::of(paths, other).is_trusted()
        {
            continue;
        }
        let Some(known) = Snapshots::new(&paths.project(other)).last_playbook()? else {
            continue;
        };
        let preferences = known
            .points()
            .filter(|point| point.section == Section::Preferences);
        for point in preferences {
            let says = Wording::of(point.text);
            let same = added
                .iter()
                .find(|(_, wording)| wording.says_as(&says, Threshold::default()));
            let Some((id, _)) = same else { continue };
            let points = [(project, *id), (other, point.name)];
            let offered = Offered::read(paths)?;
            if offered.has(points) {
                continue;
            }
            let text = format!(
                "{id} says what {} of {} says: if it is about you and no project, \
                 `playbook promote {id}` takes it along into every project",
                point.name,
                other.display()
            );
            news::leave(paths, project, &text)?;
            offered.note(paths, points)?;
        }
    }
    Ok(())
}

/// What was offered before: a line for each point, `pref-001 /home/me/project`.
struct Offered(String);

impl Offered {
    fn read(paths: &Paths) -> Result<Self, FsError> {
        let known = fsx::read_if_there(&Self::file(paths), MAX_OFFERED)?;
        Ok(Self(
            String::from_utf8_lossy(&known.unwrap_or_default()).into_owned(),
        ))
    }

    fn has(&self, points: [(&Path, &str); 2]) -> bool {
        let lines = points.map(line);
        self.0
            .lines()
            .any(|line| lines.iter().any(|known| known == line))
    }

    fn note(&self, paths: &Paths, points: [(&Path, &str); 2]) -> Result<(), FsError> {
        let file = Self::file(paths);
        fsx::ensure_dir(&paths.project(paths.own()))?;
        let lines = points.map(line).join("\n");
        fsx::durable(&file, format!("{}{lines}\n", self.0).as_bytes())
    }

    fn file(paths: &Paths) -> PathBuf {
        paths.project(paths.own()).join("offered.txt")
    }
}

fn line((project, id): (&Path, &str)) -> String {
    format!("{id} {}", project.display())
}
