//! Any agent's trace of a task, as spec/3's `ReflectionContext` has it, to be reflected on.
//!
//! [`Trace::read`] takes the body of `POST /api/v1/reflections/generate`; [`Trace::session`]
//! plays it back as a session of the client, so that everything known about sessions
//! (masking, the choice of evidence, errors and what made them good) holds for it as well.

mod read;
mod replay;

use serde_json::{Map, Value};

pub use read::Flaw;

use super::self_correction::Critique;
use crate::transcript::Outcome;

/// A task's trace, and what its agent says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// Whom it belongs to in a shared store.
    pub tenant: String,
    /// The project; `None` for the one the command runs in.
    pub project: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// What happened, in order.
    pub events: Vec<Event>,
    /// How it ended.
    pub outcome: Outcome,
    /// The error that decided it.
    pub error: Option<ErrorInfo>,
    /// What was to be done.
    pub task_description: Option<String>,
    /// What for.
    pub task_goal: Option<String>,
    /// Memories the agent knows to be related.
    pub related: Vec<String>,
    /// The agent's own evaluation of its work (spec/5).
    pub critique: Option<Critique>,
}

/// One event of a trace (spec/3 `Event`).
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its id; numbered where the agent gives none.
    pub id: String,
    /// What kind of event it is.
    pub kind: Kind,
    /// When.
    pub timestamp: Option<String>,
    /// What was said, called or answered.
    pub content: String,
    /// Whatever else the agent notes.
    pub metadata: Map<String, Value>,
    /// The tool it is about.
    pub tool: Option<String>,
    /// The error it met.
    pub error: Option<String>,
}

impl Event {
    fn has_failed(&self) -> bool {
        self.error.is_some() || self.kind == Kind::Error
    }
}

/// What is done with an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `user_message`, `user_prompt`: someone asks.
    User,
    /// `tool_call`: the agent calls a tool.
    ToolCall,
    /// `tool_response`, `tool_result`: a tool answers.
    ToolResponse,
    /// `error_event`, `error`: something failed.
    Error,
    /// `llm_call`, `llm_response`, `system_event` and every other: something is said.
    Other,
}

/// The error of a task (spec/3 `ErrorInfo`).
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorInfo {
    /// `timeout_error`, …
    pub category: Option<String>,
    /// What it said.
    pub message: String,
    /// Where it happened.
    pub context: Map<String, Value>,
}
