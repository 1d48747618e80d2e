//! Turns a session into what it teaches: values in, values out, without clock, network or database.
//!
//! - [`transcript`]: a session's JSONL file → events, citations, outcome, evidence.
//! - [`playbook`]: the key points: model, rendering, tags, operations, undo.
//! - [`reflect`]: prompts, reflector, curator, parsing of replies, rules.
//! - [`freshness`]: the paths and targets in a key point's text and in a project's files.
//! - [`gate`]: compares an agent's claims at its stop with the events.
//! - [`redact`]: masks secrets in one pass, by a table of rules.
//! - [`screen`]: finds blatant attacks in the text of a key point.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "a test makes files as users do")
)]

pub mod freshness;
pub mod gate;
pub mod playbook;
pub mod redact;
pub mod reflect;
pub mod screen;
pub mod transcript;

pub(crate) use playbook_core::{clip, cue, digest, errors, prepared, shown, shown_record, tenant};
