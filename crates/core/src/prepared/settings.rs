//! The settings that hooks need, as parsed by the full program.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Prepare;
use crate::account::named::ChosenAccount;
use crate::paths::{Paths, project_config_file};
use crate::worded;

worded! {
    pub enum Notices {
        /// One line with the learned items and the reminders to the agent.
        All = "all",
        Quiet = "quiet",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct ProjectSettings {
    pub on_exit: Option<bool>,
    pub on_clear: Option<bool>,
    pub on_subagent_stop: Option<bool>,
    pub on_tool_failure: bool,
    pub on_prompt: bool,
    /// Set if a hook does the worker's work itself.
    pub is_inline: bool,
    /// The limit in UTF-16 units.
    pub max_units: usize,
    pub gives_own: bool,
    pub notices: Notices,
    pub account: ChosenAccount,
}

impl Default for ProjectSettings {
    fn default() -> Self {
        Self {
            on_exit: None,
            on_clear: None,
            on_subagent_stop: None,
            on_tool_failure: true,
            on_prompt: true,
            is_inline: false,
            max_units: 4_000,
            gives_own: true,
            notices: Notices::All,
            account: ChosenAccount::default(),
        }
    }
}

impl ProjectSettings {
    /// Returns `None` if they may be stale.
    pub fn find(paths: &Paths, project: &Path) -> Option<Self> {
        if Self::has_files(paths, project) {
            super::find(paths, project)
        } else {
            Some(Self::default())
        }
    }

    pub fn has_files(paths: &Paths, project: &Path) -> bool {
        let is_missing = |file: &PathBuf| {
            let about = file.symlink_metadata();
            about.is_err_and(|error| error.kind() == ErrorKind::NotFound)
        };
        !Self::inputs(paths, project).iter().all(is_missing)
    }
}

impl Prepare for ProjectSettings {
    fn file(paths: &Paths, project: &Path) -> PathBuf {
        paths.prepared_settings(project)
    }

    fn inputs(paths: &Paths, project: &Path) -> Vec<PathBuf> {
        vec![paths.config_file(), project_config_file(project)]
    }
}
