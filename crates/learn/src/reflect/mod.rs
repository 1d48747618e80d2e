//! Judges sessions and curates playbooks: prompts out, answers in. Pure.
//!
//! A session's [`note`]s pass four checks. A [`curator`]'s run sees the notes of many sessions, and
//! its operations pass the [`gates`].

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
