//! A memory as it is read back.

use jiff::Timestamp;
use playbook_core::worded;
use serde::{Deserialize, Serialize};

use super::learned::Correction;
use crate::errors::Signature;

worded! {
    pub enum MemoryKind {
        /// What happened and why.
        Reflection = "reflection",
        /// A way to go about a like case.
        Strategy = "strategy",
        /// A mistake and its correction.
        Lesson = "lesson",
        Error = "error",
    }
}

/// A memory with all that is known about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remembered {
    /// Its id: `ref-…`, `les-…` or `err-…` with 12 hexadecimal digits.
    pub id: String,
    pub kind: MemoryKind,
    pub text: String,
    /// How well it answers the query; 0 when there was none.
    pub score: f64,
    pub importance: f64,
    pub confidence: f64,
    /// 0 to 1; 0.5 at birth.
    pub effectiveness: f64,
    /// How often it was learned, or how often the error struck.
    pub occurrences: u64,
    pub times_applied: u64,
    pub tags: Vec<String>,
    pub outcome: Option<String>,
    /// The kind of error; of an error its type.
    pub category: Option<String>,
    /// The error it is about.
    pub signature: Option<Signature>,
    pub project: String,
    /// Whom it belongs to; empty for lessons and errors.
    pub tenant: String,
    /// Who learned it, by the name that `playbook sync` gave them; `None` for this user.
    pub origin: Option<String>,
    /// The session that taught it first.
    pub session: String,
    /// The job that taught it first.
    pub job: String,
    /// When it was learned first.
    pub created: Timestamp,
    /// When it was learned or shown last.
    pub last_seen: Timestamp,
    /// What only its kind has.
    #[serde(flatten)]
    pub detail: Detail,
}

/// What only memories of one kind have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Detail {
    Reflection {
        task: String,
        event_ids: Vec<String>,
        event_count: u64,
        /// Ids of the memories it was drawn from; of a strategy its reflection.
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
        /// What met it: a program with its subcommand, or a tool.
        error_type: String,
    },
}
