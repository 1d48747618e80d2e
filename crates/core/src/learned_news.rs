//! What was learned in a project since the user was told last: the worker leaves it, the next
//! start of a session in a terminal tells it, once.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::fsx::{self, FsError};
use crate::paths::Paths;

const MAX_FILE: u64 = 4 << 10;

/// What was learned lately, in words for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LearnedNews {
    /// Counts, ids, and rules in the words in which the user stated them.
    pub text: String,
    /// When the last of it was learned.
    #[serde(with = "crate::millis")]
    pub until: Timestamp,
}

impl LearnedNews {
    /// Leaves it for the next start; `None` where there is nothing to tell.
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

    /// Takes what the user has not been told; that it is told now is remembered first.
    pub fn take(paths: &Paths, project: &Path) -> Result<Option<String>, FsError> {
        let news: Option<Self> = fsx::read_json(&paths.learned_news(project), MAX_FILE);
        let told = told_until(paths, project);
        let Some(news) = news.filter(|news| told < Some(news.until)) else {
            return Ok(None);
        };
        let until = news.until.as_millisecond().to_string();
        fsx::quick(&told_file(paths, project), until.as_bytes())?;
        Ok(Some(news.text))
    }
}

/// Up to when the user knows what was learned; `None` where nothing was ever told.
pub fn told_until(paths: &Paths, project: &Path) -> Option<Timestamp> {
    let text = fsx::read_if_there(&told_file(paths, project), MAX_FILE).ok()??;
    let millis = std::str::from_utf8(&text).ok()?.parse().ok()?;
    Timestamp::from_millisecond(millis).ok()
}

fn told_file(paths: &Paths, project: &Path) -> PathBuf {
    paths.learned_news(project).with_extension("told")
}
