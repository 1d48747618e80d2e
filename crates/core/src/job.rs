//! A job as a hook writes it: one transcript to reflect on, and the account that answers.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use super::job_id::JobId;
use crate::account::need::Need;
use crate::worded;

/// A worker leaves newer versions alone.
pub const JOB_VERSION: u32 = 1;

worded! {
    pub enum JobEvent {
        /// The session ended, or was found ended (reason `recovered`).
        SessionEnd = "session-end",
        PreCompact = "pre-compact",
        SubagentStop = "subagent-stop",
        Reflect = "reflect",
        Bootstrap = "bootstrap",
        Curate = "curate",
        Edit = "edit",
        /// A command of the agent changed key points, on its own or at the user's request.
        AgentEdit = "agent-edit",
        Undo = "undo",
        HandEdit = "hand-edit",
    }
}

/// A hook's request to the worker: the transcript to learn from, and its project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    pub v: u32,
    pub id: JobId,
    pub event: JobEvent,
    /// The session's id, as the client gave it; never used as a file name.
    pub session: String,
    pub transcript: PathBuf,
    pub cwd: PathBuf,
    /// The project, as resolved when the job was created.
    pub project: PathBuf,
    /// The client's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(serialize_with = "crate::rfc3339::serialize")]
    pub at: Timestamp,
    /// The account that answers; `None` when the settings could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<Need>,
    /// `false` where the client reported that no user attends the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attended: Option<bool>,
}

impl Ticket {
    /// The spool assigns the id.
    pub fn new(event: JobEvent, project: &Path, at: Timestamp) -> Self {
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
            attended: None,
        }
    }
}
