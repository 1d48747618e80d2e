//! A job as a hook writes it: one transcript to reflect on, and the account that answers.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use super::job_id::JobId;
use crate::account::need::Need;
use crate::worded;

/// The version of the job format; a worker leaves newer ones alone.
pub const JOB_VERSION: u32 = 1;

worded! {
    pub enum JobEvent {
        /// The session ended, or was found ended (reason `recovered`).
        SessionEnd = "session-end",
        /// The conversation is about to be compacted.
        PreCompact = "pre-compact",
        SubagentStop = "subagent-stop",
        /// The user called `playbook reflect`.
        Reflect = "reflect",
        /// The user called `playbook bootstrap`.
        Bootstrap = "bootstrap",
        /// The notes of several sessions became key points.
        Curate = "curate",
        /// The user changed key points by a command.
        Edit = "edit",
        /// A command of the agent changed key points, on its own or at the user's request.
        AgentEdit = "agent-edit",
        /// The user undid a change.
        Undo = "undo",
        /// The user edited the file.
        HandEdit = "hand-edit",
    }
}

/// A hook's request to the worker: the transcript to learn from, and its project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The version of the format.
    pub v: u32,
    /// The name of its file, which begins with the time.
    pub id: JobId,
    pub event: JobEvent,
    /// The session's id, as the client gave it; never used as a file name.
    pub session: String,
    pub transcript: PathBuf,
    /// The folder that the session worked in.
    pub cwd: PathBuf,
    /// The project, as resolved when the job was created.
    pub project: PathBuf,
    /// The reason why the session ended, in the client's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The time of creation.
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
    /// Creates a job of `project` with the other fields empty; the spool assigns its id.
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
