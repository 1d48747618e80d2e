//! What the user is told at the start of a session about trust.

use std::path::{Path, PathBuf};

use super::context::Context;
use crate::digest::name_of;
use crate::playbook::context::Shown;
use crate::queue::status::{Notice, Status};
use crate::shown::counted;
use crate::trust::Standing;

const NAMED: usize = 8;

/// What there is to say of a project in this standing. Other texts under the same names are
/// another topic.
pub(super) fn standing(
    project: &Path,
    standing: &Standing,
    shown: &Shown,
    is_strict: impl Fn() -> bool,
) -> Option<Notice> {
    let unknown = &shown.unknown;
    let count = counted(unknown.len(), "key point");
    let text = match standing {
        _ if unknown.is_empty() => return None,
        Standing::Born | Standing::Untrusted => return None,
        Standing::Recorded(_) => {
            let named: Vec<&str> = unknown.iter().take(NAMED).map(String::as_str).collect();
            let more = if unknown.len() > NAMED { ", …" } else { "" };
            let next = if is_strict() {
                "and will wait for `playbook review`"
            } else {
                "and will be used once screened"
            };
            format!(
                "{count} came with the file ({}{more}) {next}",
                named.join(", ")
            )
        }
        Standing::Foreign => format!(
            "{count} of this project may have come from elsewhere and are not used; \
             `playbook trust` screens them and trusts the project"
        ),
        Standing::Replaced => format!(
            "{count} of this project may have come from elsewhere and are not used: what you \
             trusted here was another checkout; `playbook trust` screens them and trusts this one"
        ),
        Standing::Unreadable(error) => {
            format!("{error}; the playbook is not used; `playbook trust` makes the record anew")
        }
    };
    let hash = match standing {
        Standing::Recorded(_) => shown.unknown_hash,
        // Nothing of them is used, whatever they say: their number is news enough.
        _ => 0,
    };
    let topic = format!("trust\n{}\n{hash}\n{text}", project.display());
    Some(Notice::new(&topic, text))
}

/// How much of this project waits for the user, as the worker said last.
pub(super) fn held(project: &Path, status: &Status) -> usize {
    let held = status.quarantine.get(&Status::project_key(project));
    held.map_or(0, |held| usize::try_from(*held).unwrap_or(usize::MAX))
}

pub(super) fn quarantine(project: &Path, held: usize) -> Option<Notice> {
    let are = if held == 1 { "is" } else { "are" };
    let text = format!(
        "{} {are} in quarantine; `playbook review` shows why",
        counted(held, "key point")
    );
    // One more is news, also on the same day.
    let topic = format!("quarantine\n{}\n{held}", project.display());
    (held > 0).then(|| Notice::new(&topic, text))
}

/// Where it is remembered that the user knows of a symlink.
pub(super) fn link_file(context: &Context<'_>, target: &Path) -> PathBuf {
    let target = name_of(target.as_os_str().as_encoded_bytes());
    let project = context.paths.project(&context.project);
    project.join(format!("link-{target}"))
}
