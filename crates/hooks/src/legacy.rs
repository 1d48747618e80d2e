//! Switches of the earlier Python version, in the client's `settings.json`.
//!
//! They still apply, but our own settings win over them.

use serde::Deserialize;

use crate::fsx;
use crate::lenient_json::lenient;
use crate::paths::Paths;

/// A larger file is not parsed in a hook.
const MAX_SETTINGS: u64 = 4 << 20;

/// Holds `None` where the user set nothing.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Switches {
    #[serde(
        default,
        rename = "playbook_update_on_exit",
        deserialize_with = "lenient"
    )]
    pub(super) exit: Option<bool>,
    #[serde(
        default,
        rename = "playbook_update_on_clear",
        deserialize_with = "lenient"
    )]
    pub(super) clear: Option<bool>,
    #[serde(
        default,
        rename = "playbook_update_on_subagent_stop",
        deserialize_with = "lenient"
    )]
    pub(super) subagent_stop: Option<bool>,
}

impl Switches {
    /// An unreadable file sets nothing.
    pub(super) fn read(paths: &Paths) -> Self {
        fsx::read(&paths.client_settings(), MAX_SETTINGS)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }
}
