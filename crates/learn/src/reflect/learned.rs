//! The results of a job for the memory.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::errors::{Signature, first_eight};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedFrom {
    pub project: String,
    /// The session; empty without one.
    pub session: String,
    /// The first session in the chain of forks; the session itself if it was not forked.
    pub root: String,
    /// The job; together with the position of a lesson it counts once.
    pub job: String,
    pub time: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learned {
    /// The events with their causes, and optionally a strategy.
    Reflection(NewReflection),
    Lesson(NewLesson),
    Error(NewError),
    /// The effect of a lesson or a strategy after it was shown.
    Shown(EffectWhenShown),
}

/// The effectiveness of a lesson without an outcome (spec/4).
pub const BIRTH: f64 = 0.5;
/// The effectiveness from which hooks show a lesson; two initial failures lead below it.
pub const SHOWN_FROM: f64 = 0.3;
/// The fraction of the way to an outcome by which one outcome moves the average.
const RATE: f64 = 0.3;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Helped,
    Failed,
}

/// The outcome of spec/4 `record_lesson_outcome`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectWhenShown {
    /// The id of a lesson or a strategy.
    pub id: String,
    pub effect: Effect,
}

/// Moves an effectiveness by one outcome: `e + 0.3 · (outcome − e)`, with 1 for success and 0 for
/// failure.
pub fn moved(effectiveness: f64, effect: Effect) -> f64 {
    let outcome = match effect {
        Effect::Helped => 1.0,
        Effect::Failed => 0.0,
    };
    (effectiveness + RATE * (outcome - effectiveness)).clamp(0.0, 1.0)
}

/// A reflection (spec/3 `ReflectionResult` with its context).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewReflection {
    /// The owner in a shared store; `default` here.
    pub tenant: String,
    /// The events with their causes.
    pub text: String,
    /// The advice for similar cases; becomes a memory of its own.
    pub strategy: Option<String>,
    pub outcome: Option<String>,
    /// The kind of error: `timeout_error`, …
    pub error_category: Option<String>,
    pub signature: Option<Signature>,
    pub importance: f64,
    pub confidence: f64,
    pub tags: Vec<String>,
    pub event_ids: Vec<String>,
    pub event_count: u64,
    pub task: String,
    /// The ids of the memories that it was derived from.
    pub related: Vec<String>,
    pub correction: Option<Correction>,
}

/// The additional data of spec/5.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    pub rationale: String,
    pub original_query: String,
    pub reflection_context: String,
    pub iteration_count: u64,
    pub quality_improvement: f64,
}

/// A lesson (spec/4 `ReflectionLesson`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewLesson {
    pub task_type: String,
    /// The mistake; empty if only the advice is known.
    pub mistake: String,
    pub correction: String,
    /// Distinguishes lessons from different contexts (spec/4): [`name_of`](crate::digest::name_of)
    /// the context.
    pub context_hash: String,
    pub signature: Option<Signature>,
    pub importance: f64,
    pub tags: Vec<String>,
    pub note: NoteDetail,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoteDetail {
    /// The kinds of its events, such as `error_event`.
    pub kinds: Vec<String>,
    /// The hosts and URLs in it; a key point made from it may name them.
    pub hosts: Vec<String>,
    /// The user's own words, if the user stated it as a rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Set if the session read pages or used tools that return what others wrote.
    pub is_outside: bool,
    /// Set if no person took part in the session.
    pub is_unattended: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewError {
    pub signature: Signature,
    /// The keys by which `seen` recognizes it; if empty, those of the example.
    pub keys: BTreeSet<Signature>,
    /// The program with its subcommand that failed, or the tool.
    pub error_type: String,
    /// The masked text.
    pub example: String,
    pub occurrences: u64,
    pub category: String,
    /// The outcome of the session with the error.
    pub outcome: Option<String>,
    pub importance: f64,
    pub tags: Vec<String>,
}

pub fn error_id(project: &str, signature: Signature) -> String {
    memory_id(project, "err", &[&signature.to_string()])
}

/// Returns an id that is the same for the same content of the same project.
pub fn memory_id(project: &str, prefix: &str, parts: &[&str]) -> String {
    let parts = [project].into_iter().chain(parts.iter().copied());
    let ended: String = parts.flat_map(|part| [part, "\0"]).collect();
    format!("{prefix}-{:012x}", first_eight(ended) >> 16)
}
