//! How the last exchange went, for who asks for the status.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::fsx;
use crate::paths::Paths;

const MAX_FILE: u64 = 64 << 10;

/// How the last exchange went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Standing {
    pub(crate) tried: Option<Timestamp>,
    pub(crate) succeeded: Option<Timestamp>,
    pub(crate) problem: Option<String>,
}

impl Standing {
    pub(crate) fn of(paths: &Paths) -> Self {
        fsx::read_json(&paths.sync_standing(), MAX_FILE).unwrap_or_default()
    }

    pub(super) fn keep(
        paths: &Paths,
        problem: Option<String>,
        now: Timestamp,
    ) -> anyhow::Result<()> {
        let succeeded = match problem {
            Some(_) => Self::of(paths).succeeded,
            None => Some(now),
        };
        let standing = Self {
            tried: Some(now),
            succeeded,
            problem,
        };
        let file = paths.sync_standing();
        Ok(fsx::quick(&file, &fsx::to_json(&file, &standing)?)?)
    }
}
