//! The judging of a session: prompts out, answers in.
//!
//! A prompt is filled from a template ([`prompt`], [`fill`]); in the reply the JSON is
//! found ([`extract`]) and read with tolerance ([`reply`]). [`pipeline`] asks; [`rules`]
//! answers without a model; [`evaluate`] says how good a
//! session was, [`remember`] what stays of it,
//! [`tellable`] what of that an agent may be told.

pub mod dream;
pub mod evaluate;
pub mod extract;
mod extract_parse;
pub mod fill;
pub mod pipeline;
pub mod prompt;
pub mod remember;
pub mod reply;
pub mod rules;
#[rustfmt::skip] // Tables read best packed.
mod rules_phrases;
mod rules_speech;
#[cfg(test)]
#[rustfmt::skip] // One line, one sentence.
mod rules_speech_tests;
mod rules_strip;
pub mod self_correction;
pub mod tellable;
pub mod trace;
pub mod triggers;
