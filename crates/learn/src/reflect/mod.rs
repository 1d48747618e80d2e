//! The judging of a session: prompts out, answers in.
//!
//! A prompt is filled from a template ([`prompt`], `fill`); in the reply the JSON is
//! found ([`extract`]) and read with tolerance ([`reply`]). What it may teach, [`grounds`] and
//! [`accepted`] say, and whether that is a key point at once, [`recurrence`]. [`rules`]
//! answers without a model; `evaluate` says how good a session was, `remember` what stays of
//! it ([`learned`], read back as [`remembered`]), `tellable` what of that an agent may be told.

pub mod accepted;
mod clauses;
pub mod dream;
pub mod evaluate;
pub mod extract;
mod extract_parse;
mod fill;
pub mod grounds;
pub mod known;
pub mod learned;
mod names;
mod others;
pub mod prompt;
pub mod recurrence;
pub mod remember;
pub mod remembered;
mod replaced;
pub mod reply;
pub mod rules;
mod said;
pub mod score;
pub mod self_correction;
mod sentences;
mod tag_forms;
pub mod tellable;
pub mod trace;
