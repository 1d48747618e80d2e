//! A memory as it is read back.

use jiff::Timestamp;
use playbook_core::worded;
use serde::{Deserialize, Serialize};

use super::learned::Correction;
use crate::errors::Signature;

worded! {
    pub enum MemoryKind {
        /// The events with their causes.
        Reflection = "reflection",
        /// An approach for similar cases.
        Strategy = "strategy",
        /// A mistake and its correction.
        Lesson = "lesson",
        Error = "error",
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// The id: `ref-…`, `les-…` or `err-…` with 12 hexadecimal digits.
    pub id: String,
    pub kind: MemoryKind,
    pub text: String,
    /// The relevance for the query; 0 without one.
    pub score: f64,
    pub importance: f64,
    pub confidence: f64,
    /// 0 to 1; initially 0.5.
    pub effectiveness: f64,
    /// The number of times it was learned, or the error occurred.
    pub occurrences: u64,
    pub times_applied: u64,
    pub tags: Vec<String>,
    pub outcome: Option<String>,
    /// The kind of error; for an error its type.
    pub category: Option<String>,
    pub signature: Option<Signature>,
    pub project: String,
    /// The owner; empty for lessons and errors.
    pub tenant: String,
    /// The session that taught it first.
    pub session: String,
    pub job: String,
    pub created: Timestamp,
    /// The time when it was last learned or shown.
    pub last_seen: Timestamp,
    #[serde(flatten)]
    pub detail: Detail,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Detail {
    Reflection {
        task: String,
        event_ids: Vec<String>,
        event_count: u64,
        /// The ids of the memories that it was derived from; for a strategy, its reflection.
        related: Vec<String>,
        #[serde(flatten)]
        correction: Option<Correction>,
    },
    Lesson {
        task_type: String,
        mistake: String,
        correction: String,
        context_hash: String,
    },
    Error {
        /// The program with its subcommand that failed, or the tool.
        error_type: String,
    },
}
