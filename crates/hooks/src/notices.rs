//! The notice at the start of a session about key points that await a review.

use std::path::Path;

use crate::shown::counted;
use crate::status::{Notice, Status};

/// Returns the number from the worker's last status.
pub(super) fn held(project: &Path, status: &Status) -> usize {
    let held = status.quarantine.get(&Status::project_key(project));
    held.map_or(0, |held| usize::try_from(*held).unwrap_or(usize::MAX))
}

pub(super) fn quarantine(project: &Path, held: usize) -> Option<Notice> {
    let are = if held == 1 { "is" } else { "are" };
    let text = format!(
        "{} {are} held back; `playbook review` shows why",
        counted(held, "key point")
    );
    // One more held point is news, even on the same day.
    let topic = format!("quarantine\n{}\n{held}", project.display());
    (held > 0).then(|| Notice::new(&topic, text))
}
