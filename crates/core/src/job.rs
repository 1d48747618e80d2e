//! A job as a hook writes it: one transcript to reflect on, and whose account is to answer.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use super::job_id::JobId;
use crate::account::need::Need;

/// The version of the job format; a worker leaves newer ones alone.
pub const JOB_VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The session ended (or was found ended: reason `recovered`).
    SessionEnd,
    PreCompact,
    SubagentStop,
    Reflect,
    Bootstrap,
    Edit,
    Undo,
    HandEdit,
}

impl Event {
    pub fn word(self) -> &'static str {
        match self {
            Self::SessionEnd => "session-end",
            Self::PreCompact => "pre-compact",
            Self::SubagentStop => "subagent-stop",
            Self::Reflect => "reflect",
            Self::Bootstrap => "bootstrap",
            Self::Edit => "edit",
            Self::Undo => "undo",
            Self::HandEdit => "hand-edit",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    pub v: u32,
    pub id: JobId,
    pub event: Event,
    pub session: String,
    pub transcript: PathBuf,
    pub cwd: PathBuf,
    /// The project, as resolved when the job was made.
    pub project: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(serialize_with = "crate::rfc3339::serialize")]
    pub at: Timestamp,
    /// Which account is to answer; `None` when the settings could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
}

impl Ticket {
    /// A job of `project` that says no more yet; the spool gives it its id.
    pub fn new(event: Event, project: &Path, at: Timestamp) -> Self {
        Self {
            v: JOB_VERSION,
            id: JobId::new(at, 0),
            event,
            session: String::new(),
            transcript: PathBuf::new(),
            cwd: project.to_owned(),
            project: project.to_owned(),
            reason: None,
            at,
            need: None,
        }
    }
}
