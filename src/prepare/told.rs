//! What the user is told at the start of a session about where a playbook comes from.

use std::path::{Path, PathBuf};

use crate::config;
use crate::digest::name_of;
use crate::paths::{Paths, playbook_file, project_config_file};
use crate::playbook::render::PointsToShow;
use crate::queue::status::Notice;
use crate::setup::templates::GONE;
use crate::shown::counted;
use crate::trust::TrustStanding;

const NAMED: usize = 8;

/// What there is to say of a project in this standing. Other texts under the same names are
/// another topic.
pub(super) fn standing(
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

/// What there is to say of a trusted playbook that lies outside of its project.
pub(super) fn link(project: &Path, target: &Path) -> Notice {
    let (file, target) = (playbook_file(project), target.display());
    let text = format!("{} leads out of the project, to {target}", file.display());
    Notice::new(&text.clone(), text)
}

/// Where it is remembered that the user knows of a symlink.
pub(super) fn link_file(paths: &Paths, project: &Path, target: &Path) -> PathBuf {
    let target = name_of(target.as_os_str().as_encoded_bytes());
    paths.project(project).join(format!("link-{target}"))
}

/// Returns what there is to say of each setting and template that is gone and was not shown yet,
/// with the file that remembers it.
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
