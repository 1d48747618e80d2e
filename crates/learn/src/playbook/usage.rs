//! The use that sessions made of each key point, and who each one comes from.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::tags::Tag;

/// The number of root sessions, each counted once, in which a key point was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PointUsage {
    /// Sessions that were given the point, or cited it.
    pub shown: u64,
    /// Sessions whose agent cited it.
    pub cited: u64,
}

/// The verdict of one session on a key point that it was shown or that it cited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointInSession {
    pub name: String,
    /// Whether its agent cited it, and did not say that it failed.
    pub is_cited: bool,
    pub vote: Option<Tag>,
}

/// The use of all key points of a project, as the file in the state folder has it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UsageRecord {
    /// By name.
    pub points: BTreeMap<String, PointUsage>,
    /// The names of the points that hold a rule the user stated in a session.
    pub said: BTreeSet<String>,
    /// The names of the points that the user added or edited by hand.
    pub by_hand: BTreeSet<String>,
}

impl UsageRecord {
    /// Returns the use of a point; nothing where no session has seen it.
    pub fn of(&self, name: &str) -> PointUsage {
        self.points.get(name).copied().unwrap_or_default()
    }
}

impl fmt::Display for PointUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shown, cited } = self;
        let s = if *shown == 1 { "" } else { "s" };
        match (shown, cited) {
            (0, _) => f.write_str("not shown yet"),
            (_, 0) => write!(f, "shown in {shown} session{s}, never cited"),
            _ => write!(f, "shown in {shown} session{s}, cited in {cited}"),
        }
    }
}
