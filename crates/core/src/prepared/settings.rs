//! What hooks need of the settings, as the program that can read them has found it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Prepare;
use crate::account::named::ChosenAccount;
use crate::paths::{Paths, project_config_file};

/// What a person at the terminal is told beside what keeps Playbook from learning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Notices {
    /// In a line what was learned, and what the agent was reminded of.
    #[default]
    All,
    Quiet,
}

/// Settings of one project, where reflection is switched on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProjectSettings {
    /// `hooks.on_exit`; `None` where nothing sets it.
    pub on_exit: Option<bool>,
    /// `hooks.on_clear`; `None` where nothing sets it.
    pub on_clear: Option<bool>,
    /// `hooks.on_subagent_stop`; `None` where nothing sets it.
    pub on_subagent_stop: Option<bool>,
    pub on_tool_failure: bool,
    pub on_prompt: bool,
    /// Whether a hook does the work of the worker itself.
    pub is_inline: bool,
    /// The longest wait of a hook that does, in milliseconds.
    pub inline_ms: u64,
    /// The longest context in UTF-16 units.
    pub max_units: usize,
    /// Whether the user's own key points are part of it.
    pub gives_own: bool,
    pub notices: Notices,
    /// Which backend, address and models they choose.
    pub account: ChosenAccount,
}

impl Default for ProjectSettings {
    /// What holds where there is no settings file.
    fn default() -> Self {
        Self {
            on_exit: None,
            on_clear: None,
            on_subagent_stop: None,
            on_tool_failure: true,
            on_prompt: true,
            is_inline: false,
            inline_ms: 1_200,
            max_units: 4_000,
            gives_own: true,
            notices: Notices::All,
            account: ChosenAccount::default(),
        }
    }
}

impl ProjectSettings {
    /// Finds the settings that hold for a project; `None` in any doubt.
    pub fn find(paths: &Paths, project: &Path) -> Option<Self> {
        if Self::has_files(paths, project) {
            super::find(paths, project)
        } else {
            Some(Self::default())
        }
    }

    /// Returns `true` if there may be anything that sets them.
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
