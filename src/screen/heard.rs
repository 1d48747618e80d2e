//! The hosts that the user named: a text may lead there.

use serde::{Deserialize, Serialize};

/// Hosts in the user's own words.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Heard(Vec<String>);
