//! Judges sessions and curates playbooks: prompts out, answers in. Pure.
//!
//! A prompt is filled from a template ([`prompt`], `fill`). The JSON in the reply is found
//! ([`extract`]) and parsed leniently ([`reply`]). A session's [`note`]s pass four checks. A
//! [`curator`]'s run sees the notes of many sessions, and its operations pass the [`gates`].
//! [`rules`] judge without a model. `evaluate` rates a session, and `remember` selects what is kept
//! of it ([`learned`], read back as [`remembered`]).

pub mod curator;
pub mod evaluate;
pub mod extract;
mod fill;
pub mod gates;
mod hosts;
pub mod learned;
pub mod note;
pub mod prompt;
pub mod remember;
pub mod remembered;
pub mod reply;
pub mod rules;
pub mod self_correction;
pub mod tellable;
pub mod trace;
