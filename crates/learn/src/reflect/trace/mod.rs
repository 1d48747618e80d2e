//! Any agent's trace of a task, as spec/3's `ReflectionContext` has it, to be reflected on.
//!
//! [`Trace::read`] takes the body of `POST /api/v1/reflections/generate`; `Trace::session`
//! plays it back as a session of the client, so that everything known about sessions
//! (masking, the choice of evidence, errors and what made them good) holds for it as well.

mod read;
mod replay;

use serde::Deserialize;
use serde_json::{Map, Value};

pub use read::TraceDefect;
pub(crate) use read::or_default;

use super::self_correction::Critique;
use crate::transcript::SessionOutcome;

/// A task's trace, and what its agent says of it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Trace {
    #[serde(rename = "tenant_id", default, deserialize_with = "read::or_default")]
    pub tenant: String,
    /// The project; `None` for the one the command runs in.
    #[serde(rename = "project_id")]
    pub project: Option<String>,
    #[serde(rename = "session_id")]
    pub session: Option<String>,
    #[serde(default, deserialize_with = "read::or_default")]
    pub events: Vec<TraceEvent>,
    #[serde(deserialize_with = "read::word")]
    pub outcome: SessionOutcome,
    pub error: Option<ErrorInfo>,
    pub task_description: Option<String>,
    pub task_goal: Option<String>,
    #[serde(
        rename = "related_memory_ids",
        default,
        deserialize_with = "read::or_default"
    )]
    pub related: Vec<String>,
    /// The agent's own evaluation of its work (spec/5).
    #[serde(skip)]
    pub critique: Critique,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct TraceEvent {
    /// Its id; numbered where the agent gives none.
    #[serde(rename = "event_id", default, deserialize_with = "read::or_default")]
    pub id: String,
    #[serde(rename = "event_type", deserialize_with = "read::word")]
    pub kind: TraceKind,
    #[serde(default, deserialize_with = "read::time")]
    pub timestamp: Option<String>,
    pub content: String,
    /// Whatever else the agent notes.
    #[serde(default, deserialize_with = "read::or_default")]
    pub metadata: Map<String, Value>,
    #[serde(rename = "tool_name")]
    pub tool: Option<String>,
    #[serde(default, deserialize_with = "read::event_error")]
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum TraceKind {
    #[serde(rename = "user_message", alias = "user_prompt", alias = "user_input")]
    User,
    #[serde(rename = "tool_call")]
    ToolCall,
    #[serde(rename = "tool_response", alias = "tool_result")]
    ToolResponse,
    #[serde(rename = "error_event", alias = "error", alias = "exception")]
    Error,
    /// `llm_call`, `llm_response`, `system_event` and every other: something is said.
    #[default]
    #[serde(other)]
    Other,
}

/// The error of a task (spec/3 `ErrorInfo`).
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct ErrorInfo {
    /// `timeout_error`, …
    #[serde(rename = "error_category")]
    pub category: Option<String>,
    #[serde(rename = "error_message")]
    pub message: String,
    /// Where it happened.
    #[serde(default, deserialize_with = "read::or_default")]
    pub context: Map<String, Value>,
}
