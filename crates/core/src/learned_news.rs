//! The news of what was learned in a project. The worker leaves it, and the next start of a session
//! in a terminal shows it once.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::fsx::{self, FsError};
use crate::paths::Paths;

const MAX_FILE: u64 = 4 << 10;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedNews {
    /// Counts, ids, and rules in the user's own words.
    pub text: String,
    /// The time at which the last of it was learned.
    #[serde(with = "crate::millis")]
    pub until: Timestamp,
}

impl LearnedNews {
    /// Removes the file for `None`.
    pub fn leave(news: Option<&Self>, paths: &Paths, project: &Path) -> Result<(), FsError> {
        let file = paths.learned_news(project);
        match news {
            Some(news) => {
                fsx::ensure_dir(&paths.project(project))?;
                fsx::quick(&file, &fsx::to_json(&file, news)?)
            }
            None if file.exists() => fsx::remove(&file),
            None => Ok(()),
        }
    }

    /// Returns the news that the user has not seen. First records that it has been shown.
    pub fn take(paths: &Paths, project: &Path) -> Result<Option<String>, FsError> {
        let news: Option<Self> = fsx::read_json(&paths.learned_news(project), MAX_FILE);
        let shown = told_until(paths, project);
        let Some(news) = news.filter(|news| shown < Some(news.until)) else {
            return Ok(None);
        };
        let until = news.until.as_millisecond().to_string();
        fsx::quick(&told_file(paths, project), until.as_bytes())?;
        Ok(Some(news.text))
    }
}

/// Returns `None` if nothing was ever shown.
pub fn told_until(paths: &Paths, project: &Path) -> Option<Timestamp> {
    let text = fsx::read_if_there(&told_file(paths, project), MAX_FILE).ok()??;
    let millis = std::str::from_utf8(&text).ok()?.parse().ok()?;
    Timestamp::from_millisecond(millis).ok()
}

fn told_file(paths: &Paths, project: &Path) -> PathBuf {
    paths.learned_news(project).with_extension("told")
}
