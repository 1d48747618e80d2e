//! News that the user is shown once, at the next session start or command in a project.

use std::path::{Path, PathBuf};

use crate::fsx::{self, FsError};
use crate::paths::Paths;

const MAX_NEWS: u64 = 4 << 10;

pub(crate) fn leave(paths: &Paths, project: &Path, text: &str) -> Result<(), FsError> {
    let file = file(paths, project);
    let earlier = fsx::read_if_there(&file, MAX_NEWS)?.unwrap_or_default();
    let mut all = String::from_utf8_lossy(&earlier).into_owned();
    if !all.is_empty() {
        all.push('\n');
    }
    all.push_str(text);
    fsx::ensure_dir(&paths.project(project))?;
    fsx::durable(&file, all.as_bytes())
}

pub(crate) fn is_there(paths: &Paths, project: &Path) -> bool {
    file(paths, project).exists()
}

pub(crate) fn take(paths: &Paths, project: &Path) -> Option<String> {
    let file = file(paths, project);
    let text = fsx::read_if_there(&file, MAX_NEWS).ok()??;
    fsx::remove(&file).ok()?;
    String::from_utf8(text).ok()
}

fn file(paths: &Paths, project: &Path) -> PathBuf {
    paths.project(project).join("news.txt")
}
