//! The settings that hooks need, as parsed by the full program.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Prepare;
use crate::account::named::ChosenAccount;
use crate::paths::{Paths, project_config_file};
use crate::worded;

worded! {
    /// The notices for a user at the terminal, apart from problems that stop learning.
    pub enum Notices {
        /// One line with the learned items and the reminders to the agent.
        All = "all",
        Quiet = "quiet",
    }
}

/// Settings of one project with reflection switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct ProjectSettings {
    /// `hooks.on_exit`; `None` where nothing sets it.
    pub on_exit: Option<bool>,
    /// `hooks.on_clear`; `None` where nothing sets it.
    pub on_clear: Option<bool>,
    /// `hooks.on_subagent_stop`; `None` where nothing sets it.
    pub on_subagent_stop: Option<bool>,
    pub on_tool_failure: bool,
    pub on_prompt: bool,
    /// Set if a hook does the worker's work itself.
    pub is_inline: bool,
    /// The longest context in UTF-16 units.
    pub max_units: usize,
    /// Set if the user's own key points are included.
    pub gives_own: bool,
    pub notices: Notices,
    pub account: ChosenAccount,
}

impl Default for ProjectSettings {
    /// The defaults without a settings file.
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
    /// Finds the settings of a project; `None` if they may be stale.
    pub fn find(paths: &Paths, project: &Path) -> Option<Self> {
        if Self::has_files(paths, project) {
            super::find(paths, project)
        } else {
            Some(Self::default())
        }
    }

    /// Returns `true` if a settings file may exist.
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
