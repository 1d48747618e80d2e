//! What a job teaches.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::errors::{Signature, first_eight};

/// Where something was learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LearnedFrom {
    pub project: String,
    /// The session, empty when there was none.
    pub session: String,
    /// The session that this one was forked from, in the end; itself where it was not.
    pub root: String,
    /// The job; together with the place among its lessons it is counted once.
    pub job: String,
    pub time: Timestamp,
}

/// What was learned or forgotten at one place, on its way to others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SharedRecord {
    /// The job and the place among its lessons, by which it is taken in once.
    pub job: String,
    pub seq: u64,
    pub project: String,
    pub time: Timestamp,
    /// The ids of what it is remembered as there, in the order of [`SharedRecord::what`]: a reflection's and its
    /// strategy's; a lesson's; an error's and its fix's; all that were forgotten.
    pub ids: Vec<String>,
    /// `None` where it was forgotten.
    pub what: Option<Learned>,
}

/// Where in a shared store a memory came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    pub origin: String,
    /// The ids it has there, as in [`SharedRecord::ids`].
    pub ids: Vec<String>,
}

/// Something a job teaches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learned {
    /// What happened and why, and a strategy if any.
    Reflection(NewReflection),
    Lesson(NewLesson),
    Error(NewError),
    /// The effect of a lesson or a strategy after it was shown.
    Shown(EffectWhenShown),
}

/// The effectiveness of a lesson that has no outcome yet (spec/4).
pub const BIRTH: f64 = 0.5;
/// From this effectiveness on hooks show a lesson; two failures in a row from birth lead below it.
pub const SHOWN_FROM: f64 = 0.3;
/// The share of the way to an outcome that one outcome moves the average.
const RATE: f64 = 0.3;

/// The outcome of a lesson that was applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    Helped,
    Failed,
}

/// What a lesson did when it was applied (spec/4 `record_lesson_outcome`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectWhenShown {
    /// Id of a lesson or a strategy.
    pub id: String,
    pub effect: Effect,
}

/// Moves an effectiveness by one outcome: `e + 0.3 · (outcome − e)`, with 1 for success
/// and 0 for failure.
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
    /// Whom it belongs to in a shared store; `default` here.
    pub tenant: String,
    /// What happened and why.
    pub text: String,
    /// What to do in a like case; becomes a memory of its own.
    pub strategy: Option<String>,
    pub outcome: Option<String>,
    /// The kind of error: `timeout_error`, …
    pub error_category: Option<String>,
    /// The error it is about.
    pub signature: Option<Signature>,
    pub importance: f64,
    pub confidence: f64,
    pub tags: Vec<String>,
    pub event_ids: Vec<String>,
    pub event_count: u64,
    pub task: String,
    /// Ids of the memories it was drawn from.
    pub related: Vec<String>,
    /// What is known of it where an agent corrected itself.
    pub correction: Option<Correction>,
}

/// What spec/5 keeps beside a self-correction.
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
    /// What went wrong; empty where only the advice is known.
    pub mistake: String,
    pub correction: String,
    /// By which lessons from like contexts are told (spec/4): [`name_of`](crate::digest::name_of) it.
    pub context_hash: String,
    /// The error it prevents.
    pub signature: Option<Signature>,
    pub importance: f64,
    pub tags: Vec<String>,
    pub note: NoteDetail,
}

/// What a curator needs of a note beside its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoteDetail {
    pub kinds: Vec<String>,
    pub hosts: Vec<String>,
    /// The user's own words, where the user stated it as a rule.
    pub quote: Option<String>,
    /// The session read pages or used tools that bring in what others wrote.
    pub is_outside: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NewError {
    pub signature: Signature,
    /// The keys by which `seen` knows it again; where there are none, those of the example.
    pub keys: BTreeSet<Signature>,
    /// What met it: a program with its subcommand, or a tool.
    pub error_type: String,
    /// Its text, masked.
    pub example: String,
    pub occurrences: u64,
    /// What kind of failure it is: `timeout`, `not_found`, …
    pub category: String,
    /// How the session ended that met it.
    pub outcome: Option<String>,
    pub importance: f64,
    pub tags: Vec<String>,
}

pub fn error_id(project: &str, signature: Signature) -> String {
    memory_id(project, "err", &[&signature.to_string()])
}

/// An id that is the same for the same content of the same project.
pub fn memory_id(project: &str, prefix: &str, parts: &[&str]) -> String {
    let parts = [project].into_iter().chain(parts.iter().copied());
    let ended: String = parts.flat_map(|part| [part, "\0"]).collect();
    format!("{prefix}-{:012x}", first_eight(ended) >> 16)
}
