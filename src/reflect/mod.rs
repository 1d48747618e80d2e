//! The judging of a session: prompts out, answers in.
//!
//! A prompt is filled from a template ([`prompt`], [`fill`]); in the reply the JSON is
//! found ([`extract`]) and read with tolerance ([`reply`]).

pub mod extract;
mod extract_parse;
pub mod fill;
pub mod pipeline;
pub mod prompt;
pub mod reply;
pub mod rules;
